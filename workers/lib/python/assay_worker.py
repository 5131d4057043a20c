"""A worker of assay for a driver of SQLite in Python: the whole protocol but for
the driver, which a subclass of Driver describes. See docs/protocol.md. What may not be
asked, assay refuses itself.

Clients are threads. Python's interpreter lock lets one of them run Python at a
time; drivers release it while SQLite works. Where a driver's functions are coroutines,
clients are tasks: see assay_tasks.py.
"""

import json
import os
import platform
import sys
from functools import partial

from assay_calls import Call
from assay_data import UNCOUNTED, Columns, Refusal, Rows, counters, row_count
from assay_measure import CLIENTS, Lap, Missed, Null, Queue, clock, wait

BUSY = (5, 6)


class Driver:
    """What a worker says of its driver. All connections commit each statement by itself."""

    name = api = ""
    engine = "sqlite"  # whose function ENGINE_version says its version
    # What a program writes to open a database and to run SQL, which the report shows;
    # {{dsn}} and {{sql}} stand for the text, quoted. Empty: the report shows the texts alone.
    opens = executes = ""
    begin = ""  # how transactions are to begin; empty: BEGIN IMMEDIATE
    calls = None  # a class of assay_calls.Calls, where the driver has operations of its own

    def version(self):
        """The version of the driver."""
        raise NotImplementedError

    def facts(self):
        """Whatever else tells two targets apart, as texts."""
        return {}

    def given(self, uri):
        """What the driver opens for a file: URI."""
        return uri

    def connect(self, uri):
        """A new connection to a file: URI, for use by any thread."""
        raise NotImplementedError

    def statement(self, connection, sql, policy, query):
        """A function that executes the SQL with a tuple of arguments, and returns
        the rows of a query as a list, or the number of rows changed."""
        raise NotImplementedError

    def begins(self):
        """What the driver's transactions begin by, as a program writes it."""
        return "BEGIN " + (self.begin or "immediate").upper()

    def control(self, connection, policy):
        """Functions that begin a transaction, commit it and roll it back."""
        return [self.statement(connection, sql, policy, False) for sql in (self.begins(), "COMMIT", "ROLLBACK")]

    def script(self, connection, sql, in_transaction):
        """A function that executes several statements in one call of the driver."""
        raise Refusal("unsupported", f"{self.api} has no form to run several statements in one call" + (" within a transaction" if in_transaction else ""))

    def code(self, error):
        """SQLite's primary result code of an error; 0 where it is not SQLite's."""
        raise NotImplementedError


# SQLite's own texts of codes, which errors of the module sqlite3 have before Python 3.11.
MESSAGES = {"database is locked": 5, "database table is locked": 6, "database schema is locked": 6}


def sqlite3_code(error):
    """SQLite's primary result code of an error of the module sqlite3."""
    code = getattr(error, "sqlite_errorcode", None)
    return MESSAGES.get(str(error).partition(":")[0], 0) if code is None else code & 0xFF


def uncounted(sql):
    """Has the module sqlite3 no rowcount, whatever changes? Before Python 3.11, a comment hides the statement."""
    return sql.lstrip().upper().startswith(("WITH", "--", "/*"))


def main(driver):
    """Serves until the input ends or close is asked, and exits."""
    worker = Worker(driver)
    say({"type": "hello", "protocol": 1, **worker.hello()})
    for line in sys.stdin.buffer:
        request = json.loads(line)
        say(reply(worker, request))
        if request["type"] == "close":
            break
    worker.end()
    os._exit(0)  # all is written: what the interpreter still does takes a second on a busy machine


def say(message):
    sys.stdout.buffer.write(json.dumps(message, ensure_ascii=False).encode() + b"\n")
    sys.stdout.buffer.flush()


def reply(worker, request):
    kind, number = request["type"], request["id"]
    try:
        if kind not in ("open", "query", "prepare", "measure", "verify", "stats", "close"):
            raise Refusal("unsupported", f"this worker does not know the request {json.dumps(kind)}")
        return {"type": "ok", "id": number, "body": getattr(worker, kind)(request)}
    except Refusal as refusal:
        return {"type": "error", "id": number, "code": refusal.code, "definite": True, "message": str(refusal)}
    except Exception as error:  # whatever the driver raises is told in its words
        message = f"{type(error).__name__}: {error}"
        return {"type": "error", "id": number, "code": "failed", "definite": False, "message": message}


class Worker:
    """What is answered to each request."""

    def __init__(self, driver):
        self.driver, self.operations = driver, {}
        self.readers, self.writers, self.named = [], [], {}

    def hello(self):
        connection = wait(self.driver.connect("file::memory:"))
        one = lambda sql: self.rows(connection, sql)[0][0]
        facts = {"api": self.driver.api, "python": platform.python_version(), "source_id": one("SELECT sqlite_source_id()")}
        facts |= {"clients": CLIENTS, "uncounted": UNCOUNTED, **self.driver.facts()}
        facts |= {name: code for name, code in (("open", self.driver.opens), ("execute", self.driver.executes)) if code}
        options = sorted(row[0] for row in self.rows(connection, "PRAGMA compile_options"))
        target = {"driver": self.driver.name, "driver_version": self.driver.version(), "engine": self.driver.engine}
        target |= {"engine_version": one(f"SELECT {self.driver.engine}_version()"), "facts": facts, "compile_options": options}
        wait(connection.close())
        if not self.driver.calls:
            return {"target": target, "capabilities": ["sql", "query", "answers", "ordered"]}
        return {"target": target, "capabilities": ["sql", "query", "answers", "ordered", "call"], "calls": self.driver.calls.names()}

    def rows(self, connection, sql):
        return wait(self.driver.statement(connection, sql, "never", True)(()))

    def open(self, request):
        readers, writers = request["readers"], request["writers"]
        self.driver.begin = (request.get("settings") or {}).get("begin", "")
        try:
            self.readers, self.writers = self.connections("reader", readers, request), self.connections("writer", writers, request)
            for sql in request.get("once") or []:
                self.rows((self.writers + self.readers)[0], sql)
        except BaseException:
            self.end()
            raise
        self.free_readers, self.free_writers = queue(self.readers), queue(self.writers)
        return {"dsn": self.driver.given(request["dsn"]), "issued": {"begin": self.driver.begins()} if self.driver.begin else {}}

    def connections(self, kind, count, request):
        for number in range(count):
            self.named[f"{kind}-{number + 1}"] = connection = wait(self.driver.connect(request["dsn"]))
            for sql in request.get("each") or []:
                self.rows(connection, sql)
        return [self.named[f"{kind}-{number + 1}"] for number in range(count)]

    def query(self, request):
        """Runs SQL that assay wants answered on a connection, or begins, rolls back or closes it."""
        name, control = request.get("connection"), request.get("control")
        if request.get("dsn"):
            self.named[name] = wait(self.driver.connect(request["dsn"]))
        connection = self.named[name]
        if control == "close":
            wait(self.named.pop(name).close())
        elif control:
            begin, _, rollback = self.driver.control(connection, "never")
            wait((begin if control == "begin" else rollback)(()))
        else:
            rows = self.rows(connection, request["sql"])
            if request.get("rows"):
                with Rows(request["rows"]) as file:
                    file.unit(0, 0, [(0, rows)])
        return {}

    def prepare(self, request):
        spec, clients = request["operation"], request["clients"]
        if "steps" in spec and "call" in spec["steps"][0]:
            operation = Call(self, spec)
        else:
            operation = (Mix if spec.get("parts") else Operation)(self, spec)
            operation.clients = [operation.client(i, clients) for i in range(clients)]
        self.operations[spec["name"]] = operation
        return {"query_plan": operation.plan}

    def measure(self, request):
        operation = self.operations[request["operation"]]
        if isinstance(operation, Call):
            return operation.measure(request)
        if not request.get("answers"):
            return Lap(operation, request, operation.clients).run() | {"loop_ns": Null.of(operation, request)}
        clients = len(operation.clients)
        with Rows(request["rows"]) as rows:
            return Lap(operation, request, [operation.teller(i, clients, rows.unit) for i in range(clients)]).run()

    def verify(self, request):
        with Rows(request["rows"]) as rows:
            self.operations[request["operation"]].verify(request.get("start", 0), request.get("count", 0), rows)
        return {}

    def busy(self, error):
        return self.driver.code(error) in BUSY

    def stale(self, error):
        """Did a transaction that began deferred, and has read, come too late to change? The steps
        before it have read, or it would have the lock already."""
        return self.driver.begin == "deferred" and getattr(error, "later", False)

    def stats(self, _request):
        return counters()

    def close(self, _request):
        began = clock()
        self.end()
        return {"nanos": clock() - began}

    def end(self):
        for connection in reversed(self.named.values()):  # that of a database in memory last
            wait(connection.close())
        self.readers, self.writers, self.named = [], [], {}


class Operation:
    """A prepared operation of steps."""

    loop = None  # the same with nothing to do, once it was needed

    def __init__(self, worker, spec):
        self.worker, self.spec, self.steps = worker, spec, spec["steps"]
        self.changes, self.size = spec.get("changes"), spec.get("transaction", 0)
        self.unit, self.retry_busy = max(1, self.size), spec.get("retry_busy")
        self.policy = spec.get("statement") or "once"
        self.open_trace(spec.get("trace"))
        counts = [step.get("rows", 0) for step in self.steps]
        self.rows = -1 if min(counts) < 0 else sum(counts) * self.unit
        self.plan = "\n".join(self.explain(i) for i, step in enumerate(self.steps) if not step.get("script"))
        self.connections = worker.writers if self.changes else worker.readers
        self.free = worker.free_writers if self.changes else worker.free_readers
        compiled = {id(c): self.compiled(c) for c in self.connections}
        self.runs = {key: runs for key, (runs, _) in compiled.items()}
        self.units = {key: self.unit_on(*both) for key, both in compiled.items()}

    def open_trace(self, path):
        trace = Columns(path) if path else None
        self.length = trace.rows // self.unit if trace else 1
        first, self.arguments = 0, []
        for step in self.steps:
            count = step.get("args", 0)
            self.arguments.append(trace.arguments(first, count) if count else lambda row: ())
            first += count

    def explain(self, i):
        driver, connection = self.worker.driver, (self.worker.readers + self.worker.writers)[0]
        run = driver.statement(connection, "EXPLAIN QUERY PLAN " + self.steps[i]["sql"], "never", True)
        return "\n".join(row[3] for row in wait(run(self.arguments[i](0))))

    def compiled(self, connection):
        """The steps on a connection, and BEGIN, COMMIT, ROLLBACK where there are transactions."""
        statement = self.worker.driver.statement
        runs = [self.script(connection, step["sql"]) if step.get("script") else statement(connection, step["sql"], self.policy, bool(step.get("query"))) for step in self.steps]
        return runs, self.worker.driver.control(connection, self.policy) if self.size else []

    def script(self, connection, sql):
        run = self.worker.driver.script(connection, sql, bool(self.size))

        def unit(_args):  # async
            run()  # await
            return 0

        return unit

    def unit_on(self, runs, control):
        """The function that runs one unit by these statements."""
        one = self.operation_on(runs)
        if not self.size:
            return one
        size, (begin, commit, rollback) = self.size, control

        def transaction(unit):  # async
            begin(())  # await
            try:
                total = 0
                for position in range(unit * size, unit * size + size):
                    try:
                        total += one(position)  # await
                    except Exception as error:
                        if position > unit * size:
                            error.later = True
                        raise
                commit(())  # await
                return total
            except BaseException:
                try:
                    rollback(())  # await
                except Exception:
                    pass  # SQLite has rolled back itself, say on a full disk: the first error tells
                raise

        return transaction

    def operation_on(self, runs):
        """The function that runs the operation at a position: what it takes itself is
        in every figure."""
        steps = [(run, arguments, bool(step.get("query"))) for run, arguments, step in zip(runs, self.arguments, self.steps)]
        if len(steps) > 1:
            return lambda position: self.all(steps, position)
        run, arguments, query = steps[0]

        def rows(position):  # async
            answer = run(arguments(position))  # await
            return len(answer)

        return rows if query else lambda position: run(arguments(position))

    def null(self, clients):
        """What a client calls, with statements that do nothing and answer as expected."""
        counts = [max(0, step.get("rows", 0)) for step in self.steps]
        answers = [[()] * count if step.get("query") else count for step, count in zip(self.steps, counts)]
        unit = self.unit_on([answering(answer) for answer in answers], [answering(0)] * 3)
        if self.is_alone(clients):
            return unit
        return self.taking(queue([self]), {id(self): unit})

    def busy(self, error):
        return self.worker.busy(error)

    def stale(self, error):
        return self.worker.stale(error)

    def is_alone(self, clients):
        """Does each client have a connection that no other one uses?"""
        return clients <= len(self.connections) if not self.changes else clients == len(self.connections) == 1

    def client(self, number, clients, units=None):
        """The function that runs one unit: on a connection of the client's own, or on one that is free."""
        units = units or self.units
        return units[id(self.connections[number])] if self.is_alone(clients) else self.taking(self.free, units)

    def taking(self, free, units):
        def unit(position):  # async
            connection = free.get()  # await
            try:
                return units[id(connection)](position)  # await
            finally:
                free.put(connection)

        return unit

    def all(self, steps, position):  # async
        total = 0
        for count, (run, arguments, query) in enumerate(steps):
            try:
                result = run(arguments(position))  # await
            except Exception as error:
                if count:
                    error.later = True
                raise
            total += len(result) if query else result
        return total

    def verify(self, start, count, rows):
        for position in range(start, start + count):
            wait(self.told(self.worker.readers[0], rows.unit, position % self.length))

    def teller(self, number, clients, tell):
        """The same client, which tells the rows of its right answers, too."""

        def right(position, part, answers):
            if self.rows in (-1, row_count(answers)):
                tell(position, part, answers)

        return self.client(number, clients, {id(c): partial(self.told, c, right) for c in self.connections})

    def told(self, connection, tell, position):  # async
        found = []
        for i, run in enumerate(self.runs[id(connection)]):
            if self.steps[i].get("query"):
                rows = run(self.arguments[i](position))  # await
                found.append((i, rows))
        tell(position, 0, found)
        return row_count(found)


def queue(items):
    free = Queue()
    for item in items:
        free.put(item)
    return free


def answering(answer):
    """A statement that does nothing."""

    def run(_args):  # async
        return answer

    return run


class Mix:
    """An operation that runs others, as its trace says."""

    unit, rows, loop = 1, -1, None  # the parts check their own rows

    def __init__(self, worker, spec):
        self.parts = [Operation(worker, part) for part in spec["parts"]]
        self.retry_busy, self.busy, self.stale = spec.get("retry_busy"), self.parts[0].busy, self.parts[0].stale
        self.plan = "".join(f"{part['name']}: {made.plan}\n" for part, made in zip(spec["parts"], self.parts))
        trace = Columns(spec["trace"])
        self.part, self.position = trace.columns[:2]
        self.after = trace.columns[2] if len(trace.columns) > 2 else None  # how many units have ended before
        self.length = trace.rows

    def client(self, number, clients):
        return self.unit_of([part.client(number, clients) for part in self.parts])

    def null(self, clients):
        return self.unit_of([part.null(clients) for part in self.parts])

    def unit_of(self, units):
        runs = [(unit, part.rows) for unit, part in zip(units, self.parts)]

        def do(row):  # async
            run, want = runs[self.part(row)]
            rows = run(self.position(row))  # await
            if rows != want and want >= 0:
                raise Missed(rows, want)
            return rows

        return do

    def teller(self, number, clients, tell):
        """The same client, whose reading parts tell the rows of their answers, too."""
        at = [0]  # its row

        def client(i, part):
            told = lambda _position, _part, answers: tell(at[0], i, answers)
            return part.client(number, clients) if part.changes else part.teller(number, clients, told)

        run = self.unit_of([client(i, part) for i, part in enumerate(self.parts)])

        def do(row):  # async
            at[0] = row
            return run(row)  # await

        return do
