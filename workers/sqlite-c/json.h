// JSON, by the functions of the SQLite that is measured, in a database of their own.
#ifndef JSON_H
#define JSON_H

#include "worker.h"

void json_start(void);

// json_query compiles a query of a JSON text, which is ?1; json_row steps to its only row.
sqlite3_stmt *json_query(const char *sql, const char *json);
sqlite3_stmt *json_row(const char *sql, const char *json);

// json_text is a column's text, "" where it is NULL; it lives as long as the row.
const char *json_text(sqlite3_stmt *row, int column);

void put_text(sqlite3_str *to, const char *text); // in quotes, escaped

#endif
