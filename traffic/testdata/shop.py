"""A shop that does the orders of a file and records its traffic, through sqlite3,
SQLAlchemy or Django."""

import contextlib
import sqlite3
import sys

import traffic

library, database, log, orders, size = sys.argv[1:]
recorder = traffic.Recorder(log, int(size))

READ = "SELECT name FROM item WHERE id = ?"
FIND = "SELECT id, stock FROM item WHERE stock > ? AND name <> 'Hidden Name' ORDER BY id LIMIT 5"
TAKE = "UPDATE item SET stock = stock - 1 WHERE id = ?"
SELL = "INSERT INTO sale (item_id, at) VALUES (?, 77)"
ADD = "INSERT INTO item (id, name, stock) VALUES (?, ?, ?)"


class Undo(Exception):
    pass


class Plain:
    def __init__(self):
        self.connection = sqlite3.connect(database, factory=recorder.connection)
        self.transaction = lambda: self.connection
        self.errors = sqlite3.IntegrityError

    @contextlib.contextmanager
    def savepoint(self):
        self.connection.execute("SAVEPOINT inner")
        yield
        self.connection.execute("RELEASE inner")

    def query(self, sql, *args):
        return self.connection.execute(sql, args).fetchall()

    def change(self, sql, *args):
        self.connection.execute(sql, args)

    def alone(self, sql, *args):
        self.connection.isolation_level = None
        try:
            self.connection.execute(sql, args)
        finally:
            self.connection.isolation_level = ""

    def close(self):
        self.connection.close()


class SQLAlchemy:
    def __init__(self):
        import sqlalchemy
        from sqlalchemy.pool import StaticPool

        self.text = sqlalchemy.text
        self.errors = sqlalchemy.exc.IntegrityError
        engine = sqlalchemy.create_engine(f"sqlite:///{database}", poolclass=StaticPool, connect_args={"factory": recorder.connection})
        self.connection = engine.connect()
        self.transaction = self.begin
        self.savepoint = self.connection.begin_nested
        self.close = engine.dispose

    @contextlib.contextmanager
    def begin(self):
        with self.connection.begin():
            yield

    def run(self, sql, args):
        for i in range(len(args)):
            sql = sql.replace("?", f":a{i}", 1)
        return self.connection.execute(self.text(sql), {f"a{i}": value for i, value in enumerate(args)})

    def query(self, sql, *args):
        with self.connection.begin():
            return self.run(sql, args).fetchall()

    def change(self, sql, *args):
        self.run(sql, args)

    def alone(self, sql, *args):
        own = self.connection.connection.dbapi_connection
        own.isolation_level = None
        try:
            with self.connection.begin():
                self.run(sql, args)
        finally:
            own.isolation_level = ""


class Django:
    def __init__(self):
        import django
        from django.conf import settings
        from django.db import IntegrityError, connection, transaction

        settings.configure(DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": database, "OPTIONS": {"factory": recorder.connection}}})
        django.setup()
        self.connection, self.errors = connection, IntegrityError
        self.transaction = self.savepoint = transaction.atomic
        self.alone = self.change
        self.close = connection.close

    def query(self, sql, *args):
        with self.connection.cursor() as cursor:
            cursor.execute(sql.replace("?", "%s"), args)
            return cursor.fetchall()

    def change(self, sql, *args):
        with self.connection.cursor() as cursor:
            cursor.execute(sql.replace("?", "%s"), args)


def sell(shop, item, nested):
    with shop.transaction():
        shop.change(TAKE, item)
        with shop.savepoint() if nested else contextlib.nullcontext():
            shop.change(SELL, item)


def undo(shop, item):
    with contextlib.suppress(Undo), shop.transaction():
        shop.change(TAKE, item)
        raise Undo


def add(shop, item):
    try:
        shop.alone(ADD, item, "Secret Person", 5)
    except shop.errors:
        return
    raise AssertionError(f"item {item} was added twice")


shop = {"sqlite3": Plain, "sqlalchemy": SQLAlchemy, "django": Django}[library]()
for line in open(orders):
    order, item = line.split()
    do = {
        "read": lambda: shop.query(READ, int(item)),
        "find": lambda: shop.query(FIND, int(item)),
        "sell": lambda: sell(shop, int(item), False),
        "nest": lambda: sell(shop, int(item), True),
        "undo": lambda: undo(shop, int(item)),
        "add": lambda: add(shop, int(item)),
    }[order]
    do()
shop.close()
recorder.close()
