"use strict";
// What travels beside the protocol's lines: column files, files of rows, histograms,
// counters.

const fs = require("node:fs");

const ROWS = 1000; // that are written at once

// Columns is a column file. It has a function for each column, from row to value.
class Columns {
  constructor(path) {
    const data = fs.readFileSync(path);
    this.rows = Number(data.readBigUInt64LE(16));
    this.columns = Array.from({ length: data.readUInt32LE(12) }, (_, i) => this.column(data, 24 + 32 * i));
  }

  column(data, head) {
    const type = data.readUInt32LE(head);
    const [nulls, values, content] = [8, 16, 24].map((at) => Number(data.readBigUInt64LE(head + at)));
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
    default:
      return (row) => data.subarray(end(row), end(row + 1));
  }
}

// writeUnit appends a unit to a file of rows that is there already: of each its step and its values, as they are
// stored: BigInt for an integer, number for a real.
function writeUnit(path, number, part, rows) {
  const file = fs.openSync(path, fs.constants.O_WRONLY | fs.constants.O_APPEND);
  try {
    fs.writeFileSync(file, words(number, 0, part, rows.length));
    for (let i = 0; i < rows.length; i += ROWS) {
      const some = rows.slice(i, i + ROWS).flatMap(([step, row]) => [words(step, row.length), ...row.map(stored)]);
      fs.writeFileSync(file, Buffer.concat(some));
    }
  } finally {
    fs.closeSync(file);
  }
}

// words are numbers in four bytes each.
function words(...numbers) {
  const bytes = Buffer.alloc(4 * numbers.length);
  numbers.forEach((number, i) => bytes.writeUInt32LE(number, 4 * i));
  return bytes;
}

function stored(value) {
  if (value === null) return Buffer.of(0);
  if (typeof value === "bigint" || typeof value === "number") {
    const bytes = Buffer.alloc(9);
    if (typeof value === "bigint") bytes.writeBigInt64LE(value, bytes.writeUInt8(1));
    else bytes.writeDoubleLE(value, bytes.writeUInt8(2));
    return bytes;
  }
  const content = Buffer.from(value);
  return Buffer.concat([Buffer.of(typeof value === "string" ? 3 : 4), words(content.length), content]);
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

let ownReads = 0; // bytes of /proc that were read so far

// counters says what the process used so far. What reading it takes is left out: of
// the bytes read, and of the time by its order, here last and in since first.
function counters() {
  return { ...system(), ...usage() };
}

// since says what was used since.
function since(before) {
  const last = usage();
  const after = { ...system(), ...last };
  const used = {};
  for (const name in after) used[name] = name === "peak_bytes" ? after[name] : after[name] - before[name];
  return used;
}

// usage is of all threads.
function usage() {
  const { userCPUTime, systemCPUTime, voluntaryContextSwitches, involuntaryContextSwitches } = process.resourceUsage();
  return { cpu_ns: (userCPUTime + systemCPUTime) * 1000, switches: voluntaryContextSwitches + involuntaryContextSwitches };
}

function system() {
  const status = proc("status");
  const reads = ownReads; // before the other file: what reading it adds, it does not show yet
  const io = proc("io");
  return {
    read_bytes: (io.rchar ?? reads) - reads,
    fetched_bytes: io.read_bytes || 0,
    written_bytes: io.write_bytes || 0,
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

module.exports = { Columns, Histogram, UNCOUNTED, counters, since, writeUnit };
