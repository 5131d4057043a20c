// Column files: arguments of operations, mapped into memory.
#ifndef COLUMN_H
#define COLUMN_H

#include "worker.h"

typedef enum { COLUMN_INT = 1, COLUMN_REAL, COLUMN_TEXT, COLUMN_BLOB, COLUMN_BOOL } column_type;

typedef struct {
	column_type type;
	const uint8_t *nulls; // NULL where there are none
	const int64_t *values;
	const char *bytes; // of text and blob
} column;

typedef struct {
	int64_t rows;
	column *column;
} column_file;

// column_open maps a file that assay has read before; NULL with an error.
column_file *column_open(const char *path, error *e);

static inline bool column_null(const column *c, int64_t row) {
	return c->nulls != NULL && (c->nulls[row / 8] >> (row % 8) & 1);
}

#endif
