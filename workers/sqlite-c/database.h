// Connections and their settings.
#ifndef DATABASE_H
#define DATABASE_H

#include <pthread.h>

#include "json.h"

typedef struct {
	char *name, *value;
} pair;

// plan says how a connection is opened: by a DSN and flags, and then SQL.
typedef struct {
	char *dsn;
	int flags;
	pair *settings;
	size_t setting_count;
	char **issued; // what is sent for each setting
	char **each;   // SQL for every new connection
	size_t each_count;
} plan;

// turns lends out places one at a time: whoever finds none free waits.
typedef struct {
	pthread_mutex_t lock;
	pthread_cond_t free;
	int *places;
	int count; // of places that are free
} turns;

typedef struct {
	char *path;
	plan plan;
	bool memory;     // the setting memory was asked for
	sqlite3 *keeper; // keeps a shared database in memory alive while it is filled
	sqlite3 **readers, **writers;
	int reader_count, writer_count;
	turns free_readers, free_writers;
	int64_t tables; // of the prepared file
	const char *begin; // the SQL by which transactions begin
	bool deferred;     // which they do without a lock
	const char *immutable, *shared_cache; // what the proofs found; NULL while unknown
} database;

database *database_open(const json *request, error *e); // NULL with an error
bool database_close(database *d, error *e);
void put_opened(out *o, const database *d);

// put_settings reads the settings back on every connection.
bool put_settings(out *o, database *d, const json *names, error *e);

int turns_take(turns *t);
void turns_give(turns *t, int place);

// connect opens one connection by a plan; path replaces the plan's own DSN
// where it is not NULL, for proofs.
sqlite3 *connect_by(const plan *p, const char *dsn, error *e);
bool execute(sqlite3 *db, const char *sql, error *e);
char *query_text(sqlite3 *db, const char *sql); // first column of the first row; NULL without one
char *file_uri(const char *path, const char *parameters);

// proof.c: "0", "1" or "" where nothing can be told.
const char *prove_immutable(database *d);
const char *prove_shared_cache(database *d);

// prove_begin is how a transaction on the connection begins: deferred, immediate or exclusive.
const char *prove_begin(const database *d, sqlite3 *db);

#endif
