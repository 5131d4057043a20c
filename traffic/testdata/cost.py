"""What recording costs: CPU time of a statement with and without the writer, on a
database in memory, with arguments that come again (of 500 rows) and that hardly do.

    PYTHONPATH=traffic python3 traffic/testdata/cost.py
"""

import os
import random
import sqlite3
import tempfile
import time

import traffic

COUNT, ROWS = 20_000, 200_000


def cost(connection, among, query, parameters):
    draw = random.Random(1)
    ids = [draw.randrange(among) for _ in range(COUNT)]
    began = time.process_time_ns()
    for i in ids:
        connection.execute(query, parameters(i)).fetchone()
    return (time.process_time_ns() - began) / COUNT / 1000


def measured(connection):
    connection.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, stock INTEGER)")
    connection.executemany("INSERT INTO item VALUES (?, ?, ?)", ((i, f"item {i}", i) for i in range(ROWS)))
    return [
        cost(connection, among, *statement)
        for among in (500, ROWS)
        for statement in (("SELECT name, stock FROM item WHERE id = ?", lambda i: (i,)), ("UPDATE item SET stock = ? WHERE id = ?", lambda i: (i, i)))
    ]


with tempfile.TemporaryDirectory() as folder:
    runs = [[], []]
    for i in range(3):
        recorder = traffic.Recorder(os.path.join(folder, str(i)), 256 << 20)
        for all, connection in zip(runs, (sqlite3.connect(":memory:"), sqlite3.connect(":memory:", factory=recorder.connection))):
            all.append(measured(connection))
        recorder.close()
    plain, recorded = ([min(column) for column in zip(*all)] for all in runs)
    for name, without, along in zip(("query, few values", "update, few values", "query, many values", "update, many values"), plain, recorded):
        print(f"{name}: {without:.1f} us without, {along - without:.1f} us more with the writer")
