"""The worker of Django: its layer over the module sqlite3, and in calls its mapper."""

import itertools

import django
from django.db.backends.sqlite3.base import DatabaseWrapper

import assay_worker
import operations
import transactions


class Django(transactions.Modes):
    name, api = "django", "django.db"
    opens = 'DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": {{dsn}}}}'
    executes = 'DATABASES["default"]["OPTIONS"] = {"init_command": {{sql}}}'
    calls = operations.Mapped
    texts = itertools.count()  # so that no text is in a cache

    def version(self):
        return django.__version__

    def facts(self):
        return {"layer": "connection.cursor(), over the module sqlite3, which converts columns declared date, datetime, timestamp, time and bool",
                "statements": "cached by their text, per connection; with statement each every text has a comment of its own"}

    def connect(self, uri):
        connection = DatabaseWrapper({**operations.SETTINGS, "NAME": uri, "OPTIONS": {**operations.SETTINGS["OPTIONS"], **self.mode()}})
        connection.inc_thread_sharing()
        connection.ensure_connection()
        return connection

    def statement(self, connection, sql, policy, query):
        text = sql.replace("%", "%%")  # Django's own placeholders begin with it

        def execute(args):
            cursor = connection.cursor()
            cursor.execute(f"{text}\n-- {next(self.texts)}" if policy == "each" else text, args)
            return cursor.fetchall() if query else max(0, cursor.rowcount)

        def counted(args):
            before = connection.connection.total_changes
            execute(args)
            return connection.connection.total_changes - before

        return counted if not query and assay_worker.uncounted(sql) else execute

    def code(self, error):
        return assay_worker.sqlite3_code(error.__cause__ or error)


assay_worker.main(Django())
