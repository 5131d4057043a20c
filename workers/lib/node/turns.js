"use strict";
// Clients take turns: there is one thread, so that a draw is over before the next one
// begins. What the comments `async` and `await` say is so where clients are chains of
// promises: see chains.js, which has what differs beside that.

const fs = require("node:fs");

const MIN_UNITS = 10; // of every client in a window
const MAX_FAILURES = 1000;
const PATIENCE = 10e9; // ns that a unit is tried again where it is answered "busy"

const epoch = process.hrtime.bigint();
const clock = () => Number(process.hrtime.bigint() - epoch);

const turns = {
  CLIENTS: "take turns, in one thread",
  // clientOf is what runs one unit for a client: connections take turns where there are fewer.
  clientOf: ({ units }, number) => units[number % units.length],
  // chains are the clients that run one draw after the other.
  chains: (clients) => [clients],
  all: (results) => results,
  order: () => null,
};

// draws has clients draw units from one counter. Time runs until the first chain finds
// nothing more to do; of a draw that ends later counts the part of its time that lies
// inside.
/* async */ function draws(operation, clients, request, total, histogram, marks) {
  const { length, unit } = operation;
  const batch = Math.max(1, request.batch || 0);
  const units = request.operations ? request.operations / unit : Infinity;
  const minUnits = request.nanos ? MIN_UNITS * clients.length : 0;
  const first = (request.start || 0) / unit;
  const chains = turns.chains(clients);
  const order = turns.order(operation, chains, first);
  let next = 0;
  total.began_ns = Math.round((performance.timeOrigin + performance.now()) * 1e6);
  const began = clock();
  const deadline = request.nanos ? began + request.nanos : Infinity;

  /* async */ function chain(mine) {
    let before = began;
    let last = began;
    let right = 0;
    for (let turn = 0; next < units && !(last >= deadline && next >= minUnits) && total.errors + total.misses < MAX_FAILURES; turn++) {
      const client = mine[turn % mine.length];
      const start = first + next;
      const count = Math.min(batch, units - next);
      next += batch;
      right = 0;
      for (let i = 0; i < count; i++) {
        const position = (start + i) % length;
        if (order) /* await */ order.before(position);
        if (/* await */ unitIsRight(operation, client, position, total)) {
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
    return { before, last, right, exit: chains.length > 1 ? clock() : last };
  }

  const shares = /* await */ turns.all(chains.map(chain));
  const end = Math.min(...shares.map((share) => share.exit));
  for (const { before, last, right } of shares) {
    if (last > end) total.operations -= (right * (last - Math.max(end, before))) / (last - before);
  }
  total.nanos = end - began;
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
      if (error.miss) {
        total.misses++;
        total.miss ??= error.message;
      } else {
        total.errors++;
        total.error ??= `${error.name}: ${error.message}`;
      }
      return false;
    }
  }
}

module.exports = Object.assign(turns, { clock, draws });
