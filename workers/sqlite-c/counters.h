// What the process used.
#ifndef COUNTERS_H
#define COUNTERS_H

#include "worker.h"

typedef struct {
	int64_t cpu, read, fetched, written, switches, peak;
	int64_t waited; // for which the calling thread was ready to run; -1: unknown
} counters;

// The two differ in the order of their readings: what they cost themselves is
// outside of the measurement that lies between them.
counters counters_before(void);
counters counters_after(void);
counters counters_difference(counters after, counters before); // peak is after's
void put_counters(sqlite3_str *to, counters c);
void put_delay(sqlite3_str *to, counters difference); // of one client, which runs on the calling thread

#endif
