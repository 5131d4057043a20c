// The measured loop.
#ifndef MEASURE_H
#define MEASURE_H

#include "operation.h"

// measure runs a prepared operation as the request says and writes the reply's
// body.
bool measure(out *o, operation *op, const json *request, error *e);

#endif
