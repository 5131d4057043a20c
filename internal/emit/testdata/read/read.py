"""Runs SQL on two connections that a form opened: read.py ECOSYSTEM.

A line of input is the number of a connection and SQL; a line of output is the
first value of the answer, or "error: " and the message.
"""

import sys

import database


def opened(ecosystem):
    if ecosystem in ("python", "apsw"):
        return [database.connect("app.db") for _ in range(2)]
    if ecosystem == "sqlalchemy":
        engine = database.engine("app.db")
        held.extend(engine.connect() for _ in range(2))
        return [connection.connection.dbapi_connection for connection in held]
    from django.conf import settings

    settings.configure(DATABASES=database.DATABASES)
    from django.db import connections

    held.extend([connections["default"], connections["default"].copy()])
    for connection in held:
        connection.ensure_connection()
    return [connection.connection for connection in held]


held = []
connections = opened(sys.argv[1])
for line in sys.stdin:
    number, sql = line.rstrip("\n").split(" ", 1)
    try:
        row = connections[int(number)].execute(sql).fetchone()
        print("" if row is None else row[0])
    except Exception as error:
        print("error:", error)
