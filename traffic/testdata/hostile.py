"""Threads, a fork, values that cannot be bound, rows that are not read, and statements
behind the end."""

import contextlib
import os
import sqlite3
import sys
import threading

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

child = os.fork()
if child == 0:
    connect().execute("SELECT stock FROM item").fetchall()
    sys.exit(0)
os.waitpid(child, 0)

connection = connect()
for values in ((object(),), (1, 2), 5, (2**70,)):
    with contextlib.suppress(sqlite3.Error, ValueError, OverflowError):
        connection.execute("SELECT name FROM item WHERE id = ?", values)
        raise SystemExit(f"{values} was bound")
connection.executemany("UPDATE item SET stock = ? WHERE id = ?", ((i, i) for i in range(1, 4)))
connection.executescript("SELECT 1; SELECT 2")
unread = connection.execute("SELECT id FROM item")
unread.fetchone()
recorder.close()
recorder.close()
unread.fetchall()
connection.execute("DELETE FROM item")
