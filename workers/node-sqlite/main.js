"use strict";
// The worker of node:sqlite, which Node.js brings since version 22.

const { DatabaseSync, StatementSync } = require("node:sqlite");
const { Refusal, bound, lacking, serve } = require("./worker.js");

if (!StatementSync.prototype.setReturnArrays) lacking("node:sqlite of Node.js 24 is needed: set ASSAY_NODE to such a program");

serve({
  name: "node-sqlite",
  api: "node:sqlite",
  opens: "const db = new DatabaseSync({{dsn}});",
  readOnly: "readOnly",
  opensWith: "const db = new DatabaseSync({{dsn}}, { {{options}} });",
  executes: "db.exec({{sql}});",
  version: () => process.versions.node,
  facts: () => ({ text: "read up to its first zero byte" }),
  connect: (path, readOnly) => new DatabaseSync(path, { readOnly }),
  execute: (connection, sql) => connection.exec(sql),

  statement(connection, sql, policy, query) {
    if (policy === "never") throw new Refusal("unsupported", "node:sqlite has no form to run a statement with arguments in one call");
    const arrange = bound(sql);
    const run = query ? (s, args) => s.all(...arrange(args)) : (s, args) => s.run(...arrange(args)).changes;
    if (policy === "each") return (args) => run(connection.prepare(sql), args);
    const prepared = connection.prepare(sql);
    return (args) => run(prepared, args);
  },

  columns: (connection, sql) => connection.prepare(sql).columns().map((column) => column.name),

  stored(connection, sql) {
    const prepared = connection.prepare(sql);
    prepared.setReadBigInts(true);
    prepared.setReturnArrays(true);
    const arrange = bound(sql);
    return (args) => prepared.all(...arrange(args));
  },

  code: (error) => (error.errcode || 0) & 0xff,
});
