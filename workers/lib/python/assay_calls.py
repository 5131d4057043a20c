"""Calls: operations of a worker's own, such as what an application does with an
object-relational mapper."""

import gc

from assay_data import Histogram, counters, since
from assay_measure import MAX_FAILURES, MIN_UNITS, clock


def call(method):
    """Marks a method of Calls as one that a plan can name."""
    method.is_call = True
    return method


class Calls:
    """The operations of a driver, at a size n. Each prepares what it needs, has
    `timed` do the work, and returns rows that tell what was done."""

    def __init__(self, connection, n, in_transaction):
        self.connection, self.n, self.in_transaction = connection, n, in_transaction

    @classmethod
    def names(cls):
        return sorted(name for name in dir(cls) if getattr(getattr(cls, name), "is_call", False))

    def create_tables(self):
        raise NotImplementedError

    def clear(self):
        """Removes what a unit has left in the tables."""
        raise NotImplementedError

    def transaction(self):
        """A context manager: a transaction in the library's own form."""
        raise NotImplementedError

    def timed(self, work):
        gc.collect()
        before, began = counters(), clock()
        if self.in_transaction:
            with self.transaction():
                result = work()
        else:
            result = work()
        self.nanos = clock() - began
        self.counters = since(before)
        return result

    def unit(self, name):
        try:
            return getattr(self, name)()
        finally:
            self.clear()


class Call:
    """A prepared call."""

    unit, plan = 1, ""

    def __init__(self, connection, calls, step, in_transaction):
        self.name, self.step, self.answer = step["call"], step, None
        calls(connection, 1, False).create_tables()
        calls(connection, 1, in_transaction).unit(self.name)  # all that is done once was done
        self.calls = calls(connection, step["n"], in_transaction)

    def verify(self, _start, _count, rows):
        """Tells what the last unit did; false where there was none."""
        if self.answer is None:
            return False
        rows.unit(0, 0, [(0, row) for row in self.answer])
        return True

    def measure(self, request, busy):
        """Units one after the other; each stops the clock for what is not its own."""
        window, units = request.get("nanos", 0), request.get("operations", 0)
        total = {"operations": 0, "nanos": 0, "executed": 0, "errors": 0, "misses": 0, "busy": 0, "counters": {}}
        histogram = Histogram()
        marks = open(request["marks"], "ab", buffering=0) if request.get("marks") else None
        while total["executed"] < units or window and (total["nanos"] < window or total["executed"] < MIN_UNITS):
            total["executed"] += 1
            began = clock()
            if self._is_right(total, busy):
                total["operations"] += 1
                total["nanos"] += self.calls.nanos
                histogram.record(self.calls.nanos)
                add(total["counters"], self.calls.counters)
                if marks:
                    marks.write(b".")
                continue
            total["nanos"] += clock() - began  # what fails takes time, too
            if total["errors"] + total["misses"] >= MAX_FAILURES:
                break
        if marks:
            marks.close()
        if request.get("latency"):
            total["histogram"] = histogram.buckets()
        return total

    def _is_right(self, total, busy):
        try:
            self.answer = self.calls.unit(self.name)
        except Exception as error:  # whatever the library raises is the unit's error
            total["busy"] += busy(error)
            total["errors"] += 1
            total.setdefault("error", f"{type(error).__name__}: {error}")
            return False
        want = self.step.get("rows", 0)
        if want in (-1, len(self.answer)):
            return True
        total["misses"] += 1
        total.setdefault("miss", f"{len(self.answer)} rows, expected are {want}")
        return False


def add(total, counted):
    for name, value in counted.items():
        total[name] = max(value, total.get(name, 0)) if name == "peak_bytes" else value + total.get(name, 0)
