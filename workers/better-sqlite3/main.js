"use strict";
// The worker of better-sqlite3, which brings a SQLite of its own.

const Database = require("better-sqlite3");
const { installed, likeBetterSQLite3, serve } = require("./worker.js");

const CODES = { SQLITE_BUSY: 5, SQLITE_LOCKED: 6 };

serve({
  ...likeBetterSQLite3,
  name: "better-sqlite3",
  api: "better-sqlite3",
  opens: "const db = new Database({{dsn}});",
  parameters: { "mode=rwc": { readonly: false }, "mode=ro": { readonly: true } },
  opensWith: "const db = new Database({{dsn}}, { {{options}} });",
  executes: "db.exec({{sql}});",
  version: () => installed("better-sqlite3"),
  connect: (path, option) => new Database(path, option),
  code: (error) => CODES[String(error.code).split("_").slice(0, 2).join("_")] || 0,
});
