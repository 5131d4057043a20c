// Values that cannot be bound, transactions of all kinds, rows that are not read, and
// statements behind the end.

const assert = require("node:assert");
const Database = require("better-sqlite3");
const { Recorder } = require("../traffic.js");

const [log, database] = process.argv.slice(2);
const recorder = new Recorder(log, 64 << 20);
const db = new Database(database);
assert.strictEqual(recorder.record(db), db);

for (let i = 0; i < 200; i++) db.prepare("SELECT id FROM item WHERE id = ?").pluck().get(i);

const name = db.prepare("SELECT name FROM item WHERE id = ?");
for (const value of [{}, true, Symbol("x"), 2n ** 70n]) assert.throws(() => name.get(value));
assert.throws(() => name.get(1, 2));
assert.strictEqual(db.prepare("SELECT id FROM item WHERE id = ?").bind(7).raw().get()[0], 7);
assert.throws(() => db.exec("COMMIT"));

const work = db.transaction(function (value) {
	return [this, value];
});
const self = { work, late: work.exclusive };
assert.deepStrictEqual(self.work(1), [self, 1]);
assert.deepStrictEqual(self.late(2), [self, 2]);
assert.strictEqual(work.deferred.immediate, work.immediate);
assert.strictEqual(work.database, db);

const unread = db.prepare("SELECT id FROM item").iterate();
unread.next();
recorder.close();
recorder.close();
unread.return();
db.exec("DELETE FROM item");
db.close();
