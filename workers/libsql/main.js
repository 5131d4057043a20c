"use strict";
// The worker of libsql, a fork of SQLite with the API of better-sqlite3.

const Database = require("libsql");
const { Refusal, bound, installed, serve } = require("./worker.js");

serve({
  name: "libsql",
  api: "libsql",
  opens: "const db = new Database({{dsn}});",
  executes: "db.exec({{sql}});",
  version: () => installed("libsql"),
  facts: () => ({ text: "read up to its first zero byte" }),
  connect: (path) => new Database(path),
  execute: (connection, sql) => connection.exec(sql),

  statement(connection, sql, policy, query) {
    if (policy === "never") throw new Refusal("unsupported", "libsql has no form to run a statement with arguments in one call");
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
    return (args) => {
      const rows = prepared.all(...arrange(args));
      if (sql.startsWith("EXPLAIN")) prepared.get(...arrange(args)); // ends it: after all, that of a change would stay open
      return rows;
    };
  },

  code: (error) => (error.rawCode || 0) & 0xff,
});
