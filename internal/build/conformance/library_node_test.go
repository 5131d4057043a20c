//go:build unix

package conformance

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	nodeLibrary   = "worker.js"
	nodeMeasured  = "measure.js"
	nodeTurns     = "turns.js"
	nodeChains    = "chains.js"
	nodeOperation = "operation.js"
	nodeData      = "data.js"
)

// nodeEdits are the faults in a copy of the worker node-sqlite, by name. Its library
// shares no line with the one for Python.
var nodeEdits = map[string]edit{
	"each ignored": {nodeLibrary, `of each || []`, "of []",
		"SQL for each connection runs on every one", `cache_size of reader-1, .* want -4321`},
	"dsn ignored": {nodeLibrary, `const connection = await this.connect(dsn);`, `const connection = await this.connect("file:");`,
		"a DSN is opened, and not the path", "elsewhere.db was not opened"},
	"once ignored": {nodeLibrary, `of request.once || []`, "of []",
		"settings are read, and not remembered", "is -5000, want -7000"},
	"remembers settings": {nodeLibrary, `const answer = await this.rows(connection, sql);`, `const answer = [["-5000"]];`,
		"settings are read, and not remembered", "is -5000, want -7000"},
	"tells a miss": {nodeMeasured, "const right = rows === operation.rows || operation.rows < 0;", "const right = true;",
		"a unit with another number of rows than expected has no digest", "digests"},
	"each from a cache": {nodeLibrary, `if (policy === "each") return`, "if (false) return",
		"a statement is compiled for each execution where that is asked for", "it is not compiled for each execution"},
	"never tries again": {nodeTurns, "busy && operation.retryBusy", "false",
		"busy answers are counted, and tried again where that is asked for", `with retry_busy, .* is 1, want 0`},
	"busy is not counted": {nodeTurns, "if (busy) total.busy++;", "",
		"busy answers are counted, and tried again where that is asked for", "busy without retry_busy is 0, want 1"},
	"counters are absolute": {nodeMeasured, "total.counters = since(before);", "total.counters = counters();",
		"counters are those of the measurement alone", `of CPU time in a call of|cpu_ns is \d+ in the reply to measure`},
	"read bytes are absolute": {nodeData, `name === "peak_bytes" ? after[name]`, `["peak_bytes", "read_bytes"].includes(name) ? after[name]`,
		"counters are those of the measurement alone", `read_bytes is \d+ .* only \d+ were used`},
	"a plain BEGIN": {nodeLibrary, `(this.begin || "immediate")`, `(this.begin || "")`,
		"a transaction takes the lock when it begins", "holds the lock is 0, want 1"},
	"begins in its own way": {nodeLibrary, "this.begin = settings?.begin;", `this.begin = "immediate";`,
		begins, "in journal mode delete is immediate, want deferred"},
	"remembers begin": {nodeLibrary, `const answer = await`, `if (sql.includes("FROM sqlite_master") && name.startsWith("other") && this.begin === "exclusive") throw new Error("database is locked"); const answer = await`,
		begins, "in journal mode wal is exclusive, want immediate"},
	"is always too late": {nodeOperation, "(step.number > 0 || position % this.size > 0)", "true",
		begins, "deferred by a change, is 1, want 0"},
	"no rollback": {nodeOperation, "rollback([]);", "commit([]);",
		"a transaction that fails leaves nothing", "SELECT count.* FROM parent: 1 rows with digest"},
	"no minimum of a window": {nodeTurns, "const MIN_UNITS = 10;", "const MIN_UNITS = 1;",
		"a window has ten operations of every client", "want at least 20"},
	"never gives up": {nodeTurns, " && total.errors + total.misses < MAX_FAILURES", "",
		"a measurement ends after 1000 operations that are not right", "errors of 5000 .* is 5000, want 1000"},
	"measures from zero": {nodeTurns, "const first = (request.start || 0) / unit;", "const first = 0;",
		"transactions change what they should", "SELECT count.*1 rows with digest"},
	"verifies from zero": {nodeOperation, "let position = start; position < start + count;", "let position = 0; position < count;",
		"verify begins at its start and goes around the trace's end", "digest of 2 positions from 1 on"},
	"does not go around": {nodeOperation, "(position % this.length)", "(Math.min(position, this.length - 1))",
		"verify begins at its start and goes around the trace's end", "digest of 3 positions from 2 on"},
	"rows of another step": {nodeOperation, "answers.push([i, row])", "answers.push([0, row])",
		"the answers of several steps are digested apart", "digest of the digests of two steps is"},
	"clients tell rows of another step": {nodeOperation, "push([number,", "push([0,",
		"the answers of several steps are digested apart", "what clients tell of two steps is"},
	"tells another position": {nodeMeasured, "client(position, kept)", "client(position ? position - 1 : 0, kept)",
		"clients that are measured tell the answer at each position", "digests"},
	"tells what a part changed": {nodeOperation, "spec.changes ? null : part", "part",
		"a mix tells the answers of its reading parts", "there is no part 0 that reads"},
	"7 is 0": {nodeData, "bytes.writeBigInt64LE(value,", "bytes.writeBigInt64LE(value === 7n ? 0n : value,",
		types, "SELECT 7 as int: digest"},
	"5.5 is an int": {nodeData, "bytes.writeDoubleLE(value, bytes.writeUInt8(2))", "bytes.writeBigInt64LE(BigInt(Math.trunc(value)), bytes.writeUInt8(1))",
		types, "SELECT 5.5 as int: want an error"},
	"'5' is an int": {nodeData, "if (value === null) return Buffer.of(0);", `if (value === null) return Buffer.of(0); if (value === "5") value = 5n;`,
		types, "SELECT '5' as int: want an error"},
	"NULL is zero": {nodeData, "if (value === null) return Buffer.of(0);", "value ??= 0n;",
		types, "SELECT NULL as int: want an error"},
	"private memory is shared": {nodeLibrary, `const answer = await`, `const answer = sql.includes("type = 'table'") ? Array(9).fill(["t"]) : await`,
		"a private database in memory is told from a file and from a shared one", `reads memory="1", want "private"`},
	"memory of its own": {nodeLibrary, `const connection = await this.connect(dsn);`, `const connection = await this.connect(dsn.includes("memdb") ? "file::memory:" : dsn);`,
		"a database in memory is the same for all connections", "private"},
	"a file is in memory": {nodeLibrary, `const answer = await`, `const answer = sql.includes("database_list") ? [] : await`,
		"a private database in memory is told from a file and from a shared one", `a database in a file: writer-1 reads memory="1", want "0"`},
	"numbers of placeholders ignored": {nodeOperation, "this.worker.driver.statement(connection, sql, policy", `this.worker.driver.statement(connection, sql.replace(/\?\d/g, "?"), policy`,
		"operations of several steps run all of them", "is 0, want 2"},
	"arguments in another order": {nodeOperation, "step.run(step.args(position))", "step.run(step.args(position).reverse())",
		"operations of several steps run all of them", "is 0, want 2"},
	"numbers of placeholders reversed": {nodeLibrary, "[i + 1, value]", "[args.length - i, value]",
		"numbered placeholders are bound by their numbers", "digest"},
}

// chainEdits are faults that only chains of promises can have.
var chainEdits = map[string]edit{
	"a counter of its own": {nodeTurns, "function chain(mine) {", "function chain(mine) { let next = 0;",
		"several clients share one counter", "20000 operations were executed, 5000 were asked for"},
	"counts half of a batch": {nodeTurns, "total.executed += count;", "total.executed += count / 2;",
		"a window in batches counts every operation", "executed"},
	"begins before its turn": {nodeTurns, "if (order) /* await */ order.before(position);", "",
		"a mix in order keeps it among several clients", "of 200 units, each after the one before"},
}

// TestNodeFaults: the suite finds each fault in a copy of a worker in JavaScript, and
// nothing in the worker as it is.
func TestNodeFaults(t *testing.T) {
	node24(t)
	testEdits(t, "node-sqlite", nodeEdits)
}

// promises makes a worker's driver one whose functions return promises, of which a later
// one may be kept before.
const promises = `
let calls = 0;
const later = (call) => async (...args) => {
  for (let i = calls++ % 3; i >= 0; i--) await new Promise(setImmediate);
  return call(...args);
};
function promising(driver) {
  const made = (name) => async (...args) => later(driver[name](...args));
  return { ...driver, columns: undefined, connect: later(driver.connect), execute: later(driver.execute), statement: made("statement"), stored: made("stored") };
}
`

// TestNodeChainFaults: nor in one whose functions return promises, for which the library has
// another form of the same code, and what chains.js has alone.
func TestNodeChainFaults(t *testing.T) {
	node24(t)
	folder := copied(t, "node-sqlite")
	change := strings.NewReplacer(`"use strict";`, `"use strict"; require("./chains.js");`+promises, "serve({", "serve(promising({", "\n});", "\n}));")
	main, err := os.ReadFile(filepath.Join(folder, "main.js"))
	chains, err2 := os.ReadFile(filepath.Join("..", "..", "..", "workers", "lib", "node", nodeChains))
	err3 := os.WriteFile(filepath.Join(folder, "main.js"), []byte(change.Replace(string(main))), 0o600)
	err4 := os.WriteFile(filepath.Join(folder, nodeChains), chains, 0o600)
	if err := errors.Join(err, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	edits := maps.Clone(chainEdits)
	for name, e := range nodeEdits {
		if marked := e.file == nodeMeasured || e.file == nodeOperation || e.file == nodeTurns; marked && edits[name].file == "" {
			edits[name] = e
		}
	}
	testEdits(t, folder, edits)
}

// Two clients in chains of promises: the first one ends with the first unit, at 100, and the
// second unit, of which a quarter lies before, at 400. And two that have one connection.
const chains = `
let now = 0;
process.hrtime.bigint = () => BigInt(now);
const waiting = [];
const at = (time) => new Promise((go) => waiting.push({ time, go }));
const run = async (result) => {
  for (;;) {
    await new Promise(setImmediate);
    if (!waiting.length) return result;
    const { time, go } = waiting.splice(waiting.reduce((least, w, i) => (w.time < waiting[least].time ? i : least), 0), 1)[0];
    now = Math.max(now, time);
    go();
  }
};
require("./chains.js");
const { clientOf, draws } = require("./turns.js");
const total = () => ({ operations: 0, executed: 0, errors: 0, misses: 0 });
const operation = { length: 10, unit: 1, rows: 1 };
const until = (time) => () => at(time).then(() => 1);
(async () => {
  const ends = total();
  await run(draws(operation, [until(100), until(400)], { operations: 2 }, ends, null, null));
  let running = 0, most = 0;
  const unit = async () => {
    most = Math.max(most, ++running);
    await at(now + 1);
    return running--, 1;
  };
  const alone = { ...operation, connections: [1], units: [unit] };
  const shared = total();
  await run(draws(alone, [0, 1].map((i) => clientOf(alone, i)), { operations: 6 }, shared, null, null));
  console.log(ends.operations, ends.executed, ends.nanos, most, shared.executed);
})();
`

// TestNodeChains: a unit counts by its part before the first client's end, and a connection
// has one unit at a time.
func TestNodeChains(t *testing.T) {
	program, err := exec.LookPath("node")
	if err != nil {
		t.Skip(err)
	}
	command := exec.CommandContext(t.Context(), program, "-e", chains)
	command.Dir = filepath.Join("..", "..", "..", "workers", "lib", "node")
	out, err := command.CombinedOutput()
	if want := "1.25 2 100 1 6\n"; err != nil || string(out) != want {
		t.Errorf("got %q, %v, want %q", out, err, want)
	}
}

// node24 has workers use the Node.js that scripts/tools installs: the system's may be too
// old for node:sqlite.
func node24(t *testing.T) {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skip(err)
	}
	program := filepath.Join(cache, "assay", "tools", "node24", "node_modules", "node", "bin", "node")
	if info, err := os.Stat(program); err == nil && info.Mode()&0o111 != 0 {
		t.Setenv("ASSAY_NODE", program)
	}
}
