"""Measuring: clients draw units of an operation from one counter.

Clients are threads. The comments `async` and `await` behind a line say what it is where
they are tasks: see assay_tasks.py.
"""

import itertools
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from queue import SimpleQueue as Queue  # noqa: F401: what else differs with tasks, beside the next four
from threading import Barrier, Condition

from assay_data import Histogram, counters, since

clock = time.monotonic_ns
MIN_UNITS = 10  # of every client in a window
MAX_FAILURES = 1000
PATIENCE = 10_000_000_000  # ns that a unit is tried again where it is answered "busy"
CLIENTS = "threads, under one interpreter lock"
threads = ThreadPoolExecutor(1 << 16)  # one is made where none is idle, and lives on


def wait(result):
    """What a driver's function has returned, outside of measuring."""
    return result


def together(calls):
    """Makes calls at the same time, the last one in this thread."""
    others = [threads.submit(call) for call in calls[:-1]]
    calls[-1]()
    for other in others:
        other.result()


class Missed(Exception):
    """Another number of rows than expected."""

    def __init__(self, rows, want):
        super().__init__(f"{rows} rows, expected are {want}")


class Share:
    """What one client did."""

    def __init__(self):
        self.executed = self.done = self.busy = self.stale = self.errors = self.misses = 0
        self.before = self.last = self.last_right = self.exit = 0
        self.error = self.miss = None
        self.histogram = Histogram()


class Null:
    """An operation whose statements do nothing: what it takes is the worker's own
    loop, its arguments and its clock, of which every other figure has as much."""

    OPERATIONS, LAPS, ENOUGH = 200, 40, 2 * 10**7  # the shortest lap counts: short ones are seldom interrupted, and long ones need fewer

    def __init__(self, operation):
        self.unit, self.length, self.rows = operation.unit, operation.length, operation.rows
        self.retry_busy, self.busy, self.stale = False, operation.busy, operation.stale
        self.clients = [operation.null(len(operation.clients))]
        self.statements = self.unit * max(1, len(getattr(operation, "steps", ())))
        self.known = {}  # by what changes the loop

    @classmethod
    def of(cls, operation, request):
        """The time of the loop for one operation, in ns. It is measured once."""
        operation.loop = operation.loop or cls(operation)
        return operation.loop.nanos(request)

    def nanos(self, request):
        key = request.get("batch", 0), bool(request.get("latency"))
        if key not in self.known:
            count = self.unit * max(1, self.OPERATIONS // self.statements)
            lap, took = {"operations": count, "batch": key[0], "latency": key[1]}, []
            while len(took) < self.LAPS and sum(took) < self.ENOUGH:
                took.append(Lap(self, lap, self.clients).run()["nanos"])
            self.known[key] = min(took) / count
        return self.known[key]


class Order:
    """Has units begin when those that they name have ended: the first ones, so many of them."""

    def __init__(self, operation, first):
        self.after, self.first = operation.after, first
        self.ended = bytearray(operation.length + 1)
        self.more = Condition()

    def keep(self, do):
        """Runs units in order."""

        def unit(position):  # async
            with self.more:  # async
                self.more.wait_for(lambda: self.first >= self.after(position))  # await
            return do(position)  # await

        return unit

    def end(self, position):  # async
        with self.more:  # async
            self.ended[position] = 1
            before = self.first
            while self.ended[self.first]:
                self.first += 1
            if self.first > before:
                self.more.notify_all()


class Lap:
    """One measurement of a prepared operation."""

    def __init__(self, operation, request, clients, clock=clock):
        self.operation, self.clients, self.latency, self.clock = operation, clients, request.get("latency"), clock
        self.batch = max(1, request.get("batch", 0))
        self.window = request.get("nanos", 0)
        self.units = request.get("operations", 0) // operation.unit or 1 << 62
        self.first = request.get("start", 0) // operation.unit
        self.min_units = MIN_UNITS * len(clients) if self.window else 0
        self.draw = itertools.count(0, self.batch).__next__  # one step of the interpreter: no lock is needed
        self.order = None
        if len(clients) > 1 and getattr(operation, "after", None):
            self.order = Order(operation, self.first)
            self.clients = [self.order.keep(do) for do in clients]
        self.failures = itertools.count(1).__next__
        self.over = False
        self.barrier = Barrier(len(clients), self._begin)
        self.marks = request.get("marks")

    def _begin(self):
        self.unix = time.time_ns()
        self.began = self.clock()
        self.deadline = self.began + self.window if self.window else 1 << 62

    def run(self):
        shares = [Share() for _ in self.clients]
        marks = open(self.marks, "ab", buffering=0) if self.marks else None
        calls = [partial(self._client, client, share, marks) for client, share in zip(self.clients, shares)]
        before = counters()
        together(calls)
        used = since(before)
        if marks:
            marks.close()
        return self._sum(shares) | {"counters": used}

    def _client(self, do, share, marks):  # async
        draw, batch, units, length, want = self.draw, self.batch, self.units, self.operation.length, self.operation.rows
        record = share.histogram.record if self.latency else None
        min_units, first, executed, done, order, clock = self.min_units, self.first, 0, 0, self.order, self.clock
        self.barrier.wait()
        previous, deadline = self.began, self.deadline
        before, right = share.before, 0
        while not self.over:  # a unit that is drawn is run: others may wait for its end
            start = draw()
            if start >= units or previous >= deadline and start >= min_units:
                break
            count = right = batch if start + batch <= units else units - start
            for unit in range(first + start, first + start + count):
                try:
                    rows = do(unit % length)  # await
                    good = rows == want or want < 0
                    if not good:
                        good = self._trouble(do, unit % length, share, rows, None)  # await
                except Exception as error:  # whatever the driver raises is the unit's error
                    good = self._trouble(do, unit % length, share, 0, error)  # await
                finally:
                    if order:
                        order.end(unit % length)  # await
                if not good:
                    right -= 1
                elif marks:
                    marks.write(b".")
            now = clock()
            if record and right == count:
                record((now - previous) // count)
            executed += count
            done += right
            before, previous = previous, now
        share.exit = clock() if len(self.clients) > 1 else previous  # others may have worked on since then
        share.executed, share.done = executed, done
        share.before, share.last, share.last_right = before, previous, right

    def _trouble(self, do, unit, share, rows, error):  # async
        """Tries busy units again where that is asked for. Was it right in the end?"""
        began = clock()
        while error is not None and self.operation.busy(error):
            share.busy += 1
            share.stale += self.operation.stale(error)
            if not self.operation.retry_busy or clock() - began > PATIENCE:
                break
            try:
                rows = do(unit)  # await
                error = None
            except Exception as another:
                error = another
        if error is None and (rows == self.operation.rows or self.operation.rows < 0):
            return True
        if self.failures() >= MAX_FAILURES:
            self.over = True
        if error is None or isinstance(error, Missed):
            share.misses += 1
            share.miss = share.miss or str(error or Missed(rows, self.operation.rows))
        else:
            share.errors += 1
            share.error = share.error or f"{type(error).__name__}: {error}"
        return False

    def _sum(self, shares):
        """Time runs until the first client found nothing more to do; of a draw that
        ended later counts the part of its time that lies inside."""
        end = min(share.exit for share in shares)
        units = 0.0
        histogram = Histogram()
        for share in shares:
            units += share.done
            if share.last > end:
                units -= share.last_right * (share.last - max(end, share.before)) / (share.last - share.before)
            histogram.merge(share.histogram)
        unit = self.operation.unit
        total = {"operations": round(units * unit), "nanos": end - self.began, "began_ns": self.unix, "executed": sum(s.executed for s in shares) * unit}
        for name in ("errors", "misses", "busy", "stale"):
            total[name] = sum(getattr(share, name) for share in shares)
        for name in ("error", "miss"):
            total[name] = next((getattr(s, name) for s in shares if getattr(s, name)), "")
        if self.latency:
            total["histogram"] = histogram.buckets()
        return total
