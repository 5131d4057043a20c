"use strict";
// Prepared operations: of steps, and mixes of them. See turns.js for the comments `async`
// and `await`.

const crypto = require("node:crypto");
const { Columns, Digest } = require("./data.js");
const { invalid, orInvalid, refuse } = require("./refusal.js");
const { clientOf } = require("./turns.js");

const BUSY = [5, 6];

const digests = (steps) => orInvalid(() => steps.map((step) => new Digest(step.returns || [])));

// Operation is a prepared operation of steps.
class Operation {
  constructor(worker, spec) {
    this.worker = worker;
    this.spec = spec;
    this.steps = spec.steps || [];
    this.size = spec.transaction || 0;
    this.unit = Math.max(1, this.size);
    this.retryBusy = spec.retry_busy;
    this.connections = spec.changes ? worker.writers : worker.readers;
    invalid(!this.steps.length || this.steps.some((step) => !step.sql), "an operation wants steps of SQL");
    invalid(!this.connections.length, "no connection of the operation's kind is open");
    if (this.size && !spec.changes) refuse("unsupported", "transactions of operations that change nothing");
    this.openTrace(spec.trace);
    const rows = this.steps.map((step) => step.rows || 0);
    this.rows = Math.min(...rows) < 0 ? -1 : rows.reduce((a, b) => a + b) * this.unit;
    digests(this.steps);
  }

  // open compiles it on every connection that may run it.
  async open() {
    const details = [];
    for (const [i, step] of this.steps.entries()) if (!step.script) details.push(...(await this.explain(step.sql, this.arguments[i])));
    this.plan = details.join("\n");
    this.compiled = [];
    for (const connection of this.connections) this.compiled.push(await this.compile(connection));
  }

  openTrace(path) {
    const wanted = this.steps.reduce((sum, step) => sum + (step.args || 0), 0);
    const trace = path ? orInvalid(() => new Columns(path)) : null;
    invalid(wanted > (trace ? trace.columns.length : 0), `the operation takes ${wanted} arguments, more than its trace has columns`);
    this.length = trace ? Math.floor(trace.rows / this.unit) : 1;
    invalid(this.length < 1, "the trace is shorter than one transaction");
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
    return { connection, runs, unit: this.unitOf(runs, control) };
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

  unitOf(runs, control) {
    const steps = this.steps.map((step, i) => ({ run: runs[i], query: step.query, args: this.arguments[i] }));
    return this.size ? (unit) => this.transaction(steps, control, unit) : (position) => this.all(steps, position);
  }

  busy(error) {
    return BUSY.includes(this.worker.driver.code(error));
  }

  // client returns what runs one unit for a client.
  client(number) {
    return clientOf(this, number, "unit");
  }

  // stepsOf is all, of a transaction. Where a step that is not its first is answered busy,
  // one before it has read, or the transaction would have the lock already.
  /* async */ stepsOf(steps, position, before) {
    try {
      return /* await */ this.all(steps, position);
    } catch (error) {
      error.stale = this.worker.begin === "deferred" && (before > 0 || error.later === true);
      throw error;
    }
  }

  /* async */ all(steps, position) {
    let total = 0;
    for (const step of steps) {
      try {
        const result = /* await */ step.run(step.args(position));
        total += step.query ? result.length : result;
      } catch (error) {
        error.later = step !== steps[0];
        if (!total || !this.spec.changes || this.size) throw error;
        throw new Error(`after a step that changed ${total} rows: ${error.message}`); // not to be tried again
      }
    }
    return total;
  }

  /* async */ transaction(steps, [begin, commit, rollback], unit) {
    /* await */ begin([]);
    try {
      let total = 0;
      for (let i = 0; i < this.size; i++) total += /* await */ this.stepsOf(steps, unit * this.size + i, i);
      /* await */ commit([]);
      return total;
    } catch (error) {
      /* await */ rollback([]);
      throw error;
    }
  }

  async verify(start, count) {
    invalid(start < 0 || count < 0, `verify of ${count} positions from ${start} on`);
    this.needsAnswers();
    const runs = [];
    for (const step of this.steps) runs.push(step.query && (await this.worker.driver.stored(this.connections[0], step.sql)));
    return this.answers(runs, start, count);
  }

  needsAnswers() {
    const answers = this.steps.some((step) => step.query);
    if (this.spec.changes || !answers) refuse("unsupported", "this operation changes data or returns no rows");
  }

  /* async */ answers(runs, start, count) {
    const queries = this.steps.map((_, i) => i).filter((i) => this.steps[i].query);
    const found = digests(queries.map((i) => this.steps[i]));
    for (let position = start; position < start + count; position++) {
      for (const [n, i] of queries.entries()) {
        const rows = /* await */ runs[i](this.arguments[i](position % this.length));
        for (const row of rows) found[n].add(row);
      }
    }
    const texts = found.map((digest) => digest.hex());
    const digest = texts.length === 1 ? texts[0] : crypto.createHash("sha256").update(texts.join("")).digest("hex");
    return { digest, rows: found.reduce((sum, one) => sum + one.rows, 0) };
  }

  // teller is a client that returns the digest of its answer, too.
  async teller(number) {
    this.needsAnswers();
    for (const one of this.compiled) {
      const runs = this.told(one);
      one.teller = (position) => this.answers(runs, position, 1);
    }
    return clientOf(this, number, "teller");
  }

  // told are the statements that a client is measured with, whose rows are objects.
  told({ connection, runs }) {
    return this.steps.map((step, i) => {
      if (!step.query) return null;
      const names = this.worker.driver.columns?.(connection, step.sql);
      const values = (row) => (names || namesOf(row)).map((name, n) => shown(row[name], (step.returns || [])[n]));
      return /* async */ (args) => (/* await */ runs[i](args)).map(values);
    });
  }
}

// namesOf are the names of columns in their order, which an object has but for numbers.
function namesOf(row) {
  const names = Object.keys(row);
  if (names.length > 1 && /^\d+$/.test(names[0])) throw new Error(`the column "${names[0]}" has a number for its name, and no place in an object: give it a name`);
  return names;
}

// shown is a value as drivers show it, for a digest: a number stands for an integer
// too, rounded where it is too large.
function shown(value, declared = "") {
  return Number.isInteger(value) && /^(int|bool)/.test(declared) ? BigInt(value) : value;
}

// Mix runs other operations, as its trace says. They check their own rows.
class Mix {
  constructor(worker, spec) {
    const nested = spec.parts.some((part) => part.parts || part.transaction > 1) || spec.transaction;
    if (nested) refuse("unsupported", "mixes of mixes, or of transactions of several operations");
    this.parts = spec.parts.map((part) => new Operation(worker, part));
    this.unit = 1;
    this.rows = -1;
    this.retryBusy = spec.retry_busy;
    const trace = orInvalid(() => new Columns(spec.trace || ""));
    // A third column has the order of units that overlap: here, none do.
    invalid(!["1,1", "1,1,1"].includes(String(trace.types)) || !trace.rows, "the trace of a mix wants two int columns or three, and rows");
    this.length = trace.rows;
    this.ordered = trace.types.length > 2;
    this.choices = Array.from({ length: trace.rows }, (_, row) => trace.columns.map((get) => Number(get(row))));
    this.choices.forEach(([part, position, after = 0], row) => {
      const there = this.parts[part] && position >= 0 && position < this.parts[part].length;
      invalid(!there, `row ${row}: part ${part}, position ${position} does not exist`);
      invalid(after < 0 || after > row, `row ${row} comes after itself`);
    });
  }

  async open() {
    for (const part of this.parts) await part.open();
    this.plan = this.parts.map((part) => `${part.spec.name}: ${part.plan}\n`).join("");
  }

  busy(error) {
    return this.parts[0].busy(error);
  }

  client(number) {
    return this.unitOf(this.parts.map((part) => part.client(number)));
  }

  null() {
    return this.unitOf(this.parts.map((part) => part.null()));
  }

  unitOf(runs) {
    return /* async */ (row) => {
      const [part, position] = this.choices[row];
      const rows = /* await */ runs[part](position);
      const want = this.parts[part].rows;
      if (rows !== want && want >= 0) throw new Error(`part ${part + 1}: ${rows} rows, expected are ${want}`);
      return rows;
    };
  }

  // teller is a client that returns the digests of its reading parts' answers, too.
  async teller(number) {
    const runs = [];
    for (const part of this.parts) runs.push(part.spec.changes ? part.client(number) : await part.teller(number));
    return /* async */ (row) => {
      const [part, position] = this.choices[row];
      const done = /* await */ runs[part](position);
      const told = this.parts[part].spec.changes ? { rows: done, digest: "" } : done;
      const want = this.parts[part].rows;
      if (told.rows !== want && want >= 0) throw new Error(`part ${part + 1}: ${told.rows} rows, expected are ${want}`);
      return told;
    };
  }

  verify() {
    refuse("unsupported", "a mix is verified part by part");
  }
}

module.exports = { Mix, Operation, digests };
