"use strict";
// Measuring: laps of clients that draw units of an operation from one counter, and what
// they used. See turns.js for the comments `async` and `await`.

const fs = require("node:fs");
const { Histogram, counters, since, writeUnit } = require("./data.js");
const { draws } = require("./turns.js");

const LOOP_OPERATIONS = 200;
const LOOP_LAPS = 40; // the shortest one counts: short ones are seldom interrupted, and the first ones compile it
const LOOP_NANOS = 2e7; // long ones need fewer

// measure has clients run a prepared operation as the request says.
async function measure(operation, request) {
  const result = await lap(operation, operation.clients, request);
  return { ...result, loop_ns: await loopNanos(operation, request) };
}

// tell has them write the rows of right answers to a file, too.
async function tell(operation, request) {
  const telling = (client) => /* async */ (position) => {
    const kept = { part: 0, rows: [] };
    const rows = /* await */ client(position, kept);
    const right = rows === operation.rows || operation.rows < 0;
    if (right && kept.part !== null) writeUnit(request.rows, position, kept.part, kept.rows);
    return rows;
  };
  return lap(operation, operation.clients.map(telling), request);
}

// loopNanos is the time that one operation takes whose statements do nothing: that
// of the worker's own loop, its arguments and its clock, which is in every figure.
// It is measured once for each form of the loop.
async function loopNanos(operation, { batch = 0, latency = false }) {
  operation.loops ??= new Map();
  const form = `${batch} ${latency}`;
  if (!operation.loops.has(form)) {
    const nothing = { unit: operation.unit, length: operation.length, rows: operation.rows, busy: () => false };
    const clients = [operation.null()];
    const operations = operation.unit * Math.max(1, Math.floor(LOOP_OPERATIONS / operation.unit / Math.max(1, (operation.steps || []).length)));
    let shortest = Infinity;
    for (let i = 0, all = 0; i < LOOP_LAPS && all < LOOP_NANOS; i++) {
      const { nanos } = await lap(nothing, clients, { operations, batch, latency });
      shortest = Math.min(shortest, nanos);
      all += nanos;
    }
    operation.loops.set(form, shortest / operations);
  }
  return operation.loops.get(form);
}

/* async */ function lap(operation, clients, request) {
  const total = { operations: 0, nanos: 0, executed: 0, errors: 0, misses: 0, busy: 0, stale: 0 };
  const histogram = request.latency ? new Histogram() : null;
  const marks = request.marks ? fs.openSync(request.marks, "a") : null;
  const before = counters();
  /* await */ draws(operation, clients, request, total, histogram, marks);
  total.counters = since(before);
  if (marks !== null) fs.closeSync(marks);
  if (histogram) total.histogram = histogram.buckets();
  total.operations = Math.round(total.operations * operation.unit);
  total.executed *= operation.unit;
  return total;
}

module.exports = { measure, tell };
