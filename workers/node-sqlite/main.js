"use strict";
// The worker of node:sqlite, which Node.js brings since version 22.

const { DatabaseSync, StatementSync } = require("node:sqlite");
const { bound, lacking, likeBetterSQLite3, serve } = require("./worker.js");

if (!StatementSync.prototype.setReturnArrays) lacking("node:sqlite of Node.js 24 is needed: set ASSAY_NODE to such a program");

serve({
  ...likeBetterSQLite3,
  name: "node-sqlite",
  api: "node:sqlite",
  opens: "const db = new DatabaseSync({{dsn}});",
  executes: "db.exec({{sql}});",
  version: () => process.versions.node,
  facts: { text: "read up to its first zero byte" },
  connect: (dsn) => new DatabaseSync(dsn),

  stored(connection, sql) {
    const prepared = connection.prepare(sql);
    prepared.setReadBigInts(true);
    prepared.setReturnArrays(true);
    const arrange = bound(sql);
    return (args) => prepared.all(...arrange(args));
  },

  code: (error) => (error.errcode || 0) & 0xff,
});
