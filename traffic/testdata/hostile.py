"""Threads, a fork, values that cannot be bound, rows that are not read, and statements
behind the end."""

import contextlib
import ctypes
import gc
import os
import signal
import sqlite3
import sys
import threading
import warnings

import traffic

log, database = sys.argv[1] , sys.argv[2]
recorder = traffic.Recorder(log, 64 << 20)


def connect():
    return sqlite3.connect(database, factory=recorder.connection, timeout=60)


def read():
    with contextlib.closing(connect()) as connection:
        for i in range(50):
            connection.execute("SELECT id FROM item WHERE id = ?", (i,)).fetchone()


threads = [threading.Thread(target=read) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

# A process is forked off while another thread has the lock.
held, forked = threading.Event(), threading.Event()


def hold():
    with recorder._lock:
        held.set()
        forked.wait()


holder = threading.Thread(target=hold)
holder.start()
held.wait()
child = os.fork()
if child == 0:
    signal.alarm(60)
    connect().execute("SELECT stock FROM item").fetchall()
    os._exit(0)
forked.set()
holder.join()
_, status = os.waitpid(child, 0)
if status != 0:
    raise SystemExit(f"the forked process ended with status {status}")

# A server in C forks without a word to Python: nothing is recorded, and the end is one.
child = ctypes.CDLL(None).fork()
if child == 0:
    signal.alarm(60)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        connect().execute("SELECT stock FROM item").fetchall()
    recorder.close()
    os._exit(0 if any("forked" in str(w.message) for w in told) else 3)
_, status = os.waitpid(child, 0)
if status != 0:
    raise SystemExit(f"the process that was forked by C ended with status {status}")

connection = connect()

# The garbage collector ends a cursor in the middle of a line.
cycle = [connection.execute("SELECT name FROM item")]
cycle[0].fetchone()
cycle.append(cycle)
del cycle
signal.alarm(60)
with recorder._lock:
    gc.collect()
signal.alarm(0)
for values in ((object(),), (1, 2), 5, (2**70,)):
    with contextlib.suppress(sqlite3.Error, ValueError, OverflowError):
        connection.execute("SELECT name FROM item WHERE id = ?", values)
        raise SystemExit(f"{values} was bound")
connection.executemany("UPDATE item SET stock = ? WHERE id = ?", ((i, i) for i in range(1, 4)))
before = recorder._spent


def many():
    for i in range(2500):
        if i == 2400 and recorder._spent - before < 2000 * 50:
            raise SystemExit("executemany keeps all that it describes until its end")
        yield i, i


connection.executemany("UPDATE item SET stock = ? WHERE stock = -1 AND id = ?", many())
connection.executescript("SELECT 1; SELECT 2")
unread = connection.execute("SELECT id FROM item")
unread.fetchone()
recorder.close()
recorder.close()
unread.fetchall()
connection.execute("DELETE FROM item")
