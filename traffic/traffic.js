"use strict";

// Records what a program asks of SQLite through better-sqlite3, for assay init --log:
// which statements, how often, how skewed their arguments are. It writes no bound
// value, and nothing that stands in single quotes; of what stands in double quotes see
// strip. docs/traffic.md is the format's contract.
//
// The module is this one file, and needs nothing but Node.js: copy it into your
// program. Nothing is recorded unless the program asks for it:
//
//	const { Recorder } = require("./traffic.js");
//	const recorder = new Recorder("app.ndjson", 64 << 20);
//	const db = recorder.record(new Database("app.db"));
//
// The log is complete once recorder.close() was called, or the process has ended.

const crypto = require("node:crypto");
const fs = require("node:fs");

const version = 1;
const buffered = 64 << 10; // bytes that are written at once
const maxTexts = 10_000; // different statements that are told apart
const longText = 4096; // characters of a statement that is not kept to know it again
const buckets = 16; // of the ranks of integers
const tagBytes = 8;
const flushEvery = 1000; // milliseconds
const lastLine = 33; // bytes, at most, of the line that says how many were dropped

const now = process.hrtime.bigint;

// Recorder writes one file, which must not exist. It gets at most max bytes; what is
// more is dropped, and counted.
class Recorder {
	#file;
	#max;
	#key = crypto.randomBytes(32); // that nobody keeps
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
	#known = new Map(); // template and parameters, by text
	#templates = new Map(); // by id: those whose text is in the file
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
		this.#max = max - lastLine;
		const began = new Date().toISOString().replace(/\.\d+Z$/, "Z");
		this.#line(`{"traffic":${version},"began":"${began}","buckets":${buckets}}\n`);
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
	// and its arguments. A value that cannot be described costs the line, and never the
	// program's statement.
	describe(query, given) {
		try {
			if (this.#closed || this.#filled) return { what: "" };
			const known = this.#template(query);
			if (known === null) return { what: "" };
			const args = ordered(given, known.parameters).map((value, i) => this.#argument(known.template, i, value));
			return { what: known.template.id, args: args.length > 0 ? `,"args":[${args.join(",")}]` : "" };
		} catch {
			return { what: "" };
		}
	}

	// argument is an argument: its type, its length, its tag, and of an integer its
	// rank among those seen. A number without a fraction is an integer.
	#argument(template, place, value) {
		if (value === null || value === undefined) return '{"t":"null"}';
		let [type, length, data, rank] = ["other", 0, "o", ""];
		if (typeof value === "bigint" || Number.isSafeInteger(value)) {
			[type, length, data, rank] = ["int", 8, `i${value}`, template.rank(place, Number(value))];
		} else if (typeof value === "number") {
			[type, length, data] = ["real", 8, `r${value}`];
		} else if (typeof value === "boolean") {
			[type, length, data] = ["bool", 1, `b${value}`];
		} else if (typeof value === "string") {
			[type, length, data] = ["text", Buffer.byteLength(value), `t${value}`];
		} else if (ArrayBuffer.isView(value)) {
			[type, length, data] = ["blob", value.byteLength, value];
		}
		const mac = crypto.createHmac("sha256", this.#key);
		if (type === "blob") mac.update("x");
		const tag = mac.update(data).digest("hex").slice(0, 2 * tagBytes);
		return `{"t":"${type}","n":${length},"tag":"${tag}"${rank}}`;
	}

	// template finds a statement without its literals, with its parameters, and writes
	// its text the first time; null where there are too many, and where the text cannot
	// be written.
	#template(query) {
		const found = this.#known.get(query);
		if (found !== undefined) return found;
		const { id, text, parameters } = fingerprint(query);
		let template = this.#templates.get(id);
		if (template === undefined) {
			if (this.#templates.size >= maxTexts || !this.#line(`{"id":"${id}","sql":${quoted(text)}}\n`)) return null;
			template = new Template(id);
			this.#templates.set(id, template);
		}
		const known = { template, parameters };
		if (this.#known.size < maxTexts && query.length <= longText) this.#known.set(query, known);
		return known;
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

// Template is a statement without its literals.
class Template {
	#ranges = []; // of integers, by argument

	constructor(id) {
		this.id = id;
	}

	// rank is the part of the range that the argument's integers had so far in which
	// this one lies; nothing before there is a range.
	rank(place, value) {
		const range = (this.#ranges[place] ??= { low: value, high: value });
		range.low = Math.min(range.low, value);
		range.high = Math.max(range.high, value);
		if (range.high - range.low < buckets) return "";
		return `,"rank":${Math.min(buckets - 1, Math.floor((buckets * (value - range.low)) / (range.high - range.low + 1)))}`;
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
		const mark = control(query);
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

// ordered are the values of a call in the order in which the statement names its
// parameters: better-sqlite3 takes values, arrays of them, and an object of names.
function ordered(given, parameters) {
	const [values, names] = [[], {}];
	for (const each of given) {
		if (Array.isArray(each)) values.push(...each);
		else if (typeof each === "object" && each !== null && !ArrayBuffer.isView(each)) Object.assign(names, each);
		else values.push(each);
	}
	if (values.length === given.length && Object.keys(names).length === 0) return values;
	let next = 0;
	const all = parameters.map((name) => (Object.hasOwn(names, name) ? names[name] : values[next++]));
	return [...all, ...values.slice(next)];
}

const word = "[A-Za-z0-9_\\u{80}-\\u{10ffff}]";
const token = new RegExp(
	[
		"(?<space>[ \\t\\r\\n\\f\\ufeff]|--[^\\n]*\\n?|/\\*.*?(?:\\*/|$))",
		"(?<literal>[xX]?'[^']*(?:''[^']*)*'?|0x(?:WORD|\\.)*|(?:[0-9]|\\.[0-9])(?:(?<=[eE])[+\\-]|WORD|\\.)*)",
		'(?<name>"WORD+"(?!"))',
		'(?<text>"[^"]*(?:""[^"]*)*"?)',
		"(?<quoted>`[^`]*(?:``[^`]*)*`?|\\[[^\\]]*\\]?)",
		"(?<parameter>[?:@$]WORD*)",
		"(?<word>WORD+)",
		"(?<other>.)",
	]
		.join("|")
		.replaceAll("WORD", word),
	"gsu",
);

// fingerprint names a statement by its text without literals, however it writes its
// parameters, and returns the text and the parameters.
function fingerprint(query) {
	const { text, alike, parameters } = strip(query);
	return { id: crypto.createHash("sha256").update(alike).digest("hex").slice(0, 2 * tagBytes), text, parameters };
}

// strip takes comments and spaces out of SQL, and puts :literal1, :literal2 and so on in
// the place of literals: numbers, texts and blobs. What stands in double quotes is taken
// for a name if it looks like one. Of PRAGMA and ATTACH, which may have a key, it keeps
// that word. It returns the same with ? for every parameter as well.
function strip(query) {
	const [kept, alike, parameters] = [[], [], []];
	let [space, first, secret, literals] = [false, true, false, 0];
	for (const found of query.matchAll(token)) {
		const { groups } = found;
		let text = found[0];
		if (text === ";") [first, secret] = [true, false];
		if (groups.space !== undefined || secret) {
			space = !secret;
			continue;
		}
		if (groups.literal !== undefined || groups.text !== undefined) text = `:literal${++literals}`;
		else if (groups.parameter !== undefined && (text === "?" || !parameters.includes(text.slice(1)))) parameters.push(text.slice(1));
		if (space && kept.length > 0) {
			kept.push(" ");
			alike.push(" ");
		}
		space = false;
		secret = first && ["PRAGMA", "ATTACH"].includes(text.toUpperCase());
		first = first && [";", "EXPLAIN", "QUERY", "PLAN"].includes(text.toUpperCase());
		kept.push(text);
		alike.push(groups.parameter === undefined ? text : "?");
	}
	const end = /[; ]+$/;
	return { text: kept.join("").replace(end, ""), alike: alike.join("").replace(end, ""), parameters };
}

const marks = new Map([["end", "commit"], ...["begin", "commit", "savepoint", "release", "rollback"].map((each) => [each, each])]);
const controlWords = 5; // of the longest of them: ROLLBACK TRANSACTION TO SAVEPOINT and a name

// control names a statement that begins or ends a transaction or a savepoint. Several
// in one text have no name.
function control(query) {
	if (typeof query !== "string") return "";
	const words = [];
	let over = false;
	for (const { 0: found, groups } of query.matchAll(token)) {
		const text = found.toLowerCase();
		if (text === ";") over = words.length > 0;
		else if (groups.space === undefined) {
			if (over || words.length === controlWords || (words.length === 0 && !marks.has(text))) return "";
			words.push(text);
		}
	}
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

module.exports = { Recorder, fingerprint, control };
