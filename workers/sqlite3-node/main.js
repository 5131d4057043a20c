"use strict";
// The worker of the package sqlite3, whose functions end by callbacks.

require("./chains.js"); // makes the library asynchronous
const sqlite3 = require("sqlite3");
const { installed, serve } = require("./worker.js");

// promise is for what a call tells its callback: rows, or by `this` a number of changes.
const promise = (call) => new Promise((done, failed) => call(function (error, rows) { error ? failed(error) : done(rows ?? this?.changes); }));
const made = (make) => new Promise((done, failed) => { const one = make((error) => (error ? failed(error) : done(one))); });
// plain are arguments as programs give them: a BigInt would be bound as NULL.
const plain = (args) => args.map((value) => (typeof value === "bigint" ? Number(value) : value));

serve({
  name: "sqlite3-node",
  api: "sqlite3",
  opens: "const db = new sqlite3.Database({{dsn}}, sqlite3.OPEN_READWRITE | sqlite3.OPEN_CREATE | sqlite3.OPEN_URI);",
  executes: "db.exec({{sql}});",
  version: () => installed("sqlite3"),
  facts: { integers: "beyond 32 bits bound as reals, read as numbers" },
  code: (error) => error.errno || 0,
  execute: ({ db }, sql) => promise((done) => db.exec(sql, done)),

  async connect(dsn) {
    const db = await made((done) => new sqlite3.Database(dsn, sqlite3.OPEN_READWRITE | sqlite3.OPEN_CREATE | sqlite3.OPEN_URI, done));
    const statements = [];
    return { db, statements, close: () => promise((done) => statements.forEach((one) => one.finalize()) ?? db.close(done)) };
  },

  async statement({ db, statements }, sql, policy, query) {
    if (policy !== "once") return (args) => promise((done) => (query ? db.all(sql, plain(args), done) : db.run(sql, plain(args), done)));
    const prepared = await made((done) => db.prepare(sql, done));
    statements.push(prepared);
    return (args) => promise((done) => (query ? prepared.all(plain(args), done) : prepared.run(plain(args), done)));
  },

  // Rows are objects: equal names are one, and integers are rounded. So a query stands inside
  // another, with integers as texts, too. SQLite says how many columns it has if not one.
  async stored({ db }, sql) {
    const within = (names) => `WITH q(${names}) AS MATERIALIZED (\n${sql.replace(/;\s*$/, "")}\n) SELECT`;
    const said = await made((done) => db.prepare(`${within("c")} 1 FROM q`, done)).then((one) => one.finalize() && "1 values", (error) => error.message);
    const names = Array.from({ length: (/(\d+) values/.exec(said) || [0, 0])[1] }, (_, i) => `c${i}`);
    const text = names.length ? `${within(names)} ${names.map((c) => `${c}, iif(typeof(${c}) = 'integer', CAST(${c} AS TEXT), NULL) AS "integer ${c}"`)} FROM q` : sql;
    const integer = (row, name) => (names.length ? row[`integer ${name}`] : Number.isInteger(row[name]) ? row[name] : null);
    const value = (row) => (name) => (integer(row, name) === null ? row[name] : BigInt(integer(row, name)));
    return async (args) => (await promise((done) => db.all(text, plain(args), done))).map((row) => (names.length ? names : Object.keys(row)).map(value(row)));
  },
});
