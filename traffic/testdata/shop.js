// A shop that does the orders of a file and records its traffic.

const fs = require("node:fs");
const Database = require("better-sqlite3");
const { Recorder } = require("../traffic.js");

const [database, log, orders, size] = process.argv.slice(2);
const recorder = new Recorder(log, Number(size));
const db = recorder.record(new Database(database));

const read = db.prepare("SELECT name FROM item WHERE id = ?");
const find = db.prepare("SELECT id, stock FROM item WHERE stock > @stock AND name <> 'Hidden Name' ORDER BY id LIMIT 5");
const take = db.prepare("UPDATE item SET stock = stock - 1 WHERE id = ?");
const sell = db.prepare("INSERT INTO sale (item_id, at) VALUES (?, 77)");
const add = db.prepare("INSERT INTO item (id, name, stock) VALUES (@id, @name, @stock)");

const inner = db.transaction((item) => sell.run(item));
const outer = db.transaction((item) => (take.run(item), inner(item)));
const sale = db.transaction((item) => (take.run(item), sell.run([item]))).immediate;
const undo = db.transaction((item) => {
	take.run(item);
	throw new Error("undo");
});

const work = {
	read: (item) => read.get(item),
	find: (stock) => [...find.iterate({ stock })],
	sell: sale,
	nest: outer,
	undo: (item) => refuses("undo", () => undo(item)),
	add: (item) => refuses("UNIQUE", () => add.run({ stock: 5, name: "Secret Person", id: item })),
};

function refuses(text, what) {
	try {
		what();
	} catch (error) {
		if (error.message.includes(text)) return;
		throw error;
	}
	throw new Error(`it did not fail for ${text}`);
}

for (const line of fs.readFileSync(orders, "utf8").trim().split("\n")) {
	const [order, item] = line.split(" ");
	work[order](Number(item));
}
db.close();
