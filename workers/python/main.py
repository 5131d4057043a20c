"""The worker of Python's own module sqlite3."""

import itertools
import sqlite3

import assay_worker
import operations


class Sqlite3(assay_worker.Driver):
    name = "python"
    api = "sqlite3"
    opens = "connection = sqlite3.connect({{dsn}}, uri=True)"
    executes = "connection.executescript({{sql}})"
    calls = operations.PlainSQL
    texts = itertools.count()  # so that no text is in a cache
    version = staticmethod(assay_worker.platform.python_version)
    code = staticmethod(assay_worker.sqlite3_code)

    def facts(self):
        return {"statements": "cached by their text, per connection; with statement each every text has a comment of its own"}

    def connect(self, uri):
        return sqlite3.connect(uri, uri=uri.startswith("file:"), isolation_level=None, check_same_thread=False)

    def statement(self, connection, sql, policy, query):
        cursor = connection.cursor()

        def once(args):
            return cursor.execute(sql, args).fetchall()

        def each(args):
            return cursor.execute(f"{sql}\n-- {next(self.texts)}", args).fetchall()

        def changed(args):
            run(args)
            return max(0, cursor.rowcount)

        def counted(args):
            before = connection.total_changes
            run(args)
            return connection.total_changes - before

        run = each if policy == "each" else once
        return run if query else counted if assay_worker.uncounted(sql) else changed

    def script(self, connection, sql, in_transaction):  # executescript would commit a transaction first
        return super().script(connection, sql, True) if in_transaction else lambda: connection.executescript(sql)


assay_worker.main(Sqlite3())
