"use strict";
// Measuring: clients draw units of an operation from one counter. There is one
// thread, so that they take turns: a draw is over before the next one begins.

const fs = require("node:fs");
const { Histogram, counters, since } = require("./data.js");

const MIN_UNITS = 10; // of every client in a window
const MAX_FAILURES = 1000;
const PATIENCE = 10e9; // ns that a unit is tried again where it is answered "busy"

const epoch = process.hrtime.bigint();
const clock = () => Number(process.hrtime.bigint() - epoch);

const LOOP_OPERATIONS = 200;
const LOOP_LAPS = 40; // the shortest one counts: short ones are seldom interrupted, and the first ones compile it

// measure has clients run a prepared operation as the request says.
function measure(operation, clients, request) {
  return Object.assign(lap(operation, clients, request), { loop_ns: loopNanos(operation, request) });
}

// loopNanos is the time that one operation takes whose statements do nothing: that
// of the worker's own loop, its arguments and its clock, which is in every figure.
// It is measured once for each form of the loop.
function loopNanos(operation, { batch = 0, latency = false }) {
  operation.loops ??= new Map();
  const form = `${batch} ${latency}`;
  if (!operation.loops.has(form)) {
    const nothing = { unit: operation.unit, length: operation.length, rows: operation.rows, busy: () => false };
    const clients = [operation.null()];
    const operations = operation.unit * Math.max(1, Math.floor(LOOP_OPERATIONS / operation.unit / Math.max(1, (operation.steps || []).length)));
    const laps = Array.from({ length: LOOP_LAPS }, () => lap(nothing, clients, { operations, batch, latency }).nanos);
    operation.loops.set(form, Math.min(...laps) / operations);
  }
  return operation.loops.get(form);
}

function lap(operation, clients, request) {
  const total = { operations: 0, nanos: 0, executed: 0, errors: 0, misses: 0, busy: 0, stale: 0 };
  const histogram = request.latency ? new Histogram() : null;
  const marks = request.marks ? fs.openSync(request.marks, "a") : null;
  const before = counters();
  draws(operation, clients, request, total, histogram, marks);
  total.counters = since(before);
  if (marks !== null) fs.closeSync(marks);
  if (histogram) total.histogram = histogram.buckets();
  total.operations *= operation.unit;
  total.executed *= operation.unit;
  return total;
}

function draws(operation, clients, request, total, histogram, marks) {
  const { length, unit } = operation;
  const batch = Math.max(1, request.batch || 0);
  const units = request.operations ? request.operations / unit : Infinity;
  const minUnits = request.nanos ? MIN_UNITS * clients.length : 0;
  total.began_ns = Math.round((performance.timeOrigin + performance.now()) * 1e6);
  const began = clock();
  const deadline = request.nanos ? began + request.nanos : Infinity;
  let previous = began;
  let position = ((request.start || 0) / unit) % length;
  for (let next = 0, turn = 0; next < units && !(previous >= deadline && next >= minUnits); next += batch) {
    const client = clients[turn];
    turn = (turn + 1) % clients.length;
    const count = Math.min(batch, units - next);
    let right = 0;
    for (let i = 0; i < count; i++) {
      if (unitIsRight(operation, client, position, total)) {
        right++;
        if (marks !== null) fs.writeSync(marks, ".");
      }
      position = position + 1 === length ? 0 : position + 1;
    }
    const now = clock();
    if (histogram && right === count) histogram.record((now - previous) / count);
    total.executed += count;
    total.operations += right;
    previous = now;
    if (total.errors + total.misses >= MAX_FAILURES) break;
  }
  total.nanos = previous - began;
}

// unitIsRight runs a unit, again where it is busy and that is asked for.
function unitIsRight(operation, client, position, total) {
  let first;
  for (;;) {
    try {
      const rows = client(position);
      if (rows === operation.rows || operation.rows < 0) return true;
      total.misses++;
      total.miss ??= `${rows} rows, expected are ${operation.rows}`;
      return false;
    } catch (error) {
      first ??= clock();
      const busy = operation.busy(error);
      if (busy) total.busy++;
      if (busy && error.stale) total.stale++;
      if (busy && operation.retryBusy && clock() - first < PATIENCE) continue;
      total.errors++;
      total.error ??= `${error.name}: ${error.message}`;
      return false;
    }
  }
}

module.exports = { clock, measure };
