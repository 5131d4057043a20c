"use strict";
// Drivers whose functions return promises: each client is a chain of them. Required before
// worker.js, it makes a library of the same code, in which the comments `async` and
// `await` are those words.

const fs = require("node:fs");
const path = require("node:path");
const Module = require("node:module");

// library has a module of the library say its comments, and returns what it exports.
function library(name) {
  const made = new Module(path.join(__dirname, name), module);
  made.filename = made.id;
  require.cache[made.id] = made;
  made._compile(fs.readFileSync(made.id, "utf8").replace(/\/\* (async|await) \*\//g, "$1"), made.id);
  return made.exports;
}

// Pool has the connections of a kind that no client uses, by number.
class Pool {
  constructor(size) {
    this.free = Array.from({ length: size }, (_, i) => i);
    this.waiting = [];
  }

  take() {
    return this.free.shift() ?? new Promise((given) => this.waiting.push(given));
  }

  give(connection) {
    const given = this.waiting.shift();
    if (given) given(connection);
    else this.free.push(connection);
  }
}

const pools = new WeakMap(); // by connections

// clientOf has a client take a free connection for each unit.
function clientOf({ connections, units }) {
  if (!pools.has(connections)) pools.set(connections, new Pool(connections.length));
  const pool = pools.get(connections);
  return async (position, kept) => {
    const connection = await pool.take();
    try {
      return await units[connection](position, kept);
    } finally {
      pool.give(connection);
    }
  };
}

// Order has units begin when so many have ended as they name.
class Order {
  constructor(operation, first) {
    this.after = (position) => operation.choices[position][2];
    this.first = first; // that has not ended
    this.ended = new Set();
    this.waiting = [];
  }

  async before(position) {
    while (this.first < this.after(position)) await new Promise((go) => this.waiting.push(go));
  }

  end(position) {
    this.ended.add(position);
    while (this.ended.delete(this.first)) this.first++;
    for (const go of this.waiting.splice(0)) go();
  }
}

Object.assign(library("turns.js"), {
  CLIENTS: "chains of promises, in one thread; SQLite runs in the threads of libuv, four unless UV_THREADPOOL_SIZE says otherwise",
  clientOf,
  chains: (clients) => clients.map((client) => [client]),
  all: (results) => Promise.all(results),
  order: (operation, chains, first) => (operation.ordered && chains.length > 1 ? new Order(operation, first) : null),
});
for (const name of ["operation.js", "measure.js"]) library(name);
