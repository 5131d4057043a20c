"use strict";
// Prepared operations: of steps, and mixes of them. See turns.js for the comments `async`
// and `await`.

const { Columns, writeUnit } = require("./data.js");
const { clientOf } = require("./turns.js");

// Operation is a prepared operation of steps.
class Operation {
  constructor(worker, spec) {
    this.worker = worker;
    this.spec = spec;
    this.steps = spec.steps;
    this.size = spec.transaction || 0;
    this.unit = Math.max(1, this.size);
    this.retryBusy = spec.retry_busy;
    this.busy = worker.busy;
    this.connections = spec.changes ? worker.writers : worker.readers;
    this.openTrace(spec.trace);
    const rows = this.steps.map((step) => step.rows || 0);
    this.rows = Math.min(...rows) < 0 ? -1 : rows.reduce((a, b) => a + b) * this.unit;
  }

  // open compiles it on every connection that may run it.
  async open() {
    const details = [];
    for (const [i, step] of this.steps.entries()) if (!step.script) details.push(...(await this.explain(step.sql, this.arguments[i])));
    this.plan = details.join("\n");
    this.units = [];
    for (const connection of this.connections) this.units.push(await this.compile(connection));
  }

  openTrace(path) {
    const trace = path ? new Columns(path) : null;
    this.length = trace ? Math.floor(trace.rows / this.unit) : 1;
    let first = 0;
    this.arguments = this.steps.map((step) => {
      const getters = trace ? trace.columns.slice(first, (first += step.args || 0)) : [];
      return (row) => getters.map((get) => get(row));
    });
  }

  async explain(sql, args) {
    const connection = this.worker.readers[0] || this.worker.writers[0];
    const run = await this.worker.driver.stored(connection, "EXPLAIN QUERY PLAN " + sql);
    return (await run(args(0))).map((row) => row[3]);
  }

  // compile makes what runs one unit on a connection, with BEGIN, COMMIT and ROLLBACK.
  // Steps of the same SQL share a statement, as they would in a program.
  async compile(connection) {
    const policy = this.spec.statement || "once";
    const made = new Map();
    const statement = async (sql, query) => {
      if (!made.has(sql)) made.set(sql, await this.worker.driver.statement(connection, sql, policy, query));
      return made.get(sql);
    };
    const control = [];
    for (const sql of this.size ? [this.worker.begins, "COMMIT", "ROLLBACK"] : []) control.push(await statement(sql, false));
    const runs = [];
    for (const step of this.steps) runs.push(step.script ? this.script(connection, step.sql) : await statement(step.sql, step.query));
    const names = this.steps.map((step) => step.query && this.worker.driver.columns?.(connection, step.sql));
    return this.unitOf(runs, control, names);
  }

  // script runs several statements in one call of the driver.
  script(connection, sql) {
    return /* async */ () => {
      /* await */ this.worker.driver.execute(connection, sql);
      return 0;
    };
  }

  // null runs one unit by statements that do nothing, and answer as expected.
  null() {
    const answers = this.steps.map((step) => (step.query ? Array.from({ length: Math.max(0, step.rows || 0) }) : Math.max(0, step.rows || 0)));
    const nothing = /* async */ () => 0;
    return this.unitOf(answers.map((answer) => /* async */ () => answer), [nothing, nothing, nothing]);
  }

  unitOf(runs, control, names = []) {
    const steps = this.steps.map((step, number) => ({ number, run: runs[number], query: step.query, args: this.arguments[number], names: names[number] }));
    return this.size ? (unit, kept) => this.transaction(steps, control, unit, kept) : (position, kept) => this.all(steps, position, kept);
  }

  // client returns what runs one unit for a client.
  client(number) {
    return clientOf(this, number);
  }

  // all runs the steps at a position, and keeps the rows where that is asked for. Where a
  // step of a transaction that is not its first is answered busy, one before it has read, or
  // the transaction would have the lock already.
  /* async */ all(steps, position, kept) {
    let total = 0;
    for (const step of steps) {
      try {
        const result = /* await */ step.run(step.args(position));
        total += step.query ? result.length : result;
        if (kept && step.query) keep(kept, step, result);
      } catch (error) {
        error.stale = this.size > 0 && this.worker.begin === "deferred" && (step.number > 0 || position % this.size > 0);
        throw error;
      }
    }
    return total;
  }

  /* async */ transaction(steps, [begin, commit, rollback], unit, kept) {
    /* await */ begin([]);
    try {
      let total = 0;
      for (let i = 0; i < this.size; i++) total += /* await */ this.all(steps, unit * this.size + i, kept);
      /* await */ commit([]);
      return total;
    } catch (error) {
      try {
        /* await */ rollback([]);
      } catch {
        // SQLite has rolled back itself, say on a full disk: the first error tells
      }
      throw error;
    }
  }

  // verify writes the rows that are stored, as several positions answer them.
  async verify({ start = 0, count = 0, rows }) {
    const runs = [];
    for (const step of this.steps) runs.push(step.query ? await this.worker.driver.stored(this.connections[0], step.sql) : () => []);
    for (let position = start; position < start + count; position++) {
      const answers = [];
      for (const [i, run] of runs.entries()) for (const row of await run(this.arguments[i](position % this.length))) answers.push([i, row]);
      writeUnit(rows, position, 0, answers);
    }
    return {};
  }
}

// keep keeps what a client was answered: objects, in which a number stands for an integer
// too, rounded where it is too large.
function keep(kept, { number, names }, answer) {
  const value = (shown) => (Number.isInteger(shown) && shown >= -(2 ** 63) && shown < 2 ** 63 ? BigInt(shown) : shown);
  for (const row of answer) kept.rows.push([number, (names || namesOf(row)).map((name) => value(row[name]))]);
}

// namesOf are the names of columns in their order, which an object has but for numbers.
function namesOf(row) {
  const names = Object.keys(row);
  if (names.length > 1 && /^\d+$/.test(names[0])) throw new Error(`the column "${names[0]}" has a number for its name, and no place in an object: give it a name`);
  return names;
}

// Mix runs other operations, as its trace says. They check their own rows.
class Mix {
  constructor(worker, spec) {
    this.parts = spec.parts.map((part) => new Operation(worker, part));
    this.unit = 1;
    this.rows = -1;
    this.retryBusy = spec.retry_busy;
    this.busy = worker.busy;
    const trace = new Columns(spec.trace);
    this.length = trace.rows;
    this.ordered = trace.columns.length > 2; // by the units that have ended before
    this.choices = Array.from({ length: trace.rows }, (_, row) => trace.columns.map((get) => Number(get(row))));
  }

  async open() {
    for (const part of this.parts) await part.open();
    this.plan = this.parts.map((part) => `${part.spec.name}: ${part.plan}\n`).join("");
  }

  client(number) {
    return this.unitOf(this.parts.map((part) => part.client(number)));
  }

  null() {
    return this.unitOf(this.parts.map((part) => part.null()));
  }

  unitOf(runs) {
    return /* async */ (row, kept) => {
      const [part, position] = this.choices[row];
      const { rows: want, spec } = this.parts[part];
      if (kept) kept.part = spec.changes ? null : part;
      const rows = /* await */ runs[part](position, kept);
      if (rows !== want && want >= 0) throw Object.assign(new Error(`part ${part + 1}: ${rows} rows, expected are ${want}`), { miss: true });
      return rows;
    };
  }
}

module.exports = { Mix, Operation };
