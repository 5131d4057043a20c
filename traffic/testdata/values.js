// Binds values of all kinds, whose last one is too long to be recorded.

const Database = require("better-sqlite3");
const { Recorder } = require("../traffic.js");

const [log, database] = process.argv.slice(2);
const recorder = new Recorder(log, 64 << 20);
const plain = new Database(database);
recorder.snapshot(plain);
const db = recorder.record(plain);
const insert = db.prepare("INSERT INTO v VALUES (?)");
const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
for (const value of [null, 0n, -1n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n), 0.1, -0, 1e22, 5e-324, Number.MAX_VALUE, Infinity, -Infinity, NaN,
	"", "é😀\u2028", "a\0b", "\"\\\n\t\x7f'", "1", "\ud800", Buffer.alloc(0), bytes, new Uint8Array(bytes.buffer, bytes.byteOffset + 1, 2), "x".repeat((1 << 20) + 1)]) insert.run(value);
db.prepare("INSERT INTO v VALUES (@b)").run({ a: 1n, b: 2n });
db.close();
recorder.close();
