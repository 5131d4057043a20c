"""The worker of aiosqlite: Python's own module sqlite3, in a thread for each connection."""

import itertools

import aiosqlite

import assay_tasks  # noqa: F401: it makes the library asynchronous
import assay_worker


class AIOSQLite(assay_worker.Driver):
    name = api = "aiosqlite"
    opens = "connection = await aiosqlite.connect({{dsn}}, uri=True)"
    executes = "await connection.executescript({{sql}})"
    texts = itertools.count()  # so that no text is in a cache
    code = staticmethod(assay_worker.sqlite3_code)

    def version(self):
        return aiosqlite.__version__

    def facts(self):
        return {"statements": "cached by their text, per connection; with statement each every text has a comment of its own"}

    async def connect(self, uri):
        return await aiosqlite.connect(uri, uri=uri.startswith("file:"), isolation_level=None, check_same_thread=False)

    def statement(self, connection, sql, policy, query):
        def text():
            return f"{sql}\n-- {next(self.texts)}" if policy == "each" else sql

        async def rows(args):
            return await connection.execute_fetchall(text(), args)

        async def changed(args):
            async with connection.execute(text(), args) as cursor:
                return max(0, cursor.rowcount)

        async def counted(args):
            before = connection.total_changes
            async with connection.execute(text(), args):
                return connection.total_changes - before

        return rows if query else counted if assay_worker.uncounted(sql) else changed

    def script(self, connection, sql, in_transaction):  # executescript would commit a transaction first
        return super().script(connection, sql, True) if in_transaction else lambda: connection.executescript(sql)


assay_worker.main(AIOSQLite())
