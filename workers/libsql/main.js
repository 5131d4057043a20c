"use strict";
// The worker of libsql, a fork of SQLite with the API of better-sqlite3.

const Database = require("libsql");
const { bound, installed, likeBetterSQLite3, serve } = require("./worker.js");

serve({
  ...likeBetterSQLite3,
  name: "libsql",
  api: "libsql",
  opens: "const db = new Database({{dsn}});",
  executes: "db.exec({{sql}});",
  version: () => installed("libsql"),
  facts: { text: "read up to its first zero byte" },
  connect: (dsn) => new Database(dsn),

  stored(connection, sql) {
    if (!sql.startsWith("EXPLAIN")) return likeBetterSQLite3.stored(connection, sql);
    const prepared = connection.prepare(sql).raw(true);
    const arrange = bound(sql);
    return (args) => {
      const rows = prepared.all(...arrange(args));
      prepared.get(...arrange(args)); // ends it: after all, that of a change would stay open
      return rows;
    };
  },

  code: (error) => (error.rawCode || 0) & 0xff,
});
