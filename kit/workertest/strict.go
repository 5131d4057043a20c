//go:build unix

package workertest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"assay/kit/column"
	"assay/kit/process"
	"assay/kit/wire"
)

// inapplicable turns a refusal of what a worker may refuse into "does not apply".
func inapplicable(err error) error {
	var lacks *wire.Error
	if errors.As(err, &lacks) && lacks.Code == wire.Unsupported {
		return fmt.Errorf("%w: %s", errNotApplicable, lacks.Message)
	}
	return err
}

// eachConnection checks that the request's SQL has run on every connection.
func eachConnection(b *bench) error {
	var read wire.SettingsRead
	if err := steps(
		func() error {
			return b.open(wire.Open{Each: []string{"PRAGMA cache_size = -4321"}, Readers: 3, Idle: 3, Writers: 2})
		},
		func() error { return b.call(wire.TypeSettings, wire.Settings{Names: []string{"cache_size"}}, &read) },
		func() error { return expect("number of connections", len(read.Connections), 5) }); err != nil {
		return err
	}
	for _, c := range read.Connections {
		if err := expect("cache_size of "+c.Name+", set by SQL for each connection,", c.Settings["cache_size"], "-4321"); err != nil {
			return err
		}
	}
	return nil
}

// dsnUsed checks that a DSN decides which file is opened, and not the path.
func dsnUsed(b *bench) error {
	elsewhere := filepath.Join(b.dir, "elsewhere.db")
	request := wire.Open{DSN: "file:" + elsewhere, Once: schema, Writers: 1}
	if err := b.open(request); err != nil {
		return inapplicable(err)
	}
	if _, err := os.Stat(elsewhere); err != nil {
		return fmt.Errorf("the dsn %s was not opened: %w", request.DSN, err)
	}
	if _, err := os.Stat(b.path()); err == nil {
		return fmt.Errorf("the path %s was opened, although a dsn was given", b.path())
	}
	return nil
}

// settingsRead checks that a setting that changes after it was set is read back
// as it is.
func settingsRead(b *bench) error {
	var read wire.SettingsRead
	return steps(
		func() error {
			return b.open(wire.Open{Settings: map[string]string{"cache_size": "-5000"}, Once: []string{"PRAGMA cache_size = -7000"}, Writers: 1})
		},
		func() error { return b.call(wire.TypeSettings, wire.Settings{Names: []string{"cache_size"}}, &read) },
		func() error { return expect("number of connections", len(read.Connections), 1) },
		func() error {
			return expect("cache_size, changed after the connection was opened,", read.Connections[0].Settings["cache_size"], "-7000")
		})
}

// readsMemoryBack checks what is read back where the database is in a file, and
// where a DSN gives each connection a database in memory of its own.
func readsMemoryBack(b *bench) error {
	read := func(b *bench, what, want string, connections int) error {
		var read wire.SettingsRead
		if err := steps(
			func() error { return b.call(wire.TypeSettings, wire.Settings{Names: []string{"memory"}}, &read) },
			func() error { return expect("number of connections", len(read.Connections), connections) }); err != nil {
			return err
		}
		for _, c := range read.Connections {
			if got, known := c.Settings["memory"]; known && got != want {
				return fmt.Errorf("%s: %s reads memory=%q, want %q or nothing", what, c.Name, got, want)
			}
		}
		return nil
	}
	if err := steps(
		func() error { return b.make(wire.Open{Writers: 1}) },
		func() error { return read(b, "a database in a file", "0", 1) },
		func() error { _, err := b.worker.Stop(b.ctx); return err }); err != nil {
		return err
	}
	worker, err := b.start(b.dir)
	if err != nil {
		return err
	}
	defer worker.Kill()
	second := &bench{suite: b.suite, worker: worker, dir: b.dir}
	if err := second.open(wire.Open{DSN: "file::memory:", Readers: 2, Idle: 2}); err != nil {
		return inapplicable(err)
	}
	return read(second, "a database in memory for each connection", "private", 2)
}

// holder starts another worker that opens the same file and holds the lock for
// writing until it is killed.
func (b *bench) holder() (*process.Worker, error) {
	worker, err := b.start(b.dir)
	if err != nil {
		return nil, err
	}
	other := &bench{suite: b.suite, worker: worker, dir: b.dir}
	if err := other.open(wire.Open{Once: []string{"BEGIN IMMEDIATE"}, Writers: 1}); err != nil {
		worker.Kill()
		return nil, fmt.Errorf("another worker, to hold a lock: %w", err)
	}
	return worker, nil
}

// locksAtBegin checks that a transaction takes the lock for writing when it
// begins: one that only reads is answered "busy" while another holds the lock.
func locksAtBegin(b *bench) error {
	op := wire.Operation{Name: "read", Changes: true, Transaction: 1,
		Steps: []wire.Step{{SQL: "SELECT count(*) FROM t", Query: true, Rows: 1, Returns: []string{"int"}}}}
	if err := steps(
		func() error { return b.make(wire.Open{Settings: map[string]string{"busy_timeout": "0"}, Writers: 1}) },
		func() error { return b.call(wire.TypePrepare, wire.Prepare{Operation: op, Clients: 1}, nil) }); err != nil {
		return err
	}
	other, err := b.holder()
	if err != nil {
		return err
	}
	defer other.Kill()
	var m wire.Measured
	return steps(
		func() error { return b.call(wire.TypeMeasure, wire.Measure{Operation: "read", Operations: 1}, &m) },
		func() error {
			return expect("errors of BEGIN IMMEDIATE while another connection holds the lock", m.Errors, int64(1))
		},
		func() error { return expect("busy", m.Busy, int64(1)) })
}

// busyCounted checks what busy answers come to, without retry_busy and with it.
func busyCounted(b *bench) error {
	op := wire.Operation{Name: "once", Changes: true, Steps: []wire.Step{{SQL: "INSERT INTO parent DEFAULT VALUES", Rows: 1}}}
	again := op
	again.Name, again.RetryBusy = "again", true
	if err := steps(
		func() error { return b.make(wire.Open{Settings: map[string]string{"busy_timeout": "0"}, Writers: 1}) },
		func() error { return b.call(wire.TypePrepare, wire.Prepare{Operation: op, Clients: 1}, nil) },
		func() error { return b.call(wire.TypePrepare, wire.Prepare{Operation: again, Clients: 1}, nil) }); err != nil {
		return err
	}
	other, err := b.holder()
	if err != nil {
		return err
	}
	defer other.Kill()
	var m wire.Measured
	if err := steps(
		func() error { return b.call(wire.TypeMeasure, wire.Measure{Operation: "once", Operations: 1}, &m) },
		func() error { return expect("errors without retry_busy", m.Errors, int64(1)) },
		func() error { return expect("busy without retry_busy", m.Busy, int64(1)) }); err != nil {
		return err
	}
	other.Kill()
	var retried wire.Measured
	var held time.Duration
	for _, held = range []time.Duration{300 * time.Millisecond, 3 * time.Second} { // on a busy machine a worker may ask only when the lock is free
		if retried, err = b.againstLock("again", held); err != nil {
			return err
		}
		if retried.Errors > 0 || retried.Busy > 0 {
			break
		}
	}
	return steps(
		func() error {
			return expect("errors ("+retried.Error+") with retry_busy, of a lock that is held for "+held.String(), retried.Errors, int64(0))
		},
		func() error { return expect("operations with retry_busy", retried.Operations, int64(1)) },
		func() error {
			if retried.Busy == 0 {
				return fmt.Errorf("busy is 0 with retry_busy, although another connection held the lock")
			}
			return nil
		})
}

// againstLock runs an operation once while another connection holds the lock for some
// time.
func (b *bench) againstLock(operation string, held time.Duration) (m wire.Measured, err error) {
	other, err := b.holder()
	if err != nil {
		return m, err
	}
	defer other.Kill()
	release := time.AfterFunc(held, other.Kill)
	defer release.Stop()
	err = b.call(wire.TypeMeasure, wire.Measure{Operation: operation, Operations: 1}, &m)
	return m, err
}

// compiledEach checks that a statement that takes long to compile, and no time
// to execute, is compiled again and again: by time, which is all that shows it.
func compiledEach(b *bench) error {
	const terms, minRatio, tries = 400, 3, 3
	var sum strings.Builder
	for i := range terms {
		fmt.Fprintf(&sum, " OR n + %d = x * %d", i, i)
	}
	long := "SELECT count(*) FROM t WHERE id = 999 AND (n = 1" + sum.String() + ")"
	if err := b.make(wire.Open{Readers: 1, Idle: 1}); err != nil {
		return err
	}
	nanos := map[string]int64{}
	for try := range tries {
		for kind, text := range map[string]string{"short": "SELECT count(*) FROM t WHERE id = 999", "long": long} {
			name := fmt.Sprint(kind, try)
			op := wire.Operation{Name: name, Statement: wire.Each, Steps: []wire.Step{{SQL: text, Query: true, Rows: 1, Returns: []string{"int"}}}}
			var m wire.Measured
			if err := steps(
				func() error { return b.call(wire.TypePrepare, wire.Prepare{Operation: op, Clients: 1}, nil) },
				func() error { return b.call(wire.TypeMeasure, wire.Measure{Operation: name, Operations: 5}, nil) },
				func() error { return b.call(wire.TypeMeasure, wire.Measure{Operation: name, Operations: 50}, &m) }); err != nil {
				return inapplicable(err)
			}
			if nanos[kind] == 0 || m.Nanos < nanos[kind] {
				nanos[kind] = m.Nanos
			}
		}
	}
	if nanos["long"] < minRatio*nanos["short"] {
		return fmt.Errorf("with statement each, 50 executions of a statement of %d bytes took %d ns, and of a short one that does the same work %d ns: it is not compiled for each execution",
			len(long), nanos["long"], nanos["short"])
	}
	return nil
}

// numbered checks that ?N is the N-th argument of its step, wherever it stands
// and however often.
func numbered(b *bench) error {
	path, err := b.trace("numbered", []column.Type{column.Int, column.Int}, []any{int64(1), int64(50)})
	if err != nil {
		return err
	}
	op := wire.Operation{Name: "numbered", Trace: path, Steps: []wire.Step{
		{SQL: "SELECT ?2, ?1, ?2 - ?1", Query: true, Args: 2, Rows: 1, Returns: []string{"int", "int", "int"}}}}
	return steps(
		func() error { return b.open(wire.Open{Readers: 1, Idle: 1}) },
		func() error { return b.call(wire.TypePrepare, wire.Prepare{Operation: op, Clients: 1}, nil) },
		func() error {
			return b.verified("numbered", 0, 1, op.Steps[0].Returns, []any{int64(50), int64(1), int64(49)})
		})
}

// verified checks the answers of an operation with one step.
func (b *bench) verified(operation string, start, count int64, types []string, rows ...[]any) error {
	want, err := digest(types, rows)
	if err != nil {
		return err
	}
	var got wire.Verified
	return steps(
		func() error {
			return b.call(wire.TypeVerify, wire.Verify{Operation: operation, Start: start, Count: count}, &got)
		},
		func() error { return expect("rows", got.Rows, int64(len(rows))) },
		func() error {
			return expect(fmt.Sprintf("digest of %d positions from %d on", count, start), got.Digest, want)
		})
}

// preparedTwice checks that a name is free once.
func preparedTwice(b *bench) error {
	one, err := b.oneOperation()
	return steps(
		func() error { return err },
		func() error { return b.prepareOne(1) },
		func() error {
			return b.refused(wire.TypePrepare, wire.Prepare{Operation: one, Clients: 1}, wire.Invalid)
		},
		func() error { return b.call(wire.TypeMeasure, wire.Measure{Operation: "one", Operations: 1}, nil) })
}

// verifyFrom checks which positions are verified, around the trace's end too.
func verifyFrom(b *bench) error {
	path, err := b.trace("ids", []column.Type{column.Int}, []any{int64(1)}, []any{int64(2)}, []any{int64(3)})
	if err != nil {
		return err
	}
	types := []string{"int"}
	op := wire.Operation{Name: "ids", Trace: path, Steps: []wire.Step{{SQL: "SELECT id FROM t WHERE id = ?", Query: true, Args: 1, Rows: 1, Returns: types}}}
	return steps(
		func() error { return b.make(wire.Open{Readers: 1, Idle: 1}) },
		func() error { return b.call(wire.TypePrepare, wire.Prepare{Operation: op, Clients: 1}, nil) },
		func() error { return b.verified("ids", 0, 1, types, []any{int64(1)}) },
		func() error { return b.verified("ids", 1, 2, types, []any{int64(2)}, []any{int64(3)}) },
		func() error { return b.verified("ids", 2, 3, types, []any{int64(3)}, []any{int64(1)}, []any{int64(2)}) },
		func() error { return b.verified("ids", 7, 1, types, []any{int64(2)}) })
}

// stepsApart checks that each step that returns rows has a digest of its own.
func stepsApart(b *bench) error {
	op := wire.Operation{Name: "both", Steps: []wire.Step{
		{SQL: "SELECT id FROM t WHERE id = 1", Query: true, Rows: 1, Returns: []string{"int"}},
		{SQL: "SELECT id FROM t WHERE id > 1 ORDER BY id", Query: true, Rows: 2, Returns: []string{"int"}}}}
	first, err := digest([]string{"int"}, [][]any{{int64(1)}, {int64(1)}})
	if err != nil {
		return err
	}
	second, err := digest([]string{"int"}, [][]any{{int64(2)}, {int64(3)}, {int64(2)}, {int64(3)}})
	if err != nil {
		return err
	}
	var got wire.Verified
	return steps(
		func() error { return b.make(wire.Open{Readers: 1, Idle: 1}) },
		func() error { return b.call(wire.TypePrepare, wire.Prepare{Operation: op, Clients: 1}, nil) },
		func() error { return b.call(wire.TypeVerify, wire.Verify{Operation: "both", Count: 2}, &got) },
		func() error { return expect("rows", got.Rows, int64(6)) },
		func() error {
			return expect("digest of the digests of two steps", got.Digest, fmt.Sprintf("%x", sha256.Sum256([]byte(first+second))))
		})
}

// changesNotVerified checks that verifying an operation that changes data is
// refused, and changes nothing.
func changesNotVerified(b *bench) error {
	op := wire.Operation{Name: "change", Changes: true, Steps: []wire.Step{
		{SQL: "INSERT INTO parent VALUES (8)", Rows: 1},
		{SQL: "SELECT count(*) FROM parent", Query: true, Rows: 1, Returns: []string{"int"}}}}
	return steps(
		func() error { return b.make(wire.Open{Readers: 1, Idle: 1, Writers: 1}) },
		func() error { return b.call(wire.TypePrepare, wire.Prepare{Operation: op, Clients: 1}, nil) },
		func() error {
			return b.refused(wire.TypeVerify, wire.Verify{Operation: "change", Count: 1}, wire.Unsupported)
		},
		func() error { return b.answers("SELECT count(*) FROM parent", []string{"int"}, []any{int64(0)}) })
}

// rolledBack checks that a transaction of which one operation fails leaves
// nothing behind.
func rolledBack(b *bench) error {
	path, err := b.trace("twice", []column.Type{column.Int}, []any{int64(5)}, []any{int64(5)})
	if err != nil {
		return err
	}
	op := wire.Operation{Name: "twice", Trace: path, Changes: true, Transaction: 2,
		Steps: []wire.Step{{SQL: "INSERT INTO parent VALUES (?)", Args: 1, Rows: 1}}}
	var m wire.Measured
	return steps(
		func() error { return b.make(wire.Open{Readers: 1, Idle: 1, Writers: 1}) },
		func() error { return b.call(wire.TypePrepare, wire.Prepare{Operation: op, Clients: 1}, nil) },
		func() error { return b.call(wire.TypeMeasure, wire.Measure{Operation: "twice", Operations: 2}, &m) },
		func() error { return expect("errors", m.Errors, int64(1)) },
		func() error { return expect("executed", m.Executed, int64(2)) },
		func() error { return b.answers("SELECT count(*) FROM parent", []string{"int"}, []any{int64(0)}) })
}

// givesUp checks that a measurement ends after 1000 units that were not right.
func givesUp(b *bench) error {
	op := wire.Operation{Name: "twice", Changes: true, Steps: []wire.Step{{SQL: "INSERT INTO parent VALUES (7)", Rows: 1}}}
	miss := wire.Operation{Name: "miss", Steps: []wire.Step{{SQL: "SELECT id FROM t", Query: true, Rows: 1, Returns: []string{"int"}}}}
	const asked, most = 5000, 1000
	var failed, missed wire.Measured
	return steps(
		func() error {
			return b.make(wire.Open{Readers: 1, Idle: 1, Writers: 1, Once: []string{"INSERT INTO parent VALUES (7)"}})
		},
		func() error { return b.call(wire.TypePrepare, wire.Prepare{Operation: op, Clients: 1}, nil) },
		func() error { return b.call(wire.TypePrepare, wire.Prepare{Operation: miss, Clients: 1}, nil) },
		func() error {
			return b.call(wire.TypeMeasure, wire.Measure{Operation: "twice", Operations: asked}, &failed)
		},
		func() error { return expect("errors of 5000 operations that all fail", failed.Errors, int64(most)) },
		func() error { return expect("executed", failed.Executed, int64(most)) },
		func() error {
			return b.call(wire.TypeMeasure, wire.Measure{Operation: "miss", Operations: asked}, &missed)
		},
		func() error { return expect("misses of 5000 operations that all miss", missed.Misses, int64(most)) })
}

// countersApart checks that a measurement's counters are differences: they are
// within what stats says before and after.
func countersApart(b *bench) error {
	if _, err := b.one(wire.Measure{Nanos: 50_000_000}, 1); err != nil {
		return err
	}
	var before, after wire.Stats
	var m wire.Measured
	if err := steps(
		func() error { return b.call(wire.TypeStats, nil, &before) },
		func() error { return b.call(wire.TypeMeasure, wire.Measure{Operation: "one", Operations: 10}, &m) },
		func() error { return b.call(wire.TypeStats, nil, &after) }); err != nil {
		return err
	}
	used := after.Since(before.Counters)
	most := used.All()
	for i, c := range m.Counters.All() {
		if !c.Max && *c.Value > *most[i].Value {
			return fmt.Errorf("%s is %d in the reply to measure, and between the stats before and after it only %d were used: counters are of the measurement alone", c.Name, *c.Value, *most[i].Value)
		}
	}
	return nil
}

// windowNeverEmpty measures a window that is over at once. That it has ten units
// of every client all the same is a rule for all answers.
func windowNeverEmpty(b *bench) error {
	_, err := b.one(wire.Measure{Nanos: 1}, 2)
	return err
}
