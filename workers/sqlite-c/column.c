#include "column.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "column files are little-endian and mapped as they are"
#endif

// head is what a column file begins with, and column_head follows for each column.
typedef struct {
	char name[8];
	uint32_t version, columns;
	int64_t rows;
} head;

typedef struct {
	uint32_t type, flags;
	uint64_t nulls, values, bytes;
} column_head;

column_file *column_open(const char *path, error *e) {
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat info;
	const char *map = MAP_FAILED;
	if (fd >= 0 && fstat(fd, &info) == 0) map = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED) fail(e, INVALID, "trace: %s: %s", path, strerror(errno));
	if (fd >= 0) close(fd);
	if (map == MAP_FAILED) return NULL;
	const head *h = (const head *)map;
	const column_head *columns = (const column_head *)(h + 1);
	column_file *f = allocate(sizeof *f);
	f->rows = h->rows;
	f->column = allocate(h->columns * sizeof *f->column);
	for (uint32_t i = 0; i < h->columns; i++) {
		const column_head *c = &columns[i];
		const char *nulls = c->flags & 1 ? map + c->nulls : NULL;
		f->column[i] = (column){(column_type)c->type, (const uint8_t *)nulls, (const int64_t *)(map + c->values), map + c->bytes};
	}
	return f;
}
