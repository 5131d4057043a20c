"use strict";
// A worker of assay for a driver of SQLite in Node.js: the whole protocol but for
// the driver. See docs/protocol.md. What may not be asked, assay refuses itself. A driver
// is an object:
//
//   name, api              texts
//   version()              the version of the driver
//   facts                  optional: whatever else tells two targets apart, as texts
//   opens, executes        optional texts: what a program writes to open a database and
//                          to run SQL, which the report shows; {{dsn}} and {{sql}} stand
//                          for the text, quoted
//   parameters             where the driver takes a path and no URI: by parameter of a
//                          URI that it has an option for, such as mode=ro, that option
//   opensWith              text as opens, with such an option at {{options}}
//   connect(dsn, option)   a new connection, with close()
//   statement(connection, sql, policy, query)
//                          a function of an array of arguments, which returns the
//                          rows of a query, or the number of rows changed
//   execute(connection, sql) runs SQL without arguments, and drops its answer
//   columns(connection, sql) the names of the columns of its rows, in order; absent where
//                          a driver does not tell them: they are taken from the rows
//   stored(connection, sql) a function of an array of arguments, which returns rows
//                          as arrays, with a BigInt for every integer; none where the SQL
//                          returns none
//   code(error)            SQLite's primary result code; 0 where it is not SQLite's
//
// The runtime has one thread: clients take turns. Where connect, statement, execute,
// stored, what these return, and close return promises, main.js requires chains.js first.

const fs = require("node:fs");
const path = require("node:path");
const { UNCOUNTED, counters, writeUnit } = require("./data.js");
const { measure, tell } = require("./measure.js");
const { Mix, Operation } = require("./operation.js");
const { CLIENTS, clock } = require("./turns.js");

const BUSY = [5, 6];

// Refusal is an error with a code of docs/protocol.md.
class Refusal extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

const refuse = (code, message) => {
  throw new Refusal(code, message);
};

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
  for await (const line of lines()) {
    const request = JSON.parse(line);
    if (!(request.id > 0)) throw new Error(`no request: ${line}`);
    say(await reply(worker, request));
    if (request.type === "close") break;
  }
  await worker.end();
  process.exit(0);
}

async function* lines() {
  let rest = "";
  for await (const chunk of process.stdin.setEncoding("utf8")) {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop();
    yield* parts;
  }
}

const say = (message) => fs.writeFileSync(1, JSON.stringify(message) + "\n");

const REQUESTS = ["open", "query", "prepare", "measure", "verify", "stats", "close"];

async function reply(worker, request) {
  const { type, id } = request;
  try {
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
    this.busy = (error) => BUSY.includes(driver.code(error));
    this.operations = new Map();
    this.named = new Map(); // all connections
    this.readers = [];
    this.writers = [];
  }

  async hello() {
    const { name, api, opens, opensWith, executes, facts } = this.driver;
    const connection = await this.connect("file::memory:");
    const all = async (sql) => (await this.rows(connection, sql)).map((row) => row[0]);
    const target = { driver: name, driver_version: this.driver.version(), engine: "sqlite", engine_version: (await all("SELECT sqlite_version()"))[0] };
    target.compile_options = (await all("PRAGMA compile_options")).sort();
    const source_id = (await all("SELECT sqlite_source_id()"))[0];
    const code = { open: opens, open_with: opensWith, execute: executes }; // what is undefined is not sent
    target.facts = { api, node: process.version, source_id, clients: CLIENTS, uncounted: UNCOUNTED, ...facts, ...code };
    await connection.close();
    return { target, capabilities: ["sql", "query", "answers", "ordered"] };
  }

  async rows(connection, sql) {
    return (await this.driver.stored(connection, sql))([]);
  }

  // given is what the driver gets for a URI: that, or else a path and an option.
  given(uri) {
    const { api, parameters } = this.driver;
    if (!parameters) return [uri];
    const [, path, parameter] = /^file:([^?]*)\??(.*)$/.exec(uri);
    if (parameter && !parameters[parameter]) refuse("unsupported", `${api} has no way to open a database with ${parameter}`);
    return [decodeURIComponent(path), parameters[parameter]];
  }

  async connect(uri) {
    return this.driver.connect(...this.given(uri));
  }

  async open(request) {
    const { readers, writers, settings } = request;
    if (this.driver.parameters && !request.path) refuse("unsupported", `${this.driver.api} takes a path and no DSN`);
    this.begin = settings?.begin;
    try {
      this.readers = await this.connections("reader", readers, request);
      this.writers = await this.connections("writer", writers, request);
      for (const sql of request.once || []) await this.driver.execute(this.writers[0] || this.readers[0], sql);
    } catch (error) {
      await this.end();
      throw error;
    }
    const [dsn, option] = this.given(request.dsn);
    const read_only = option && Object.entries(option)[0].join(": ");
    return { dsn, issued: { read_only, begin: this.begin && this.begins } };
  }

  async connections(kind, count, { dsn, each }) {
    const made = [];
    while (made.length < count) {
      const connection = await this.connect(dsn);
      this.named.set(`${kind}-${made.push(connection)}`, connection);
      for (const sql of each || []) await this.driver.execute(connection, sql);
    }
    return made;
  }

  // begins is the SQL by which transactions begin.
  get begins() {
    return "BEGIN " + (this.begin || "immediate").toUpperCase();
  }

  // query runs SQL that assay wants answered on a connection, or begins, rolls back or closes it.
  async query({ connection: name, dsn, sql, control, rows }) {
    if (dsn) this.named.set(name, await this.connect(dsn));
    const connection = this.named.get(name);
    if (control === "close") {
      this.named.delete(name);
      await connection.close();
    } else if (control) {
      await this.driver.execute(connection, control === "begin" ? this.begins : "ROLLBACK");
    } else {
      const answer = await this.rows(connection, sql);
      if (rows) writeUnit(rows, 0, 0, answer.map((row) => [0, row]));
    }
    return {};
  }

  async prepare(request) {
    const { operation: spec, clients } = request;
    const operation = spec.parts ? new Mix(this, spec) : new Operation(this, spec);
    await operation.open();
    operation.clients = Array.from({ length: clients }, (_, i) => operation.client(i));
    this.operations.set(spec.name, operation);
    return { query_plan: operation.plan };
  }

  async measure(request) {
    const operation = this.operations.get(request.operation);
    return request.answers ? tell(operation, request) : measure(operation, request);
  }

  verify(request) {
    return this.operations.get(request.operation).verify(request);
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
    for (const connection of [...this.named.values()].reverse()) await connection.close(); // that of a database in memory last
    this.named.clear();
    this.readers = [];
    this.writers = [];
  }
}

// likeBetterSQLite3 is what drivers with the API of better-sqlite3 have in common: they prepare
// all statements.
const likeBetterSQLite3 = {
  bound,
  execute: (connection, sql) => connection.exec(sql),

  statement(connection, sql, policy, query) {
    if (policy === "never") refuse("unsupported", `${this.name} has no form to run a statement with arguments in one call`);
    const arrange = this.bound(sql);
    const run = query ? (s, args) => s.all(...arrange(args)) : (s, args) => s.run(...arrange(args)).changes;
    if (policy === "each") return (args) => run(connection.prepare(sql), args);
    const prepared = connection.prepare(sql);
    return (args) => run(prepared, args);
  },

  stored(connection, sql) {
    const prepared = connection.prepare(sql);
    const run = () => {
      connection.exec(sql); // which ends the statement, also where it is answered busy
      return [];
    };
    if (!prepared.reader) return run;
    const arrange = this.bound(sql);
    prepared.raw(true).safeIntegers(true);
    return (args) => prepared.all(...arrange(args));
  },

  columns: (connection, sql) => connection.prepare(sql).columns().map((column) => column.name),
};

module.exports = { Refusal, bound, installed, lacking, likeBetterSQLite3, serve };
