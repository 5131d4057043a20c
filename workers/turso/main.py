"""The worker of Turso, a database in Rust that reads and writes SQLite's files."""

from importlib.metadata import version
from urllib.parse import unquote

import turso
from turso.lib import Status, _run_execute_with_io, _step_once_with_io

import assay_worker


class Turso(assay_worker.Driver):
    name = engine = "turso"
    api = "pyturso"
    opens = "connection = turso.connect({{dsn}}, isolation_level=None)"
    executes = "connection.executescript({{sql}})"

    def version(self):
        return version("pyturso")

    def facts(self):
        return {"statements": "compiled for each call of execute; with statement once by calling the connection"}

    def given(self, uri):
        path, _, parameters = uri.removeprefix("file:").partition("?")
        if parameters:
            raise assay_worker.Refusal("unsupported", f"pyturso has no way to open a database with {parameters}")
        return unquote(path)

    def connect(self, uri):
        try:
            return turso.connect(self.given(uri), isolation_level=None)
        except turso.DatabaseError as error:
            raise assay_worker.Refusal("unsupported", str(error)) if "by another process" in str(error) else error

    def statement(self, connection, sql, policy, query):
        if policy != "once":
            run = lambda args: connection.execute(sql, args)
            return (lambda args: run(args).fetchall()) if query else lambda args: run(args).rowcount
        statement = connection(sql)

        def once(args):
            statement.bind(args)
            try:
                if not query:
                    return _run_execute_with_io(statement, None).rows_changed
                rows = []
                while _step_once_with_io(statement, None) == Status.Row:
                    rows.append(statement.row())
                return rows
            finally:
                statement.reset()

        return once

    def code(self, error):
        return 5 if type(error).__name__ == "BusySnapshot" else assay_worker.sqlite3_code(error)


assay_worker.main(Turso())
