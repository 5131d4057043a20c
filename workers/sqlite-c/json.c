#include "json.h"

#include <stdio.h>
#include <stdlib.h>

static sqlite3 *db;

void json_start(void) {
	if (sqlite3_initialize() == SQLITE_OK && sqlite3_open(":memory:", &db) == SQLITE_OK) return;
	fprintf(stderr, "SQLite does not start: %s\n", db == NULL ? "no memory" : sqlite3_errmsg(db));
	exit(1);
}

sqlite3_stmt *json_query(const char *sql, const char *json) {
	sqlite3_stmt *s;
	if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK) { // as where SQLite was compiled without JSON
		fprintf(stderr, "this SQLite cannot read and write JSON: %s\n", sqlite3_errmsg(db));
		exit(1);
	}
	sqlite3_bind_text(s, 1, json, -1, SQLITE_STATIC);
	return s;
}

sqlite3_stmt *json_row(const char *sql, const char *json) {
	sqlite3_stmt *s = json_query(sql, json);
	sqlite3_step(s); // without a row, as of what is no JSON, every column is NULL
	return s;
}

const char *json_text(sqlite3_stmt *row, int column) {
	const char *text = (const char *)sqlite3_column_text(row, column);
	return text == NULL ? "" : text;
}

void put_text(sqlite3_str *to, const char *text) {
	sqlite3_stmt *row = json_row("SELECT json_quote(?1)", text);
	sqlite3_str_appendall(to, json_text(row, 0));
	sqlite3_finalize(row);
}
