#include "database.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "rows.h"

static void turns_start(turns *t, int count) {
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->free, NULL);
	t->places = allocate((size_t)(count + 1) * sizeof *t->places);
	for (int i = 0; i < count; i++) t->places[t->count++] = i;
}

int turns_take(turns *t) {
	pthread_mutex_lock(&t->lock);
	while (t->count == 0) pthread_cond_wait(&t->free, &t->lock);
	int place = t->places[--t->count];
	pthread_mutex_unlock(&t->lock);
	return place;
}

void turns_give(turns *t, int place) {
	pthread_mutex_lock(&t->lock);
	t->places[t->count++] = place;
	pthread_cond_signal(&t->free);
	pthread_mutex_unlock(&t->lock);
}

static bool execute(sqlite3 *db, const char *sql, error *e) {
	return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK || fail(e, FAILED, "%s: %s", sql, sqlite3_errmsg(db));
}

// execute_all executes a list of the request.
static bool execute_all(sqlite3 *db, const char *request, const char *list, error *e) {
	sqlite3_stmt *sql = json_query("SELECT value FROM json_each(?1, ?2) WHERE type = 'text'", request);
	bool ok = sqlite3_bind_text(sql, 2, list, -1, SQLITE_STATIC) == SQLITE_OK;
	while (ok && sqlite3_step(sql) == SQLITE_ROW) ok = execute(db, json_text(sql, 0), e);
	sqlite3_finalize(sql);
	return ok;
}

// grown is an array with room for one more.
static void *grown(void *array, int count, size_t size) {
	array = realloc(array, (size_t)(count + 1) * size);
	if (array == NULL) abort();
	return array;
}

static sqlite3 *connect(database *d, const char *name, const char *dsn, error *e) {
	sqlite3 *db = NULL;
	if (sqlite3_open_v2(dsn, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI | d->flags, NULL) != SQLITE_OK) {
		fail(e, FAILED, "open %s: %s", dsn, sqlite3_errmsg(db));
		sqlite3_close(db);
		return NULL;
	}
	d->all = grown(d->all, d->count, sizeof *d->all);
	d->all[d->count++] = (connection){copy_text(name), db};
	return db;
}

static sqlite3 **connect_all(database *d, const char *kind, int count, const char *dsn, const char *request, error *e) {
	sqlite3 **all = allocate((size_t)(count + 1) * sizeof *all);
	for (int i = 0; i < count && e->code == NULL; i++) {
		char name[32];
		snprintf(name, sizeof name, "%s-%d", kind, i + 1);
		all[i] = connect(d, name, dsn, e);
		if (all[i] != NULL) execute_all(all[i], request, "$.each", e);
	}
	return all;
}

// read_settings reads those that no DSN and no SQL can set, and says what is done for them.
static void read_settings(database *d, const char *begin, const char *mutex, sqlite3_str *body) {
	d->deferred = strcmp(begin, "deferred") == 0;
	d->begin = d->deferred ? "BEGIN DEFERRED" : strcmp(begin, "exclusive") == 0 ? "BEGIN EXCLUSIVE" : "BEGIN IMMEDIATE";
	d->flags = strcmp(mutex, "no") == 0 ? SQLITE_OPEN_NOMUTEX : strcmp(mutex, "full") == 0 ? SQLITE_OPEN_FULLMUTEX : 0;
	sqlite3_str_appendall(body, "{\"issued\":{");
	if (*begin != 0) sqlite3_str_appendf(body, "\"begin\":\"%s\"%s", d->begin, d->flags != 0 ? "," : "");
	if (d->flags != 0) sqlite3_str_appendf(body, "\"mutex\":\"%s\"", d->flags == SQLITE_OPEN_NOMUTEX ? "SQLITE_OPEN_NOMUTEX" : "SQLITE_OPEN_FULLMUTEX");
	sqlite3_str_appendall(body, "}}");
}

static bool end(connection *c, error *e) {
	bool ok = sqlite3_close(c->db) == SQLITE_OK || fail(e, FAILED, "close: %s", sqlite3_errmsg(c->db));
	*c = (connection){"", NULL};
	return ok;
}

bool database_close(database *d, error *e) {
	bool ok = true;
	for (int i = 0; i < d->compiled_count; i++) sqlite3_finalize(d->compiled[i]);
	for (int i = 0; i < d->count; i++) ok = end(&d->all[i], e) && ok;
	d->compiled_count = d->count = 0;
	return ok;
}

bool database_open(database *d, const char *request, sqlite3_str *body, error *e) {
	sqlite3_stmt *r = json_row("SELECT json_extract(?1, '$.dsn'), json_extract(?1, '$.readers'), json_extract(?1, '$.idle'), json_extract(?1, '$.writers'),"
		" json_extract(?1, '$.settings.begin'), json_extract(?1, '$.settings.mutex')", request);
	const char *dsn = json_text(r, 0);
	int readers = sqlite3_column_int(r, 1), idle = sqlite3_column_int(r, 2), writers = sqlite3_column_int(r, 3);
	read_settings(d, json_text(r, 4), json_text(r, 5), body);
	if (idle < readers) fail(e, UNSUPPORTED, "idle %d of %d connections: there is no pool that would close them", idle, readers);
	d->readers = connect_all(d, "reader", d->reader_count = readers, dsn, request, e);
	d->writers = connect_all(d, "writer", d->writer_count = writers, dsn, request, e);
	sqlite3_finalize(r);
	if (e->code == NULL && execute_all(readers > 0 ? d->readers[0] : d->writers[0], request, "$.once", e)) {
		turns_start(&d->free_readers, readers);
		turns_start(&d->free_writers, writers);
		return true;
	}
	error ignored = {0};
	database_close(d, &ignored);
	return false;
}

// answer writes the rows of SQL to a file.
static bool answer(sqlite3 *db, const char *sql, const char *path, error *e) {
	rows told = {.whole = true};
	sqlite3_stmt *s = NULL;
	if (!rows_open(&told, path, e)) return false;
	int rc = sqlite3_prepare_v2(db, sql, -1, &s, NULL);
	bool none = rc == SQLITE_OK && s == NULL;
	while (!none && (rc == SQLITE_OK || rc == SQLITE_ROW)) {
		rc = sqlite3_step(s);
		if (rc == SQLITE_ROW) rows_add(&told, 0, s);
	}
	bool ok = rc == SQLITE_DONE || fail(e, FAILED, "%s", none ? "there is no statement in it" : sqlite3_errmsg(db));
	ok = ok && (rows_write(&told, 0, 0) || fail(e, FAILED, "rows could not be written"));
	sqlite3_finalize(s);
	rows_close(&told);
	return ok;
}

void database_keep(database *d, sqlite3_stmt *compiled) {
	d->compiled = grown(d->compiled, d->compiled_count, sizeof *d->compiled);
	d->compiled[d->compiled_count++] = compiled;
}

static bool ask(connection *c, const char *begin, const char *sql, const char *control, const char *path, error *e) {
	if (strcmp(control, "begin") == 0) return execute(c->db, begin, e);
	if (strcmp(control, "rollback") == 0) return execute(c->db, "ROLLBACK", e);
	if (strcmp(control, "close") == 0) return end(c, e);
	if (strcmp(sql, "PRAGMA mutex") == 0) sql = sqlite3_db_mutex(c->db) == NULL ? "SELECT 'no'" : "SELECT 'full'";
	return answer(c->db, sql, path, e);
}

bool database_query(database *d, const char *request, error *e) {
	sqlite3_stmt *r = json_row("SELECT json_extract(?1, '$.connection'), json_extract(?1, '$.dsn'), json_extract(?1, '$.sql'),"
		" json_extract(?1, '$.control'), json_extract(?1, '$.rows')", request);
	const char *name = json_text(r, 0), *dsn = json_text(r, 1);
	if (*dsn == 0 || connect(d, name, dsn, e) != NULL) {
		int i = 0;
		while (i < d->count && strcmp(d->all[i].name, name) != 0) i++;
		if (i == d->count) {
			fail(e, INVALID, "there is no connection %s", name);
		} else {
			ask(&d->all[i], d->begin, json_text(r, 2), json_text(r, 3), json_text(r, 4), e);
		}
	}
	sqlite3_finalize(r);
	return e->code == NULL;
}
