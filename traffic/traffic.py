"""Records what a program asks of SQLite, for assay init --log: statements with their
arguments, transactions, connections, times and rows. The file is for its owner alone.
docs/traffic.md is the format's contract.

The module is this one file, and needs nothing but Python 3.8: copy it into your
program. Nothing is recorded unless the program asks for it:

    import traffic
    recorder = traffic.Recorder("app.ndjson", 64 << 20)

    sqlite3.connect("app.db", factory=recorder.connection)
    sqlalchemy.create_engine("sqlite:///app.db", connect_args={"factory": recorder.connection})
    DATABASES = {"default": {..., "OPTIONS": {"factory": recorder.connection}}}  # Django

The log is complete once recorder.close() was called, or the program has ended.
"""

import atexit
import base64
import datetime
import functools
import itertools
import json
import math
import os
import queue
import re
import sqlite3
import threading
import time
import warnings

VERSION = 2
BUFFERED = 64 << 10  # bytes that are written at once
WAITING = 16  # full buffers that may wait for the disk before lines are dropped
MAX_TEXTS = 10_000  # different statements that are known again
LONG_TEXT = 4096  # characters of a statement that is not kept to know it again
LONG_VALUE = 1 << 20  # bytes of a text or blob of which only the length is recorded
BATCH = 1000  # executions of executemany that are described before they are written
FLUSH_EVERY = 1.0  # seconds
LAST_LINE = 33  # bytes, at most, of the line that says how many were dropped


class Recorder:
    """Writes one file, which must not exist. It gets at most max_bytes; what is more
    is dropped, and counted. Threads may share a recorder; a process that was forked
    off needs one of its own."""

    def __init__(self, path, max_bytes):
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        for name in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"):
            flags |= getattr(os, name, 0)
        self._file = os.fdopen(os.open(path, flags, 0o600), "wb")
        self._path = path
        self._process = os.getpid()
        self._forked = False  # this is another process than the one that made it
        self._max = max_bytes - LAST_LINE
        self._began = time.monotonic_ns()
        self._conns = itertools.count(1)
        self._txs = itertools.count(1)
        # The end of a cursor that the garbage collector finds is recorded within
        # whatever the thread is doing, so that the lock must let it in again.
        self._lock = threading.RLock()
        if hasattr(os, "register_at_fork"):  # another thread may have had it
            os.register_at_fork(after_in_child=self._leave_alone)
        self._closed = False
        self._filled = False  # a line did not fit, so that no later one is written either
        self._lines = []
        self._buffered = 0
        self._spent = 0
        self._dropped = 0
        self._open = 0  # queries whose rows are read
        self._known = {}  # (mark, id), by text
        self._texts = itertools.count(1)
        self._full = queue.SimpleQueue()  # its put may come again within itself, from a finalizer
        self._failed = None
        began = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self._line(f'{{"traffic":{VERSION},"began":"{began}"}}\n')
        self.connection = type("Connection", (Connection,), {"_recorder": self})
        self._writer = threading.Thread(target=self._write, name="traffic", daemon=True)
        self._writer.start()
        atexit.register(self.close)

    def close(self):
        """Writes what is left, and how many lines were dropped. Statements after it
        are not recorded."""
        self._notice_fork()
        with self._lock:
            if self._closed or self._forked:
                return
            self._closed = True
            self._lines.append(f'{{"dropped":{self._dropped + self._open}}}\n')
            last = "".join(self._lines).encode()
        atexit.unregister(self.close)
        self._full.put(last)
        self._full.put(None)
        self._writer.join()
        if self._failed is not None:
            raise self._failed

    def snapshot(self, database):
        """Keeps a database as it is now beside the log, for its owner alone: app.start.db
        beside app.ndjson. Call it before the program changes anything."""
        path = os.fspath(self._path)
        path = (path[: -len(".ndjson")] if path.endswith(".ndjson") else path) + ".start.db"
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600))
        connection = sqlite3.connect(database)
        try:
            connection.execute("VACUUM INTO ?", (path,))
        finally:
            connection.close()

    def _notice_fork(self):
        """Looks for a fork that Python was not told of, as that of a server in C."""
        if not self._forked and os.getpid() != self._process:
            self._leave_alone()

    def _leave_alone(self):
        self._forked = True
        self._lock = threading.RLock()

    def _write(self):
        """Writes full buffers, so that statements do not wait for the disk, and every
        second what is there."""
        while True:
            try:
                data = self._full.get(timeout=FLUSH_EVERY)
            except queue.Empty:
                with self._lock:
                    self._hand()
                continue
            if data is None:
                break
            try:
                if self._failed is None:
                    self._file.write(data)
                    self._file.flush()
            except OSError as error:
                self._failed = error
        try:
            self._file.close()
        except OSError as error:
            self._failed = self._failed or error

    def _hand(self):
        """Passes the buffer on to be written. Where too many wait it is kept."""
        if self._closed or not self._lines or self._full.qsize() >= WAITING:
            return
        lines, self._lines, self._buffered = self._lines, [], 0
        self._full.put("".join(lines).encode())

    def _refuses(self):
        return self._closed or self._filled or self._buffered > 2 * BUFFERED or self._forked

    def _line(self, text):
        """Adds a line of ASCII, and says whether it did."""
        if self._refuses():
            return False
        if self._spent + len(text) > self._max:
            self._filled = True
            return False
        self._spent += len(text)
        self._buffered += len(text)
        self._lines.append(text)
        if self._buffered >= BUFFERED:
            self._hand()
        return True

    def _put(self, began, took, conn, tx, what, args="", rows=0, error=None):
        """Writes the line of a statement or mark, and counts one that it cannot write.
        Where rows is None, nobody knows how many there were."""
        failed = f',"err":"{kind_of(error)}"' if error is not None else ""
        counted = f',"rows":{rows}' if rows is not None else ""
        with self._lock:
            if not what or not self._line(
                f'{{"at":{began - self._began},"conn":{conn},"tx":{tx},"s":"{what}"{args}{counted},"ns":{took}{failed}}}\n'
            ):
                self._dropped += 1

    def _describe(self, what, parameters):
        """Returns the id of a statement, empty where its text is not in the file, and
        its arguments. A value that cannot be recorded costs the line, and never the
        program's statement."""
        if not what or self._refuses():
            return "", ""
        try:
            if isinstance(parameters, dict) or not hasattr(parameters, "__len__") and hasattr(parameters, "keys"):
                named = ",".join([f"{json.dumps(name)}:{value_of(parameters[name])}" for name in parameters.keys()])
                return what, f',"named":{{{named}}}' if named else ""
            args = ",".join([value_of(value) for value in parameters])
            return what, f',"args":[{args}]' if args else ""
        except Exception:
            return "", ""

    def _find(self, query):
        """Returns what is known of a text: the mark of one that begins or ends a
        transaction; else its id, empty where it cannot be written."""
        try:
            return self._known[query]
        except KeyError:
            return self._learn(query)
        except TypeError:  # it is no text: the driver refuses it
            return "", ""

    def _learn(self, query):
        try:
            text = clean(query)
            mark, what = control(text), ""
            with self._lock:
                if not mark and not self._refuses():
                    what = str(next(self._texts))
                    what = what if self._line(f'{{"id":"{what}","sql":{json.dumps(text)}}}\n') else ""
                if (mark or what) and len(self._known) < MAX_TEXTS and len(query) <= LONG_TEXT:
                    self._known[query] = mark, what
                return mark, what
        except Exception:
            return "", ""


def value_of(value):
    """A value as JSON: an integer as a number without a point and exponent, a real with
    one. What JSON does not have is an object of one field."""
    kind = type(value)
    if kind is int:
        return int_of(value)
    if kind is str:
        return text_of(value)
    if value is None:
        return "null"
    if kind is not float and kind is not bytearray:
        value = sqlite3.adapt(value, sqlite3.PrepareProtocol, value)  # as SQLite's module does it
    if value is None:
        return "null"
    if isinstance(value, int):
        return int_of(int(value))
    if isinstance(value, float):
        return repr(float(value)) if math.isfinite(value) else f'{{"real":"{float(value)!r}"}}'
    if isinstance(value, str):
        return text_of(value)
    with memoryview(value) as view:
        if view.nbytes > LONG_VALUE:
            return f'{{"blob":{view.nbytes}}}'
        return f'{{"blob":"{base64.b64encode(view).decode()}"}}'


def int_of(value):
    if not -(1 << 63) <= value < 1 << 63:
        raise OverflowError("SQLite has no such integer")
    return str(value)


def text_of(value):
    if len(value) > LONG_VALUE // 4 and len(value.encode()) > LONG_VALUE:
        return f'{{"text":{len(value.encode())}}}'
    return json.dumps(value)


WORD = "[A-Za-z0-9_\u0080-\U0010ffff]"
TOKEN = re.compile(
    rf"""(?P<space>[ \t\r\n\f\ufeff]|--[^\n]*\n?|/\*.*?(?:\*/|\Z))
    |'[^']*'?|"[^"]*"?|`[^`]*`?|\[[^\]]*\]?|{WORD}+|.""",
    re.VERBOSE | re.DOTALL,
)


def clean(query):
    """Takes comments out of SQL, with one space for each run of them and of spaces, and
    what stands behind PRAGMA and ATTACH, which may have a key."""
    kept, space, first, secret = [], False, True, False
    for found in TOKEN.finditer(query):
        text = found.group()
        if text == ";":
            first, secret = True, False
        if found.lastgroup or secret:
            space = not secret
            continue
        if space and kept:
            kept.append(" ")
        space = False
        secret = first and text.upper() in ("PRAGMA", "ATTACH")
        first = first and text.upper() in (";", "EXPLAIN", "QUERY", "PLAN")
        kept.append(text)
    return "".join(kept).strip("; ")


MARKS = {"begin": "begin", "commit": "commit", "end": "commit", "savepoint": "savepoint", "release": "release", "rollback": "rollback"}


def control(text):
    """Names a statement that begins or ends a transaction or a savepoint. Several in
    one text have no name."""
    words = text.lower().split(" ")
    if ";" in text:
        return ""
    if words[0] == "rollback" and "to" in words[1:3]:
        return "rollback to"
    return MARKS.get(words[0], "")


def kind_of(error):
    """Says of what kind an error is, and nothing of its text."""
    text = str(error).lower()
    if "locked" in text or "busy" in text:
        return "busy"
    return "constraint" if "constraint" in text else "error"


class Connection(sqlite3.Connection):
    """A connection whose statements are recorded."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._number = next(self._recorder._conns)
        self._tx = 0  # 0: none
        self._recorder._notice_fork()
        if self._recorder._forked:
            warnings.warn("traffic: this process was forked off after the Recorder was made, and records nothing: make one in each process", RuntimeWarning)

    def cursor(self, factory=sqlite3.Cursor):
        return super().cursor(recorded(factory))

    def execute(self, *args):
        return self.cursor().execute(*args)

    def executemany(self, *args):
        return self.cursor().executemany(*args)

    def executescript(self, *args):
        return self.cursor().executescript(*args)

    def commit(self):
        self._finish("commit", super().commit)

    def rollback(self):
        self._finish("rollback", super().rollback)

    def close(self):
        self._finish("rollback", super().close)

    def __exit__(self, kind, value, trace):
        if kind is not None:
            self.rollback()
            return False
        try:
            self.commit()
        except BaseException:
            self.rollback()
            raise
        return False

    def _finish(self, mark, do):
        """Records what may end a transaction, if there is one."""
        began, failed = time.monotonic_ns(), None
        try:
            do()
        except BaseException as error:
            failed = error
            raise
        finally:
            if self._tx:
                self._mark(mark, began, failed)
                if failed is None or not self._inside():
                    self._tx = 0

    def _inside(self):
        try:
            return self.in_transaction
        except sqlite3.ProgrammingError:  # closed, or another thread's
            return False

    def _mark(self, mark, began, failed=None):
        self._recorder._put(began, time.monotonic_ns() - began, self._number, self._tx, mark, error=failed)

    def _enter(self, began):
        """Sees a transaction that began, by SQL or by Python before a change."""
        if not self._tx and self._inside():
            self._tx = next(self._recorder._txs)
            self._recorder._put(began, 0, self._number, self._tx, "begin")

    def _leave(self, mark, failed=None):
        """Sees a transaction that is over."""
        if self._tx and not self._inside():
            self._recorder._put(time.monotonic_ns(), 0, self._number, self._tx, mark, error=failed)
            self._tx = 0


class Cursor(sqlite3.Cursor):
    """A cursor whose statements are recorded: queries once their rows are read."""

    _query = None  # whose rows are read: when it began and ended, its transaction, id and arguments
    _rows = 0

    def execute(self, query, parameters=(), /):
        if self._query is not None:
            self._done()
        conn = self.connection
        recorder = conn._recorder
        mark, what = recorder._find(query)
        if mark:
            return self._control(mark, query, parameters)
        what, args = recorder._describe(what, parameters)
        before, began = conn.total_changes, time.monotonic_ns()
        if not conn._tx:
            conn._enter(began)  # with autocommit=False, a transaction begins unseen
        try:
            super().execute(query, parameters)
        except BaseException as error:
            ended = time.monotonic_ns()
            conn._enter(began)
            recorder._put(began, ended - began, conn._number, conn._tx, what, args, 0, error)
            conn._leave("rollback")
            raise
        ended = time.monotonic_ns()
        if not conn._tx:
            conn._enter(began)
        if self.description is None:
            recorder._put(began, ended - began, conn._number, conn._tx, what, args, self.rowcount if self.rowcount >= 0 else conn.total_changes - before)  # of WITH, rowcount is -1
        else:
            self._query, self._rows = [began, ended, conn._tx, what, args], 0
            with recorder._lock:
                recorder._open += 1
        return self

    def _control(self, mark, query, parameters):
        """Records a statement that begins or ends a transaction or a savepoint: one
        outside of a transaction begins and ends it."""
        conn, began, failed = self.connection, time.monotonic_ns(), None
        inside = conn._tx
        try:
            super().execute(query, parameters)
        except BaseException as error:
            failed = error
            raise
        finally:
            if not inside and conn._inside():
                conn._tx, mark = next(conn._recorder._txs), "begin"
            over = inside and not conn._inside()
            if over and mark == "release":
                mark = "commit"
            conn._mark(mark, began, failed)
            if over:
                conn._tx = 0
        return self

    def executemany(self, query, parameters, /):
        """Each execution gets its share of the time and of the rows. Of many executions
        the rows are not known: they are written a batch at a time."""
        self._done()
        conn = self.connection
        recorder, described, began = conn._recorder, [], time.monotonic_ns()
        _, text = recorder._find(query)

        def write(executions, ended, rows, failed=None):
            conn._enter(began)
            took = (ended - began) // max(1, len(executions))
            share, more = divmod(rows or 0, max(1, len(executions)))
            for i, (what, args) in enumerate(executions):
                error = failed if i == len(executions) - 1 else None
                count = None if rows is None else share + (i < more)
                recorder._put(began + i * took, took, conn._number, conn._tx, what, args, count, error)

        def each():
            nonlocal began, batches
            for values in parameters:
                if len(described) == BATCH:
                    ended = time.monotonic_ns()
                    write(described, ended, None)
                    described.clear()
                    began, batches = time.monotonic_ns(), batches + 1
                described.append(recorder._describe(text, values))
                yield values

        batches, failed = 0, None
        conn._enter(began)
        try:
            super().executemany(query, each())
        except BaseException as error:
            failed = error
            raise
        finally:
            rows = None if batches else max(0, self.rowcount) if failed is None else 0
            write(described, time.monotonic_ns(), rows, failed)
            conn._leave("rollback")
        return self

    def executescript(self, script, /):
        """A text of several statements is recorded as one. Python commits before it."""
        self._done()
        conn, began, failed = self.connection, time.monotonic_ns(), None
        try:
            super().executescript(script)
        except BaseException as error:
            failed = error
            raise
        finally:
            conn._leave("commit")
            mark, what = conn._recorder._find(script)
            if not mark:
                conn._recorder._put(began, time.monotonic_ns() - began, conn._number, conn._tx, what, "", 0, failed)
            conn._enter(time.monotonic_ns())
        return self

    def fetchone(self):
        try:
            row = super().fetchone()
        except BaseException as error:
            self._done(error)
            raise
        if self._query is not None:
            self._read(0 if row is None else 1, row is None)
        return row

    def __next__(self):
        try:
            row = super().__next__()
        except StopIteration:
            self._read(0, True)
            raise
        except BaseException as error:
            self._done(error)
            raise
        self._read(1, False)
        return row

    def fetchmany(self, size=None):
        size = self.arraysize if size is None else size
        try:
            rows = super().fetchmany(size)
        except BaseException as error:
            self._done(error)
            raise
        self._read(len(rows), len(rows) < size)
        return rows

    def fetchall(self):
        try:
            rows = super().fetchall()
        except BaseException as error:
            self._done(error)
            raise
        self._read(len(rows), True)
        return rows

    def close(self):
        self._done()
        super().close()

    def __del__(self):
        if self._query is not None:
            self._done()

    def _read(self, rows, over):
        if self._query is not None:
            self._rows += rows
            self._query[1] = time.monotonic_ns()
            if over:
                self._done()

    def _done(self, error=None):
        """Records the query whose rows were read."""
        if self._query is None:
            return
        (began, ended, tx, what, args), self._query = self._query, None
        recorder = self.connection._recorder
        with recorder._lock:
            recorder._open -= 1
            recorder._put(began, ended - began, self.connection._number, tx, what, args, self._rows, error)


@functools.lru_cache(100)
def recorded(factory):
    """A class of cursors that records, beneath what a library's own class does."""
    if not isinstance(factory, type) or not issubclass(factory, sqlite3.Cursor):
        raise TypeError(f"traffic: a recorded connection wants a class of cursors, and got {factory!r}")
    if issubclass(factory, Cursor):
        return factory
    if factory is sqlite3.Cursor:
        return Cursor
    for name in ("execute", "executemany"):
        code = getattr(getattr(factory, name), "__code__", None)
        if code is not None and "super" not in code.co_names:
            raise TypeError(f"traffic: {factory.__name__}.{name} does not call super(), so that its statements cannot be recorded")
    return type(factory.__name__, (factory, Cursor), {})
