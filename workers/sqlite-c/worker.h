// What the files of this worker share.
#ifndef WORKER_H
#define WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef ASSAY_SQLITE_HEADER
#define ASSAY_SQLITE_HEADER <sqlite3.h>
#endif
#include ASSAY_SQLITE_HEADER

// An error as the protocol has it. fail fills it in and returns false.
typedef struct {
	const char *code; // unsupported, invalid or failed
	char message[2048];
} error;

#define UNSUPPORTED "unsupported"
#define INVALID "invalid"
#define FAILED "failed"

bool fail(error *e, const char *code, const char *format, ...) __attribute__((format(printf, 3, 4)));

// Memory that cannot be had ends the worker: nothing could be measured. What belongs to
// operations and connections is not freed: the worker ends when it has closed them.
void *allocate(size_t bytes);
char *copy_text(const char *text);

// clock_now is nanoseconds since an arbitrary moment, monotonic.
int64_t clock_now(void);

#endif
