#include "measure.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "counters.h"
#include "json.h"

enum {
	LEAST_OPERATIONS = 10, // of a window, for each client: work, not ramp-up
	MOST_ERRORS = 1000,    // nothing that goes on after them will be reported
	SUB_BUCKETS = 128,
	BUCKETS = (41 - 7) * SUB_BUCKETS + SUB_BUCKETS,
	STACK = 512 << 10,
};

static const int64_t busy_patience = 10 * (int64_t)1000000000;
static const int64_t largest_value = ((int64_t)1 << 41) - 1;

// lap is one measurement: what its clients share. What all of them write to is
// on a cache line of its own.
typedef struct {
	operation *op;
	phases *phases;
	int64_t batch, first, units, window, least, began, unix_time, deadline;
	int client_count, marks; // marks: descriptor that gets a byte after each right unit, -1: none
	bool latency;
	atomic_int arrived;
	atomic_bool running;
	_Atomic int64_t errors;
	_Alignas(128) _Atomic int64_t next;
	_Alignas(128) char end;
} lap;

// share is what one client did.
typedef struct {
	lap *lap;
	int client;
	result result;
	rows rows;
	int64_t done, executed, busy, stale, misses, failed;
	int64_t before, last, last_right; // of the last draw
	int64_t left;                     // when nothing more was to be drawn
	char miss[512], error[512];       // the first ones
	uint32_t *histogram;
} share;

static int bucket(int64_t v) {
	if (v < SUB_BUCKETS) return v < 0 ? 0 : (int)v;
	if (v > largest_value) v = largest_value;
	int shift = 63 - __builtin_clzll((unsigned long long)v) - 7;
	return shift * SUB_BUCKETS + (int)(v >> shift);
}

static int64_t upper(int i) {
	if (i < 2 * SUB_BUCKETS) return i;
	int shift = i / SUB_BUCKETS - 1;
	return (((int64_t)(i - shift * SUB_BUCKETS) + 1) << shift) - 1;
}

// barrier holds a client until all of them run.
static int64_t barrier(lap *l) {
	if (atomic_fetch_add(&l->arrived, 1) + 1 == l->client_count) {
		struct timespec now;
		clock_gettime(CLOCK_REALTIME, &now);
		l->unix_time = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
		l->began = clock_now();
		l->deadline = l->window > 0 ? l->began + l->window : INT64_MAX;
		atomic_store(&l->running, true);
		return l->began;
	}
	while (!atomic_load(&l->running)) sched_yield();
	return clock_now();
}

static void retry(share *s, int64_t position) {
	int64_t began = clock_now();
	do {
		s->busy++;
		s->stale += s->result.stale;
		operation_do(s->lap->op, s->client, position, &s->result, s->lap->phases);
		if (s->result.outcome != BUSY) return;
		sched_yield();
	} while (clock_now() - began <= busy_patience);
}

static void note(int64_t *count, char *first, const char *message) {
	if ((*count)++ == 0) strcpy(first, message);
}

// trouble handles what did not end right, and reports whether it did after
// trying again.
static bool trouble(share *s, int64_t position) {
	result *r = &s->result;
	if (r->outcome == BUSY && s->lap->op->retry_busy) {
		retry(s, position);
	} else if (r->outcome == BUSY) {
		s->busy++;
		s->stale += r->stale;
	}
	if (r->outcome == DONE) return true;
	if (atomic_fetch_add(&s->lap->errors, 1) + 1 >= MOST_ERRORS) atomic_store(&s->lap->next, INT64_MAX / 2);
	if (r->outcome == MISSED) {
		note(&s->misses, s->miss, r->message);
	} else {
		note(&s->failed, s->error, r->message);
	}
	return false;
}

// mark says that a unit was acknowledged, to whom traces system calls.
static void mark(share *s) {
	if (write(s->lap->marks, ".", 1) != 1) note(&s->failed, s->error, "a mark could not be written");
}

// tell writes what a unit has answered.
static void tell(share *s, int64_t unit) {
	if (!rows_write(&s->rows, unit, s->result.part)) note(&s->failed, s->error, "rows could not be written");
}

// client is the measured loop: draw a position, do the operation, read the
// clock.
static void *client(void *argument) {
	share *s = argument;
	lap *l = s->lap;
	operation *op = l->op;
	int64_t previous = barrier(l);
	for (;;) {
		int64_t from = atomic_fetch_add(&l->next, l->batch);
		if (from >= l->units || from >= INT64_MAX / 2 || (previous >= l->deadline && from >= l->least)) {
			s->left = l->client_count > 1 ? clock_now() : previous; // others may have worked on since then
			return NULL;
		}
		int64_t position = (l->first + from) % op->length;
		int64_t n = l->batch < l->units - from ? l->batch : l->units - from, right = n;
		for (int64_t i = 0; i < n; i++) {
			operation_do(op, s->client, position, &s->result, l->phases);
			bool wrong = s->result.outcome != DONE && !trouble(s, position);
			right -= wrong;
			if (l->marks >= 0 && !wrong) mark(s);
			if (s->result.told && !wrong) tell(s, position);
			if (++position == op->length) position = 0;
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

static bool start_client(share *s, pthread_t *thread) {
	pthread_attr_t attributes;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	int rc = pthread_create(thread, &attributes, client, s);
	pthread_attr_destroy(&attributes);
	return rc == 0;
}

static bool run_lap(lap *l, share *shares, error *e) {
	if (l->client_count == 1) {
		client(&shares[0]);
		return true;
	}
	pthread_t *threads = allocate((size_t)l->client_count * sizeof *threads);
	int started = 0;
	while (started < l->client_count && start_client(&shares[started], &threads[started])) started++;
	bool all = started == l->client_count;
	if (!all) { // let those that wait for the others go, to do nothing
		l->units = 0;
		atomic_store(&l->running, true);
	}
	for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
	free(threads);
	return all || fail(e, FAILED, "only %d of %d threads could be started", started, l->client_count);
}

// outside is the part of the last draw's time that lies after the end.
static double outside(const share *s, int64_t end) {
	if (s->last <= end) return 0;
	int64_t from = end > s->before ? end : s->before;
	return (double)(s->last - from) / (double)(s->last - s->before);
}

static void put_first(sqlite3_str *to, const char *name, const char *text) {
	if (*text == 0) return;
	sqlite3_str_appendf(to, ",\"%s\":", name);
	put_text(to, text);
}

static void put_histogram(sqlite3_str *to, const share *shares, int count) {
	sqlite3_str_appendall(to, ",\"histogram\":[");
	const char *comma = "";
	for (int i = 0; i < BUCKETS; i++) {
		int64_t n = 0;
		for (int k = 0; k < count; k++) n += shares[k].histogram[i];
		if (n == 0) continue;
		sqlite3_str_appendf(to, "%s[%lld,%lld]", comma, upper(i), n);
		comma = ",";
	}
	sqlite3_str_appendall(to, "]");
}

static double clock_cost(void) {
	enum { READINGS = 100000 };
	int64_t began = clock_now();
	for (int i = 0; i < READINGS; i++) clock_now();
	return (double)(clock_now() - began) / READINGS;
}

static void put_phases(sqlite3_str *to, const phases *p) {
	static const char *const names[] = {"prepare", "bind", "next", "scan", "close-rows", "close-stmt"};
	const char *comma = "";
	sqlite3_str_appendall(to, ",\"phases\":[");
	for (int i = 0; i < PHASE_COUNT; i++) {
		if (p->sums[i].count == 0) continue;
		sqlite3_str_appendf(to, "%s{\"name\":\"%s\",\"ns\":%lld,\"count\":%lld}", comma, names[i], p->sums[i].nanos, p->sums[i].count);
		comma = ",";
	}
	sqlite3_str_appendf(to, "],\"clock_ns\":%.3f", clock_cost());
}

// put_measured adds the clients' shares. The measured time runs from the moment
// when all clients were running to that when the first one stopped. What ends
// later counts by the part of its time that lies inside.
static void put_measured(sqlite3_str *to, const lap *l, const share *shares, counters c) {
	int64_t end = INT64_MAX, executed = 0, errors = 0, misses = 0, busy = 0, stale = 0;
	double units = 0;
	const char *error = "", *miss = "";
	for (int i = 0; i < l->client_count; i++) {
		if (shares[i].left < end) end = shares[i].left;
	}
	for (int i = l->client_count - 1; i >= 0; i--) {
		const share *s = &shares[i];
		units += (double)s->done - outside(s, end) * (double)s->last_right;
		executed += s->executed * l->op->unit;
		errors += s->failed;
		misses += s->misses;
		busy += s->busy;
		stale += s->stale;
		if (*s->error != 0) error = s->error;
		if (*s->miss != 0) miss = s->miss;
	}
	int64_t operations = (int64_t)(units * (double)l->op->unit + 0.5);
	sqlite3_str_appendf(to, "{\"operations\":%lld,\"nanos\":%lld,\"began_ns\":%lld,\"executed\":%lld", operations, end - l->began, l->unix_time, executed);
	sqlite3_str_appendf(to, ",\"errors\":%lld,\"misses\":%lld,\"busy\":%lld,\"stale\":%lld", errors, misses, busy, stale);
	put_first(to, "error", error);
	put_first(to, "miss", miss);
	sqlite3_str_appendall(to, ",\"counters\":");
	put_counters(to, c);
	if (l->client_count == 1) put_delay(to, c);
	if (l->latency) put_histogram(to, shares, l->client_count);
	if (l->phases != NULL) put_phases(to, l->phases);
	sqlite3_str_appendall(to, "}");
}

static bool new_lap(lap *l, operation *op, sqlite3_stmt *request, phases *timed, error *e) {
	int64_t start = sqlite3_column_int64(request, 0), operations = sqlite3_column_int64(request, 2), batch = sqlite3_column_int64(request, 3);
	const char *marks = json_text(request, 6);
	l->op = op;
	l->client_count = op->clients;
	l->batch = batch > 1 ? batch : 1;
	l->first = start / op->unit % op->length;
	l->window = operations > 0 ? 0 : sqlite3_column_int64(request, 1);
	l->units = operations > 0 ? operations / op->unit : INT64_MAX;
	l->least = LEAST_OPERATIONS * (int64_t)op->clients;
	l->latency = sqlite3_column_int(request, 4);
	l->phases = sqlite3_column_int(request, 5) ? timed : NULL;
	l->marks = *marks == 0 ? -1 : open(marks, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (l->phases != NULL && (op->clients != 1 || op->part_count > 0 || op->changes)) {
		return fail(e, UNSUPPORTED, "phases are timed of reading operations with one client");
	}
	return *marks == 0 || l->marks >= 0 || fail(e, INVALID, "marks: open %s: %s", marks, strerror(errno));
}

static bool new_share(share *s, lap *l, int client, const char *told, error *e) {
	s->lap = l;
	s->client = client;
	if (l->latency) s->histogram = allocate(BUCKETS * sizeof(uint32_t));
	if (*told == 0) return true;
	s->result.seen = &s->rows;
	return rows_open(&s->rows, told, e);
}

static void end_share(share *s) {
	if (s->rows.bytes != NULL) rows_close(&s->rows);
	free(s->histogram);
	free(s->result.buffer);
}

bool measure(sqlite3_str *body, operation *op, const char *request, error *e) {
	sqlite3_stmt *r = json_row("SELECT json_extract(?1, '$.start'), json_extract(?1, '$.nanos'), json_extract(?1, '$.operations'), json_extract(?1, '$.batch'),"
		" json_extract(?1, '$.latency'), json_extract(?1, '$.phases'), json_extract(?1, '$.marks'), json_extract(?1, '$.rows')", request);
	lap l = {0};
	phases timed = {0};
	bool ok = new_lap(&l, op, r, &timed, e);
	share *shares = allocate((size_t)l.client_count * sizeof *shares);
	for (int i = 0; i < l.client_count && ok; i++) ok = new_share(&shares[i], &l, i, json_text(r, 7), e);
	sqlite3_finalize(r);
	counters before = counters_before();
	ok = ok && run_lap(&l, shares, e);
	counters used = counters_difference(counters_after(), before);
	if (ok) put_measured(body, &l, shares, used);
	for (int i = 0; i < l.client_count; i++) end_share(&shares[i]);
	free(shares);
	if (l.marks >= 0) close(l.marks);
	return ok;
}

bool verify(operation *op, const char *request, error *e) {
	sqlite3_stmt *r = json_row("SELECT json_extract(?1, '$.start'), json_extract(?1, '$.count'), json_extract(?1, '$.rows')", request);
	int64_t start = sqlite3_column_int64(r, 0), count = sqlite3_column_int64(r, 1);
	rows told = {.whole = true};
	result result = {.seen = &told};
	bool ok = rows_open(&told, json_text(r, 2), e);
	sqlite3_finalize(r);
	if (!ok) return false;
	for (int64_t i = start; i < start + count && ok; i++) {
		operation_do(op, 0, i % op->length, &result, NULL);
		if (result.outcome == BUSY || result.outcome == BROKEN) ok = fail(e, FAILED, "%s", result.message);
		if (!rows_write(&told, 0, 0)) ok = fail(e, FAILED, "rows could not be written");
	}
	rows_close(&told);
	free(result.buffer);
	return ok;
}
