"""The worker of APSW, which brings a SQLite of its own."""

import apsw

import assay_worker


class Apsw(assay_worker.Driver):
    name = "apsw"
    api = "apsw"
    opens = "connection = apsw.Connection({{dsn}}, flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI)"
    executes = "connection.execute({{sql}}).fetchall()"

    def version(self):
        return getattr(apsw, "apsw_version", apsw.apswversion)()  # older releases have only the latter

    def connect(self, uri):
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI
        return apsw.Connection(uri, flags=flags)

    def statement(self, connection, sql, policy, query):
        cursor, cached = connection.cursor(), policy != "each"

        def rows(args):
            return cursor.execute(sql, args, can_cache=cached).fetchall()

        def changed(args):
            before = connection.total_changes()
            cursor.execute(sql, args, can_cache=cached).fetchall()
            return connection.changes() if connection.total_changes() != before else 0

        return rows if query else changed

    def script(self, connection, sql, in_transaction):
        cursor = connection.cursor()
        return lambda: cursor.execute(sql).fetchall()

    def code(self, error):
        return getattr(error, "extendedresult", getattr(error, "result", 0)) & 0xFF


assay_worker.main(Apsw())
