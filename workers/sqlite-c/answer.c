#include "answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool returned_parse(const char *text, returned *type) {
	static const char *const names[] = {"int", "real", "text", "blob", "bool"};
	size_t n = strlen(text);
	type->nullable = n > 0 && text[n - 1] == '?';
	if (type->nullable) n--;
	for (int i = 0; i < 5; i++) {
		if (strlen(names[i]) != n || strncmp(names[i], text, n) != 0) continue;
		type->type = (value_type)(i + 1);
		return true;
	}
	return false;
}

void answer_start(answer *a) {
	sha256_start(&a->hash);
	a->rows = 0;
}

static void add_number(sha256 *h, uint8_t tag, uint64_t number, int bytes) {
	uint8_t data[9] = {tag};
	for (int i = 0; i < bytes; i++) data[i + 1] = (uint8_t)(number >> 8 * i);
	sha256_add(h, data, (size_t)bytes + 1);
}

// bits are those of a double, with one form of zero and of NaN.
static uint64_t bits(double value) {
	uint64_t all;
	if (value == 0) return 0;
	if (isnan(value)) return 0x7ff8000000000000;
	memcpy(&all, &value, sizeof all);
	return all;
}

static void add_bytes(sha256 *h, uint8_t tag, const void *data, int length) {
	add_number(h, tag, (uint64_t)length, 4);
	sha256_add(h, data, (size_t)length);
}

// add_value reports whether the value can be of its declared type.
static bool add_value(sha256 *h, sqlite3_stmt *row, int i, value_type type) {
	int stored = sqlite3_column_type(row, i);
	bool number = stored == SQLITE_INTEGER || stored == SQLITE_FLOAT;
	switch (type) {
	case VALUE_INT:
		add_number(h, VALUE_INT, (uint64_t)sqlite3_column_int64(row, i), 8);
		return stored == SQLITE_INTEGER;
	case VALUE_REAL:
		add_number(h, VALUE_REAL, bits(sqlite3_column_double(row, i)), 8);
		return number;
	case VALUE_BOOL:
		add_number(h, VALUE_BOOL, sqlite3_column_int64(row, i) != 0, 1);
		return stored == SQLITE_INTEGER;
	case VALUE_TEXT: {
		const unsigned char *text = sqlite3_column_text(row, i);
		add_bytes(h, VALUE_TEXT, text, sqlite3_column_bytes(row, i));
		return !number;
	}
	case VALUE_BLOB: {
		const void *data = sqlite3_column_blob(row, i);
		add_bytes(h, VALUE_BLOB, data, sqlite3_column_bytes(row, i));
		return !number;
	}
	}
	return false;
}

bool answer_row(answer *a, sqlite3_stmt *row, const returned *types, int columns, error *e) {
	static const char *const names[] = {"", "int", "real", "text", "blob", "bool"};
	uint8_t count[4];
	for (int i = 0; i < 4; i++) count[i] = (uint8_t)(columns >> 8 * i);
	if (sqlite3_column_count(row) != columns) {
		return fail(e, FAILED, "a row has %d columns, declared are %d", sqlite3_column_count(row), columns);
	}
	sha256_add(&a->hash, count, 4);
	a->rows++;
	for (int i = 0; i < columns; i++) {
		if (sqlite3_column_type(row, i) == SQLITE_NULL) {
			if (!types[i].nullable) return fail(e, FAILED, "row %d, column %d: NULL where %s is declared", (int)a->rows, i + 1, names[types[i].type]);
			sha256_add(&a->hash, "", 1);
		} else if (!add_value(&a->hash, row, i, types[i].type)) {
			return fail(e, FAILED, "row %d, column %d is no %s", (int)a->rows, i + 1, names[types[i].type]);
		}
	}
	return true;
}
