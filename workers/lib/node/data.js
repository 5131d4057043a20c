"use strict";
// What travels beside the protocol's lines: column files, digests, histograms,
// counters.

const crypto = require("node:crypto");
const fs = require("node:fs");

// Columns is a column file. It has a function for each column, from row to value.
class Columns {
  constructor(path) {
    let data;
    try {
      data = fs.readFileSync(path);
      if (data.toString("latin1", 0, 8) !== "ASSAYCOL" || data.readUInt32LE(8) !== 1) throw new Error("it is no column file of version 1");
      this.rows = Number(data.readBigUInt64LE(16));
      this.columns = [];
      this.types = [];
      for (let i = 0; i < data.readUInt32LE(12); i++) this.columns.push(this.column(data, 24 + 32 * i));
    } catch (error) {
      throw new Error(`trace ${path}: ${error.message}`);
    }
  }

  column(data, head) {
    const type = data.readUInt32LE(head);
    const [nulls, values, content] = [8, 16, 24].map((at) => Number(data.readBigUInt64LE(head + at)));
    this.types.push(type);
    const get = getter(type, data, values, content);
    if ((data.readUInt32LE(head + 4) & 1) === 0) return get;
    return (row) => ((data[nulls + (row >> 3)] >> (row & 7)) & 1 ? null : get(row));
  }
}

function getter(type, data, values, content) {
  const end = (i) => content + Number(data.readBigUInt64LE(values + 8 * i));
  switch (type) {
    case 1:
      return (row) => data.readBigInt64LE(values + 8 * row); // a number would be bound as a real
    case 5:
      return (row) => (data[values + 8 * row] === 0 ? 0n : 1n);
    case 2:
      return (row) => data.readDoubleLE(values + 8 * row);
    case 3:
      return (row) => data.toString("utf8", end(row), end(row + 1));
    case 4:
      return (row) => data.subarray(end(row), end(row + 1));
    default:
      throw new Error(`a column has the unknown type ${type}`);
  }
}

const TYPES = { int: 1, real: 2, text: 3, blob: 4, bool: 5 };

// Digest is that of an answer: rows of values by declared type.
class Digest {
  constructor(types) {
    for (const declared of types) {
      if (!TYPES[declared.replace(/\?$/, "")]) throw new Error(`type "${declared}": want int, real, text, blob or bool`);
    }
    this.types = types;
    this.hash = crypto.createHash("sha256");
    this.rows = 0;
  }

  // add takes values as they are stored: BigInt for an int, number for a real.
  add(row) {
    if (row.length !== this.types.length) throw new Error(`a row has ${row.length} columns, declared are ${this.types.length}`);
    this.rows++;
    const count = Buffer.alloc(4);
    count.writeUInt32LE(row.length);
    this.hash.update(count);
    row.forEach((value, i) => this.hash.update(encode(value, this.types[i])));
  }

  hex() {
    return this.hash.copy().digest("hex");
  }
}

function encode(value, declared) {
  const kind = declared.replace(/\?$/, "");
  if (value === null && declared.endsWith("?")) return Buffer.from([0]);
  const number = Buffer.alloc(9, TYPES[kind]);
  if (typeof value === "bigint" && kind === "bool") return Buffer.from([5, value === 0n ? 0 : 1]);
  if (typeof value === "bigint" && kind === "int") {
    number.writeBigInt64LE(value, 1);
    return number;
  }
  if ((typeof value === "bigint" || typeof value === "number") && kind === "real") {
    const real = Number(value);
    if (Number.isNaN(real)) number.writeBigUInt64LE(0x7ff8000000000000n, 1);
    else number.writeDoubleLE(real === 0 ? 0 : real, 1);
    return number;
  }
  const blob = value instanceof Uint8Array || value instanceof ArrayBuffer; // as drivers return it
  if ((typeof value === "string" || blob) && (kind === "text" || kind === "blob")) {
    const content = Buffer.from(value);
    const head = Buffer.alloc(5, TYPES[kind]);
    head.writeUInt32LE(content.length, 1);
    return Buffer.concat([head, content]);
  }
  throw new Error(`${value} (${typeof value}) where ${declared} is declared`);
}

// Histogram counts latencies in buckets of fixed bounds.
class Histogram {
  constructor() {
    this.counts = new Map();
  }

  record(nanos) {
    let v = Math.min(Math.max(Math.floor(nanos), 0), 2 ** 41 - 1);
    if (v >= 128) {
      const width = 2 ** (Math.floor(Math.log2(v)) - 7);
      v = (Math.floor(v / width) + 1) * width - 1;
    }
    this.counts.set(v, (this.counts.get(v) || 0) + 1);
  }

  buckets() {
    return [...this.counts].sort((a, b) => a[0] - b[0]);
  }
}

const UNCOUNTED = "allocs, alloc_bytes: Node.js does not count them";

function cpuNanos() {
  const cpu = process.cpuUsage();
  return (cpu.user + cpu.system) * 1000;
}

let ownReads = 0; // bytes of /proc that were read so far

// counters says what the process used so far. What reading it takes is left out: of
// the bytes read, and of the time by its order, here last and in since first.
function counters() {
  return Object.assign(system(), { cpu_ns: cpuNanos() });
}

// since says what was used since.
function since(before) {
  const cpu = cpuNanos();
  const after = Object.assign(system(), { cpu_ns: cpu });
  const used = {};
  for (const name in after) used[name] = name === "peak_bytes" ? after[name] : after[name] - before[name];
  return used;
}

function system() {
  const status = proc("status");
  const reads = ownReads; // before the other file: what reading it adds, it does not show yet
  const io = proc("io");
  return {
    read_bytes: (io.rchar ?? reads) - reads,
    fetched_bytes: io.read_bytes || 0,
    written_bytes: io.write_bytes || 0,
    switches: (status.voluntary_ctxt_switches || 0) + (status.nonvoluntary_ctxt_switches || 0),
    peak_bytes: (status.VmHWM || process.resourceUsage().maxRSS) * 1024,
  };
}

function proc(name) {
  const numbers = {};
  let text;
  try {
    text = fs.readFileSync(`/proc/self/${name}`);
  } catch {
    return numbers; // no Linux
  }
  ownReads += text.length;
  for (const line of text.toString().split("\n")) {
    const found = line.match(/^(\w+):\s+(\d+)/);
    if (found) numbers[found[1]] = Number(found[2]);
  }
  return numbers;
}

module.exports = { Columns, Digest, Histogram, UNCOUNTED, counters, since };
