#include "database.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const first_settings[] = {"busy_timeout", "locking_mode", "page_size", "auto_vacuum", "journal_mode"};
enum { FIRST_SETTINGS = sizeof first_settings / sizeof *first_settings };

// place puts the busy timeout before all others, so that they can wait for
// locks, and then those that others depend on.
static int place(const char *name) {
	for (int i = 0; i < FIRST_SETTINGS; i++) {
		if (strcmp(name, first_settings[i]) == 0) return i;
	}
	return FIRST_SETTINGS;
}

static int by_place(const void *a, const void *b) {
	const pair *x = a, *y = b;
	int order = place(x->name) - place(y->name);
	return order != 0 ? order : strcmp(x->name, y->name);
}

static bool is_word(const char *name) {
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz_");
	return n > 0 && name[n] == 0;
}

static bool read_settings(plan *p, const json *settings, error *e) {
	if (settings == NULL) return true;
	p->settings = allocate((settings->count + 1) * sizeof *p->settings);
	p->issued = allocate((settings->count + 1) * sizeof *p->issued);
	for (size_t i = 0; i < settings->count; i++) {
		if (!is_word(settings->names[i]) || settings->items[i].kind != JSON_TEXT) {
			return fail(e, INVALID, "%s is not a setting", settings->names[i]);
		}
		p->settings[i] = (pair){copy_text(settings->names[i]), copy_text(settings->items[i].text)};
		p->setting_count++;
	}
	qsort(p->settings, p->setting_count, sizeof *p->settings, by_place);
	return true;
}

static bool read_each(plan *p, const json *each, error *e) {
	size_t count = each == NULL ? 0 : each->count;
	p->each = allocate((p->setting_count + count + 1) * sizeof *p->each);
	for (size_t i = 0; i < count; i++) {
		if (each->items[i].kind != JSON_TEXT) return fail(e, INVALID, "each is not a list of texts");
	}
	return true;
}

// file_uri is a file: URI of a path that may hold any character.
char *file_uri(const char *path, const char *parameters) {
	char *uri = allocate(3 * strlen(path) + strlen(parameters) + 8), *to = uri;
	to += sprintf(to, "file:");
	for (const unsigned char *c = (const unsigned char *)path; *c != 0; c++) {
		bool plain = isalnum(*c) || strchr("/-_.~", *c) != NULL;
		to += sprintf(to, plain ? "%c" : "%%%02X", *c);
	}
	if (*parameters != 0) sprintf(to, "?%s", parameters);
	return uri;
}

static bool is(const pair *s, const char *name, const char *value) {
	return strcmp(s->name, name) == 0 && strcmp(s->value, value) == 0;
}

// parameter is SQLite's own URI parameter for a setting; NULL where there is none.
static const char *parameter(const pair *s) {
	static const struct { const char *name, *value, *parameter; } known[] = {
		{"read_only", "0", "mode=rwc"}, {"read_only", "1", "mode=ro"}, {"immutable", "0", "immutable=0"},
		{"immutable", "1", "immutable=1"}, {"shared_cache", "0", "cache=private"}, {"shared_cache", "1", "cache=shared"},
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (is(s, known[i].name, known[i].value)) return known[i].parameter;
	}
	return NULL;
}

static int mutex_flag(const pair *s) {
	return is(s, "mutex", "no") ? SQLITE_OPEN_NOMUTEX : is(s, "mutex", "full") ? SQLITE_OPEN_FULLMUTEX : 0;
}

static bool memory_setting(database *d, const pair *s) {
	if (strcmp(s->name, "memory") != 0) return false;
	d->memory = strcmp(s->value, "1") == 0;
	return true;
}

// begin_sql is the SQL by which transactions begin, of the setting's value.
static const char *begin_sql(const char *how) {
	return strcmp(how, "deferred") == 0 ? "BEGIN DEFERRED" : strcmp(how, "exclusive") == 0 ? "BEGIN EXCLUSIVE" : "BEGIN IMMEDIATE";
}

// read_begin reads how transactions begin, whether a DSN is given or not.
static void read_begin(database *d, const json *settings) {
	const char *how = "immediate";
	for (size_t i = 0; settings != NULL && i < settings->count; i++) {
		if (strcmp(settings->names[i], "begin") == 0 && settings->items[i].kind == JSON_TEXT) how = settings->items[i].text;
	}
	d->begin = begin_sql(how);
	d->deferred = strcmp(how, "deferred") == 0;
}

// pragma is the SQL of a setting. A word with a dash is no SQL word.
static char *pragma(const pair *s) {
	bool quoted = isalpha((unsigned char)*s->value) && strchr(s->value, '-') != NULL;
	return format_text(quoted ? "PRAGMA %s = '%s'" : "PRAGMA %s = %s", s->name, s->value);
}

static bool plan_settings(database *d, int connections, error *e) {
	plan *p = &d->plan;
	char parameters[256] = "";
	for (size_t i = 0; i < p->setting_count; i++) {
		const pair *s = &p->settings[i];
		const char *found = parameter(s);
		int flag = mutex_flag(s);
		if (found != NULL) {
			strcat(strcat(parameters, *parameters == 0 ? "" : "&"), found);
			p->issued[i] = copy_text(found);
		} else if (flag != 0) {
			p->flags |= flag;
			p->issued[i] = copy_text(flag == SQLITE_OPEN_NOMUTEX ? "SQLITE_OPEN_NOMUTEX" : "SQLITE_OPEN_FULLMUTEX");
		} else if (strcmp(s->name, "begin") == 0) {
			p->issued[i] = copy_text(d->begin);
		} else if (memory_setting(d, s)) {
			p->issued[i] = copy_text(d->memory ? "a copy in memory" : "the file");
		} else {
			p->issued[i] = pragma(s);
			p->each[p->each_count++] = copy_text(p->issued[i]);
		}
	}
	if (!d->memory) {
		p->dsn = file_uri(d->path, parameters);
		return true;
	}
	if (*parameters != 0) return fail(e, UNSUPPORTED, "a database in memory is not opened with %s", parameters);
	if (connections > 1 && sqlite3_libversion_number() < 3036000) {
		return fail(e, UNSUPPORTED, "SQLite %s has no database in memory that connections share", sqlite3_libversion());
	}
	p->dsn = connections == 1 ? copy_text(":memory:") : format_text("file:/assay-%d?vfs=memdb", (int)getpid());
	return true;
}

bool execute(sqlite3 *db, const char *sql, error *e) {
	char *message = NULL;
	if (sqlite3_exec(db, sql, NULL, NULL, &message) == SQLITE_OK) return true;
	fail(e, FAILED, "%s: %s", sql, message == NULL ? sqlite3_errmsg(db) : message);
	sqlite3_free(message);
	return false;
}

sqlite3 *connect_by(const plan *p, const char *dsn, error *e) {
	sqlite3 *db = NULL;
	const char *name = dsn == NULL ? p->dsn : dsn;
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI | p->flags;
	bool ok = sqlite3_open_v2(name, &db, flags, NULL) == SQLITE_OK || fail(e, FAILED, "open %s: %s", name, sqlite3_errmsg(db));
	for (size_t i = 0; ok && i < p->each_count; i++) ok = execute(db, p->each[i], e);
	if (ok) return db;
	sqlite3_close_v2(db);
	return NULL;
}

char *query_text(sqlite3 *db, const char *sql) {
	sqlite3_stmt *s = NULL;
	char *value = NULL;
	if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW && sqlite3_column_text(s, 0) != NULL) {
		value = copy_text((const char *)sqlite3_column_text(s, 0));
	}
	sqlite3_finalize(s);
	return value;
}

static int64_t count_tables(sqlite3 *db) {
	char *count = query_text(db, "SELECT count(*) FROM sqlite_master WHERE type = 'table'");
	int64_t n = count == NULL ? -1 : strtoll(count, NULL, 10);
	free(count);
	return n;
}

// fill copies the prepared file into a database in memory.
static bool fill(database *d, sqlite3 *memory, error *e) {
	sqlite3 *file = NULL;
	char *uri = file_uri(d->path, "mode=ro");
	bool ok = sqlite3_open_v2(uri, &file, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL) == SQLITE_OK;
	if (ok) {
		sqlite3_backup *backup = sqlite3_backup_init(memory, "main", file, "main");
		ok = backup != NULL && sqlite3_backup_step(backup, -1) == SQLITE_DONE;
		ok = sqlite3_backup_finish(backup) == SQLITE_OK && ok;
	}
	if (!ok) fail(e, FAILED, "copy %s into memory: %s", d->path, sqlite3_errmsg(file == NULL ? memory : file));
	free(uri);
	sqlite3_close_v2(file);
	return ok;
}

// learn_tables looks at the prepared file, for telling later whether a
// connection sees it. What is no database has none.
static void learn_tables(database *d) {
	sqlite3 *file = NULL;
	char *uri = file_uri(d->path, "mode=ro&immutable=1");
	if (sqlite3_open_v2(uri, &file, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL) == SQLITE_OK) d->tables = count_tables(file);
	free(uri);
	sqlite3_close_v2(file);
}

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

static bool open_all(database *d, sqlite3 **all, int *opened, int count, error *e) {
	while (*opened < count) {
		if ((all[*opened] = connect_by(&d->plan, NULL, e)) == NULL) return false;
		(*opened)++;
	}
	return true;
}

static bool open_connections(database *d, int readers, int writers, const json *once, error *e) {
	d->writers = allocate((size_t)(writers + 1) * sizeof *d->writers);
	d->readers = allocate((size_t)(readers + 1) * sizeof *d->readers);
	if (d->memory && readers + writers > 1) {
		d->keeper = connect_by(&d->plan, NULL, e);
		if (d->keeper == NULL || !fill(d, d->keeper, e)) return false;
	}
	if (!open_all(d, d->writers, &d->writer_count, writers, e) || !open_all(d, d->readers, &d->reader_count, readers, e)) return false;
	sqlite3 *any = readers > 0 ? d->readers[0] : d->writers[0];
	if (d->memory && d->keeper == NULL && !fill(d, any, e)) return false;
	turns_start(&d->free_readers, readers);
	turns_start(&d->free_writers, writers);
	for (size_t i = 0; once != NULL && i < once->count; i++) {
		if (once->items[i].kind != JSON_TEXT) return fail(e, INVALID, "once is not a list of texts");
		if (!execute(any, once->items[i].text, e)) return false;
	}
	return true;
}

static bool open_request(database *d, const json *request, error *e) {
	int64_t readers = json_int(request, "readers", e), idle = json_int(request, "idle", e), writers = json_int(request, "writers", e);
	const char *dsn = json_text(request, "dsn", e);
	const json *settings = json_object(request, "settings", e), *each = json_list(request, "each", e), *once = json_list(request, "once", e);
	d->path = copy_text(json_text(request, "path", e));
	if (e->code != NULL) return false;
	if (readers < 0 || writers < 0 || readers + writers < 1 || readers + writers > 100000) return fail(e, INVALID, "no connections asked for, or too many");
	if (idle < readers) return fail(e, UNSUPPORTED, "idle %" PRId64 " of %" PRId64 " connections: there is no pool that would close them", idle, readers);
	learn_tables(d);
	read_begin(d, settings);
	if (!read_settings(&d->plan, *dsn == 0 ? settings : NULL, e) || !read_each(&d->plan, each, e)) return false;
	if (*dsn != 0) {
		d->plan.dsn = copy_text(dsn);
	} else if (!plan_settings(d, (int)(readers + writers), e)) {
		return false;
	}
	for (size_t i = 0; each != NULL && i < each->count; i++) d->plan.each[d->plan.each_count++] = copy_text(each->items[i].text);
	return open_connections(d, (int)readers, (int)writers, once, e);
}

database *database_open(const json *request, error *e) {
	database *d = allocate(sizeof *d);
	if (open_request(d, request, e)) return d;
	error ignored = {0};
	database_close(d, &ignored);
	return NULL;
}

static bool close_all(sqlite3 **all, int count, error *e) {
	bool ok = true;
	for (int i = 0; i < count; i++) {
		if (sqlite3_close(all[i]) != SQLITE_OK) ok = fail(e, FAILED, "close: %s", sqlite3_errmsg(all[i]));
	}
	free(all);
	return ok;
}

static void free_texts(char **texts, size_t count) {
	for (size_t i = 0; i < count; i++) free(texts[i]);
	free(texts);
}

bool database_close(database *d, error *e) {
	bool ok = close_all(d->writers, d->writer_count, e);
	ok = close_all(d->readers, d->reader_count, e) && ok;
	sqlite3_close_v2(d->keeper);
	plan *p = &d->plan;
	for (size_t i = 0; i < p->setting_count; i++) {
		free(p->settings[i].name);
		free(p->settings[i].value);
	}
	free(p->settings);
	if (p->issued != NULL) free_texts(p->issued, p->setting_count);
	if (p->each != NULL) free_texts(p->each, p->each_count);
	free(p->dsn);
	free(d->free_readers.places);
	free(d->free_writers.places);
	free(d->path);
	free(d);
	return ok;
}

void put_opened(out *o, const database *d) {
	put(o, "{\"dsn\":");
	put_text(o, d->plan.dsn);
	put(o, ",\"each\":[");
	for (size_t i = 0; i < d->plan.each_count; i++) {
		put(o, i == 0 ? "" : ",");
		put_text(o, d->plan.each[i]);
	}
	put(o, "],\"issued\":{");
	for (size_t i = 0; i < d->plan.setting_count; i++) {
		put(o, i == 0 ? "" : ",");
		put_text(o, d->plan.settings[i].name);
		put(o, ":");
		put_text(o, d->plan.issued[i]);
	}
	put(o, "}}");
}

// in_memory is "0" for a file, "1" for a database in memory with the tables of
// the prepared file, and "private" for one without them.
static const char *in_memory(const database *d, sqlite3 *db) {
	char *vfs = NULL;
	sqlite3_file_control(db, "main", SQLITE_FCNTL_VFSNAME, &vfs);
	const char *file = sqlite3_db_filename(db, "main");
	bool memory = file == NULL || *file == 0 || (vfs != NULL && strstr(vfs, "memdb") != NULL);
	sqlite3_free(vfs);
	if (!memory) return "0";
	return count_tables(db) >= d->tables ? "1" : "private";
}

// read_setting returns a setting's value, to be freed, or NULL where nothing is
// known of it.
static char *read_setting(database *d, sqlite3 *db, const char *name) {
	const char *value = NULL;
	if (strcmp(name, "read_only") == 0) {
		value = sqlite3_db_readonly(db, "main") == 1 ? "1" : "0";
	} else if (strcmp(name, "mutex") == 0) {
		value = sqlite3_db_mutex(db) == NULL ? "no" : "full";
	} else if (strcmp(name, "memory") == 0) {
		value = in_memory(d, db);
	} else if (strcmp(name, "begin") == 0) {
		value = prove_begin(d, db);
	} else if (strcmp(name, "immutable") == 0) {
		value = prove_immutable(d);
	} else if (strcmp(name, "shared_cache") == 0) {
		value = prove_shared_cache(d);
	} else {
		char *sql = format_text("PRAGMA %s", name), *read = query_text(db, sql);
		free(sql);
		return read;
	}
	return *value == 0 ? NULL : copy_text(value);
}

static void put_connection(out *o, database *d, sqlite3 *db, const char *kind, int number, const json *names) {
	put(o, "{\"name\":\"%s-%d\",\"settings\":{", kind, number);
	const char *comma = "";
	for (size_t i = 0; i < names->count; i++) {
		char *value = read_setting(d, db, names->items[i].text);
		if (value == NULL) continue;
		put(o, "%s", comma);
		put_text(o, names->items[i].text);
		put(o, ":");
		put_text(o, value);
		free(value);
		comma = ",";
	}
	put(o, "}}");
}

bool put_settings(out *o, database *d, const json *names, error *e) {
	static const json none = {.kind = JSON_LIST};
	if (names == NULL) names = &none;
	for (size_t i = 0; i < names->count; i++) {
		if (names->items[i].kind != JSON_TEXT || !is_word(names->items[i].text)) return fail(e, INVALID, "names has something that is no setting");
	}
	put(o, "{\"connections\":[");
	for (int i = 0; i < d->reader_count; i++) {
		put(o, i == 0 ? "" : ",");
		put_connection(o, d, d->readers[i], "reader", i + 1, names);
	}
	for (int i = 0; i < d->writer_count; i++) {
		put(o, i + d->reader_count == 0 ? "" : ",");
		put_connection(o, d, d->writers[i], "writer", i + 1, names);
	}
	put(o, "]}");
	return true;
}
