"use strict";
// A worker of assay for a driver of SQLite in Node.js: the whole protocol but for
// the driver. See docs/protocol.md. A driver is an object:
//
//   name, api              texts
//   version()              the version of the driver
//   facts()                whatever else tells two targets apart, as texts
//   opens, executes        optional texts: what a program writes to open a database and
//                          to run SQL, which the report shows; {{dsn}} and {{sql}} stand
//                          for the text, quoted
//   readOnly               the code of options that open a file for writing and for reading
//                          only; absent where there is none: it is then unsupported
//   opensWith              optional text as opens, with such an option at {{options}}
//   connect(path, readOnly) a new connection, with close(); readOnly is true or false
//   statement(connection, sql, policy, query)
//                          a function of an array of arguments, which returns the
//                          rows of a query, or the number of rows changed
//   execute(connection, sql) runs SQL without arguments, and drops its answer
//   columns(connection, sql) the names of the columns of its rows, in order; absent where
//                          a driver does not tell them: they are taken from the rows
//   stored(connection, sql) a function of an array of arguments, which returns rows
//                          as arrays, with a BigInt for every integer
//   code(error)            SQLite's primary result code; 0 where it is not SQLite's
//
// The runtime has one thread: clients take turns. Where connect, statement, execute,
// stored, what these return, and close return promises, main.js requires chains.js first.

const fs = require("node:fs");
const path = require("node:path");
const { UNCOUNTED, counters } = require("./data.js");
const { measure, tell } = require("./measure.js");
const { Mix, Operation, digests } = require("./operation.js");
const { Refusal, invalid, refuse } = require("./refusal.js");
const { CLIENTS, clock } = require("./turns.js");

const BUSY = [5, 6];
const READONLY = 8;
const FIRST = ["busy_timeout", "locking_mode", "page_size", "auto_vacuum", "journal_mode"];
const LACKING = ["immutable", "shared_cache", "mutex", "memory"]; // neither API has a way for these

// spelt is a value of a PRAGMA: UTF-8 would be a subtraction.
const spelt = (value) => (/^-?\w+$/.test(value) ? value : `'${value.replaceAll("'", "''")}'`);

// bound returns how arguments are given to drivers that take an array, and an
// object by name where the placeholders have numbers.
function bound(sql) {
  if (!/\?\d/.test(sql)) return (args) => args;
  return (args) => [Object.fromEntries(args.map((value, i) => [i + 1, value]))];
}

// installed is the version of a package beside the worker. Some packages do not let
// programs require their package.json.
function installed(name) {
  return JSON.parse(fs.readFileSync(path.join(process.argv[2], "node_modules", name, "package.json"), "utf8")).version;
}

// lacking ends a worker that lacks what it is written for, as one that is not
// installed.
function lacking(message) {
  fs.writeSync(2, message + "\n");
  process.exit(69);
}

// serve answers requests until the input ends or close is asked.
async function serve(driver) {
  const worker = new Worker(driver);
  say({ type: "hello", protocol: 1, ...(await worker.hello()) });
  for (const line of lines()) {
    const request = parse(line);
    say(await reply(worker, request));
    if (request.type === "close") break;
  }
  await worker.end();
  process.exit(0);
}

// lines reads standard input, and waits for it: nothing else is to be done.
function* lines() {
  const chunk = Buffer.alloc(1 << 16);
  let parts = [];
  for (;;) {
    const count = read(chunk);
    if (count === 0) return;
    let start = 0;
    for (let end; (end = chunk.subarray(0, count).indexOf(10, start)) >= 0; start = end + 1) {
      parts.push(Buffer.from(chunk.subarray(start, end)));
      yield Buffer.concat(parts).toString();
      parts = [];
    }
    parts.push(Buffer.from(chunk.subarray(start, count)));
  }
}

function read(chunk) {
  for (;;) {
    try {
      return fs.readSync(0, chunk);
    } catch (error) {
      if (error.code === "EOF") return 0;
      if (error.code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

function say(message) {
  const line = Buffer.from(JSON.stringify(message) + "\n");
  for (let sent = 0; sent < line.length; ) sent += fs.writeSync(1, line, sent);
}

function parse(line) {
  try {
    const request = JSON.parse(line);
    return request && Number.isInteger(request.id) ? request : {};
  } catch {
    return {};
  }
}

const REQUESTS = ["open", "settings", "prepare", "measure", "verify", "stats", "close"];

async function reply(worker, request) {
  const { type, id = 0 } = request;
  try {
    invalid(!id || typeof type !== "string", "this line is no request");
    if (!REQUESTS.includes(type)) refuse("unsupported", `this worker does not know the request "${type}"`);
    return { type: "ok", id, body: await worker[type](request) };
  } catch (error) {
    if (error instanceof Refusal) return { type: "error", id, code: error.code, definite: true, message: error.message };
    return { type: "error", id, code: "failed", definite: false, message: `${error.name}: ${error.message}` };
  }
}

class Worker {
  constructor(driver) {
    this.driver = driver;
    this.operations = new Map();
    this.readers = [];
    this.writers = [];
  }

  async hello() {
    const connection = await this.driver.connect(":memory:", false);
    const all = async (sql) => (await this.rows(connection, sql)).map((row) => row[0]);
    const facts = { api: this.driver.api, node: process.version, source_id: (await all("SELECT sqlite_source_id()"))[0] };
    Object.assign(facts, { clients: CLIENTS, uncounted: UNCOUNTED }, this.driver.facts());
    if (this.driver.opens) facts.open = this.driver.opens;
    if (this.driver.opensWith) facts.open_with = this.driver.opensWith;
    if (this.driver.executes) facts.execute = this.driver.executes;
    const target = { driver: this.driver.name, driver_version: this.driver.version(), engine: "sqlite" };
    Object.assign(target, { engine_version: (await all("SELECT sqlite_version()"))[0], facts, compile_options: (await all("PRAGMA compile_options")).sort() });
    await connection.close();
    return { target, capabilities: ["sql", "answers", "ordered"] };
  }

  async rows(connection, sql) {
    return (await this.driver.stored(connection, sql))([]);
  }

  // run executes SQL whether it answers rows or not.
  async run(connection, sql) {
    await this.driver.execute(connection, sql);
  }

  async open(request) {
    invalid(this.opened, "a database is open already");
    const { readers = 0, writers = 0, path } = request;
    invalid(readers + writers < 1, "no connections");
    if (request.dsn) refuse("unsupported", `${this.driver.api} takes a path and no DSN`);
    const { begin = "", ...settings } = request.settings || {};
    this.begin = begin;
    this.path = path;
    const issued = {};
    const rank = (name) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);
    for (const name of Object.keys(settings).sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))) {
      invalid(!/^[a-z_]+$/.test(name), `"${name}" is no setting`);
      if (this.lacks(name)) refuse("unsupported", `${this.driver.api} has no way to set ${name} for every connection`);
      issued[name] = name === "read_only" ? this.driver.readOnly[settings[name] === "1" ? 1 : 0] : `PRAGMA ${name} = ${spelt(settings[name])}`;
    }
    if (begin) issued.begin = this.begins;
    const each = Object.values(issued).filter((sql) => sql.startsWith("PRAGMA")).concat(request.each || []);
    try {
      for (let i = 0; i < readers + writers; i++) {
        const connection = await this.driver.connect(path, settings.read_only === "1");
        (i < readers ? this.readers : this.writers).push(connection);
        for (const sql of each) await this.run(connection, sql);
      }
      for (const sql of request.once || []) await this.run(this.writers[0] || this.readers[0], sql);
    } catch (error) {
      await this.end();
      throw error;
    }
    return { dsn: path, each, issued };
  }

  // begins is the SQL by which transactions begin.
  get begins() {
    return "BEGIN " + (this.begin || "immediate").toUpperCase();
  }

  lacks(name) {
    return LACKING.includes(name) || (name === "read_only" && !this.driver.readOnly);
  }

  get opened() {
    return this.readers.length + this.writers.length > 0;
  }

  async settings(request) {
    this.needsDatabase();
    const named = this.readers.map((c, i) => [`reader-${i + 1}`, c]).concat(this.writers.map((c, i) => [`writer-${i + 1}`, c]));
    const connections = [];
    for (const [name, connection] of named) {
      const settings = {}; // what is undefined is not sent
      for (const asked of request.names || []) settings[asked] = await this.read(connection, asked);
      connections.push({ name, settings });
    }
    return { connections };
  }

  async read(connection, name) {
    if (name === "memory") return (await this.rows(connection, "PRAGMA database_list")).some((row) => row[1] === "main" && row[2]) ? "0" : "private";
    if (name === "read_only") return this.readReadOnly(connection);
    if (name === "begin") return this.readBegin(connection);
    if (LACKING.includes(name) || !/^[a-z_]+$/.test(name)) return undefined;
    try {
      const rows = await this.rows(connection, `PRAGMA ${name}`);
      return rows.length ? String(rows[0][0]) : undefined;
    } catch {
      return undefined; // a PRAGMA that is unknown answers no columns, which is an error to some
    }
  }

  // readReadOnly tells by what a statement that writes, and changes nothing, is
  // answered in a transaction.
  async readReadOnly(connection) {
    try {
      await this.run(connection, "BEGIN IMMEDIATE");
    } catch {
      return undefined; // query_only, or another holds the lock
    }
    try {
      await this.run(connection, "PRAGMA incremental_vacuum(1)");
      return "0";
    } catch (error) {
      return this.driver.code(error) === READONLY ? "1" : undefined;
    } finally {
      await this.run(connection, "ROLLBACK");
    }
  }

  // readBegin tells how a transaction begins by what it keeps another connection from.
  async readBegin(connection) {
    const other = await this.driver.connect(this.path, false);
    const locked = async (sql) => {
      try {
        await this.run(other, sql);
        return false;
      } catch (error) {
        if (BUSY.includes(this.driver.code(error))) return true;
        throw error;
      }
    };
    try {
      await this.run(other, "PRAGMA busy_timeout = 0");
      if (await locked("BEGIN IMMEDIATE")) return undefined; // another holds the lock
      await this.run(other, "ROLLBACK");
      await this.run(connection, this.begins);
      try {
        if (!(await locked("BEGIN IMMEDIATE"))) return "deferred"; // closing ends it
        return (await locked("SELECT count(*) FROM sqlite_master")) ? "exclusive" : "immediate";
      } finally {
        await this.run(connection, "ROLLBACK");
      }
    } finally {
      await other.close();
    }
  }

  async prepare(request) {
    this.needsDatabase();
    const { operation: spec = {}, clients = 0 } = request;
    invalid(this.operations.has(spec.name), `the operation "${spec.name}" is prepared already`);
    invalid(clients < 1, "clients: want 1 or more");
    const operation = spec.parts ? new Mix(this, spec) : new Operation(this, spec);
    await operation.open();
    operation.clients = Array.from({ length: clients }, (_, i) => operation.client(i));
    this.operations.set(spec.name, operation);
    return { query_plan: operation.plan };
  }

  async measure(request) {
    const operation = this.prepared(request);
    const { nanos = 0, operations = 0, start = 0 } = request;
    invalid(nanos > 0 === operations > 0, "measure wants nanos or operations, one of them");
    invalid(start < 0 || start % operation.unit || operations % operation.unit, `want whole transactions of ${operation.unit}`);
    if (request.phases) refuse("unsupported", "this worker does not time phases");
    const beyond = !request.operations || (request.start || 0) + request.operations > operation.length;
    invalid(operation.ordered && operation.clients.length > 1 && beyond, "a mix in order has blocks that end with its trace at the latest");
    if (!request.answers) return measure(operation, request);
    invalid(!operations, "answers are told of a number of operations");
    return tell(operation, request);
  }

  async verify(request) {
    if (request.operation) return this.prepared(request).verify(request.start || 0, request.count || 0);
    this.needsDatabase();
    invalid(!request.sql, "verify wants an operation or sql");
    const [digest] = digests([request]);
    (await this.rows(this.readers[0] || this.writers[0], request.sql)).forEach((row) => digest.add(row));
    return { digest: digest.hex(), rows: digest.rows };
  }

  stats() {
    return counters();
  }

  async close() {
    const began = clock();
    await this.end();
    return { nanos: clock() - began };
  }

  async end() {
    for (const connection of this.readers.concat(this.writers)) await connection.close();
    this.readers = [];
    this.writers = [];
  }

  needsDatabase() {
    invalid(!this.opened, "no database is open");
  }

  prepared(request) {
    this.needsDatabase();
    return this.operations.get(request.operation) || refuse("invalid", `the operation "${request.operation}" is not prepared`);
  }
}

// likeBetterSQLite3 is what drivers with the API of better-sqlite3 have in common: they prepare
// all statements.
const likeBetterSQLite3 = {
  execute: (connection, sql) => connection.exec(sql),

  statement(connection, sql, policy, query) {
    if (policy === "never") refuse("unsupported", `${this.name} has no form to run a statement with arguments in one call`);
    const arrange = bound(sql);
    const run = query ? (s, args) => s.all(...arrange(args)) : (s, args) => s.run(...arrange(args)).changes;
    if (policy === "each") return (args) => run(connection.prepare(sql), args);
    const prepared = connection.prepare(sql);
    return (args) => run(prepared, args);
  },

  columns: (connection, sql) => connection.prepare(sql).columns().map((column) => column.name),
};

module.exports = { Refusal, bound, installed, lacking, likeBetterSQLite3, serve };
