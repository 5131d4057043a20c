"use strict";
// The worker of better-sqlite3, which brings a SQLite of its own.

const Database = require("better-sqlite3");
const { bound, installed, likeBetterSQLite3, serve } = require("./worker.js");

const CODES = { SQLITE_BUSY: 5, SQLITE_LOCKED: 6, SQLITE_READONLY: 8 };

serve({
  ...likeBetterSQLite3,
  name: "better-sqlite3",
  api: "better-sqlite3",
  opens: "const db = new Database({{dsn}});",
  readOnly: ["readonly: false", "readonly: true"],
  opensWith: "const db = new Database({{dsn}}, { {{options}} });",
  executes: "db.exec({{sql}});",
  version: () => installed("better-sqlite3"),
  facts: () => ({}),
  connect: (path, readonly) => new Database(path, { readonly }),

  stored(connection, sql) {
    const prepared = connection.prepare(sql).raw(true).safeIntegers(true);
    const arrange = bound(sql);
    return (args) => prepared.all(...arrange(args));
  },

  code: (error) => CODES[String(error.code).split("_").slice(0, 2).join("_")] || 0,
});
