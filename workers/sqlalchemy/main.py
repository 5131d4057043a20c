"""The worker of SQLAlchemy's Core, on Python's own module sqlite3."""

import itertools
import sqlite3

import sqlalchemy
from sqlalchemy.pool import NullPool

import assay_worker
import operations


class SQLAlchemy(assay_worker.Driver):
    name = "sqlalchemy"
    api = "sqlalchemy"
    opens = 'engine = create_engine("sqlite://", creator=lambda: sqlite3.connect({{dsn}}, uri=True))'
    executes = 'event.listen(engine, "connect", lambda connection, _: connection.executescript({{sql}}))'
    calls = operations.Mapped
    texts = itertools.count()  # so that no text is in a cache

    def version(self):
        return sqlalchemy.__version__

    def facts(self):
        return {"layer": "Connection.exec_driver_sql of Core, over the module sqlite3; rows are Row objects",
                "statements": "cached by their text, per connection; with statement each every text has a comment of its own"}

    def connect(self, uri):
        make = lambda: sqlite3.connect(uri, uri=uri.startswith("file:"), check_same_thread=False)
        return sqlalchemy.create_engine("sqlite://", creator=make, poolclass=NullPool, isolation_level="AUTOCOMMIT").connect()

    def statement(self, connection, sql, policy, query):
        def execute(args):
            text = f"{sql}\n-- {next(self.texts)}" if policy == "each" else sql
            return connection.exec_driver_sql(text, args)

        def rows(args):
            result = execute(args)
            return result.all() if result.returns_rows else []

        def counted(args):
            before = connection.connection.driver_connection.total_changes
            execute(args)
            return connection.connection.driver_connection.total_changes - before

        return rows if query else counted if assay_worker.uncounted(sql) else lambda args: max(0, execute(args).rowcount)

    def code(self, error):
        return assay_worker.sqlite3_code(getattr(error, "orig", error))


assay_worker.main(SQLAlchemy())
