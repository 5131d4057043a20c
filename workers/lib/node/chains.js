"use strict";
// Drivers whose functions return promises: a client is a chain of them. Required before
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

const turns = library("turns.js");
const { MAX_FAILURES, MIN_UNITS, clock, unitIsRight } = turns;

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
function clientOf({ connections, compiled }, _number, what) {
  if (!pools.has(connections)) pools.set(connections, new Pool(connections.length));
  const pool = pools.get(connections);
  return async (position) => {
    const connection = await pool.take();
    try {
      return await compiled[connection][what](position);
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

// draws has clients draw units from one counter. Time runs until the first one finds
// nothing more to do; of a draw that ends later counts the part of its time that lies
// inside.
async function draws(operation, clients, request, total, histogram, marks) {
  const { length, unit } = operation;
  const batch = Math.max(1, request.batch || 0);
  const units = request.operations ? request.operations / unit : Infinity;
  const minUnits = request.nanos ? MIN_UNITS * clients.length : 0;
  const first = (request.start || 0) / unit;
  const order = operation.ordered && clients.length > 1 ? new Order(operation, first) : null;
  let next = 0;
  total.began_ns = Math.round((performance.timeOrigin + performance.now()) * 1e6);
  const began = clock();
  const deadline = request.nanos ? began + request.nanos : Infinity;

  async function chain(one) {
    let before = began;
    let last = began;
    let right = 0;
    while (next < units && !(last >= deadline && next >= minUnits) && total.errors + total.misses < MAX_FAILURES) {
      const start = first + next;
      const count = Math.min(batch, units - next);
      next += batch;
      right = 0;
      for (let i = 0; i < count; i++) {
        const position = (start + i) % length;
        if (order) await order.before(position);
        if (await unitIsRight(operation, one, position, total)) {
          right++;
          if (marks !== null) fs.writeSync(marks, ".");
        }
        if (order) order.end(position);
      }
      before = last;
      last = clock();
      if (histogram && right === count) histogram.record((last - before) / count);
      total.executed += count;
      total.operations += right;
    }
    return { before, last, right, exit: clients.length > 1 ? clock() : last };
  }

  const shares = await Promise.all(clients.map(chain));
  const end = Math.min(...shares.map((share) => share.exit));
  for (const { before, last, right } of shares) {
    if (last > end) total.operations -= (right * (last - Math.max(end, before))) / (last - before);
  }
  total.nanos = end - began;
}

Object.assign(turns, { CLIENTS: "chains of promises, in one thread; SQLite runs in the threads of libuv, four unless UV_THREADPOOL_SIZE says otherwise", clientOf, draws });
for (const name of ["operation.js", "measure.js"]) library(name);
