#include "measure.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "counters.h"

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
	char (*digests)[65]; // of the units' answers; NULL while measuring
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
			if (s->result.told != NULL && !wrong) operation_digest(s->result.told, s->result.answers, l->digests[from + i]);
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

static void put_first(out *o, const char *name, const char *text) {
	if (*text == 0) return;
	put(o, ",\"%s\":", name);
	put_text(o, text);
}

static void put_histogram(out *o, const share *shares, int count) {
	put(o, ",\"histogram\":[");
	const char *comma = "";
	for (int i = 0; i < BUCKETS; i++) {
		int64_t n = 0;
		for (int k = 0; k < count; k++) n += shares[k].histogram[i];
		if (n == 0) continue;
		put(o, "%s[%" PRId64 ",%" PRId64 "]", comma, upper(i), n);
		comma = ",";
	}
	put(o, "]");
}

static void put_digests(out *o, const lap *l) {
	put(o, ",\"digests\":[");
	for (int64_t i = 0; i < l->units; i++) put(o, "%s\"%s\"", i > 0 ? "," : "", l->digests[i]);
	put(o, "]");
}

static double clock_cost(void) {
	enum { READINGS = 100000 };
	int64_t began = clock_now();
	for (int i = 0; i < READINGS; i++) clock_now();
	return (double)(clock_now() - began) / READINGS;
}

static void put_phases(out *o, const phases *p) {
	static const char *const names[] = {"prepare", "bind", "next", "scan", "close-rows", "close-stmt"};
	const char *comma = "";
	put(o, ",\"phases\":[");
	for (int i = 0; i < PHASE_COUNT; i++) {
		if (p->sums[i].count == 0) continue;
		put(o, "%s{\"name\":\"%s\",\"ns\":%" PRId64 ",\"count\":%" PRId64 "}", comma, names[i], p->sums[i].nanos, p->sums[i].count);
		comma = ",";
	}
	put(o, "],\"clock_ns\":%.3f", clock_cost());
}

// put_measured adds the clients' shares. The measured time runs from the moment
// when all clients were running to that when the first one stopped. What ends
// later counts by the part of its time that lies inside.
static void put_measured(out *o, const lap *l, const share *shares, counters c) {
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
	put(o, "{\"operations\":%" PRId64 ",\"nanos\":%" PRId64 ",\"began_ns\":%" PRId64 ",\"executed\":%" PRId64, operations, end - l->began, l->unix_time, executed);
	put(o, ",\"errors\":%" PRId64 ",\"misses\":%" PRId64 ",\"busy\":%" PRId64 ",\"stale\":%" PRId64, errors, misses, busy, stale);
	put_first(o, "error", error);
	put_first(o, "miss", miss);
	put(o, ",\"counters\":");
	put_counters(o, c);
	if (l->client_count == 1) put_delay(o, c);
	if (l->latency) put_histogram(o, shares, l->client_count);
	if (l->phases != NULL) put_phases(o, l->phases);
	if (l->digests != NULL) put_digests(o, l);
	put(o, "}");
}

static bool new_lap(lap *l, operation *op, const json *request, error *e) {
	int64_t nanos = json_int(request, "nanos", e), operations = json_int(request, "operations", e), start = json_int(request, "start", e);
	int64_t batch = json_int(request, "batch", e);
	bool timed = json_bool(request, "phases", e), tells = json_bool(request, "answers", e);
	l->latency = json_bool(request, "latency", e);
	if (e->code != NULL) return false;
	if ((nanos > 0) == (operations > 0)) return fail(e, INVALID, "measure wants nanos or operations, one of them");
	if (start < 0 || start % op->unit != 0 || operations % op->unit != 0) {
		return fail(e, INVALID, "start %" PRId64 ", operations %" PRId64 ": want whole transactions of %" PRId64, start, operations, op->unit);
	}
	if (timed && (op->clients != 1 || op->part_count > 0 || op->changes)) return fail(e, UNSUPPORTED, "phases are timed of reading operations with one client");
	if (tells && operations == 0) return fail(e, INVALID, "answers are told of a number of operations");
	if (tells && op->changes) return fail(e, UNSUPPORTED, "operation %s changes data: it has no answers", op->name);
	l->op = op;
	l->client_count = op->clients;
	l->batch = batch > 1 ? batch : 1;
	l->first = start / op->unit % op->length;
	l->window = operations > 0 ? 0 : nanos;
	l->units = operations > 0 ? operations / op->unit : INT64_MAX;
	l->least = LEAST_OPERATIONS * (int64_t)op->clients;
	l->phases = timed ? allocate(sizeof *l->phases) : NULL;
	l->digests = tells ? allocate((size_t)l->units * sizeof *l->digests) : NULL;
	return true;
}

static bool open_marks(lap *l, const json *request, error *e) {
	const char *path = json_text(request, "marks", e);
	l->marks = -1;
	if (e->code != NULL || *path == 0) return e->code == NULL;
	if (l->client_count != 1) return fail(e, INVALID, "marks of %d clients: want one client", l->client_count);
	l->marks = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	return l->marks >= 0 || fail(e, INVALID, "marks: open %s: %s", path, strerror(errno));
}

bool measure(out *o, operation *op, const json *request, error *e) {
	lap l = {0};
	if (!new_lap(&l, op, request, e)) return false;
	if (!open_marks(&l, request, e)) {
		free(l.phases);
		free(l.digests);
		return false;
	}
	share *shares = allocate((size_t)l.client_count * sizeof *shares);
	for (int i = 0; i < l.client_count; i++) {
		shares[i].lap = &l;
		shares[i].client = i;
		if (l.digests != NULL) shares[i].result.answers = allocate((size_t)operation_max_steps(op) * sizeof(answer));
		if (l.latency) shares[i].histogram = allocate(BUCKETS * sizeof(uint32_t));
	}
	counters before = counters_before();
	bool ok = run_lap(&l, shares, e);
	counters used = counters_difference(counters_after(), before);
	if (ok) put_measured(o, &l, shares, used);
	for (int i = 0; i < l.client_count; i++) {
		free(shares[i].histogram);
		free(shares[i].result.buffer);
		free(shares[i].result.answers);
	}
	free(shares);
	free(l.phases);
	free(l.digests);
	if (l.marks >= 0) close(l.marks);
	return ok;
}
