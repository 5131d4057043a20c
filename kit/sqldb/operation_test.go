package sqldb

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"assay/kit"
	"assay/kit/column"
	"assay/kit/column/columntest"
	"assay/kit/wire"
)

// openTrace is a trace of one column with these values.
func openTrace(t *testing.T, values ...int64) *column.File {
	t.Helper()
	var rows [][]any
	for _, value := range values {
		rows = append(rows, []any{value})
	}
	return columntest.Open(t, []column.Type{column.Int}, rows...)
}

// prepareOn makes an operation ready, with one client.
func prepareOn(t *testing.T, f *fake, db *database, op wire.Operation, trace *column.File) (kit.Operation, kit.Client) {
	t.Helper()
	operation, err := db.Prepare(op, trace)
	must(t, err)
	client, err := operation.Client()
	must(t, err)
	t.Cleanup(func() {
		if err := errors.Join(client.Close(), operation.Close()); err != nil {
			t.Error(err)
		}
	})
	return operation, client
}

func do(t *testing.T, client kit.Client, position, want int) {
	t.Helper()
	if rows, err := client.Do(position); err != nil || rows != want {
		t.Errorf("position %d: %d rows, %v; want %d", position, rows, err, want)
	}
}

func checkDid(t *testing.T, f *fake, want ...string) {
	t.Helper()
	if did := f.did(); !reflect.DeepEqual(did, want) {
		t.Errorf("did  %q\nwant %q", did, want)
	}
}

// two answers every query with two rows, and says how it works.
func two(_ int, text string, _ []driver.Value) answer {
	if strings.HasPrefix(text, "EXPLAIN") {
		return answer{rows: [][]driver.Value{{int64(1), int64(0), int64(0), "SCAN t"}, {int64(2), int64(1), int64(0), "B-TREE"}}}
	}
	return answer{rows: [][]driver.Value{{int64(1)}, {int64(2)}}}
}

// TestPolicies: when a statement is compiled is what the operation says.
func TestPolicies(t *testing.T) {
	const compile, run, release = "1: prepare Q", "1: Q [%d]", "1: release Q"
	at := func(n int) string { return fmt.Sprintf(run, n) }
	for policy, c := range map[string]struct{ prepared, did, closed []string }{
		"":      {[]string{compile}, []string{at(7), at(8)}, []string{release}},
		"once":  {[]string{compile}, []string{at(7), at(8)}, []string{release}},
		"each":  {nil, []string{compile, at(7), release, compile, at(8), release}, nil},
		"never": {nil, []string{compile, at(7), release, compile, at(8), release}, nil}, // as database/sql does without a driver's own way
	} {
		t.Run("statement "+policy, func(t *testing.T) {
			f := &fake{respond: two}
			db := openFake(t, f, wire.Open{Readers: 1, Idle: 1})
			op := wire.Operation{Name: "o", Statement: wire.Policy(policy), Steps: []wire.Step{{SQL: "Q", Query: true, Args: 1, Rows: 2, Returns: []string{"int"}}}}
			operation, err := db.Prepare(op, openTrace(t, 7, 8))
			must(t, err)
			if got := operation.QueryPlan(); got != "SCAN t\nB-TREE" {
				t.Errorf("plan %q", got)
			}
			checkDid(t, f, "1: prepare EXPLAIN QUERY PLAN Q", "1: EXPLAIN QUERY PLAN Q [7]", "1: release EXPLAIN QUERY PLAN Q")
			client, err := operation.Client()
			must(t, err)
			checkDid(t, f, c.prepared...)
			do(t, client, 0, 2)
			do(t, client, 1, 2)
			checkDid(t, f, c.did...)
			if err := errors.Join(client.Close(), operation.Close()); err != nil {
				t.Error(err)
			}
			checkDid(t, f, c.closed...)
		})
	}
}

// TestSteps: arguments are taken column by column, and rows are added up.
func TestSteps(t *testing.T) {
	f := &fake{respond: two}
	db := openFake(t, f, wire.Open{Readers: 1, Idle: 1})
	trace := columntest.Open(t, []column.Type{column.Int, column.Text, column.Blob}, []any{int64(1), "a", []byte("b")}, []any{nil, "c", nil})
	op := wire.Operation{Name: "o", Steps: []wire.Step{
		{SQL: "A", Query: true, Args: 1, Returns: []string{"int"}}, {SQL: "B"}, {SQL: "C", Query: true, Args: 2, Returns: []string{"int?"}}}}
	operation, client := prepareOn(t, f, db, op, trace)
	f.did()
	do(t, client, 1, 5)
	checkDid(t, f, "1: A [<nil>]", "1: B", "1: C [c <nil>]")
	type visited struct {
		step  int
		value any
	}
	var got []visited
	must(t, operation.Answer(0, func(step int, row []any) error { got = append(got, visited{step, row[0]}); return nil }))
	if want := []visited{{0, int64(1)}, {0, int64(2)}, {2, int64(1)}, {2, int64(2)}}; !reflect.DeepEqual(got, want) {
		t.Errorf("visited %v, want %v", got, want)
	}
	enough := errors.New("enough")
	if err := operation.Answer(0, func(int, []any) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("got %v", err)
	}
}

func TestPrepareFails(t *testing.T) {
	f := &fake{respond: func(conn int, text string, args []driver.Value) answer {
		if strings.HasSuffix(text, "bad") {
			return answer{err: errors.New("syntax error")}
		}
		return two(conn, text, args)
	}}
	readers, writers := openFake(t, f, wire.Open{Readers: 1, Idle: 1}), openFake(t, &fake{}, wire.Open{Writers: 1})
	query := []wire.Step{{SQL: "Q", Query: true, Returns: []string{"int"}}}
	for want, c := range map[string]struct {
		db *database
		op wire.Operation
	}{
		`operation "o" has no connection: open asked for none of its kind`:    {readers, wire.Operation{Name: "o", Changes: true}},
		`operation "p" has no connection: open asked for none of its kind`:    {writers, wire.Operation{Name: "p"}},
		`operation "o" changes nothing: transactions of it are not supported`: {readers, wire.Operation{Name: "o", Transaction: 2, Steps: query}},
		"step 2: syntax error": {readers, wire.Operation{Name: "o", Steps: append(query, wire.Step{SQL: "bad"})}},
	} {
		t.Run(want, func(t *testing.T) {
			if _, err := c.db.Prepare(c.op, nil); err == nil || err.Error() != want {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestReaderBusy: busy is marked and the driver's error kept.
func TestReaderBusy(t *testing.T) {
	f := &fake{respond: two}
	db := openFake(t, f, wire.Open{Readers: 1, Idle: 1})
	_, client := prepareOn(t, f, db, wire.Operation{Name: "o", Steps: []wire.Step{{SQL: "Q", Query: true, Returns: []string{"int"}}}}, nil)
	for _, cause := range []error{errLocked, errors.New("disk full")} {
		f.respond = func(int, string, []driver.Value) answer { return answer{err: cause} }
		if _, err := client.Do(0); !errors.Is(err, cause) || errors.Is(err, kit.ErrBusy) != (cause == errLocked) {
			t.Errorf("%v: got %v", cause, err)
		}
	}
}
