#include "column.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "column files are little-endian and mapped as they are"
#endif

enum { HEAD = 24, COLUMN_HEAD = 32, MOST_COLUMNS = 100000 };

// part returns the bytes of a part of the file; NULL where they are not all in it.
static const void *part(const column_file *f, uint64_t offset, uint64_t count, uint64_t size) {
	if (offset % 8 != 0 || offset > f->size || (size > 0 && count > (f->size - offset) / size)) return NULL;
	return (const char *)f->map + offset;
}

static bool read_column(column_file *f, int i) {
	const uint8_t *head = part(f, HEAD + (uint64_t)i * COLUMN_HEAD, 1, COLUMN_HEAD);
	if (head == NULL) return false;
	uint32_t type, flags;
	uint64_t offset[3];
	memcpy(&type, head, 4);
	memcpy(&flags, head + 4, 4);
	memcpy(offset, head + 8, 24);
	if (type < COLUMN_INT || type > COLUMN_BOOL) return false;
	column *c = &f->column[i];
	c->type = (column_type)type;
	bool texts = type == COLUMN_TEXT || type == COLUMN_BLOB;
	if (flags & 1 && (c->nulls = part(f, offset[0], ((uint64_t)f->rows + 7) / 8, 1)) == NULL) return false;
	c->values = part(f, offset[1], (uint64_t)f->rows + (texts ? 1 : 0), 8);
	if (c->values == NULL) return false;
	if (!texts) return true;
	for (int64_t row = 0; row < f->rows; row++) {
		if (c->values[row] < 0 || c->values[row + 1] < c->values[row]) return false;
	}
	c->bytes = part(f, offset[2], (uint64_t)c->values[f->rows], 1);
	return c->bytes != NULL && c->values[f->rows] >= 0;
}

static bool read_file(column_file *f) {
	uint32_t version, columns;
	uint64_t rows;
	if (f->size < HEAD || memcmp(f->map, "ASSAYCOL", 8) != 0) return false;
	memcpy(&version, (char *)f->map + 8, 4);
	memcpy(&columns, (char *)f->map + 12, 4);
	memcpy(&rows, (char *)f->map + 16, 8);
	if (version != 1 || columns > MOST_COLUMNS || rows > INT64_MAX / 16) return false;
	f->rows = (int64_t)rows;
	f->columns = (int)columns;
	f->column = allocate((columns + 1) * sizeof *f->column);
	for (int i = 0; i < f->columns; i++) {
		if (!read_column(f, i)) return false;
	}
	return true;
}

column_file *column_open(const char *path, error *e) {
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat info;
	if (fd < 0 || fstat(fd, &info) != 0) {
		fail(e, INVALID, "trace: %s: %s", path, strerror(errno));
		if (fd >= 0) close(fd);
		return NULL;
	}
	column_file *f = allocate(sizeof *f);
	f->size = (size_t)info.st_size;
	f->map = f->size == 0 ? MAP_FAILED : mmap(NULL, f->size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (f->map == MAP_FAILED) f->map = NULL;
	if (f->map != NULL && read_file(f)) return f;
	fail(e, INVALID, "trace: %s is no column file", path);
	column_close(f);
	return NULL;
}

void column_close(column_file *f) {
	if (f == NULL) return;
	if (f->map != NULL) munmap(f->map, f->size);
	free(f->column);
	free(f);
}
