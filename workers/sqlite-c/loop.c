#define _GNU_SOURCE // clocks, also where the flags ask for strict C
#include "loop.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const int64_t busy_patience = 10 * (int64_t)1000000000;

static int64_t clock_now(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

double clock_cost(void) {
	enum { READINGS = 100000 };
	int64_t began = clock_now();
	for (int i = 0; i < READINGS; i++) clock_now();
	return (double)(clock_now() - began) / READINGS;
}

void turns_start(turns *t, int count) {
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->free, NULL);
	t->places = malloc((size_t)count * sizeof *t->places);
	if (t->places == NULL) abort();
	for (t->count = 0; t->count < count; t->count++) t->places[t->count] = t->count;
}

static int take(turns *t) {
	pthread_mutex_lock(&t->lock);
	while (t->count == 0) pthread_cond_wait(&t->free, &t->lock);
	int place = t->places[--t->count];
	pthread_mutex_unlock(&t->lock);
	return place;
}

static void give(turns *t, int place) {
	pthread_mutex_lock(&t->lock);
	t->places[t->count++] = place;
	pthread_cond_signal(&t->free);
	pthread_mutex_unlock(&t->lock);
}

// column is one of a column file, whose layout docs/protocol.md has. Go has checked the
// file.
typedef struct {
	uint32_t type, flags;
	uint64_t nulls, values, bytes; // offsets in the file
} column;

enum { FILE_HEADER = 24 };

static const column *column_of(const unsigned char *file, int i) { return (const column *)(file + FILE_HEADER) + i; }

static const int64_t *value_at(const unsigned char *file, const column *c, int64_t row) {
	return (const int64_t *)(file + c->values) + row;
}

// result is what came of a unit: rows, and where it went wrong, why.
typedef enum { DONE, BUSY, MISSED, BROKEN } outcome;

typedef struct {
	outcome outcome;
	int64_t rows;
	int steps;  // that were done
	bool stale; // a deferred transaction had read, and came too late to change
	char message[MESSAGE];
	share *share;
	phases *phases;
} result;

static inline void end_phase(phases *p, int which) {
	if (p == NULL) return;
	int64_t now = clock_now();
	p->nanos[which] += now - p->last;
	p->count[which]++;
	p->last = now;
}

// bind hands over the arguments. Texts and blobs stay in the mapped trace.
static int bind(const operation *o, const step *s, sqlite3_stmt *statement, int64_t row) {
	int rc = SQLITE_OK;
	for (int i = 0; i < s->args && rc == SQLITE_OK; i++) {
		const column *c = column_of(o->trace, s->first + i);
		const int64_t *value = value_at(o->trace, c, row);
		const char *bytes = (const char *)o->trace + c->bytes;
		if ((c->flags & 1) != 0 && (o->trace[c->nulls + (uint64_t)(row >> 3)] >> (row & 7) & 1) != 0) {
			rc = sqlite3_bind_null(statement, i + 1);
		} else if (c->type == VALUE_REAL) {
			double real;
			memcpy(&real, value, sizeof real);
			rc = sqlite3_bind_double(statement, i + 1, real);
		} else if (c->type == VALUE_TEXT) {
			rc = sqlite3_bind_text(statement, i + 1, bytes + value[0], (int)(value[1] - value[0]), SQLITE_STATIC);
		} else if (c->type == VALUE_BLOB) {
			rc = sqlite3_bind_blob(statement, i + 1, bytes + value[0], (int)(value[1] - value[0]), SQLITE_STATIC);
		} else {
			rc = sqlite3_bind_int64(statement, i + 1, *value);
		}
	}
	return rc;
}

static void read_bytes(share *s, const void *data, int length) {
	if ((size_t)length > s->room) {
		s->room = 2 * (size_t)length;
		s->buffer = realloc(s->buffer, s->room);
		if (s->buffer == NULL) abort();
	}
	if (length > 0) memcpy(s->buffer, data, (size_t)length);
}

// null reports whether a column holds NULL. To ask costs as much as to read a value: only
// what reads as zero is asked for where NULL is not expected.
static bool null(sqlite3_stmt *row, int column) { return sqlite3_column_type(row, column) == SQLITE_NULL; }

// scan reads every column as its declared type. Texts and blobs are copied out,
// as a program must that uses them after the next step. It reports whether
// NULLs are where they may be.
static bool scan(const step *s, sqlite3_stmt *row, share *to) {
	volatile int64_t whole; // or the compiler could leave the reading out
	volatile double real;
	for (int i = 0; i < s->columns; i++) {
		const void *data;
		bool zero = false;
		if (s->returns[i].nullable && null(row, i)) continue;
		switch (s->returns[i].type) {
		case VALUE_REAL:
			real = sqlite3_column_double(row, i);
			zero = real == 0;
			break;
		case VALUE_TEXT:
			data = sqlite3_column_text(row, i);
			read_bytes(to, data, sqlite3_column_bytes(row, i));
			zero = data == NULL;
			break;
		case VALUE_BLOB:
			data = sqlite3_column_blob(row, i);
			read_bytes(to, data, sqlite3_column_bytes(row, i));
			zero = data == NULL;
			break;
		default:
			whole = sqlite3_column_int64(row, i);
			zero = whole == 0;
		}
		if (zero && !s->returns[i].nullable && null(row, i)) return false;
	}
	return true;
}

static void broken(result *r, sqlite3 *db, int rc) {
	int primary = rc & 0xff;
	r->outcome = primary == SQLITE_BUSY || primary == SQLITE_LOCKED ? BUSY : BROKEN;
	snprintf(r->message, sizeof r->message, "%s", sqlite3_errmsg(db));
}

// execute steps through all rows.
static int execute(const operation *o, const step *s, sqlite3 *db, sqlite3_stmt *statement, int64_t row, result *r) {
	int rc = bind(o, s, statement, row);
	end_phase(r->phases, PHASE_BIND);
	if (rc != SQLITE_OK) return rc;
	while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
		end_phase(r->phases, PHASE_NEXT);
		if (!s->query) continue;
		r->rows++;
		if (!scan(s, statement, r->share)) {
			r->outcome = BROKEN;
			snprintf(r->message, sizeof r->message, "NULL in a column that is declared to have none");
			return SQLITE_DONE;
		}
		end_phase(r->phases, PHASE_SCAN);
	}
	end_phase(r->phases, PHASE_NEXT);
	if (rc == SQLITE_DONE && !s->query) r->rows += sqlite3_changes(db);
	return rc;
}

static void run_script(const step *s, sqlite3 *db, result *r) {
	int rc = sqlite3_exec(db, s->sql, NULL, NULL, NULL);
	if (rc != SQLITE_OK) broken(r, db, rc);
}

static void run_step(const operation *o, int connection, int i, int64_t row, result *r) {
	const step *s = &o->steps[i];
	sqlite3 *db = o->connections[connection];
	sqlite3_stmt *statement = NULL;
	int rc = SQLITE_OK;
	bool each = o->statements == NULL;
	if (s->script) {
		run_script(s, db, r);
		return;
	}
	if (each) {
		rc = sqlite3_prepare_v2(db, s->sql, -1, &statement, NULL);
		end_phase(r->phases, PHASE_PREPARE);
	} else {
		statement = o->statements[connection * (o->step_count + 2) + i];
	}
	if (rc == SQLITE_OK) rc = execute(o, s, db, statement, row, r);
	if (rc != SQLITE_OK && rc != SQLITE_DONE) broken(r, db, rc);
	sqlite3_reset(statement);
	end_phase(r->phases, PHASE_CLOSE_ROWS);
	if (each) {
		sqlite3_finalize(statement);
		end_phase(r->phases, PHASE_CLOSE_STMT);
	}
}

static void run_steps(const operation *o, int connection, int64_t row, result *r) {
	for (int i = 0; i < o->step_count && r->outcome == DONE; i++) {
		run_step(o, connection, i, row, r);
		if (r->outcome == DONE) r->steps++;
	}
}

// control runs BEGIN or COMMIT, which change no rows.
static bool control(const operation *o, int connection, int i, result *r) {
	int64_t rows = r->rows;
	phases *timed = r->phases;
	r->phases = NULL;
	run_step(o, connection, i, 0, r);
	r->phases = timed;
	r->rows = rows;
	return r->outcome == DONE;
}

static void run_transaction(const operation *o, int connection, int64_t position, result *r) {
	if (!control(o, connection, o->step_count, r)) return;
	for (int64_t i = 0; i < o->transaction && r->outcome == DONE; i++) run_steps(o, connection, position * o->transaction + i, r);
	// A step before it has read, or the transaction would have the lock already.
	r->stale = r->outcome == BUSY && o->deferred && r->steps > 0;
	if (r->outcome == DONE && control(o, connection, o->step_count + 1, r)) return;
	sqlite3_exec(o->connections[connection], "ROLLBACK", NULL, NULL, NULL);
	r->rows = 0;
}

// run runs a unit on one connection. Where an earlier step has changed data
// outside of a transaction, "busy" is no answer to be tried again.
static void run(const operation *o, int connection, int64_t position, result *r) {
	if (o->transaction > 0) {
		run_transaction(o, connection, position, r);
		return;
	}
	run_steps(o, connection, position, r);
	if (r->outcome == BUSY && o->changes && r->rows > 0) r->outcome = BROKEN;
}

static void check_rows(const operation *o, result *r) {
	if (r->outcome != DONE || o->rows < 0 || r->rows == o->rows) return;
	r->outcome = MISSED;
	snprintf(r->message, sizeof r->message, "%lld rows, expected are %lld", (long long)r->rows, (long long)o->rows);
}

// unit does the operation at a position for a client.
static void unit(const window *w, int client, int64_t position, result *r) {
	const operation *o = w->parts;
	r->outcome = DONE;
	r->rows = r->steps = 0;
	r->stale = false;
	if (r->phases != NULL) r->phases->last = clock_now();
	if (w->mix != NULL) {
		o += *value_at(w->mix, column_of(w->mix, 0), position);
		position = *value_at(w->mix, column_of(w->mix, 1), position);
	}
	int connection = o->turns == NULL ? client : take(o->turns);
	run(o, connection, position, r);
	if (o->turns != NULL) give(o->turns, connection);
	check_rows(o, r);
}

// barrier holds a client until all of them run.
static int64_t barrier(window *w) {
	if (__atomic_add_fetch(&w->arrived, 1, __ATOMIC_SEQ_CST) == w->clients) {
		struct timespec now;
		clock_gettime(CLOCK_REALTIME, &now);
		w->unix_time = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
		w->began = clock_now();
		w->deadline = w->nanos > 0 ? w->began + w->nanos : INT64_MAX;
		__atomic_store_n(&w->running, 1, __ATOMIC_SEQ_CST);
		return w->began;
	}
	while (!__atomic_load_n(&w->running, __ATOMIC_SEQ_CST)) sched_yield();
	return clock_now();
}

static void count_busy(const result *r) {
	r->share->busy++;
	r->share->stale += r->stale;
}

static void retry(const window *w, int client, int64_t position, result *r) {
	int64_t began = clock_now();
	do {
		count_busy(r);
		unit(w, client, position, r);
		if (r->outcome != BUSY) return;
		sched_yield();
	} while (clock_now() - began <= busy_patience);
}

static void note(int64_t *count, char *first, const char *message) {
	if ((*count)++ == 0) strcpy(first, message);
}

// trouble handles what did not end right, and reports whether it did after
// trying again.
static bool trouble(window *w, int client, int64_t position, result *r) {
	if (r->outcome == BUSY && w->retry_busy) {
		retry(w, client, position, r);
	} else if (r->outcome == BUSY) {
		count_busy(r);
	}
	if (r->outcome == DONE) return true;
	if (__atomic_add_fetch(&w->errors, 1, __ATOMIC_SEQ_CST) >= MOST_ERRORS) __atomic_store_n(&w->next, INT64_MAX / 2, __ATOMIC_SEQ_CST);
	if (r->outcome == MISSED) {
		note(&r->share->misses, r->share->miss, r->message);
	} else {
		note(&r->share->failed, r->share->error, r->message);
	}
	return false;
}

// bucket is that of wire.Histogram.
static int bucket(int64_t v) {
	if (v < 128) return v < 0 ? 0 : (int)v;
	if (v > ((int64_t)1 << 41) - 1) v = ((int64_t)1 << 41) - 1;
	int shift = 63 - __builtin_clzll((unsigned long long)v) - 7;
	return shift * 128 + (int)(v >> shift);
}

// window_client is the measured loop: draw a position, do the operation, read the
// clock.
void window_client(window *w, int client) {
	share *s = &w->shares[client];
	result r = {.share = s, .phases = w->phases};
	int64_t previous = barrier(w);
	for (;;) {
		int64_t from = __atomic_fetch_add(&w->next, w->batch, __ATOMIC_SEQ_CST);
		if (from >= w->units || from >= INT64_MAX / 2 || (previous >= w->deadline && from >= w->least)) {
			s->left = w->clients > 1 ? clock_now() : previous; // others may have worked on since then
			return;
		}
		int64_t position = (w->first + from) % w->length;
		int64_t n = w->batch < w->units - from ? w->batch : w->units - from, right = n;
		for (int64_t i = 0; i < n; i++) {
			unit(w, client, position, &r);
			right -= r.outcome != DONE && !trouble(w, client, position, &r);
			if (++position == w->length) position = 0;
		}
		int64_t now = clock_now();
		if (s->histogram != NULL && right == n) s->histogram[bucket((now - previous) / n)]++;
		s->executed += n;
		s->done += right;
		s->before = previous;
		s->last = now;
		s->last_right = right;
		previous = now;
	}
}
