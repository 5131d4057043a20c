//go:build unix

package conformance

import (
	"os"
	"path/filepath"
	"testing"
)

const (
	nodeLibrary   = "worker.js"
	nodeMeasured  = "measure.js"
	nodeOperation = "operation.js"
	nodeData      = "data.js"
)

// nodeEdits are the faults in a copy of the worker node-sqlite, by name. Its library
// shares no line with the one for Python. It refuses DSNs and databases in memory, so
// that it has no private one to take for a shared one.
var nodeEdits = map[string]edit{
	"each ignored": {nodeLibrary, `.concat(request.each || [])`, "",
		"SQL for each connection runs on every one", `cache_size of reader-1, .* want -4321`},
	"dsn ignored": {nodeLibrary, "if (request.dsn) refuse(", "if (false) refuse(",
		"a DSN is opened, and not the path", "elsewhere.db was not opened"},
	"once ignored": {nodeLibrary, `(request.once || []).forEach`, "[].forEach",
		"settings are read, and not remembered", "is -5000, want -7000"},
	"remembers settings": {nodeLibrary, "const rows = this.rows(connection, `PRAGMA ${name}`);", `const rows = [["-5000"]];`,
		"settings are read, and not remembered", "is -5000, want -7000"},
	"prepares a name twice": {nodeLibrary, "invalid(this.operations.has(spec.name),", "invalid(false,",
		"a name is prepared once", "want an error reply, got <nil>"},
	"each from a cache": {nodeLibrary, `if (policy === "each") return`, "if (false) return",
		"a statement is compiled for each execution where that is asked for", "it is not compiled for each execution"},
	"never tries again": {nodeMeasured, "busy && operation.retryBusy", "false",
		"busy answers are counted, and tried again where that is asked for", `with retry_busy, .* is 1, want 0`},
	"busy is not counted": {nodeMeasured, "if (busy) total.busy++;", "",
		"busy answers are counted, and tried again where that is asked for", "busy without retry_busy is 0, want 1"},
	"counters are absolute": {nodeMeasured, "total.counters = since(before);", "total.counters = counters();",
		"counters are those of the measurement alone", `of CPU time in a call of|cpu_ns is \d+ in the reply to measure`},
	"read bytes are absolute": {nodeData, `name === "peak_bytes" ? after[name]`, `["peak_bytes", "read_bytes"].includes(name) ? after[name]`,
		"counters are those of the measurement alone", `read_bytes is \d+ .* only \d+ were used`},
	"a plain BEGIN": {nodeLibrary, `(this.begin || "immediate")`, `(this.begin || "")`,
		"a transaction takes the lock when it begins", "holds the lock is 0, want 1"},
	"remembers begin": {nodeLibrary, `? "exclusive" : "immediate"`, "? this.begin : this.begin",
		begins, "in journal mode wal is exclusive, want immediate"},
	"is always too late": {nodeOperation, "(before > 0 || error.later === true)", "true",
		begins, "deferred by a change, is 1, want 0"},
	"no rollback": {nodeOperation, "rollback([]);", "commit([]);",
		"a transaction that fails leaves nothing", "SELECT count.* FROM parent: 1 rows with digest"},
	"no minimum of a window": {nodeMeasured, "const MIN_UNITS = 10;", "const MIN_UNITS = 1;",
		"a window has ten operations of every client", "want at least 20"},
	"never gives up": {nodeMeasured, "if (total.errors + total.misses >= MAX_FAILURES) break;", "",
		"a measurement ends after 1000 operations that are not right", "errors of 5000 .* is 5000, want 1000"},
	"measures from zero": {nodeMeasured, "((request.start || 0) / unit) % length", "0",
		"transactions change what they should", "SELECT count.*1 rows with digest"},
	"verifies from zero": {nodeOperation, "let position = start; position < start + count;", "let position = 0; position < count;",
		"verify begins at its start and goes around the trace's end", "digest of 2 positions from 1 on"},
	"does not go around": {nodeOperation, "(position % this.length)", "(Math.min(position, this.length - 1))",
		"verify begins at its start and goes around the trace's end", "digest of 3 positions from 2 on"},
	"one digest of all steps": {nodeOperation, `texts.length === 1 ? texts[0]`, "true ? texts[0]",
		"the answers of several steps are digested apart", "digest of the digests of two steps is"},
	"verifies what changes data": {nodeOperation, "if (this.spec.changes || !answers)", "if (!answers)",
		"an operation that changes data is not verified", "want an error reply, got <nil>"},
	"7 is false": {nodeData, `Buffer.from([5, value === 0n ? 0 : 1])`, `Buffer.from([5, value === 1n ? 1 : 0])`,
		types, "SELECT 7 as bool: digest"},
	"5.5 is an int": {nodeData, `const number = Buffer.alloc(9, TYPES[kind]);`, `const number = Buffer.alloc(9, TYPES[kind]); if (kind === "int" && typeof value === "number") value = BigInt(Math.trunc(value));`,
		types, "SELECT 5.5 as int: want an error"},
	"'5' is an int": {nodeData, `const number = Buffer.alloc(9, TYPES[kind]);`, `const number = Buffer.alloc(9, TYPES[kind]); if (kind === "int" && value === "5") value = 5n;`,
		types, "SELECT '5' as int: want an error"},
	"NULL is zero": {nodeData, `if (value === null && declared.endsWith("?")) return Buffer.from([0]);`, `if (value === null && declared.endsWith("?")) return Buffer.from([0]); if (value === null) value = 0n;`,
		types, "SELECT NULL as int: want an error"},
	"7 is no real": {nodeData, `(typeof value === "bigint" || typeof value === "number")`, `typeof value === "number"`,
		types, "SELECT 7 as real: verify"},
	"a file is in memory": {nodeLibrary, `row[2]) ? "0" : "private"`, `row[2]) ? "1" : "private"`,
		"a private database in memory is told from a file and from a shared one", `a database in a file: writer-1 reads memory="1", want "0"`},
	"numbers of placeholders ignored": {nodeOperation, "this.worker.driver.statement(connection, sql, policy", `this.worker.driver.statement(connection, sql.replace(/\?\d/g, "?"), policy`,
		"operations of several steps run all of them", "is 0, want 2"},
	"arguments in another order": {nodeOperation, "step.run(step.args(position))", "step.run(step.args(position).reverse())",
		"operations of several steps run all of them", "is 0, want 2"},
	"numbers of placeholders reversed": {nodeLibrary, "[i + 1, value]", "[args.length - i, value]",
		"numbered placeholders are bound by their numbers", "digest"},
}

// TestNodeFaults: the suite finds each fault in a copy of a worker in JavaScript, and
// nothing in the worker as it is.
func TestNodeFaults(t *testing.T) {
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skip(err)
	}
	// The system's Node.js may be too old for node:sqlite; scripts/tools installs this one.
	program := filepath.Join(cache, "assay", "tools", "node24", "node_modules", "node", "bin", "node")
	if info, err := os.Stat(program); err == nil && info.Mode()&0o111 != 0 {
		t.Setenv("ASSAY_NODE", program)
	}
	testEdits(t, "node-sqlite", nodeEdits)
}
