// Connections.
#ifndef DATABASE_H
#define DATABASE_H

#include <pthread.h>

#include "worker.h"

// turns lends out places one at a time: whoever finds none free waits.
typedef struct {
	pthread_mutex_t lock;
	pthread_cond_t free;
	int *places;
	int count; // of places that are free
} turns;

typedef struct {
	char *name;
	sqlite3 *db;
} connection;

typedef struct {
	connection *all; // those that were closed have no database
	int count;
	sqlite3 **readers, **writers;
	int reader_count, writer_count;
	turns free_readers, free_writers;
	sqlite3_stmt **compiled; // of operations
	int compiled_count;
	int flags;         // of every connection
	const char *begin; // the SQL by which transactions begin
	bool deferred;     // which they do without a lock
} database;

// database_open opens a database as a request says, and writes the reply's body.
bool database_open(database *d, const char *request, sqlite3_str *body, error *e);
void database_keep(database *d, sqlite3_stmt *compiled); // until all is closed
bool database_query(database *d, const char *request, error *e);
bool database_close(database *d, error *e);

int turns_take(turns *t);
void turns_give(turns *t, int place);

#endif
