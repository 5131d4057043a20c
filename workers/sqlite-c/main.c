// Worker sqlite-c: SQLite's own C API, without a driver.
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "counters.h"
#include "measure.h"

enum { PROTOCOL = 1, LONGEST_LINE = 4194304 };

bool fail(error *e, const char *code, const char *format, ...) {
	va_list args;
	va_start(args, format);
	vsnprintf(e->message, sizeof e->message, format, args);
	va_end(args);
	e->code = code;
	return false;
}

void *allocate(size_t bytes) {
	void *memory = calloc(1, bytes == 0 ? 1 : bytes);
	if (memory == NULL) {
		fprintf(stderr, "no memory for %zu bytes\n", bytes);
		exit(1);
	}
	return memory;
}

char *copy_text(const char *text) { return strcpy(allocate(strlen(text) + 1), text); }

char *format_text(const char *format, ...) {
	va_list args;
	va_start(args, format);
	int n = vsnprintf(NULL, 0, format, args);
	va_end(args);
	char *text = allocate((size_t)n + 1);
	va_start(args, format);
	vsnprintf(text, (size_t)n + 1, format, args);
	va_end(args);
	return text;
}

int64_t clock_now(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// session is what the worker knows between requests.
typedef struct {
	database *db;
	operation **operations;
	size_t operation_count;
	bool closed;
} session;

static bool need_database(const session *s, error *e) { return s->db != NULL || fail(e, INVALID, "no database is open"); }

static operation *find(const session *s, const char *name) {
	for (size_t i = 0; i < s->operation_count; i++) {
		if (strcmp(s->operations[i]->name, name) == 0) return s->operations[i];
	}
	return NULL;
}

static bool do_open(session *s, const json *request, out *body, error *e) {
	if (s->db != NULL) return fail(e, INVALID, "a database is open already");
	if ((s->db = database_open(request, e)) == NULL) return false;
	put_opened(body, s->db);
	return true;
}

static bool do_settings(session *s, const json *request, out *body, error *e) {
	const json *names = json_list(request, "names", e);
	return e->code == NULL && need_database(s, e) && put_settings(body, s->db, names, e);
}

static bool do_prepare(session *s, const json *request, out *body, error *e) {
	const json *spec = json_object(request, "operation", e);
	int64_t clients = json_int(request, "clients", e);
	const char *name = json_text(spec, "name", e);
	if (e->code != NULL || !need_database(s, e)) return false;
	if (clients < 1 || clients > 100000) return fail(e, INVALID, "%" PRId64 " clients", clients);
	if (find(s, name) != NULL) return fail(e, INVALID, "operation %s is prepared already", name);
	operation *o = allocate(sizeof *o);
	if (!operation_prepare(o, s->db, spec, (int)clients, e)) {
		operation_close(o);
		free(o);
		return false;
	}
	s->operations = realloc(s->operations, (s->operation_count + 1) * sizeof *s->operations);
	if (s->operations == NULL) abort();
	s->operations[s->operation_count++] = o;
	put(body, "{\"query_plan\":");
	put_text(body, o->query_plan);
	put(body, "}");
	return true;
}

static operation *named(const session *s, const json *request, error *e) {
	const char *name = json_text(request, "operation", e);
	operation *o = e->code == NULL ? find(s, name) : NULL;
	if (o == NULL && e->code == NULL) fail(e, INVALID, "operation %s is not prepared", name);
	return o;
}

static bool do_measure(session *s, const json *request, out *body, error *e) {
	operation *o = named(s, request, e);
	return o != NULL && measure(body, o, request, e);
}

static void put_digest(out *body, const char *hex, int64_t rows) {
	put(body, "{\"digest\":\"%s\",\"rows\":%" PRId64 "}", hex, rows);
}

static bool verify_query(session *s, const json *request, out *body, error *e) {
	const json *returns = json_list(request, "returns", e);
	const char *sql = json_text(request, "sql", e);
	if (e->code != NULL || !need_database(s, e)) return false;
	size_t columns = returns == NULL ? 0 : returns->count;
	returned *types = allocate((columns + 1) * sizeof *types);
	answer a;
	char hex[65];
	answer_start(&a);
	bool ok = true;
	for (size_t i = 0; i < columns && ok; i++) {
		const json *type = &returns->items[i];
		ok = (type->kind == JSON_TEXT && returned_parse(type->text, &types[i])) || fail(e, INVALID, "returns: want int, real, text, blob or bool");
	}
	ok = ok && query_answer(s->db, sql, types, (int)columns, &a, e);
	free(types);
	if (!ok) return false;
	sha256_hex(&a.hash, hex);
	put_digest(body, hex, a.rows);
	return true;
}

static bool verify_operation(operation *o, const json *request, out *body, error *e) {
	int64_t start = json_int(request, "start", e), count = json_int(request, "count", e), positions = o->length * o->unit;
	if (e->code != NULL) return false;
	if (start < 0 || count < 0) return fail(e, INVALID, "verify of %" PRId64 " positions from %" PRId64 " on", count, start);
	int answering = 0;
	answer *answers = allocate((size_t)(o->step_count + 1) * sizeof *answers);
	for (int i = 0; i < o->step_count; i++) {
		answer_start(&answers[i]);
		answering += o->steps[i].query;
	}
	bool ok = (answering > 0 && !o->changes) || fail(e, UNSUPPORTED, "operation %s returns no rows, or changes data: what it did is verified with SQL", o->name);
	for (int64_t i = 0; i < count && ok; i++) ok = operation_answer(o, (start % positions + i) % positions, answers, e);
	char hex[65];
	if (ok) put_digest(body, hex, operation_digest(o, answers, hex));
	free(answers);
	return ok;
}

static bool do_verify(session *s, const json *request, out *body, error *e) {
	if (*json_text(request, "operation", e) == 0) return e->code == NULL && verify_query(s, request, body, e);
	operation *o = named(s, request, e);
	return o != NULL && verify_operation(o, request, body, e);
}

static bool do_stats(session *s, const json *request, out *body, error *e) {
	(void)s, (void)request, (void)e;
	put_counters(body, counters_after());
	return true;
}

static bool close_database(session *s, error *e) {
	for (size_t i = 0; i < s->operation_count; i++) {
		operation_close(s->operations[i]);
		free(s->operations[i]);
	}
	free(s->operations);
	s->operations = NULL;
	s->operation_count = 0;
	bool ok = s->db == NULL || database_close(s->db, e);
	s->db = NULL;
	return ok;
}

static bool do_close(session *s, const json *request, out *body, error *e) {
	(void)request;
	s->closed = true;
	int64_t began = clock_now();
	bool ok = close_database(s, e);
	put(body, "{\"nanos\":%" PRId64 "}", clock_now() - began);
	return ok;
}

static bool handle(session *s, const char *type, const json *request, out *body, error *e) {
	static const struct { const char *type; bool (*handle)(session *, const json *, out *, error *); } known[] = {
		{"open", do_open}, {"settings", do_settings}, {"prepare", do_prepare}, {"measure", do_measure},
		{"verify", do_verify}, {"stats", do_stats}, {"close", do_close},
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (strcmp(type, known[i].type) == 0) return known[i].handle(s, request, body, e);
	}
	return fail(e, UNSUPPORTED, "this worker does not know the request \"%s\"", type);
}

static void reply(int64_t id, bool ok, const out *body, const error *e) {
	out line = {0};
	if (ok) {
		put(&line, "{\"type\":\"ok\",\"id\":%" PRId64 ",\"body\":%s}\n", id, body->length == 0 ? "{}" : body->text);
	} else {
		put(&line, "{\"type\":\"error\",\"id\":%" PRId64 ",\"code\":\"%s\",\"definite\":%s,\"message\":", id, e->code, e->code == (const char *)FAILED || strcmp(e->code, FAILED) == 0 ? "false" : "true");
		put_text(&line, *e->message == 0 ? "no message" : e->message);
		put(&line, "}\n");
	}
	fwrite(line.text, 1, line.length, stdout);
	fflush(stdout);
	free(line.text);
}

static void answer_line(session *s, const char *text, size_t length) {
	error e = {0};
	out body = {0};
	json *request = json_parse(text, length);
	bool ok = (request != NULL && request->kind == JSON_OBJECT) || fail(&e, INVALID, "not a request");
	int64_t id = ok ? json_int(request, "id", &e) : 0;
	const char *type = ok ? json_text(request, "type", &e) : "";
	ok = ok && e.code == NULL && (id > 0 || fail(&e, INVALID, "a request without an id")) && handle(s, type, request, &body, &e);
	reply(id, ok, &body, &e);
	json_free(request);
	free(body.text);
}

#ifdef ASSAY_LIKE
#define LIKE "+" ASSAY_LIKE
#else
#define LIKE ""
#endif

static void put_fact(out *o, const char *comma, const char *name, const char *value) {
	put(o, "%s\"%s\":", comma, name);
	put_text(o, value);
}

static void hello(void) {
	out o = {0};
	put(&o, "{\"type\":\"hello\",\"protocol\":%d,\"target\":{\"driver\":\"sqlite-c\",\"driver_version\":", PROTOCOL);
	char *version = format_text("%s%s", sqlite3_libversion(), LIKE);
	put_text(&o, version);
	put(&o, ",\"engine\":\"sqlite\",\"engine_version\":");
	put_text(&o, sqlite3_libversion());
	put(&o, ",\"facts\":{");
	put_fact(&o, "", "api", "C");
	put_fact(&o, ",", "cgo", "false");
	put_fact(&o, ",", "compiler", __VERSION__);
	put_fact(&o, ",", "floor", "true");
	put_fact(&o, ",", "pool", "none: a connection per client; taken in turn where clients are more");
	put_fact(&o, ",", "source_id", sqlite3_sourceid());
	put_fact(&o, ",", "statement_cache", "none");
	put_fact(&o, ",", "uncounted", "B/op and allocs/op: there is no heap of a language");
	put(&o, "},\"compile_options\":[");
#ifndef SQLITE_OMIT_COMPILEOPTION_DIAGS
	const char *option;
	for (int i = 0; (option = sqlite3_compileoption_get(i)) != NULL; i++) {
		put(&o, i == 0 ? "" : ",");
		put_text(&o, option);
	}
#endif
	put(&o, "]},\"capabilities\":[\"sql\",\"answers\"]}\n");
	fwrite(o.text, 1, o.length, stdout);
	fflush(stdout);
	free(version);
	free(o.text);
}

// serve answers lines until the input ends or a close request was answered.
static int serve(session *s) {
	char *line = NULL;
	size_t room = 0;
	ssize_t n = 0;
	int status = 0;
	while (!s->closed && (n = getline(&line, &room, stdin)) > 0) {
		if (line[n - 1] != '\n' || n > LONGEST_LINE) {
			fprintf(stderr, "a line ends in the middle, or is longer than %d bytes\n", LONGEST_LINE);
			status = 1;
			break;
		}
		answer_line(s, line, (size_t)n - 1);
	}
	free(line);
	return status;
}

int main(void) {
	if (sqlite3_initialize() != SQLITE_OK) { // some builds leave it to the program
		fprintf(stderr, "sqlite3_initialize failed\n");
		return 1;
	}
	hello();
	session s = {0};
	int status = serve(&s);
	error e = {0};
	if (!close_database(&s, &e)) {
		fprintf(stderr, "%s\n", e.message);
		status = 1;
	}
	return status;
}
