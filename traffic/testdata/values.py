"""Binds values of all kinds, whose last one is too long to be recorded."""

import datetime
import sqlite3
import sys

import traffic

log, database = sys.argv[1:]
recorder = traffic.Recorder(log, 64 << 20)
recorder.snapshot(database)
connection = sqlite3.connect(database, factory=recorder.connection, isolation_level=None)
for value in (
    None, 0, -1, 2**53 + 1, 2**63 - 1, -(2**63), True, 0.1, -0.0, 1.0, 1e22, 5e-324, 1.7976931348623157e308, float("inf"), float("-inf"), float("nan"),
    "", "é😀\u2028", "a\0b", "\"\\\n\t\x7f'", "1", b"", bytes(range(256)), bytearray(b"x"), datetime.date(2026, 1, 2), "x" * ((1 << 20) + 1),
):  # fmt: skip
    connection.execute("INSERT INTO v VALUES (?)", (value,))
connection.execute("INSERT INTO v VALUES (:b)", {"a": 1, "b": 2})
connection.close()
recorder.close()
