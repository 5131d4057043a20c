// Settings that no PRAGMA shows are proved by what they do, with a scratch file
// beside the database, so that neither the data nor the connections under test
// are touched.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "database.h"

// is_wal reads the file's header: bytes 18 and 19 are 2 in WAL mode
// (https://www.sqlite.org/fileformat.html).
static bool is_wal(const char *path) {
	char head[20] = "";
	FILE *f = fopen(path, "rb");
	size_t n = f == NULL ? 0 : fread(head, 1, sizeof head, f);
	if (f != NULL) fclose(f);
	return n == sizeof head && head[18] == 2 && head[19] == 2;
}

// scratch is the file that stands for the database.
typedef struct {
	char *path, *tested; // tested: as the database was opened
	bool wal;
} scratch;

// moved puts the scratch file's path into a DSN for the database's; NULL where
// the DSN does not name it.
static char *moved(const database *d, const char *path) {
	char *uri = file_uri(d->path, ""), *escaped = file_uri(path, "");
	const char *names[][2] = {{uri + 5, escaped + 5}, {d->path, path}}; // without file:
	char *result = NULL;
	for (int i = 0; i < 2 && result == NULL; i++) {
		const char *found = strstr(d->plan.dsn, names[i][0]);
		if (found == NULL) continue;
		result = format_text("%.*s%s%s", (int)(found - d->plan.dsn), d->plan.dsn, names[i][1], found + strlen(names[i][0]));
	}
	free(uri);
	free(escaped);
	return result;
}

static sqlite3 *plain(const scratch *s, const char *parameters) {
	sqlite3 *db = NULL;
	char *uri = file_uri(s->path, parameters);
	int rc = sqlite3_open_v2(uri, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI, NULL);
	free(uri);
	if (rc == SQLITE_OK) return db;
	sqlite3_close_v2(db);
	return NULL;
}

static bool make(const database *d, scratch *s) {
	s->path = format_text("%s-proof", d->path);
	s->wal = is_wal(d->path);
	s->tested = moved(d, s->path);
	error e = {0};
	sqlite3 *db = s->tested == NULL ? NULL : plain(s, "");
	bool ok = db != NULL && execute(db, s->wal ? "PRAGMA journal_mode = wal" : "PRAGMA journal_mode = delete", &e) &&
		execute(db, "CREATE TABLE proof (n); INSERT INTO proof VALUES (1)", &e);
	sqlite3_close_v2(db);
	return ok;
}

static void remove_scratch(scratch *s) {
	static const char *const suffixes[] = {"", "-journal", "-wal", "-shm"};
	for (int i = 0; i < 4; i++) {
		char *name = format_text("%s%s", s->path, suffixes[i]);
		unlink(name);
		free(name);
	}
	free(s->path);
	free(s->tested);
}

// shared_memory is "0" where a reading connection uses the index of the log. It
// is unknown with locking_mode exclusive, which needs no such file.
static const char *shared_memory(const scratch *s, sqlite3 *tested) {
	char *locking = query_text(tested, "PRAGMA locking_mode"), *name = format_text("%s-shm", s->path);
	const char *found = locking == NULL || strcmp(locking, "exclusive") == 0 ? "" : access(name, F_OK) == 0 ? "0" : "1";
	free(locking);
	free(name);
	return found;
}

// lock_taken asks for a lock that a reading transaction is in the way of.
static const char *lock_taken(const scratch *s) {
	error e = {0};
	sqlite3 *other = plain(s, "");
	const char *found = "";
	if (other != NULL) {
		sqlite3_busy_timeout(other, 0);
		found = execute(other, "BEGIN EXCLUSIVE", &e) ? "1" : sqlite3_errcode(other) == SQLITE_BUSY ? "0" : "";
	}
	sqlite3_close_v2(other);
	return found;
}

static const char *try_immutable(database *d, scratch *s) {
	error e = {0};
	sqlite3 *tested = connect_by(&d->plan, s->tested, &e);
	const char *found = "";
	if (tested != NULL && execute(tested, "BEGIN; SELECT count(*) FROM proof", &e)) {
		found = is_wal(s->path) ? shared_memory(s, tested) : lock_taken(s);
	}
	sqlite3_close_v2(tested);
	return found;
}

// try_shared_cache lets a connection with a shared cache insert a row and keep
// its transaction open: only one that shares the cache can read the row.
static const char *try_shared_cache(database *d, scratch *s) {
	error e = {0};
	const char *found = "";
	sqlite3 *other = plain(s, "cache=shared"), *tested = NULL;
	if (other != NULL && execute(other, "SELECT count(*) FROM proof", &e)) tested = connect_by(&d->plan, s->tested, &e);
	if (tested != NULL && execute(other, "BEGIN IMMEDIATE; INSERT INTO proof VALUES (2)", &e) && execute(tested, "PRAGMA read_uncommitted = 1", &e)) {
		char *rows = query_text(tested, "SELECT count(*) FROM proof");
		found = rows == NULL ? "" : strcmp(rows, "1") == 0 ? "0" : strcmp(rows, "2") == 0 ? "1" : "";
		free(rows);
	}
	sqlite3_close_v2(tested);
	sqlite3_close_v2(other);
	return found;
}

static const char *prove(database *d, const char *(*try)(database *, scratch *)) {
	scratch s = {0};
	const char *found = !d->memory && make(d, &s) ? try(d, &s) : "";
	if (s.path != NULL) remove_scratch(&s);
	return found;
}

const char *prove_immutable(database *d) {
	if (d->immutable == NULL) d->immutable = prove(d, try_immutable);
	return d->immutable;
}

const char *prove_shared_cache(database *d) {
	if (d->shared_cache == NULL) d->shared_cache = prove(d, try_shared_cache);
	return d->shared_cache;
}

// locked is the way in which a transaction began that another connection has open.
static const char *locked(sqlite3 *other) {
	error e = {0};
	if (execute(other, "BEGIN IMMEDIATE", &e)) return execute(other, "ROLLBACK", &e) ? "deferred" : "";
	if (sqlite3_errcode(other) != SQLITE_BUSY) return "";
	if (execute(other, "SELECT count(*) FROM sqlite_master", &e)) return "immediate";
	return sqlite3_errcode(other) == SQLITE_BUSY ? "exclusive" : "";
}

// prove_begin looks what a transaction on the connection keeps another one from. It is unknown
// where others change the database.
const char *prove_begin(const database *d, sqlite3 *db) {
	scratch file = {.path = d->path};
	char *dsn = d->memory ? NULL : moved(d, d->path);
	sqlite3 *other = dsn == NULL ? NULL : plain(&file, "");
	error e = {0};
	const char *found = "";
	free(dsn);
	if (other != NULL) sqlite3_busy_timeout(other, 0);
	if (other != NULL && execute(other, "BEGIN IMMEDIATE; ROLLBACK", &e) && execute(db, d->begin, &e)) {
		found = locked(other);
		if (!execute(db, "ROLLBACK", &e)) found = "";
	}
	sqlite3_close_v2(other);
	return found;
}
