//go:build unix

package workertest

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"assay/kit/column"
	"assay/kit/process"
	"assay/kit/wire"
)

// eachConnection checks that the request's SQL has run on every connection.
func eachConnection(b *bench) {
	b.open(wire.Open{Each: []string{"PRAGMA cache_size = -4321"}, Readers: 3, Idle: 3, Writers: 2})
	connections := b.settings("cache_size")
	expect("number of connections", len(connections), 5)
	for _, c := range connections {
		expect("cache_size of "+c.Name+", set by SQL for each connection,", c.Settings["cache_size"], "-4321")
	}
}

// dsnUsed checks that a DSN decides which file is opened, and not the path.
func dsnUsed(b *bench) {
	elsewhere := filepath.Join(b.dir, "elsewhere.db")
	request := wire.Open{DSN: "file:" + elsewhere, Once: schema, Writers: 1}
	applies(b.tryOpen(request))
	if _, err := os.Stat(elsewhere); err != nil {
		fail("the dsn %s was not opened: %w", request.DSN, err)
	}
	if _, err := os.Stat(b.path()); err == nil {
		fail("the path %s was opened, although a dsn was given", b.path())
	}
}

// settingsRead checks that a setting that changes after it was set is read back
// as it is.
func settingsRead(b *bench) {
	b.open(wire.Open{Settings: map[string]string{"cache_size": "-5000"}, Once: []string{"PRAGMA cache_size = -7000"}, Writers: 1})
	connections := b.settings("cache_size")
	expect("number of connections", len(connections), 1)
	expect("cache_size, changed after the connection was opened,", connections[0].Settings["cache_size"], "-7000")
}

// readsMemoryBack checks what is read back where the database is in a file, and
// where a DSN gives each connection a database in memory of its own.
func readsMemoryBack(b *bench) {
	read := func(b *bench, what, want string, connections int) {
		all := b.settings("memory")
		expect("number of connections", len(all), connections)
		for _, c := range all {
			if got, known := c.Settings["memory"]; known && got != want {
				fail("%s: %s reads memory=%q, want %q or nothing", what, c.Name, got, want)
			}
		}
	}
	b.make(wire.Open{Writers: 1})
	read(b, "a database in a file", "0", 1)
	b.stop()
	second := b.another()
	defer second.worker.Kill()
	applies(second.tryOpen(wire.Open{DSN: "file::memory:", Readers: 2, Idle: 2}))
	read(second, "a database in memory for each connection", "private", 2)
}

// holder starts another worker that opens the same file and holds the lock for
// writing until it is killed.
func (b *bench) holder() *process.Worker {
	other := b.another()
	if err := other.tryOpen(wire.Open{Once: []string{"BEGIN IMMEDIATE"}, Writers: 1}); err != nil {
		other.worker.Kill()
		fail("another worker, to hold a lock: %w", err)
	}
	return other.worker
}

// locksAtBegin checks that a transaction takes the lock for writing when it
// begins: one that only reads is answered "busy" while another holds the lock.
func locksAtBegin(b *bench) {
	op := wire.Operation{Name: "read", Changes: true, Transaction: 1,
		Steps: []wire.Step{{SQL: "SELECT count(*) FROM t", Query: true, Rows: 1, Returns: []string{"int"}}}}
	b.make(wire.Open{Settings: map[string]string{"busy_timeout": "0"}, Writers: 1})
	b.prepare(op, 1)
	defer b.holder().Kill()
	m := b.block("read", 1)
	expect("errors of BEGIN IMMEDIATE while another connection holds the lock", m.Errors, int64(1))
	expect("busy", m.Busy, int64(1))
}

// beginsAsAsked checks each way to begin where no log is kept, and what transactions are
// answered while another connection holds the lock for writing: one that has read before is
// too late to change, and one that changes first may wait. In WAL mode exclusive is
// immediate, which only a worker shows that looks.
func beginsAsAsked(b *bench) {
	insert := wire.Step{SQL: "INSERT INTO parent DEFAULT VALUES", Rows: 1}
	read := wire.Step{SQL: "SELECT count(*) FROM parent", Query: true, Rows: 1, Returns: []string{"int"}}
	once := schema
	for _, c := range []struct{ journal, begin, effective string }{
		{"delete", "deferred", "deferred"}, {"delete", "immediate", "immediate"}, {"delete", "exclusive", "exclusive"}, {"wal", "exclusive", "immediate"},
	} {
		one := b.another()
		defer one.worker.Kill()
		applies(one.tryOpen(wire.Open{Settings: map[string]string{wire.Begin: c.begin, "busy_timeout": "0", "journal_mode": c.journal}, Once: once, Writers: 1}))
		once = nil
		for _, connection := range one.settings(wire.Begin) {
			expect("the way to begin of "+connection.Name+" in journal mode "+c.journal, connection.Settings[wire.Begin], c.effective)
		}
		one.prepare(wire.Operation{Name: "late", Changes: true, Transaction: 1, Steps: []wire.Step{read, insert}}, 1)
		one.prepare(wire.Operation{Name: "first", Changes: true, Transaction: 1, Steps: []wire.Step{insert}}, 1)
		expect("right operations of a transaction that begins "+c.begin, one.block("late", 1).Operations, int64(1))
		other := one.another()
		applies(other.tryOpen(wire.Open{Settings: map[string]string{"journal_mode": c.journal}, Once: []string{"BEGIN IMMEDIATE"}, Writers: 1}))
		late, first := one.block("late", 1), one.block("first", 1)
		other.worker.Kill()
		expect("busy, of a transaction that begins "+c.begin+" while another connection holds the lock,", late.Busy, int64(1))
		expect("stale, of a transaction that begins "+c.begin+" and has read,", late.Stale, map[bool]int64{true: 1}[c.begin == "deferred"])
		expect("busy, of a transaction that begins "+c.begin+" by a change,", first.Busy, int64(1))
		expect("stale, of a transaction that begins "+c.begin+" by a change,", first.Stale, int64(0))
		one.stop()
	}
}

// busyCounted checks what busy answers come to, without retry_busy and with it.
func busyCounted(b *bench) {
	op := wire.Operation{Name: "once", Changes: true, Steps: []wire.Step{{SQL: "INSERT INTO parent DEFAULT VALUES", Rows: 1}}}
	again := op
	again.Name, again.RetryBusy = "again", true
	b.make(wire.Open{Settings: map[string]string{"busy_timeout": "0"}, Writers: 1})
	b.prepare(op, 1)
	b.prepare(again, 1)
	other := b.holder()
	defer other.Kill()
	m := b.block("once", 1)
	expect("errors without retry_busy", m.Errors, int64(1))
	expect("busy without retry_busy", m.Busy, int64(1))
	other.Kill()
	var retried wire.Measured
	var held time.Duration
	for _, held = range []time.Duration{300 * time.Millisecond, 3 * time.Second} { // on a busy machine a worker may ask only when the lock is free
		if retried = b.againstLock("again", held); retried.Errors > 0 || retried.Busy > 0 {
			break
		}
	}
	expect("errors ("+retried.Error+") with retry_busy, of a lock that is held for "+held.String(), retried.Errors, int64(0))
	expect("operations with retry_busy", retried.Operations, int64(1))
	if retried.Busy == 0 {
		fail("busy is 0 with retry_busy, although another connection held the lock")
	}
}

// againstLock runs an operation once while another connection holds the lock for some
// time.
func (b *bench) againstLock(operation string, held time.Duration) wire.Measured {
	other := b.holder()
	defer other.Kill()
	release := time.AfterFunc(held, other.Kill)
	defer release.Stop()
	return b.block(operation, 1)
}

// compiledEach checks that a statement that takes long to compile, and no time
// to execute, is compiled again and again: by time, which is all that shows it.
func compiledEach(b *bench) {
	const terms, minRatio, tries = 400, 3, 12
	var sum strings.Builder
	for i := range terms {
		fmt.Fprintf(&sum, " OR n + %d = x * %d", i, i)
	}
	texts := map[string]string{"short": "SELECT count(*) FROM t WHERE id = 999"}
	texts["long"] = texts["short"] + " AND (n = 1" + sum.String() + ")"
	b.make(wire.Open{Readers: 1, Idle: 1})
	for name, text := range texts {
		op := wire.Operation{Name: name, Statement: wire.Each, Steps: []wire.Step{{SQL: text, Query: true, Rows: 1, Returns: []string{"int"}}}}
		applies(caught(func() {
			b.prepare(op, 1)
			b.block(name, 5)
		}))
	}
	// The shortest of many blocks is one that nothing disturbed.
	nanos := map[string]int64{}
	for range tries {
		for name := range texts {
			if m := b.block(name, 50); nanos[name] == 0 || m.Nanos < nanos[name] {
				nanos[name] = m.Nanos
			}
		}
	}
	if nanos["long"] < minRatio*nanos["short"] {
		fail("with statement each, 50 executions of a statement of %d bytes took %d ns, and of a short one that does the same work %d ns: it is not compiled for each execution",
			len(texts["long"]), nanos["long"], nanos["short"])
	}
}

// numbered checks that ?N is the N-th argument of its step, wherever it stands
// and however often.
func numbered(b *bench) {
	path := b.trace("numbered", []column.Type{column.Int, column.Int}, []any{int64(1), int64(50)})
	op := wire.Operation{Name: "numbered", Trace: path, Steps: []wire.Step{
		{SQL: "SELECT ?2, ?1, ?2 - ?1", Query: true, Args: 2, Rows: 1, Returns: []string{"int", "int", "int"}}}}
	b.open(wire.Open{Readers: 1, Idle: 1})
	b.prepare(op, 1)
	b.verified("numbered", 0, 1, op.Steps[0].Returns, []any{int64(50), int64(1), int64(49)})
}

// verified checks the answers of an operation with one step.
func (b *bench) verified(operation string, start, count int64, types []string, rows ...[]any) {
	got := b.verify(wire.Verify{Operation: operation, Start: start, Count: count})
	expect("rows", got.Rows, int64(len(rows)))
	expect(fmt.Sprintf("digest of %d positions from %d on", count, start), got.Digest, digest(types, rows))
}

// verifyFrom checks which positions are verified, around the trace's end too.
func verifyFrom(b *bench) {
	path := b.trace("ids", []column.Type{column.Int}, []any{int64(1)}, []any{int64(2)}, []any{int64(3)})
	types := []string{"int"}
	op := wire.Operation{Name: "ids", Trace: path, Steps: []wire.Step{{SQL: "SELECT id FROM t WHERE id = ?", Query: true, Args: 1, Rows: 1, Returns: types}}}
	b.make(wire.Open{Readers: 1, Idle: 1})
	b.prepare(op, 1)
	b.verified("ids", 0, 1, types, []any{int64(1)})
	b.verified("ids", 1, 2, types, []any{int64(2)}, []any{int64(3)})
	b.verified("ids", 2, 3, types, []any{int64(3)}, []any{int64(1)}, []any{int64(2)})
	b.verified("ids", 7, 1, types, []any{int64(2)})
}

// stepsApart checks that each step that returns rows has a digest of its own.
func stepsApart(b *bench) {
	op := wire.Operation{Name: "both", Steps: []wire.Step{
		{SQL: "SELECT id FROM t WHERE id = 1", Query: true, Rows: 1, Returns: []string{"int"}},
		{SQL: "SELECT id FROM t WHERE id > 1 ORDER BY id", Query: true, Rows: 2, Returns: []string{"int"}}}}
	first := digest([]string{"int"}, [][]any{{int64(1)}, {int64(1)}})
	second := digest([]string{"int"}, [][]any{{int64(2)}, {int64(3)}, {int64(2)}, {int64(3)}})
	b.make(wire.Open{Readers: 1, Idle: 1})
	b.prepare(op, 1)
	got := b.verify(wire.Verify{Operation: "both", Count: 2})
	expect("rows", got.Rows, int64(6))
	expect("digest of the digests of two steps", got.Digest, fmt.Sprintf("%x", sha256.Sum256([]byte(first+second))))
	if b.can(wire.CapAnswers) {
		first, second = digest([]string{"int"}, [][]any{{int64(1)}}), digest([]string{"int"}, [][]any{{int64(2)}, {int64(3)}})
		m := b.measure(wire.Measure{Operation: "both", Operations: 1, Answers: true})
		expect("what clients tell of two steps", strings.Join(m.Digests, " "), fmt.Sprintf("%x", sha256.Sum256([]byte(first+second))))
	}
}

// changesNotVerified checks that verifying an operation that changes data is
// refused, and changes nothing.
func changesNotVerified(b *bench) {
	op := wire.Operation{Name: "change", Changes: true, Steps: []wire.Step{
		{SQL: "INSERT INTO parent VALUES (8)", Rows: 1},
		{SQL: "SELECT count(*) FROM parent", Query: true, Rows: 1, Returns: []string{"int"}}}}
	b.make(wire.Open{Readers: 1, Idle: 1, Writers: 1})
	b.prepare(op, 1)
	b.refused(wire.TypeVerify, wire.Verify{Operation: "change", Count: 1}, wire.Unsupported)
	b.answers("SELECT count(*) FROM parent", []string{"int"}, []any{int64(0)})
}

// rolledBack checks that a transaction of which one operation fails leaves
// nothing behind.
func rolledBack(b *bench) {
	op := wire.Operation{Name: "twice", Trace: b.trace("twice", []column.Type{column.Int}, []any{int64(5)}, []any{int64(5)}), Changes: true, Transaction: 2,
		Steps: []wire.Step{{SQL: "INSERT INTO parent VALUES (?)", Args: 1, Rows: 1}}}
	b.make(wire.Open{Readers: 1, Idle: 1, Writers: 1})
	b.prepare(op, 1)
	m := b.block("twice", 2)
	expect("errors", m.Errors, int64(1))
	expect("executed", m.Executed, int64(2))
	b.answers("SELECT count(*) FROM parent", []string{"int"}, []any{int64(0)})
}

// givesUp checks that a measurement ends after 1000 units that were not right.
func givesUp(b *bench) {
	op := wire.Operation{Name: "twice", Changes: true, Steps: []wire.Step{{SQL: "INSERT INTO parent VALUES (7)", Rows: 1}}}
	miss := wire.Operation{Name: "miss", Steps: []wire.Step{{SQL: "SELECT id FROM t", Query: true, Rows: 1, Returns: []string{"int"}}}}
	const asked, most = 5000, int64(1000)
	b.make(wire.Open{Readers: 1, Idle: 1, Writers: 1, Once: []string{"INSERT INTO parent VALUES (7)"}})
	b.prepare(op, 1)
	b.prepare(miss, 1)
	failed := b.block("twice", asked)
	expect("errors of 5000 operations that all fail", failed.Errors, most)
	expect("executed", failed.Executed, most)
	expect("misses of 5000 operations that all miss", b.block("miss", asked).Misses, most)
}
