// The measured loop.
#ifndef MEASURE_H
#define MEASURE_H

#include "operation.h"

// measure runs a prepared operation as the request says and writes the reply's
// body.
bool measure(sqlite3_str *body, operation *op, const char *request, error *e);

// verify writes what an operation answers at positions.
bool verify(operation *op, const char *request, error *e);

#endif
