"""Calls: operations of a worker's own, such as what an application does with an
object-relational mapper."""

import gc

from assay_data import counters, since
from assay_measure import Lap, clock


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
    """A prepared call, measured as an operation whose clock stops for what is not its own."""

    unit, length, plan, retry_busy = 1, 1, "", False

    def __init__(self, worker, spec):
        calls, connection = worker.driver.calls, (worker.writers + worker.readers)[0]
        step, in_transaction = spec["steps"][0], spec.get("transaction") == 1
        self.name, self.rows, self.answer = step["call"], step.get("rows", 0), None
        self.busy, self.stale = worker.busy, worker.stale
        calls(connection, 1, False).create_tables()
        calls(connection, 1, in_transaction).unit(self.name)  # all that is done once was done
        self.calls = calls(connection, step["n"], in_transaction)

    def verify(self, _start, _count, rows):
        """Tells what the last unit did."""
        rows.unit(0, 0, [(0, self.answer)])

    def measure(self, request):
        self.stopped, self.used = 0, {}
        return Lap(self, request, [self.do], lambda: clock() - self.stopped).run() | {"counters": self.used}

    def do(self, _position):
        began = clock()
        self.answer = self.calls.unit(self.name)
        if self.rows in (-1, len(self.answer)):  # of what is wrong all time counts
            for name, value in self.calls.counters.items():
                before = self.used.get(name, 0)
                self.used[name] = max(value, before) if name == "peak_bytes" else value + before
            self.stopped += clock() - began - self.calls.nanos
        return len(self.answer)
