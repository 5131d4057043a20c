// Digests of answers.
#ifndef ANSWER_H
#define ANSWER_H

#include "sha256.h"
#include "worker.h"

typedef enum { VALUE_INT = 1, VALUE_REAL, VALUE_TEXT, VALUE_BLOB, VALUE_BOOL } value_type;

// returned is the declared type of a column.
typedef struct {
	value_type type;
	bool nullable;
} returned;

bool returned_parse(const char *text, returned *type);

typedef struct {
	sha256 hash;
	int64_t rows;
} answer;

void answer_start(answer *a);

// answer_row adds the row that a statement stands on.
bool answer_row(answer *a, sqlite3_stmt *row, const returned *types, int columns, error *e);

#endif
