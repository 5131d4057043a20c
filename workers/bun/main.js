"use strict";
// The worker of bun:sqlite, which Bun brings. The package bun brings Bun.

const { Database } = require("bun:sqlite");
const { likeBetterSQLite3, serve } = require("./worker.js");

const FLAGS = 0x46; // SQLITE_OPEN_READWRITE, SQLITE_OPEN_CREATE, SQLITE_OPEN_URI

serve({
  ...likeBetterSQLite3,
  name: "bun",
  api: "bun:sqlite",
  opens: "const db = new Database({{dsn}}, 0x46);",
  executes: "db.run({{sql}});",
  version: () => process.versions.bun,
  facts: { node: undefined, uncounted: "allocs, alloc_bytes: Bun does not count them" },
  connect: (dsn) => new Database(dsn, FLAGS),
  bound: () => (args) => args,

  statement(connection, sql, policy, query) {
    if (policy !== "each") return likeBetterSQLite3.statement.call(this, connection, sql, policy, query);
    return (args) => {
      using prepared = connection.prepare(sql); // which is finalized, before the garbage collector would
      return query ? prepared.all(...args) : prepared.run(...args).changes;
    };
  },

  stored: (connection, sql) => (args) => {
    using prepared = connection.prepare(sql).safeIntegers(true); // or what changes data and is explained would stay open
    return prepared.values(...args);
  },

  columns: (connection, sql) => connection.prepare(sql).columnNames,
  code: (error) => (error.errno || 0) & 0xff,
});
