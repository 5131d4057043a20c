// Files of rows, as they are stored.
#ifndef ROWS_H
#define ROWS_H

#include "worker.h"

// rows are those of a unit, which a file gets at once; or with whole, of an answer, which
// it gets in as many units as there are.
typedef struct {
	int file;
	bool whole, failed;
	uint32_t count;
	sqlite3_str *bytes;
} rows;

// rows_open opens a file that is there; without a path rows are dropped.
bool rows_open(rows *r, const char *path, error *e);
void rows_close(rows *r);
void rows_clear(rows *r);
void rows_add(rows *r, int step, sqlite3_stmt *row); // that the statement stands on
bool rows_write(rows *r, int64_t unit, int part);   // and clears them; false from the first failure on

#endif
