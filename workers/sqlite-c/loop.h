// The measured loop of a window, in C: SQLite is called as a program in C calls it, and
// Go calls C once for each client of a window.
#ifndef LOOP_H
#define LOOP_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#if __has_include("sqlite3.h") // which a build puts here
#include "sqlite3.h"
#else
#include <sqlite3-binding.h> // in the module, for go vet
#endif

// LIKE is the driver whose compile options SQLite is compiled with; empty: its own.
#ifndef ASSAY_LIKE
#define ASSAY_LIKE
#endif
#define TEXT(x) #x
#define TEXT_OF(x) TEXT(x)
#define LIKE TEXT_OF(ASSAY_LIKE)

enum { MESSAGE = 512, MOST_ERRORS = 1000 };

// Columns are read as these; the number of a type in column files.
enum { VALUE_INT = 1, VALUE_REAL, VALUE_TEXT, VALUE_BLOB, VALUE_BOOL };

typedef struct {
	int type;
	bool nullable;
} returned;

typedef struct {
	char *sql;
	bool script, query;
	int args, first; // first: column of the trace with the first argument
	returned *returns;
	int columns;
} step;

// turns lends out connections one at a time: whoever finds none free waits.
typedef struct {
	pthread_mutex_t lock;
	pthread_cond_t free;
	int *places;
	int count; // of places that are free
} turns;

typedef struct {
	step *steps; // behind the operation's own: BEGIN and COMMIT, where it is a transaction
	int step_count;
	sqlite3 **connections;
	sqlite3_stmt **statements; // of each connection: one for each step; NULL: compile for each execution
	turns *turns;              // NULL: a client has the connection of its number
	const unsigned char *trace;
	int64_t transaction, rows; // rows of a unit; -1: any number
	bool changes, deferred;
} operation;

// Phases of a statement's execution, in their order.
enum { PHASE_PREPARE, PHASE_BIND, PHASE_NEXT, PHASE_SCAN, PHASE_CLOSE_ROWS, PHASE_CLOSE_STMT, PHASE_COUNT };

typedef struct {
	int64_t last;
	int64_t nanos[PHASE_COUNT], count[PHASE_COUNT];
} phases;

// share is what one client did.
typedef struct {
	int64_t done, executed, busy, stale, misses, failed;
	int64_t before, last, last_right; // of the last draw
	int64_t left;                     // when nothing more was to be drawn
	char miss[MESSAGE], error[MESSAGE]; // the first ones
	uint32_t *histogram;              // NULL: not asked for
	char *buffer;                     // where texts and blobs are read into
	size_t room;
	char apart[128];
} share;

// window is what its clients share. What all of them write to is apart from the rest.
typedef struct {
	operation *parts; // one, or those of a mix
	const unsigned char *mix; // the trace that says which; NULL: there is one
	int clients;
	bool retry_busy;
	int64_t first, length, units, least, batch, nanos; // nanos 0: as many units as are asked for
	int64_t began, unix_time, deadline;
	phases *phases; // NULL: not timed
	share *shares;
	int arrived, running;
	int64_t errors;
	char before[128];
	int64_t next;
	char after[128];
} window;

// bind_text and bind_blob bind a copy, for what is not measured.
static inline int bind_text(sqlite3_stmt *s, int i, const char *text, int length) { return sqlite3_bind_text(s, i, text, length, SQLITE_TRANSIENT); }
static inline int bind_blob(sqlite3_stmt *s, int i, const void *data, int length) { return sqlite3_bind_blob(s, i, data, length, SQLITE_TRANSIENT); }

double clock_cost(void); // ns of one reading
void turns_start(turns *t, int count);
void window_client(window *w, int client);

#endif
