"use strict";
// Starts main.js of the folder that the argument names. Where a package was not
// installed yet, or a module of a newer Node.js is missing, says so and ends as a
// worker that is not installed does.

const fs = require("node:fs");
const path = require("node:path");

const folder = path.resolve(process.argv[2]);
try {
  require(path.join(folder, "main.js"));
} catch (error) {
  const builds = fs.existsSync(path.join(folder, "build")) && !fs.existsSync(path.join(folder, "interpreter"));
  const advice = {
    MODULE_NOT_FOUND: builds && `assay build ${path.basename(folder)} makes a worker that has all of its packages`,
    ERR_UNKNOWN_BUILTIN_MODULE: `this is Node.js ${process.versions.node}; install Node.js 24 or newer, and set ASSAY_NODE to its program where node is another`,
  }[error.code];
  if (!advice) throw error;
  process.stderr.write(`${error.message.split("\n")[0]}: ${advice}\n`);
  process.exitCode = 69;
}
