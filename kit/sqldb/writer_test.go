package sqldb

import (
	"database/sql/driver"
	"errors"
	"reflect"
	"testing"

	"assay/kit"
	"assay/kit/wire"
)

var insert = wire.Operation{Name: "o", Changes: true, Steps: []wire.Step{{SQL: "INSERT", Args: 1, Rows: 1}}}

// TestWritersInTurn: connections are taken one after the other, and each
// compiles its statements once.
func TestWritersInTurn(t *testing.T) {
	f := &fake{}
	db := openFake(t, f, wire.Open{Writers: 2})
	operation, err := db.Prepare(insert, openTrace(t, 7, 8, 9))
	must(t, err)
	client, err := operation.Client()
	must(t, err)
	// Explaining took the first connection and gave it back.
	checkDid(t, f, "1: prepare EXPLAIN QUERY PLAN INSERT", "1: EXPLAIN QUERY PLAN INSERT [7]", "1: release EXPLAIN QUERY PLAN INSERT",
		"2: prepare INSERT", "1: prepare INSERT")
	for i := range 3 {
		do(t, client, i, 1)
	}
	checkDid(t, f, "2: INSERT [7]", "1: INSERT [8]", "2: INSERT [9]")
	if err := operation.Answer(0, nil); err == nil || err.Error() != `operation "o" changes data: what it changed is verified with SQL` {
		t.Errorf("got %v", err)
	}
	must(t, errors.Join(client.Close(), operation.Close()))
	if did := f.did(); len(did) != 2 {
		t.Errorf("closed %q, want one statement on each connection", did)
	}
}

// TestWaitForWriter: a client without a free connection waits for one.
func TestWaitForWriter(t *testing.T) {
	f, working, done := &fake{}, make(chan int64), make(chan error)
	db := openFake(t, f, wire.Open{Writers: 1})
	operation, first := prepareOn(t, f, db, insert, openTrace(t, 7, 8))
	second, err := operation.Client()
	must(t, err)
	f.respond = func(_ int, _ string, args []driver.Value) answer { // which takes as long as the channel
		working <- args[0].(int64)
		working <- args[0].(int64)
		return answer{}
	}
	for i, client := range []kit.Client{first, second} {
		go func() {
			_, err := client.Do(i)
			done <- err
		}()
	}
	for range 2 {
		if first, same := <-working, <-working; first != same {
			t.Errorf("%d and %d work at the same time", first, same)
		}
	}
	must(t, errors.Join(<-done, <-done))
}

// TestTransaction: one unit is a transaction of several operations.
func TestTransaction(t *testing.T) {
	batch := insert
	batch.Transaction = 2
	full := errors.New("disk full")
	for name, c := range map[string]struct {
		fail map[string]error // by statement and argument
		busy bool
		rows int
		did  []string
	}{
		"good":        {nil, false, 2, []string{"BEGIN IMMEDIATE", "INSERT [9]", "INSERT [10]", "COMMIT"}},
		"no begin":    {map[string]error{"BEGIN IMMEDIATE": errLocked}, true, 0, []string{"BEGIN IMMEDIATE"}},
		"first":       {map[string]error{"INSERT 9": full}, false, 0, []string{"BEGIN IMMEDIATE", "INSERT [9]", "ROLLBACK"}},
		"second":      {map[string]error{"INSERT 10": errLocked}, true, 0, []string{"BEGIN IMMEDIATE", "INSERT [9]", "INSERT [10]", "ROLLBACK"}},
		"no commit":   {map[string]error{"COMMIT": errLocked}, true, 0, []string{"BEGIN IMMEDIATE", "INSERT [9]", "INSERT [10]", "COMMIT", "ROLLBACK"}},
		"no rollback": {map[string]error{"INSERT 9": full, "ROLLBACK": errors.New("no transaction")}, false, 0, []string{"BEGIN IMMEDIATE", "INSERT [9]", "ROLLBACK"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{}
			db := openFake(t, f, wire.Open{Writers: 1})
			_, client := prepareOn(t, f, db, batch, openTrace(t, 7, 8, 9, 10))
			f.did()
			f.respond = func(_ int, text string, args []driver.Value) answer {
				if len(args) > 0 {
					text += map[int64]string{9: " 9", 10: " 10"}[args[0].(int64)]
				}
				return answer{err: c.fail[text]}
			}
			rows, err := client.Do(1)
			if rows != c.rows || (err == nil) != (c.fail == nil) || errors.Is(err, kit.ErrBusy) != c.busy {
				t.Errorf("%d rows, %v", rows, err)
			}
			for _, cause := range c.fail {
				if !errors.Is(err, cause) {
					t.Errorf("got %v, want it to tell %v", err, cause)
				}
			}
			checkExecuted(t, f, c.did...)
			f.respond = nil
			do(t, client, 0, 2) // the connection is there again
			checkExecuted(t, f, "BEGIN IMMEDIATE", "INSERT [7]", "INSERT [8]", "COMMIT")
		})
	}
}

// TestWriterSteps: several statements make one operation, which is a
// transaction only where it says so.
func TestWriterSteps(t *testing.T) {
	f := &fake{}
	db := openFake(t, f, wire.Open{Readers: 1, Idle: 1, Writers: 1})
	op := wire.Operation{Name: "o", Changes: true, Steps: []wire.Step{{SQL: "A", Args: 1}, {SQL: "B"}}}
	_, client := prepareOn(t, f, db, op, openTrace(t, 7))
	f.did()
	do(t, client, 0, 2)
	checkExecuted(t, f, "A [7]", "B")
	f.respond = func(_ int, text string, _ []driver.Value) answer {
		return answer{err: map[string]error{"B": errLocked}[text]}
	}
	// Busy is busy wherever it is answered: a plan tries nothing again whose steps commit alone.
	if rows, err := client.Do(0); rows != 1 || !errors.Is(err, kit.ErrBusy) {
		t.Errorf("%d rows, %v", rows, err)
	}
	checkExecuted(t, f, "A [7]", "B")
}

func checkExecuted(t *testing.T, f *fake, want ...string) {
	t.Helper()
	if did := executed(f); !reflect.DeepEqual(did, want) {
		t.Errorf("did  %q\nwant %q", did, want)
	}
}
