package sqldb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"assay/kit"
	"assay/kit/wire"
)

// handlersOf returns handlers of one operation.
func handlersOf(t *testing.T, operation kit.Operation, n int) []kit.Handler {
	t.Helper()
	var all []kit.Handler
	for range n {
		h, err := operation.(kit.Server).Handler()
		must(t, err)
		all = append(all, h)
	}
	return all
}

// answerOf is what a handler shows and returns.
func answerOf(h kit.Handler, position int) string {
	text := ""
	rows, err := h.Answer(context.Background(), position, func(types []string, row []any) error {
		text += fmt.Sprint(types, row)
		return nil
	})
	return fmt.Sprint(text, " ", rows, " ", err)
}

// TestHandlersShareStatements: what is compiled once is compiled once for all
// handlers on a connection, and each has room of its own.
func TestHandlersShareStatements(t *testing.T) {
	f := &fake{respond: func(_ int, text string, args []driver.Value) answer {
		switch {
		case strings.HasPrefix(text, "EXPLAIN"):
			return answer{rows: [][]driver.Value{{int64(0), int64(0), int64(0), "SEARCH"}}}
		case len(args) == 0:
			return answer{}
		}
		return answer{rows: [][]driver.Value{{args[0]}}}
	}}
	db := openFake(t, f, wire.Open{Readers: 1, Idle: 1, Writers: 1})
	read, _ := prepareOn(t, f, db, wire.Operation{Name: "read", Steps: []wire.Step{
		{SQL: "SELECT ?", Query: true, Args: 1, Rows: 1, Returns: []string{"int"}}}}, openTrace(t, 5, 6))
	write, _ := prepareOn(t, f, db, wire.Operation{Name: "write", Changes: true, Steps: []wire.Step{{SQL: "INSERT ?", Args: 1, Rows: 1}}}, openTrace(t, 5, 6))
	f.did()
	for i, h := range handlersOf(t, read, 2) {
		if got, want := answerOf(h, i), fmt.Sprintf("[int] [%d] 1 <nil>", 5+i); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	for i, h := range handlersOf(t, write, 2) {
		if got, want := answerOf(h, i), " 1 <nil>"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	// The clients that prepareOn made have compiled everything.
	want := []string{"2: SELECT ? [5]", "2: SELECT ? [6]", "1: INSERT ? [5]", "1: INSERT ? [6]"}
	if did := f.did(); !slices.Equal(did, want) {
		t.Errorf("did %q, want %q", did, want)
	}
}

// The driver gets the context of the request: what is cancelled does not run.
func TestContextOfTheRequest(t *testing.T) {
	f := &fake{}
	db := openFake(t, f, wire.Open{Readers: 1, Idle: 1, Writers: 1})
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, changes := range []bool{false, true} {
		for _, policy := range []wire.Policy{wire.Once, wire.Never} {
			for _, transaction := range []int{0, 1} {
				if transaction > 0 && !changes {
					continue
				}
				operation, _ := prepareOn(t, f, db, wire.Operation{Name: "o", Changes: changes, Statement: policy, Transaction: transaction,
					Steps: []wire.Step{{SQL: "DO ?", Query: !changes, Args: 1, Rows: 1, Returns: []string{"int"}}}}, openTrace(t, 5, 6))
				h := handlersOf(t, operation, 1)[0]
				if _, err := h.Answer(gone, 0, func([]string, []any) error { return nil }); !errors.Is(err, context.Canceled) {
					t.Errorf("changes %t, %s, transactions of %d: got %v, want that the request was cancelled", changes, policy, transaction, err)
				}
			}
		}
	}
}

// TestPool: connections that are closed because too few are kept idle show, and
// so does who waits for one.
func TestPool(t *testing.T) {
	db := openFake(t, &fake{}, wire.Open{Readers: 3, Idle: 1, Writers: 1})
	want := wire.Pool{Opened: 4, Closed: 2}
	if got := db.Pool(); got != want {
		t.Errorf("after open: %+v, want %+v", got, want)
	}
	_, err := db.Settings(nil) // holds all
	must(t, err)
	want = wire.Pool{Opened: 6, Closed: 4}
	if got := db.Pool(); got != want {
		t.Errorf("after two more: %+v, want %+v", got, want)
	}
}

// TestWaits: a request that waits for a connection for changes is counted.
func TestWaits(t *testing.T) {
	f, working, done := &fake{}, make(chan struct{}), make(chan string)
	db := openFake(t, f, wire.Open{Writers: 1})
	operation, _ := prepareOn(t, f, db, insert, openTrace(t, 7))
	f.respond = func(int, string, []driver.Value) answer {
		<-working
		return answer{}
	}
	for _, h := range handlersOf(t, operation, 2) {
		go func() { done <- answerOf(h, 0) }()
	}
	for db.Pool().Waits == 0 {
		runtime.Gosched()
	}
	close(working)
	if first, second := <-done, <-done; first != " 1 <nil>" || second != first {
		t.Errorf("got %s and %s", first, second)
	}
	if got := db.Pool(); got.Waits != 1 || got.Waited <= 0 {
		t.Errorf("after a wait: %+v", got)
	}
}
