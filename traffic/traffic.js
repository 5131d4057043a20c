"use strict";

// Records what a program asks of SQLite through better-sqlite3, for assay init --log:
// statements with their arguments, transactions, connections, times and rows. The file
// is for its owner alone. docs/traffic.md is the format's contract.
//
// The module is this one file, and needs nothing but Node.js: copy it into your
// program. Nothing is recorded unless the program asks for it:
//
//	const { Recorder } = require("./traffic.js");
//	const recorder = new Recorder("app.ndjson", 64 << 20);
//	const db = recorder.record(new Database("app.db"));
//
// The log is complete once recorder.close() was called, or the process has ended.

const fs = require("node:fs");

const version = 2;
const buffered = 64 << 10; // bytes that are written at once
const maxTexts = 10_000; // different statements that are known again
const longText = 4096; // characters of a statement that is not kept to know it again
const longValue = 1 << 20; // bytes of a text or blob of which only the length is recorded
const flushEvery = 1000; // milliseconds
const lastLine = 33; // bytes, at most, of the line that says how many were dropped

const now = process.hrtime.bigint;

// Recorder writes one file, which must not exist. It gets at most max bytes; what is
// more is dropped, and counted.
class Recorder {
	#path;
	#file;
	#max;
	#began = now();
	#connections = 0;
	#transactions = 0;
	#closed = false;
	#filled = false; // a line did not fit, so that no later one is written either
	#lines = [];
	#waiting = 0; // bytes of them
	#spent = 0;
	#dropped = 0;
	#open = 0; // queries whose rows are read
	#known = new Map(); // mark, and id once its text is in the file, by text
	#texts = 0;
	#failed = null;
	#timer;
	#atExit = () => {
		try {
			this.close();
		} catch (error) { // the program's end is its own
			console.error(`traffic: the log is not complete: ${error.message}`);
		}
	};

	constructor(path, max) {
		const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = fs.constants;
		this.#file = fs.openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
		this.#path = path;
		this.#max = max - lastLine;
		const began = new Date().toISOString();
		this.#line(`{"traffic":${version},"began":"${began}"}\n`);
		this.#timer = setInterval(() => this.#write(), flushEvery);
		this.#timer.unref();
		process.on("exit", this.#atExit);
	}

	// close writes what is left, and how many lines were dropped. Statements after it
	// are not recorded.
	close() {
		if (this.#closed) return;
		this.#closed = true;
		clearInterval(this.#timer);
		process.off("exit", this.#atExit);
		this.#lines.push(`{"dropped":${this.#dropped + this.#open}}\n`);
		this.#write();
		fs.closeSync(this.#file);
		if (this.#failed) throw this.#failed;
	}

	// snapshot keeps a database as it is now beside the log, for its owner alone: app.start.db
	// beside app.ndjson. Call it before the program changes anything.
	snapshot(db) {
		const path = this.#path.replace(/\.ndjson$/, "") + ".start.db";
		const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = fs.constants;
		fs.closeSync(fs.openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600));
		db.prepare("VACUUM INTO ?").run(path);
	}

	#write() {
		const data = this.#lines.join("");
		this.#lines = [];
		this.#waiting = 0;
		if (this.#failed || data === "") return;
		try {
			fs.writeFileSync(this.#file, data);
		} catch (error) {
			this.#failed = error;
		}
	}

	// line adds a line of ASCII, and says whether it did.
	#line(text) {
		if (this.#closed || this.#filled || this.#failed) return false;
		if (this.#spent + text.length > this.#max) {
			this.#filled = true;
			return false;
		}
		this.#spent += text.length;
		this.#waiting += text.length;
		this.#lines.push(text);
		if (this.#waiting >= buffered) this.#write();
		return true;
	}

	// put writes the line of a statement or mark, and counts one that it cannot write.
	put({ began, took, connection, transaction, what, args = "", rows = 0, error }) {
		const failed = error === undefined ? "" : `,"err":"${kindOf(error)}"`;
		const text = `{"at":${began - this.#began},"conn":${connection},"tx":${transaction},"s":"${what}"${args},"rows":${rows},"ns":${took}${failed}}\n`;
		if (what === "" || !this.#line(text)) this.#dropped++;
	}

	// describe returns the id of a statement, empty where its text is not in the file,
	// and its arguments. A value that cannot be recorded costs the line, and never the
	// program's statement.
	describe(query, given) {
		try {
			if (this.#closed || this.#filled) return { what: "" };
			return { what: this.#id(query), args: describe(given) };
		} catch {
			return { what: "" };
		}
	}

	// mark is what a statement begins or ends.
	mark(query) {
		return typeof query === "string" ? this.#find(query).mark : "";
	}

	// id writes the text of a statement the first time.
	#id(query) {
		const found = this.#find(query);
		if (found.id === "") {
			const id = String(this.#texts + 1);
			if (!this.#line(`{"id":"${id}","sql":${quoted(found.text)}}\n`)) return "";
			this.#texts++;
			found.id = id;
		}
		return found.id;
	}

	#find(query) {
		let found = this.#known.get(query);
		if (found === undefined) {
			const text = clean(query);
			found = { text, mark: control(text), id: "" };
			if (this.#known.size < maxTexts && query.length <= longText) this.#known.set(query, found);
		}
		return found;
	}

	// record records what is asked through a database of better-sqlite3, and returns
	// it. Its statements, and transactions of its function transaction, are its own
	// objects as before.
	record(db) {
		const connection = new Connection(this, db, ++this.#connections);
		const { prepare, exec, transaction, close } = db;
		const own = {
			prepare: (query) => connection.statement(prepare.call(db, query), query),
			exec: (query) => (connection.run(query, [], () => exec.call(db, query), () => 0), db),
			transaction: (work) => connection.transactions(transaction, work),
			close: () => (connection.finish("rollback", () => close.call(db)), db),
		};
		for (const [name, value] of Object.entries(own)) Object.defineProperty(db, name, { value, configurable: true, writable: true });
		return db;
	}

	nextTransaction() {
		return ++this.#transactions;
	}

	// reading counts the queries whose rows are read.
	reading(change) {
		this.#open += change;
	}
}

// Connection is a database whose statements are recorded.
class Connection {
	#recorder;
	#db;
	#number;
	#transaction = 0; // 0: none

	constructor(recorder, db, number) {
		this.#recorder = recorder;
		this.#db = db;
		this.#number = number;
	}

	#inside() {
		return this.#db.open && this.#db.inTransaction;
	}

	#put(line) {
		this.#recorder.put({ connection: this.#number, transaction: this.#transaction, ...line });
	}

	#mark(what, began, error) {
		this.#put({ what, began, took: now() - began, error });
	}

	// enter sees a transaction that began.
	#enter(began, took = 0n) {
		if (this.#transaction !== 0 || !this.#inside()) return;
		this.#transaction = this.#recorder.nextTransaction();
		this.#put({ what: "begin", began, took });
	}

	// finish does something that may end a transaction.
	finish(mark, work) {
		const began = now();
		try {
			return work();
		} finally {
			this.#leave(mark, began);
		}
	}

	#leave(mark, began) {
		if (this.#transaction === 0 || this.#inside()) return;
		this.#mark(mark, began);
		this.#transaction = 0;
	}

	// statement records what a prepared statement is used for.
	statement(native, query) {
		const { run, get, all, iterate, bind } = native;
		let bound = [];
		const own = {
			run: (...given) => this.run(query, [...bound, ...given], () => run.apply(native, given), (info) => info.changes),
			get: (...given) => this.run(query, [...bound, ...given], () => get.apply(native, given), (row) => (row === undefined ? 0 : 1)),
			all: (...given) => this.run(query, [...bound, ...given], () => all.apply(native, given), (rows) => rows.length),
			iterate: (...given) => this.#iterate(query, [...bound, ...given], () => iterate.apply(native, given)),
			bind: (...given) => (bind.apply(native, given), (bound = given), native),
		};
		for (const [name, value] of Object.entries(own)) Object.defineProperty(native, name, { value, configurable: true, writable: true });
		return native;
	}

	// run records one execution.
	run(query, given, work, rows) {
		const mark = this.#recorder.mark(query);
		const described = mark === "" ? this.#recorder.describe(query, given) : null;
		const began = now();
		const inside = this.#transaction !== 0;
		try {
			const result = work();
			if (described === null) this.#control(mark, inside, began);
			else this.#done(described, began, now() - began, rows(result));
			return result;
		} catch (error) {
			if (described === null) this.#control(mark, inside, began, error);
			else this.#done(described, began, now() - began, 0, error);
			throw error;
		}
	}

	#done(described, began, took, rows, error) {
		this.#enter(began);
		this.#put({ ...described, began, took, rows, error });
		this.#leave(error === undefined ? "commit" : "rollback", began + took);
	}

	// control records a statement that begins or ends a transaction or a savepoint: one
	// outside of a transaction begins and ends it.
	#control(mark, inside, began, error) {
		if (!inside && this.#inside()) {
			this.#enter(began, now() - began);
			return;
		}
		const over = inside && !this.#inside();
		this.#mark(over && mark === "release" ? "commit" : mark, began, error);
		if (over) this.#transaction = 0;
	}

	// iterate records a query once its rows are read.
	*#iterate(query, given, work) {
		const described = this.#recorder.describe(query, given);
		const began = now();
		let [rows, ended, failed] = [0, began, undefined];
		this.#recorder.reading(1);
		try {
			for (const row of work()) {
				rows++;
				ended = now();
				yield row;
			}
			ended = now();
		} catch (error) {
			failed = error;
			ended = now();
			throw error;
		} finally {
			this.#recorder.reading(-1);
			this.#done(described, began, ended - began, rows, failed);
		}
	}

	// transactions records the transactions of a function, which better-sqlite3 begins
	// and ends by itself, in all kinds.
	transactions(make, work) {
		const at = { began: 0n, ended: 0n };
		const connection = this;
		const native = make.call(this.#db, function (...given) {
			if (connection.#transaction === 0) connection.#enter(at.began, now() - at.began);
			else connection.#mark("savepoint", at.began);
			try {
				return work.apply(this, given);
			} finally {
				at.ended = now();
			}
		});
		const kinds = {};
		for (const name of ["default", "deferred", "immediate", "exclusive"]) {
			kinds[name] = function (...given) {
				const nested = connection.#transaction !== 0;
				at.began = now();
				try {
					const result = native[name].apply(this, given);
					connection.#over(nested, "release", "commit", at.ended);
					return result;
				} catch (error) {
					connection.#over(nested, "rollback to", "rollback", at.ended);
					throw error;
				}
			};
		}
		const properties = { database: { value: this.#db, enumerable: true } };
		for (const [name, value] of Object.entries(kinds)) properties[name] = { value };
		for (const kind of Object.values(kinds)) Object.defineProperties(kind, properties);
		return kinds.default;
	}

	#over(nested, inner, outer, began) {
		if (nested && this.#inside()) this.#mark(inner, began);
		else this.#leave(outer, began);
	}
}

// describe writes the arguments of a call: better-sqlite3 takes values, arrays of them,
// and an object of names.
function describe(given) {
	const [values, named] = [[], []];
	for (const each of given) {
		if (Array.isArray(each)) values.push(...each.map(valueOf));
		else if (typeof each !== "object" || each === null || ArrayBuffer.isView(each)) values.push(valueOf(each));
		else for (const [name, value] of Object.entries(each)) named.push(`${quoted(name)}:${valueOf(value)}`);
	}
	return (values.length > 0 ? `,"args":[${values}]` : "") + (named.length > 0 ? `,"named":{${named}}` : "");
}

// valueOf is a value as JSON: an integer as a number without a point and exponent, a real
// with one. What JSON does not have is an object of one field. A number without a fraction
// is taken for an integer, though better-sqlite3 binds it as a real.
function valueOf(value) {
	switch (typeof value) {
		case "number":
			if (!Number.isFinite(value)) return `{"real":"${String(value).toLowerCase().replace("inity", "")}"}`;
			if (Object.is(value, -0)) return "-0.0";
			return Number.isSafeInteger(value) ? String(value) : value.toExponential();
		case "bigint":
			if (BigInt.asIntN(64, value) === value) return String(value);
			break;
		case "string": {
			const length = value.length > longValue / 4 ? Buffer.byteLength(value) : 0;
			if (length > longValue) return `{"text":${length}}`;
			return /\p{Surrogate}/u.test(value) ? `{"text":"${Buffer.concat([...value].map(bytesOf)).toString("base64")}"}` : quoted(value);
		}
		case "undefined":
			return "null";
		case "object":
			if (value === null) return "null";
			if (value.byteLength > longValue) return `{"blob":${value.byteLength}}`;
			if (ArrayBuffer.isView(value)) return `{"blob":"${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64")}"}`;
	}
	throw new TypeError("SQLite has no such value");
}

// bytesOf is UTF-8 as SQLite gets it: also of half of a pair of surrogates, which has none.
function bytesOf(character) {
	const code = character.codePointAt(0);
	return code >= 0xd800 && code < 0xe000 ? Buffer.from([0xed, 0x80 | ((code >> 6) & 63), 0x80 | (code & 63)]) : Buffer.from(character);
}

const token = /(?<space>[ \t\r\n\f\ufeff]|--[^\n]*\n?|\/\*.*?(?:\*\/|$))|'[^']*'?|"[^"]*"?|`[^`]*`?|\[[^\]]*\]?|[A-Za-z0-9_\u{80}-\u{10ffff}]+|./gsu;

// clean takes comments out of SQL, with one space for each run of them and of spaces, and
// what stands behind PRAGMA and ATTACH, which may have a key.
function clean(query) {
	let [kept, space, first, secret] = ["", false, true, false];
	for (const { 0: text, groups } of query.matchAll(token)) {
		if (text === ";") [first, secret] = [true, false];
		if (groups.space !== undefined || secret) {
			space = !secret;
			continue;
		}
		if (space && kept !== "") kept += " ";
		space = false;
		secret = first && ["PRAGMA", "ATTACH"].includes(text.toUpperCase());
		first = first && [";", "EXPLAIN", "QUERY", "PLAN"].includes(text.toUpperCase());
		kept += text;
	}
	return kept.replace(/^[; ]+|[; ]+$/g, "");
}

const marks = new Map([["end", "commit"], ...["begin", "commit", "savepoint", "release", "rollback"].map((each) => [each, each])]);

// control names a statement that begins or ends a transaction or a savepoint. Several
// in one text have no name.
function control(text) {
	const words = text.toLowerCase().split(" ");
	if (text.includes(";")) return "";
	if (words[0] === "rollback" && words.slice(1, 3).includes("to")) return "rollback to";
	return marks.get(words[0]) ?? "";
}

// kindOf says of what kind an error is, and nothing of its text.
function kindOf(error) {
	const text = String(error?.code ?? error).toLowerCase();
	if (text.includes("locked") || text.includes("busy")) return "busy";
	return text.includes("constraint") ? "constraint" : "error";
}

// quoted writes a text as JSON of ASCII only.
function quoted(text) {
	return JSON.stringify(text).replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

module.exports = { Recorder, clean, control };
