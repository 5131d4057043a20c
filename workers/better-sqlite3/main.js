"use strict";
// The worker of better-sqlite3, which brings a SQLite of its own.

const Database = require("better-sqlite3");
const { Refusal, bound, installed, serve } = require("./worker.js");

const CODES = { SQLITE_BUSY: 5, SQLITE_LOCKED: 6, SQLITE_READONLY: 8 };

serve({
  name: "better-sqlite3",
  api: "better-sqlite3",
  opens: "const db = new Database({{dsn}});",
  readOnly: "readonly",
  opensWith: "const db = new Database({{dsn}}, { {{options}} });",
  executes: "db.exec({{sql}});",
  version: () => installed("better-sqlite3"),
  facts: () => ({}),
  connect: (path, readonly) => new Database(path, { readonly }),
  execute: (connection, sql) => connection.exec(sql),

  statement(connection, sql, policy, query) {
    if (policy === "never") throw new Refusal("unsupported", "better-sqlite3 has no form to run a statement with arguments in one call");
    const arrange = bound(sql);
    const run = query ? (s, args) => s.all(...arrange(args)) : (s, args) => s.run(...arrange(args)).changes;
    if (policy === "each") return (args) => run(connection.prepare(sql), args);
    const prepared = connection.prepare(sql);
    return (args) => run(prepared, args);
  },

  columns: (connection, sql) => connection.prepare(sql).columns().map((column) => column.name),

  stored(connection, sql) {
    const prepared = connection.prepare(sql).raw(true).safeIntegers(true);
    const arrange = bound(sql);
    return (args) => prepared.all(...arrange(args));
  },

  code: (error) => CODES[String(error.code).split("_").slice(0, 2).join("_")] || 0,
});
