// Worker sqlite-c: SQLite's own C API, without a driver.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "counters.h"
#include "json.h"
#include "measure.h"

enum { LONGEST_LINE = 4194304 };

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

int64_t clock_now(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// session is what the worker knows between requests.
typedef struct {
	database db;
	operation *operations; // the newest first
	bool closed;
} session;

static bool prepare(session *s, const char *request, error *e) {
	sqlite3_stmt *r = json_row("SELECT json_extract(?1, '$.operation'), json_extract(?1, '$.clients')", request);
	operation *o = allocate(sizeof *o);
	bool ok = operation_prepare(o, &s->db, json_text(r, 0), sqlite3_column_int(r, 1), e);
	sqlite3_finalize(r);
	if (!ok) return false;
	o->next = s->operations;
	s->operations = o;
	return true;
}

// run does what is asked of a prepared operation.
static bool run(const session *s, const char *type, const char *request, sqlite3_str *body, error *e) {
	sqlite3_stmt *r = json_row("SELECT json_extract(?1, '$.operation')", request);
	operation *o = s->operations;
	while (o != NULL && strcmp(o->name, json_text(r, 0)) != 0) o = o->next;
	if (o == NULL) fail(e, INVALID, "operation %s is not prepared", json_text(r, 0));
	sqlite3_finalize(r);
	return o != NULL && (*type == 'm' ? measure(body, o, request, e) : verify(o, request, e));
}

static bool close_all(session *s, sqlite3_str *body, error *e) {
	int64_t began = clock_now();
	s->closed = true;
	bool ok = database_close(&s->db, e);
	sqlite3_str_appendf(body, "{\"nanos\":%lld}", clock_now() - began);
	return ok;
}

static bool handle(session *s, const char *type, const char *request, sqlite3_str *body, error *e) {
	if (strcmp(type, "open") == 0) return database_open(&s->db, request, body, e);
	if (strcmp(type, "query") == 0) return database_query(&s->db, request, e);
	if (strcmp(type, "prepare") == 0) return prepare(s, request, e);
	if (strcmp(type, "measure") == 0 || strcmp(type, "verify") == 0) return run(s, type, request, body, e);
	if (strcmp(type, "close") == 0) return close_all(s, body, e);
	if (strcmp(type, "stats") != 0) return fail(e, UNSUPPORTED, "this worker does not know the request \"%s\"", type);
	put_counters(body, counters_after());
	return true;
}

static void send(sqlite3_str *line) {
	sqlite3_str_appendchar(line, 1, '\n');
	fwrite(sqlite3_str_value(line), 1, (size_t)sqlite3_str_length(line), stdout);
	fflush(stdout);
	sqlite3_free(sqlite3_str_finish(line));
}

static void reply(int64_t id, bool ok, const char *body, const error *e) {
	sqlite3_str *line = sqlite3_str_new(NULL);
	if (ok) {
		sqlite3_str_appendf(line, "{\"type\":\"ok\",\"id\":%lld,\"body\":%s}", id, body == NULL ? "{}" : body);
	} else {
		sqlite3_str_appendf(line, "{\"type\":\"error\",\"id\":%lld,\"code\":\"%s\",\"definite\":%s,\"message\":", id, e->code, strcmp(e->code, FAILED) == 0 ? "false" : "true");
		put_text(line, *e->message == 0 ? "no message" : e->message);
		sqlite3_str_appendall(line, "}");
	}
	send(line);
}

static void answer_line(session *s, const char *text) {
	error e = {0};
	sqlite3_str *body = sqlite3_str_new(NULL);
	sqlite3_stmt *r = json_row("SELECT json_extract(?1, '$.id'), json_extract(?1, '$.type')", text);
	int64_t id = sqlite3_column_int64(r, 0);
	bool ok = id > 0 ? handle(s, json_text(r, 1), text, body, &e) : fail(&e, INVALID, "not a request, or one without an id");
	sqlite3_finalize(r);
	if (ok && sqlite3_str_errcode(body) != SQLITE_OK) ok = fail(&e, FAILED, "the reply is too long");
	char *content = sqlite3_str_finish(body);
	reply(id > 0 ? id : 0, ok, content, &e);
	sqlite3_free(content);
}

#ifdef ASSAY_LIKE
#define LIKE "+" ASSAY_LIKE
#else
#define LIKE ""
#endif

#ifdef SQLITE_OMIT_COMPILEOPTION_DIAGS
#define OPTIONS "json_array()"
#else
#define OPTIONS "json((SELECT json_group_array(compile_options) FROM pragma_compile_options))"
#endif

static void hello(void) {
	sqlite3_str *line = sqlite3_str_new(NULL);
	sqlite3_stmt *r = json_query("SELECT json_object('type', 'hello', 'protocol', 1, 'target', json_object("
		"'driver', 'sqlite-c', 'driver_version', sqlite_version() || ?1, 'engine', 'sqlite', 'engine_version', sqlite_version(),"
		" 'facts', json_object('api', 'C', 'cgo', 'false', 'compiler', ?2, 'floor', 'true',"
		" 'pool', 'none: a connection per client; taken in turn where clients are more', 'source_id', sqlite_source_id(),"
		" 'statement_cache', 'none', 'uncounted', 'allocs, alloc_bytes: there is no heap of a language'),"
		" 'compile_options', " OPTIONS "), 'capabilities', json_array('sql', 'query', 'answers', 'phases', 'mutex'))", LIKE);
	sqlite3_bind_text(r, 2, __VERSION__, -1, SQLITE_STATIC);
	sqlite3_step(r);
	sqlite3_str_appendall(line, json_text(r, 0));
	sqlite3_finalize(r);
	send(line);
}

// serve answers lines until the input ends or a close request was answered.
static int serve(session *s) {
	char *line = NULL;
	size_t room = 0;
	ssize_t n = 0;
	while (!s->closed && (n = getline(&line, &room, stdin)) > 0) {
		if (line[n - 1] != '\n' || n > LONGEST_LINE) {
			fprintf(stderr, "a line ends in the middle, or is longer than %d bytes\n", LONGEST_LINE);
			return 1;
		}
		answer_line(s, line);
	}
	return 0;
}

int main(void) {
	json_start();
	hello();
	session s = {0};
	int status = serve(&s);
	error e = {0};
	if (!database_close(&s.db, &e)) {
		fprintf(stderr, "%s\n", e.message);
		status = 1;
	}
	return status;
}
