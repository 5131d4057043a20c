#include "operation.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_types(step *s, const json *returns, error *e) {
	size_t count = returns == NULL ? 0 : returns->count;
	s->types = allocate((count + 1) * sizeof *s->types);
	for (size_t i = 0; i < count; i++) {
		const json *type = &returns->items[i];
		if (type->kind != JSON_TEXT || !returned_parse(type->text, &s->types[i])) {
			return fail(e, INVALID, "type %s: want int, real, text, blob or bool", type->kind == JSON_TEXT ? type->text : "?");
		}
		s->columns++;
	}
	return true;
}

static bool read_step(operation *o, const json *spec, error *e) {
	step *s = &o->steps[o->step_count++];
	int64_t args = json_int(spec, "args", e);
	s->sql = copy_text(json_text(spec, "sql", e));
	s->script = json_bool(spec, "script", e);
	s->query = json_bool(spec, "query", e);
	s->rows = json_int(spec, "rows", e);
	const json *returns = json_list(spec, "returns", e);
	if (e->code != NULL) return false;
	if (args < 0 || args > 100000) return fail(e, INVALID, "operation %s: step %d takes %" PRId64 " arguments", o->name, o->step_count, args);
	s->args = (int)args;
	if (o->step_count > 1) s->first = s[-1].first + s[-1].args;
	return read_types(s, returns, e);
}

static bool read_steps(operation *o, const json *steps, error *e) {
	size_t count = steps == NULL ? 0 : steps->count;
	o->steps = allocate((count + 1) * sizeof *o->steps);
	for (size_t i = 0; i < count; i++) {
		if (!read_step(o, &steps->items[i], e)) return false;
		int64_t rows = o->steps[i].rows;
		o->rows = o->rows < 0 || rows < 0 ? -1 : o->rows + rows;
	}
	if (o->rows > 0) o->rows *= o->unit;
	return true;
}

static bool open_trace(operation *o, const char *path, error *e) {
	o->length = 1;
	int wanted = o->step_count == 0 ? 0 : o->steps[o->step_count - 1].first + o->steps[o->step_count - 1].args;
	if (*path != 0) {
		if ((o->trace = column_open(path, e)) == NULL) return false;
		o->length = o->trace->rows / o->unit;
	}
	int have = o->trace == NULL ? 0 : o->trace->columns;
	if (have < wanted) return fail(e, INVALID, "operation %s takes %d arguments, its trace has %d columns", o->name, wanted, have);
	if (o->length < 1) return fail(e, INVALID, "the trace of %s is shorter than one transaction", o->name);
	return true;
}

static sqlite3 **connections(const operation *o) { return o->changes ? o->db->writers : o->db->readers; }

static sqlite3_stmt *compile(sqlite3 *db, const char *sql, error *e) {
	sqlite3_stmt *s = NULL;
	if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK) {
		fail(e, FAILED, "%s", sqlite3_errmsg(db));
	} else if (s == NULL) {
		fail(e, FAILED, "%s: there is no statement in it", sql);
	}
	return s;
}

// compile_step also checks what every execution relies on.
static sqlite3_stmt *compile_step(const operation *o, int connection, int i, error *e) {
	const step *s = &o->steps[i];
	error why = {0};
	sqlite3_stmt *compiled = compile(connections(o)[connection], s->sql, &why);
	if (compiled == NULL) {
		fail(e, FAILED, "step %d: %s", i + 1, why.message);
	} else if (sqlite3_bind_parameter_count(compiled) != s->args) {
		fail(e, FAILED, "step %d has %d placeholders, and %d arguments", i + 1, sqlite3_bind_parameter_count(compiled), s->args);
	} else if (s->query && sqlite3_column_count(compiled) != s->columns) {
		fail(e, FAILED, "step %d returns %d columns, declared are %d", i + 1, sqlite3_column_count(compiled), s->columns);
	} else {
		return compiled;
	}
	sqlite3_finalize(compiled);
	return NULL;
}

static const char *control_text(const operation *o, int which) {
	return which == 0 ? o->db->begin : which == 1 ? "COMMIT" : "ROLLBACK";
}

// compile_control compiles the statements around a transaction when the steps
// are compiled.
static bool compile_control(operation *o, error *e) {
	if (o->transaction == 0) return true;
	o->control = allocate((size_t)o->connections * sizeof *o->control);
	for (int i = 0; i < o->connections; i++) {
		for (int k = 0; k < 3 && !o->each; k++) {
			if ((o->control[i][k] = compile(o->db->writers[i], control_text(o, k), e)) == NULL) return false;
		}
	}
	return true;
}

// same_sql is the first step with the SQL of step k: they share a statement, as they
// would in a program.
static int same_sql(const operation *o, int k) {
	int first = 0;
	while (o->steps[first].script || strcmp(o->steps[first].sql, o->steps[k].sql) != 0) first++;
	return first;
}

// compile_all compiles every step on every connection that may run it, once.
static bool compile_all(operation *o, error *e) {
	o->statements = allocate((size_t)(o->connections + 1) * sizeof *o->statements);
	for (int i = 0; i < o->connections; i++) {
		o->statements[i] = allocate((size_t)(o->step_count + 1) * sizeof **o->statements);
		for (int k = 0; k < o->step_count; k++) {
			if (o->steps[k].script) continue; // only a single statement can be compiled
			int first = o->each ? k : same_sql(o, k);
			o->statements[i][k] = first < k ? o->statements[i][first] : compile_step(o, i, k, e);
			if (o->statements[i][k] == NULL) return false;
		}
		if (!o->each) continue;
		for (int k = 0; k < o->step_count; k++) { // it was to see that they compile
			sqlite3_finalize(o->statements[i][k]);
			o->statements[i][k] = NULL;
		}
	}
	return compile_control(o, e);
}

// explain asks how SQLite will do it: a line for each detail.
static void explain(operation *o) {
	out plan = {0};
	put(&plan, "%s", "");
	for (int i = 0; i < o->step_count; i++) {
		if (o->steps[i].script) continue; // only a single statement can be explained
		sqlite3_stmt *s = NULL;
		char *sql = format_text("EXPLAIN QUERY PLAN %s", o->steps[i].sql);
		sqlite3_prepare_v2(connections(o)[0], sql, -1, &s, NULL);
		if (i > 0) put(&plan, "\n");
		for (const char *line = ""; s != NULL && sqlite3_step(s) == SQLITE_ROW; line = "\n") {
			put(&plan, "%s%s", line, (const char *)sqlite3_column_text(s, 3));
		}
		sqlite3_finalize(s);
		free(sql);
	}
	o->query_plan = plan.text;
}

static bool read_policy(operation *o, const json *spec, error *e) {
	const char *statement = json_text(spec, "statement", e);
	o->changes = json_bool(spec, "changes", e);
	o->retry_busy = json_bool(spec, "retry_busy", e);
	o->transaction = json_int(spec, "transaction", e);
	o->each = strcmp(statement, "each") == 0;
	if (e->code != NULL) return false;
	if (strcmp(statement, "never") == 0) return fail(e, UNSUPPORTED, "SQLite's API runs a statement with arguments only after it was prepared");
	if (!o->each && *statement != 0 && strcmp(statement, "once") != 0) return fail(e, INVALID, "statement %s: want once, each or never", statement);
	if (o->transaction < 0) return fail(e, INVALID, "operation %s: transactions of %" PRId64 " operations", o->name, o->transaction);
	if (o->transaction > 0 && !o->changes) return fail(e, UNSUPPORTED, "operation %s changes nothing: transactions of it are not supported", o->name);
	o->unit = o->transaction > 0 ? o->transaction : 1;
	return true;
}

static bool prepare_mix(operation *o, const json *spec, error *e);

bool operation_prepare(operation *o, database *db, const json *spec, int clients, error *e) {
	o->db = db;
	o->clients = clients;
	o->name = copy_text(json_text(spec, "name", e));
	const json *steps = json_list(spec, "steps", e), *parts = json_list(spec, "parts", e);
	const char *trace = json_text(spec, "trace", e);
	if (e->code != NULL) return false;
	if (parts != NULL && parts->count > 0) return prepare_mix(o, spec, e);
	if (!read_policy(o, spec, e) || !read_steps(o, steps, e) || !open_trace(o, trace, e)) return false;
	int have = o->changes ? db->writer_count : db->reader_count;
	if (have == 0) return fail(e, INVALID, "operation %s has no connection: open asked for none of its kind", o->name);
	// Each reading client keeps a connection of its own, where there are
	// enough; those that are changed are lent out in turn.
	o->connections = !o->changes && clients < have ? clients : have;
	if (clients > 1 && sqlite3_threadsafe() == 0) return fail(e, UNSUPPORTED, "this SQLite is not made for several threads");
	if (!compile_all(o, e)) return false;
	explain(o);
	return true;
}

static bool check_mix(const operation *o, error *e) {
	const column_file *f = o->trace;
	if (f->columns != 2 || f->column[0].type != COLUMN_INT || f->column[1].type != COLUMN_INT) {
		return fail(e, INVALID, "the trace of a mix wants two int columns");
	}
	for (int64_t row = 0; row < f->rows; row++) {
		int64_t part = f->column[0].values[row], position = f->column[1].values[row];
		if (part < 0 || part >= o->part_count || position < 0 || position >= o->parts[part].length) {
			return fail(e, INVALID, "row %" PRId64 " of the mix's trace: part %" PRId64 ", position %" PRId64 " do not exist", row, part, position);
		}
	}
	return true;
}

static bool prepare_mix(operation *o, const json *spec, error *e) {
	const json *parts = json_list(spec, "parts", e);
	o->retry_busy = json_bool(spec, "retry_busy", e);
	if (json_int(spec, "transaction", e) != 0) return fail(e, INVALID, "mix %s: a mix is no transaction", o->name);
	if ((o->trace = column_open(json_text(spec, "trace", e), e)) == NULL) return false;
	o->parts = allocate(parts->count * sizeof *o->parts);
	out plan = {0};
	for (size_t i = 0; i < parts->count; i++) {
		operation *part = &o->parts[o->part_count++];
		const json *nested = json_list(&parts->items[i], "parts", e);
		if (!operation_prepare(part, o->db, &parts->items[i], o->clients, e)) {
			free(plan.text);
			return false;
		}
		if ((nested != NULL && nested->count > 0) || part->transaction > 1) {
			free(plan.text);
			return fail(e, INVALID, "part %s of a mix is a mix or a batch", part->name);
		}
		put(&plan, "%s: %s\n", part->name, part->query_plan);
	}
	o->query_plan = plan.text;
	o->unit = 1;
	o->rows = -1; // each part checks its own
	o->length = o->trace->rows;
	if (o->length < 1) return fail(e, INVALID, "the trace of %s is empty", o->name);
	return check_mix(o, e);
}

void operation_close(operation *o) {
	for (int i = 0; i < o->part_count; i++) operation_close(&o->parts[i]);
	for (int i = 0; o->statements != NULL && i < o->connections; i++) {
		for (int k = 0; o->statements[i] != NULL && k < o->step_count; k++) {
			if (o->statements[i][k] != NULL && same_sql(o, k) == k) sqlite3_finalize(o->statements[i][k]);
		}
		free(o->statements[i]);
	}
	for (int i = 0; o->control != NULL && i < o->connections; i++) {
		for (int k = 0; k < 3; k++) sqlite3_finalize(o->control[i][k]);
	}
	for (int i = 0; i < o->step_count; i++) {
		free(o->steps[i].sql);
		free(o->steps[i].types);
	}
	column_close(o->trace);
	free(o->steps);
	free(o->parts);
	free(o->statements);
	free(o->control);
	free(o->query_plan);
	free(o->name);
}

static inline void end_phase(phases *p, phase which) {
	if (p == NULL) return;
	int64_t now = clock_now();
	p->sums[which].nanos += now - p->last;
	p->sums[which].count++;
	p->last = now;
}

// bind hands over the arguments. Texts and blobs stay in the mapped trace.
static int bind(const operation *o, const step *s, sqlite3_stmt *statement, int64_t row) {
	int rc = SQLITE_OK;
	for (int i = 0; i < s->args && rc == SQLITE_OK; i++) {
		const column *c = &o->trace->column[s->first + i];
		const int64_t *value = &c->values[row];
		if (column_null(c, row)) {
			rc = sqlite3_bind_null(statement, i + 1);
		} else if (c->type == COLUMN_REAL) {
			double real;
			memcpy(&real, value, sizeof real);
			rc = sqlite3_bind_double(statement, i + 1, real);
		} else if (c->type == COLUMN_TEXT) {
			rc = sqlite3_bind_text(statement, i + 1, c->bytes + value[0], (int)(value[1] - value[0]), SQLITE_STATIC);
		} else if (c->type == COLUMN_BLOB) {
			rc = sqlite3_bind_blob(statement, i + 1, c->bytes + value[0], (int)(value[1] - value[0]), SQLITE_STATIC);
		} else {
			rc = sqlite3_bind_int64(statement, i + 1, *value);
		}
	}
	return rc;
}

static void read_bytes(result *r, const void *data, int length) {
	if ((size_t)length > r->room) {
		r->room = 2 * (size_t)length;
		r->buffer = realloc(r->buffer, r->room);
		if (r->buffer == NULL) abort();
	}
	if (length > 0) memcpy(r->buffer, data, (size_t)length);
}

// null reports whether a column holds NULL. To ask costs as much as to read a value: only
// what reads as zero is asked for where NULL is not expected.
static bool null(sqlite3_stmt *row, int column) { return sqlite3_column_type(row, column) == SQLITE_NULL; }

// scan reads every column as its declared type. Texts and blobs are copied out,
// as a program must that uses them after the next step. It reports whether
// NULLs are where they may be.
static bool scan(const step *s, sqlite3_stmt *row, result *r) {
	volatile int64_t whole; // or the compiler could leave the reading out
	volatile double real;
	for (int i = 0; i < s->columns; i++) {
		bool zero = false;
		if (s->types[i].nullable && null(row, i)) continue;
		switch (s->types[i].type) {
		case VALUE_INT:
		case VALUE_BOOL:
			whole = sqlite3_column_int64(row, i);
			zero = whole == 0;
			break;
		case VALUE_REAL:
			real = sqlite3_column_double(row, i);
			zero = real == 0;
			break;
		case VALUE_TEXT: {
			const void *text = sqlite3_column_text(row, i);
			read_bytes(r, text, sqlite3_column_bytes(row, i));
			zero = text == NULL;
			break;
		}
		case VALUE_BLOB: {
			const void *data = sqlite3_column_blob(row, i);
			read_bytes(r, data, sqlite3_column_bytes(row, i));
			zero = data == NULL;
			break;
		}
		}
		if (zero && !s->types[i].nullable && null(row, i)) return false;
	}
	return true;
}

static void broken(result *r, sqlite3 *db, int rc) {
	int primary = rc & 0xff;
	r->outcome = primary == SQLITE_BUSY || primary == SQLITE_LOCKED ? BUSY : BROKEN;
	snprintf(r->message, sizeof r->message, "%s", sqlite3_errmsg(db));
}

// tell_row digests the row that a statement stands on.
static bool tell_row(const operation *o, const step *s, sqlite3_stmt *row, result *r) {
	error e = {0};
	if (answer_row(&r->answers[s - o->steps], row, s->types, s->columns, &e)) return true;
	r->outcome = BROKEN;
	snprintf(r->message, sizeof r->message, "%.*s", (int)sizeof r->message - 1, e.message);
	return false;
}

// execute_step steps through all rows.
static int execute_step(const operation *o, const step *s, sqlite3 *db, sqlite3_stmt *statement, int64_t row, result *r, phases *p) {
	int rc = bind(o, s, statement, row);
	end_phase(p, PHASE_BIND);
	if (rc != SQLITE_OK) return rc;
	while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
		end_phase(p, PHASE_NEXT);
		if (!s->query) continue;
		r->rows++;
		if (r->told != NULL && !tell_row(o, s, statement, r)) return SQLITE_DONE; // before reading converts a value
		if (!scan(s, statement, r)) {
			r->outcome = BROKEN;
			snprintf(r->message, sizeof r->message, "NULL in a column that is declared to have none");
			return SQLITE_DONE;
		}
		end_phase(p, PHASE_SCAN);
	}
	end_phase(p, PHASE_NEXT);
	if (rc == SQLITE_DONE && !s->query) r->rows += sqlite3_changes(db);
	return rc;
}

static void run_step(const operation *o, int connection, int i, int64_t row, result *r, phases *p) {
	const step *s = &o->steps[i];
	sqlite3 *db = connections(o)[connection];
	sqlite3_stmt *statement = o->statements[connection][i];
	int rc = SQLITE_OK;
	if (s->script) {
		rc = sqlite3_exec(db, s->sql, NULL, NULL, NULL);
		if (rc != SQLITE_OK) broken(r, db, rc);
		return;
	}
	if (o->each) {
		rc = sqlite3_prepare_v2(db, s->sql, -1, &statement, NULL);
		end_phase(p, PHASE_PREPARE);
	}
	if (rc == SQLITE_OK) rc = execute_step(o, s, db, statement, row, r, p);
	if (rc != SQLITE_OK && rc != SQLITE_DONE) broken(r, db, rc);
	sqlite3_reset(statement);
	end_phase(p, PHASE_CLOSE_ROWS);
	if (o->each) {
		sqlite3_finalize(statement);
		end_phase(p, PHASE_CLOSE_STMT);
	}
}

static void run_steps(const operation *o, int connection, int64_t row, result *r, phases *p) {
	for (int i = 0; i < o->step_count && r->outcome == DONE; i++) {
		run_step(o, connection, i, row, r, p);
		if (r->outcome == DONE) r->steps++;
	}
}

static bool control(const operation *o, int connection, int which, result *r) {
	sqlite3 *db = o->db->writers[connection];
	sqlite3_stmt *s = o->control[connection][which];
	int rc = SQLITE_OK;
	if (o->each) rc = sqlite3_prepare_v2(db, control_text(o, which), -1, &s, NULL);
	if (rc == SQLITE_OK) rc = sqlite3_step(s);
	if (rc != SQLITE_DONE) broken(r, db, rc);
	sqlite3_reset(s);
	if (o->each) sqlite3_finalize(s);
	return rc == SQLITE_DONE;
}

static void run_transaction(const operation *o, int connection, int64_t position, result *r, phases *p) {
	if (!control(o, connection, 0, r)) return;
	for (int64_t i = 0; i < o->transaction && r->outcome == DONE; i++) run_steps(o, connection, position * o->transaction + i, r, p);
	// A step before it has read, or the transaction would have the lock already.
	r->stale = r->outcome == BUSY && o->db->deferred && r->steps > 0;
	if (r->outcome == DONE && control(o, connection, 1, r)) return;
	result ignored = {0};
	control(o, connection, 2, &ignored);
	r->rows = 0;
}

// run runs a unit on one connection. Where an earlier step has changed data
// outside of a transaction, "busy" is no answer to be tried again.
static void run(const operation *o, int connection, int64_t position, result *r, phases *p) {
	if (o->transaction > 0) {
		run_transaction(o, connection, position, r, p);
		return;
	}
	run_steps(o, connection, position, r, p);
	if (r->outcome == BUSY && o->changes && r->rows > 0) r->outcome = BROKEN;
}

static void run_alone(operation *o, int client, int64_t position, result *r, phases *p) {
	if (!o->changes && o->clients <= o->connections) {
		run(o, client, position, r, p);
		return;
	}
	turns *t = o->changes ? &o->db->free_writers : &o->db->free_readers;
	int connection = turns_take(t);
	run(o, connection, position, r, p);
	turns_give(t, connection);
}

static void check_rows(const operation *o, result *r) {
	if (r->outcome != DONE || o->rows < 0 || r->rows == o->rows) return;
	r->outcome = MISSED;
	snprintf(r->message, sizeof r->message, "%" PRId64 " rows, expected are %" PRId64, r->rows, o->rows);
}

void operation_do(operation *o, int client, int64_t position, result *r, phases *p) {
	r->outcome = DONE;
	r->rows = r->steps = 0;
	r->stale = false;
	if (p != NULL) p->last = clock_now();
	if (o->part_count > 0) {
		int64_t part = o->trace->column[0].values[position];
		position = o->trace->column[1].values[position];
		o = &o->parts[part];
	}
	r->told = r->answers != NULL && !o->changes ? o : NULL;
	for (int i = 0; r->told != NULL && i < o->step_count; i++) answer_start(&r->answers[i]);
	run_alone(o, client, position, r, p);
	check_rows(o, r);
}

int64_t operation_digest(const operation *o, const answer *answers, char hex[65]) {
	sha256 all;
	int64_t rows = 0;
	int answering = 0;
	sha256_start(&all);
	for (int i = 0; i < o->step_count; i++) {
		if (!o->steps[i].query) continue;
		sha256 one = answers[i].hash;
		sha256_hex(&one, hex);
		sha256_add(&all, hex, 64);
		rows += answers[i].rows;
		answering++;
	}
	if (answering != 1) sha256_hex(&all, hex);
	return rows;
}

int operation_max_steps(const operation *o) {
	int most = o->step_count;
	for (int i = 0; i < o->part_count; i++) {
		if (o->parts[i].step_count > most) most = o->parts[i].step_count;
	}
	return most;
}

static bool answer_statement(sqlite3 *db, sqlite3_stmt *s, const returned *types, int columns, answer *a, error *e) {
	int rc;
	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		if (a != NULL && !answer_row(a, s, types, columns, e)) return false;
	}
	return rc == SQLITE_DONE || fail(e, FAILED, "%s", sqlite3_errmsg(db));
}

bool operation_answer(operation *o, int64_t position, answer *answers, error *e) {
	sqlite3 *db = o->db->readers[0];
	for (int i = 0; i < o->step_count; i++) {
		const step *s = &o->steps[i];
		sqlite3_stmt *statement = compile(db, s->sql, e);
		if (statement == NULL) return false;
		bool ok = bind(o, s, statement, position) == SQLITE_OK || fail(e, FAILED, "%s", sqlite3_errmsg(db));
		ok = ok && answer_statement(db, statement, s->types, s->columns, s->query ? &answers[i] : NULL, e);
		sqlite3_finalize(statement);
		if (!ok) return false;
	}
	return true;
}

bool query_answer(database *d, const char *sql, const returned *types, int columns, answer *a, error *e) {
	sqlite3 *db = d->reader_count > 0 ? d->readers[0] : d->writers[0];
	sqlite3_stmt *statement = compile(db, sql, e);
	if (statement == NULL) return false;
	bool ok = answer_statement(db, statement, types, columns, a, e);
	sqlite3_finalize(statement);
	return ok;
}
