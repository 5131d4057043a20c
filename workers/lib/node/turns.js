"use strict";
// Clients take turns: there is one thread, so that a draw is over before the next one
// begins. What the comments `async` and `await` say is so where clients are chains of
// promises: see chains.js.

const fs = require("node:fs");

const CLIENTS = "take turns, in one thread";
const MIN_UNITS = 10; // of every client in a window
const MAX_FAILURES = 1000;
const PATIENCE = 10e9; // ns that a unit is tried again where it is answered "busy"

const epoch = process.hrtime.bigint();
const clock = () => Number(process.hrtime.bigint() - epoch);

// clientOf is what runs one unit, or tells its answer too, for a client: connections take
// turns where there are fewer of them.
const clientOf = ({ compiled }, number, what) => compiled[number % compiled.length][what];

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
/* async */ function unitIsRight(operation, client, position, total) {
  let first;
  for (;;) {
    try {
      const rows = /* await */ client(position);
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

module.exports = { CLIENTS, MAX_FAILURES, MIN_UNITS, clientOf, clock, draws, unitIsRight };
