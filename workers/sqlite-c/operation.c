#include "operation.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

static void read_types(step *s, const char *returns) {
	static const char *const names[] = {"int", "real", "text", "blob", "bool"};
	sqlite3_stmt *r = json_query("SELECT value, json_array_length(?1) FROM json_each(?1)", returns);
	while (sqlite3_step(r) == SQLITE_ROW) {
		if (s->types == NULL) s->types = allocate((size_t)sqlite3_column_int(r, 1) * sizeof *s->types);
		const char *name = json_text(r, 0);
		returned *t = &s->types[s->columns++];
		while (t->type < VALUE_BOOL && strncmp(name, names[t->type], strlen(names[t->type])) != 0) t->type++;
		t->nullable = strchr(name, '?') != NULL;
	}
	sqlite3_finalize(r);
}

static void read_steps(operation *o, const char *spec) {
	sqlite3_stmt *r = json_query("SELECT json_extract(value, '$.sql'), json_extract(value, '$.script'), json_extract(value, '$.query'),"
		" json_extract(value, '$.args'), json_extract(value, '$.rows'), coalesce(json_extract(value, '$.returns'), '[]'), json_array_length(?1, '$.steps')"
		" FROM json_each(?1, '$.steps') WHERE type = 'object'", spec);
	for (int first = 0; sqlite3_step(r) == SQLITE_ROW;) {
		if (o->steps == NULL) o->steps = allocate((size_t)sqlite3_column_int(r, 6) * sizeof *o->steps);
		step *s = &o->steps[o->step_count++];
		*s = (step){.sql = copy_text(json_text(r, 0)), .script = sqlite3_column_int(r, 1), .query = sqlite3_column_int(r, 2),
			.args = sqlite3_column_int(r, 3), .first = first, .rows = sqlite3_column_int64(r, 4)};
		read_types(s, json_text(r, 5));
		first += s->args;
		o->rows = o->rows < 0 || s->rows < 0 ? -1 : o->rows + s->rows * o->unit;
	}
	sqlite3_finalize(r);
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

// same_sql is the first step with the SQL of step k: they share a statement, as they
// would in a program.
static int same_sql(const operation *o, int k) {
	int first = 0;
	while (o->steps[first].script || strcmp(o->steps[first].sql, o->steps[k].sql) != 0) first++;
	return first;
}

// compile_all compiles every step, and what is around a transaction, on every connection
// that may run it, once. Where each execution does, it is to see that the steps compile.
static bool compile_all(operation *o, error *e) {
	o->statements = allocate((size_t)o->connections * sizeof *o->statements);
	o->control = allocate((size_t)o->connections * sizeof *o->control);
	for (int i = 0; i < o->connections; i++) {
		o->statements[i] = allocate((size_t)o->step_count * sizeof **o->statements);
		for (int k = 0; k < o->step_count; k++) {
			if (o->steps[k].script) continue; // only a single statement can be compiled
			int first = o->each ? k : same_sql(o, k);
			sqlite3_stmt *s = first < k ? o->statements[i][first] : compile_step(o, i, k, e);
			if (s == NULL) return false;
			if (o->each) {
				sqlite3_finalize(s);
				continue;
			}
			if (first == k) database_keep(o->db, s);
			o->statements[i][k] = s;
		}
		for (int k = 0; k < 3 && o->transaction > 0 && !o->each; k++) {
			if ((o->control[i][k] = compile(o->db->writers[i], control_text(o, k), e)) == NULL) return false;
			database_keep(o->db, o->control[i][k]);
		}
	}
	return true;
}

// prepare_parts prepares the parts of a mix.
static bool prepare_parts(operation *o, const char *spec, error *e) {
	sqlite3_stmt *r = json_query("SELECT value FROM json_each(?1, '$.parts') WHERE type = 'object'", spec);
	bool ok = true;
	while (ok && sqlite3_step(r) == SQLITE_ROW) ok = operation_prepare(&o->parts[o->part_count++], o->db, json_text(r, 0), o->clients, e);
	sqlite3_finalize(r);
	o->rows = -1; // each part checks its own
	return ok;
}

static bool read_operation(operation *o, const char *spec, error *e) {
	sqlite3_stmt *r = json_row("SELECT json_extract(?1, '$.name'), json_extract(?1, '$.statement'), json_extract(?1, '$.trace'), json_extract(?1, '$.changes'),"
		" json_extract(?1, '$.retry_busy'), json_extract(?1, '$.transaction'), json_array_length(?1, '$.parts')", spec);
	const char *statement = json_text(r, 1), *trace = json_text(r, 2);
	o->name = copy_text(json_text(r, 0));
	o->each = strcmp(statement, "each") == 0;
	if (strcmp(statement, "never") == 0) fail(e, UNSUPPORTED, "SQLite's API runs a statement with arguments only after it was prepared");
	if (*trace != 0) o->trace = column_open(trace, e);
	o->changes = sqlite3_column_int(r, 3);
	o->retry_busy = sqlite3_column_int(r, 4);
	o->transaction = sqlite3_column_int64(r, 5);
	o->unit = o->transaction > 0 ? o->transaction : 1;
	o->length = o->trace != NULL ? o->trace->rows / o->unit : 1;
	if (sqlite3_column_int(r, 6) > 0) o->parts = allocate((size_t)sqlite3_column_int(r, 6) * sizeof *o->parts);
	sqlite3_finalize(r);
	read_steps(o, spec);
	return e->code == NULL;
}

bool operation_prepare(operation *o, database *db, const char *spec, int clients, error *e) {
	o->db = db;
	o->clients = clients;
	if (!read_operation(o, spec, e)) return false;
	if (o->parts != NULL) return prepare_parts(o, spec, e);
	// Each reading client keeps a connection of its own, where there are
	// enough; those that are changed are lent out in turn.
	int have = o->changes ? db->writer_count : db->reader_count;
	o->connections = !o->changes && clients < have ? clients : have;
	if (clients > 1 && sqlite3_threadsafe() == 0) return fail(e, UNSUPPORTED, "this SQLite is not made for several threads");
	return compile_all(o, e);
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

// execute_step steps through all rows.
static int execute_step(const operation *o, const step *s, sqlite3 *db, sqlite3_stmt *statement, int64_t row, result *r, phases *p) {
	int rc = bind(o, s, statement, row);
	end_phase(p, PHASE_BIND);
	if (rc != SQLITE_OK) return rc;
	while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
		end_phase(p, PHASE_NEXT);
		if (!s->query) continue;
		r->rows++;
		if (r->told) rows_add(r->seen, (int)(s - o->steps), statement); // before reading converts a value
		if (!scan(s, statement, r) && !r->told) {
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

// run runs a unit on one connection.
static void run(const operation *o, int connection, int64_t position, result *r, phases *p) {
	if (o->transaction > 0) {
		run_transaction(o, connection, position, r, p);
		return;
	}
	run_steps(o, connection, position, r, p);
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
		r->part = (int)part;
	}
	r->told = r->seen != NULL && !o->changes;
	if (r->told) rows_clear(r->seen);
	run_alone(o, client, position, r, p);
	check_rows(o, r);
}
