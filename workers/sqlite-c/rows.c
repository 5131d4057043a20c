#include "rows.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { HEAD = 16, ENOUGH = 1 << 16 };

// number adds the low bytes of a number. The machine is little-endian, as column.c wants.
static void number(rows *r, int64_t value, int bytes) { sqlite3_str_append(r->bytes, (const char *)&value, bytes); }

bool rows_open(rows *r, const char *path, error *e) {
	r->file = open(*path == 0 ? "/dev/null" : path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (r->file < 0) return fail(e, FAILED, "rows: %s: %s", path, strerror(errno));
	r->bytes = sqlite3_str_new(NULL);
	rows_clear(r);
	return true;
}

void rows_close(rows *r) {
	close(r->file);
	sqlite3_free(sqlite3_str_finish(r->bytes));
}

void rows_clear(rows *r) {
	sqlite3_str_reset(r->bytes);
	sqlite3_str_appendchar(r->bytes, HEAD, 0);
	r->count = 0;
}

void rows_add(rows *r, int step, sqlite3_stmt *row) {
	int columns = sqlite3_column_count(row);
	number(r, step, 4);
	number(r, columns, 4);
	for (int i = 0; i < columns; i++) {
		int type = sqlite3_column_type(row, i);
		number(r, type % SQLITE_NULL, 1); // the file has SQLite's own numbers, but 0 for NULL
		if (type == SQLITE_INTEGER) {
			number(r, sqlite3_column_int64(row, i), 8);
		} else if (type == SQLITE_FLOAT) {
			double real = sqlite3_column_double(row, i);
			sqlite3_str_append(r->bytes, (const char *)&real, sizeof real);
		} else if (type != SQLITE_NULL) {
			const void *data = type == SQLITE_TEXT ? sqlite3_column_text(row, i) : sqlite3_column_blob(row, i);
			int length = sqlite3_column_bytes(row, i); // behind the text, which may have been UTF-16
			number(r, length, 4);
			if (length > 0) sqlite3_str_append(r->bytes, data, length);
		}
	}
	r->count++;
	if (r->whole && sqlite3_str_length(r->bytes) > ENOUGH) rows_write(r, 0, 0);
}

bool rows_write(rows *r, int64_t unit, int part) {
	int length = sqlite3_str_length(r->bytes);
	char *bytes = sqlite3_str_value(r->bytes);
	if (bytes != NULL) { // which it is without memory
		memcpy(bytes, &unit, 8);
		memcpy(bytes + 8, &part, 4);
		memcpy(bytes + 12, &r->count, 4);
	}
	r->failed = r->failed || bytes == NULL || write(r->file, bytes, (size_t)length) != length;
	rows_clear(r);
	return !r->failed;
}
