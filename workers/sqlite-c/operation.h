// Operations: statements with their arguments.
#ifndef OPERATION_H
#define OPERATION_H

#include "column.h"
#include "database.h"
#include "rows.h"

typedef enum { VALUE_INT, VALUE_REAL, VALUE_TEXT, VALUE_BLOB, VALUE_BOOL } value_type;

// returned is the declared type of a column.
typedef struct {
	value_type type;
	bool nullable;
} returned;

typedef struct {
	char *sql;
	bool script; // sql is several statements, which sqlite3_exec runs
	bool query;
	int args;
	int first; // column of the trace with the first argument
	int64_t rows;
	returned *types;
	int columns;
} step;

// PHASES, in their order. Preparing and finalizing are phases where the
// statement is compiled for each execution.
typedef enum { PHASE_PREPARE, PHASE_BIND, PHASE_NEXT, PHASE_SCAN, PHASE_CLOSE_ROWS, PHASE_CLOSE_STMT, PHASE_COUNT } phase;

typedef struct {
	int64_t last;
	struct { int64_t nanos, count; } sums[PHASE_COUNT];
} phases;

typedef struct operation {
	char *name;
	database *db;
	step *steps;
	int step_count;
	struct operation *parts; // a mix has these instead of steps
	int part_count;
	struct operation *next; // in the list of all
	column_file *trace;
	bool changes, retry_busy, each;
	int64_t transaction;
	int64_t unit;   // operations that one do runs
	int64_t length; // of the trace in units
	int64_t rows;   // of a unit; -1: any number
	int clients;
	// statements of each connection, compiled before measuring: by connection
	// and step.
	sqlite3_stmt ***statements;
	sqlite3_stmt *(*control)[3]; // BEGIN, COMMIT, ROLLBACK of each writer
	int connections;
} operation;

// result is what came of a unit: rows, and where it went wrong, why.
typedef enum { DONE, BUSY, MISSED, BROKEN } outcome;

typedef struct {
	outcome outcome;
	int64_t rows;
	int steps;  // that were done
	bool stale; // a deferred transaction had read, and came too late to change
	char message[512];
	char *buffer; // where texts and blobs are read into
	size_t room;
	rows *seen; // gets the rows of operations that change nothing; NULL while measuring
	bool told;  // that it did
	int part;   // of a mix
} result;

// operation_prepare prepares an operation of JSON.
bool operation_prepare(operation *o, database *db, const char *spec, int clients, error *e);

// operation_do runs the unit at a position for a client. With phases it times
// them.
void operation_do(operation *o, int client, int64_t position, result *r, phases *p);

#endif
