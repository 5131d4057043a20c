// What recording costs: CPU time of a statement with and without the writer, on a
// database in memory, with arguments that hardly come again.
//
//     NODE_PATH=FOLDER/node_modules node traffic/testdata/cost.js

const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const Database = require("better-sqlite3");
const { Recorder } = require("../traffic.js");

const count = 20000;
const rows = 200000;

function cost(work) {
	let seed = 1;
	const began = process.cpuUsage();
	for (let i = 0; i < count; i++) {
		seed = (seed * 48271) % 2147483647;
		work(seed % rows);
	}
	const spent = process.cpuUsage(began);
	return (spent.user + spent.system) / count;
}

function measured(db) {
	db.exec("CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, stock INTEGER)");
	db.exec(`WITH RECURSIVE k (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM k WHERE i < ${rows - 1}) INSERT INTO item SELECT i, 'item ' || i, i FROM k`);
	const read = db.prepare("SELECT name, stock FROM item WHERE id = ?");
	const change = db.prepare("UPDATE item SET stock = ? WHERE id = ?");
	return [cost((i) => read.get(i)), cost((i) => change.run(i, i))];
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "cost"));
const runs = { plain: [], recorded: [] };
for (let i = 0; i < 3; i++) {
	runs.plain.push(measured(new Database(":memory:")));
	const recorder = new Recorder(path.join(folder, String(i)), 256 << 20);
	const db = recorder.record(new Database(":memory:"));
	runs.recorded.push(measured(db));
	db.close();
}
fs.rmSync(folder, { recursive: true });
const least = (all, i) => Math.min(...all.map((run) => run[i]));
["query", "update"].forEach((name, i) => {
	const [plain, recorded] = [least(runs.plain, i), least(runs.recorded, i)];
	console.log(`${name}: ${plain.toFixed(1)} us without, ${(recorded - plain).toFixed(1)} us more with the writer`);
});
