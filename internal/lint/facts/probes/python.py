"""Opens databases with a library for Python, each with one more setting, and says
what its connections then have. Arguments: the library and the folder in which pip
has put it. Requests come as one JSON document on standard input; answers are JSON
lines on standard output."""

import json
import os
import platform
import sqlite3
import sys
import tempfile

library, packages = sys.argv[1:]
sys.path.insert(0, packages)


class Django:
    def __init__(self):
        import django
        from django.conf import settings
        settings.configure()
        django.setup()
        self.version = django.__version__

    def open(self, settings):
        from django.core.exceptions import ImproperlyConfigured
        from django.db.utils import ConnectionHandler, Error
        self.refusals = (Error, ImproperlyConfigured, TypeError, ValueError)
        config = {"ENGINE": "django.db.backends.sqlite3", "NAME": os.path.abspath("data.db")}
        names = {"NAME": "", "NAME:file": "file:"}
        for s in settings:
            place, key, value = s["place"], s["key"], s["value"]
            if place in names:
                config["NAME"] = f"{names[place]}{os.path.abspath('data.db')}?{key}={value}"
            else:
                (config.setdefault(place, {}) if place else config)[key] = value

        def connect():
            connection = ConnectionHandler({"default": dict(config)})["default"]
            connection.ensure_connection()
            return connection

        self.connect = connect
        self.connections = [connect() for _ in range(2)]
        return [c.connection for c in self.connections]

    def kept(self):
        """Whether a connection is still open after what Django does at the end of a request."""
        connection = self.connect()
        connection.close_if_unusable_or_obsolete()
        return int(connection.connection is not None)

    def transaction(self, i):
        from django.db import transaction
        connection = self.connections[i]
        # atomic takes a name of the global handler; these are its own steps.
        connection.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)
        connection.cursor().execute("INSERT INTO t VALUES (1)")
        connection.rollback()
        connection.set_autocommit(True)


class SQLAlchemy:
    def __init__(self):
        import sqlalchemy
        self.sqlalchemy = sqlalchemy
        self.version = sqlalchemy.__version__

    def open(self, settings):
        self.refusals = (self.sqlalchemy.exc.SQLAlchemyError, TypeError, ValueError)
        url, query, options = "sqlite:///data.db", [], {}
        for s in settings:
            place, key, value = s["place"], s["key"], s["value"]
            if place == "connect_args":
                options.setdefault("connect_args", {})[key] = value
                continue
            if place == "create_engine":
                options[key] = value
                continue
            query.append(f"{key}={value}")
            if place != "url":
                url = "sqlite:///file:data.db"
            if place == "uri":
                query.append("uri=true")
        engine = self.sqlalchemy.create_engine(url + ("?" + "&".join(query) if query else ""), **options)
        self.connections = [engine.connect() for _ in range(2)]
        return [self.raw(c.connection) for c in self.connections]

    @staticmethod
    def raw(connection):
        return getattr(connection, "driver_connection", None) or connection.connection

    def transaction(self, i):
        text = self.sqlalchemy.text
        with self.connections[i].begin() as transaction:
            self.connections[i].execute(text("INSERT INTO t VALUES (1)"))
            transaction.rollback()


def begins(driver, raw, i):
    seen = []
    raw.set_trace_callback(seen.append)
    try:
        driver.transaction(i)
    finally:
        raw.set_trace_callback(None)
    for sql in seen:
        words = sql.lower().split()
        if words[:1] == ["begin"]:
            return words[1] if words[1:2] and words[1] != "transaction" else "deferred"
    return "none"


def read_only(raw):
    try:
        raw.execute("CREATE TABLE IF NOT EXISTS written (n)")
        raw.execute("INSERT INTO written VALUES (1)")
    except sqlite3.OperationalError as error:
        if "readonly" in str(error):
            return 1
        raise
    finally:
        raw.rollback()
    return 0


def observe(driver, raw, i, name):
    if name == "begin":
        return begins(driver, raw, i)
    if name == "read_only":
        return read_only(raw)
    if name == "kept":
        return driver.kept()
    row = raw.execute(f"PRAGMA {name}").fetchone()
    return row[0] if row else ""


def answer(driver, trial):
    made = sqlite3.connect("data.db")
    made.execute("CREATE TABLE t (n)")
    made.commit()
    made.close()
    try:
        connections = driver.open(trial["settings"])
        if any(not name.startswith("data.db") or "?" in name for name in os.listdir(".")):
            return {"literal": True}
        return {"connections": [{name: str(observe(driver, raw, i, name)) for name in trial["observe"]}
                                for i, raw in enumerate(connections)]}
    except driver.refusals as error:
        return {"refused": f"{type(error).__name__}: {error}"}


def in_a_process(driver, trial):
    """The answer of a trial in a process and a folder of its own."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            with tempfile.TemporaryDirectory(prefix="trial-", dir=".") as folder:
                os.chdir(folder)
                os.write(writer, json.dumps(answer(driver, trial)).encode())
                os.chdir("..")
            os._exit(0)
        except BaseException:
            sys.excepthook(*sys.exc_info())
            os._exit(1)
    os.close(writer)
    with open(reader, "rb") as file:
        text = file.read().decode()
    if os.waitpid(child, 0)[1]:
        sys.exit(f"a trial failed: {trial}")
    return text


def main():
    driver = {"django": Django, "sqlalchemy": SQLAlchemy}[library]()
    with tempfile.TemporaryDirectory(dir=".") as folder:  # so that not each process has to import what this does
        os.chdir(folder)
        answer(driver, {"settings": [], "observe": []})
        driver.connections = []
        os.chdir("..")
    request = json.load(sys.stdin)
    print(json.dumps({"version": driver.version, "beside": {"python": platform.python_version()}, "engine": sqlite3.sqlite_version}))
    for trial in request["trials"]:
        print(in_a_process(driver, trial))


main()
