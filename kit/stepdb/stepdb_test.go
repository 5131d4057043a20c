package stepdb

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"assay/kit"
	"assay/kit/column"
	"assay/kit/wire"
)

const get = "SELECT n FROM t WHERE id = ?"

func newFake() *fake {
	return &fake{answers: map[string][]any{get: {int64(7)}}, fails: map[string]error{}}
}

func reading(policy string) wire.Operation {
	return wire.Operation{Name: "get", Statement: wire.Policy(policy),
		Steps: []wire.Step{{SQL: get + "\n", Query: true, Args: 1, Rows: 1, Returns: []string{"int"}}}}
}

func clientOf(t *testing.T, db *database, spec wire.Operation, trace *column.File) kit.Client {
	t.Helper()
	o, err := db.Prepare(spec, trace)
	must(t, err)
	c, err := o.Client()
	must(t, err)
	return c
}

func do(t *testing.T, c kit.Client, position, want int) {
	t.Helper()
	if rows, err := c.Do(position); rows != want || err != nil {
		t.Fatalf("%d rows, %v; want %d", rows, err, want)
	}
}

func TestStatementPolicies(t *testing.T) {
	for policy, want := range map[string][]string{
		"once": {"1 bind [1]", "1 reset", "1 bind [2]", "1 reset"}, // compiled when the client was made
		"each": {"1 prepare " + get, "1 bind [1]", "1 finalize", "1 prepare " + get, "1 bind [2]", "1 finalize"},
	} {
		t.Run(policy, func(t *testing.T) {
			f := newFake()
			db := f.database(t, f.driver(), wire.Open{Readers: 1})
			c := clientOf(t, db, reading(policy), traceOf(t, 1, 2))
			f.taken()
			do(t, c, 0, 1)
			do(t, c, 1, 1)
			must(t, c.Close())
			if got := f.taken(); !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

// cachingConn has a statement cache and the form of one call.
type cachingConn struct{ *fakeConn }

func (c cachingConn) Cached(sql string) (Stmt, error) {
	c.f.note("%d cached %s", c.number, sql)
	return &fakeStmt{c.fakeConn, sql, false}, nil
}

func (c cachingConn) Call(sql string, args []any) error {
	c.f.note("%d call %s %v", c.number, sql, args)
	return nil
}

func (c cachingConn) CallRows(sql string, args []any, row func(Stmt) error) error {
	c.f.note("%d call %s %v", c.number, sql, args)
	return row(&fakeStmt{c.fakeConn, sql, true})
}

// fakePool lends the same connection again and again.
type fakePool struct {
	f    *fake
	conn Conn
}

func (p fakePool) Take() (Conn, error) { p.f.note("take"); return p.conn, nil }
func (p fakePool) Put(Conn)            { p.f.note("put") }
func (p fakePool) Close() error        { return p.conn.Close() }

func (f *fake) caching() Driver {
	d := f.driver()
	d.Pool = func(s Source, _ int) (Pool, error) {
		c, err := f.open(s)
		return fakePool{f, cachingConn{c.(*fakeConn)}}, err
	}
	return d
}

func TestDriversOwnPoolCacheAndCall(t *testing.T) {
	for policy, want := range map[string][]string{
		"once":  {"take", "1 cached " + get, "1 bind [2]", "put"},
		"never": {"take", "1 call " + get + " [2]", "put"},
	} {
		t.Run(policy, func(t *testing.T) {
			f := newFake()
			c := clientOf(t, f.database(t, f.caching(), wire.Open{Readers: 1}), reading(policy), traceOf(t, 1, 2))
			f.taken()
			do(t, c, 1, 1)
			if got := f.taken(); !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

func TestNeverIsUnsupportedWithoutAForm(t *testing.T) {
	f := newFake()
	_, err := f.database(t, f.driver(), wire.Open{Readers: 1}).Prepare(reading("never"), traceOf(t, 1))
	var refused *wire.Error
	if !errors.As(err, &refused) || refused.Code != wire.Unsupported {
		t.Error(err)
	}
}

func TestMismatchedColumnsAreRefused(t *testing.T) {
	f := newFake()
	spec := reading("once")
	spec.Steps[0].Returns = []string{"int", "text"}
	_, err := f.database(t, f.driver(), wire.Open{Readers: 1}).Prepare(spec, traceOf(t, 1))
	if err == nil || err.Error() != "step 1: "+get+": answers 1 columns, declared are 2" {
		t.Error(err)
	}
}

func TestClientsKeepOrShareConnections(t *testing.T) {
	for clients, want := range map[int][]string{
		2: {"1 bind [1]", "1 reset", "2 bind [1]", "2 reset", "1 bind [1]", "1 reset", "2 bind [1]", "2 reset"},
		3: {"1 bind [1]", "1 reset", "2 bind [1]", "2 reset", "1 bind [1]", "1 reset", "2 bind [1]", "2 reset", "1 bind [1]", "1 reset", "2 bind [1]", "2 reset"},
	} {
		f := newFake()
		o, err := f.database(t, f.driver(), wire.Open{Readers: 2}).Prepare(reading("once"), traceOf(t, 1))
		must(t, err)
		var all []kit.Client
		for range clients {
			c, err := o.Client()
			must(t, err)
			all = append(all, c)
		}
		f.taken()
		for range 2 {
			for _, c := range all {
				do(t, c, 0, 1)
			}
		}
		if got := f.taken(); !slices.Equal(got, want) {
			t.Errorf("%d clients: %q, want %q", clients, got, want)
		}
	}
}

const put = "INSERT INTO t VALUES (?)"

func TestTransactions(t *testing.T) {
	for name, test := range map[string]struct {
		fails map[string]error
		rows  int
		busy  bool
		log   []string
	}{
		"done":                {nil, 2, false, []string{"1 bind []", "1 reset", "1 bind [3]", "1 reset", "1 bind [4]", "1 reset", "1 bind []", "1 reset"}},
		"locked at its begin": {map[string]error{"BEGIN IMMEDIATE": errLocked}, 0, true, []string{"1 bind []", "1 reset"}},
		"locked at its end":   {map[string]error{"COMMIT": errLocked}, 0, true, []string{"1 bind []", "1 reset", "1 bind [3]", "1 reset", "1 bind [4]", "1 reset", "1 bind []", "1 reset", "1 exec ROLLBACK"}},
		"failed":              {map[string]error{put: errors.New("constraint")}, 0, false, []string{"1 bind []", "1 reset", "1 bind [3]", "1 reset", "1 exec ROLLBACK"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			spec := wire.Operation{Name: "put", Changes: true, Transaction: 2, Steps: []wire.Step{{SQL: put, Args: 1, Rows: 1}}}
			c := clientOf(t, f.database(t, f.driver(), wire.Open{Writers: 1}), spec, traceOf(t, 1, 2, 3, 4))
			f.taken()
			f.fails = test.fails
			rows, err := c.Do(1)
			if rows != test.rows || errors.Is(err, kit.ErrBusy) != test.busy || (err == nil) != (name == "done") {
				t.Errorf("%d rows, %v", rows, err)
			}
			if got := f.taken(); !slices.Equal(got, test.log) {
				t.Errorf("%q, want %q", got, test.log)
			}
		})
	}
}

func TestEveryTypeIsRead(t *testing.T) {
	f := newFake()
	const all = "SELECT all_types"
	types := []string{"int", "real", "text", "blob", "bool", "int?", "text?"}
	f.answers[all] = []any{int64(1), 1.5, "ü", []byte{0}, true, nil, "x"}
	dest := newDestinations(types)
	conn, err := f.open(Source{})
	must(t, err)
	stmt, err := conn.Prepare(all)
	must(t, err)
	var got []any
	_, err = dest.all(stmt, func(row []any) error {
		got = slices.Clone(row)
		return nil
	}, nil)
	if err != nil || !reflect.DeepEqual(got, f.answers[all]) {
		t.Errorf("%v, %v; want %v", got, err, f.answers[all])
	}
}

// TestVerifiedAsStored: what is verified is read as it is stored, and never as
// SQLite converts it.
func TestVerifiedAsStored(t *testing.T) {
	f := newFake()
	f.answers["SELECT"] = []any{5.5, "5", nil, int64(7), []byte("x")}
	var got []any
	err := f.database(t, f.driver(), wire.Open{Readers: 1}).Query("SELECT", []string{"int", "int", "int", "bool", "text"}, func(row []any) error {
		got = slices.Clone(row)
		return nil
	})
	if err != nil || !reflect.DeepEqual(got, f.answers["SELECT"]) {
		t.Errorf("got %v, %v; want %v", got, err, f.answers["SELECT"])
	}
}

func TestSettingsAreIssued(t *testing.T) {
	settings := map[string]string{"journal_mode": "wal", "synchronous": "1", "busy_timeout": "5000", "read_only": "1", "shared_cache": "0", "mutex": "full"}
	f := newFake()
	_, opened, err := New(f.driver()).Open(wire.Open{Path: "/no/such dir/data.db", Settings: settings, Each: []string{"PRAGMA optimize"}, Readers: 1, Writers: 1})
	must(t, err)
	uri := "file:/no/such%20dir/data.db?mode=ro&cache=private"
	each := []string{"PRAGMA busy_timeout = 5000", "PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL", "PRAGMA optimize"}
	if opened.DSN != uri || !slices.Equal(opened.Each, each) || len(opened.Issued) != len(settings) {
		t.Errorf("%+v", opened)
	}
	source := Source{URI: uri, Mutex: "full"}
	if !slices.Equal(f.opened, []Source{source, source}) {
		t.Errorf("opened %+v", f.opened)
	}
	var want []string
	for _, conn := range []int{2, 1} { // the reader, which was opened after the writer
		for _, text := range each {
			want = append(want, fmt.Sprintf("%d exec %s", conn, text))
		}
	}
	if got := f.taken(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestSources(t *testing.T) {
	d := newFake().driver()
	d.Lacks = func(name, _ string) bool { return name == "mutex" }
	for name, test := range map[string]struct {
		request wire.Open
		want    Source
	}{
		"nothing asked for":     {wire.Open{Readers: 1}, Source{URI: "file:/d", Unasked: true}},
		"a literal DSN":         {wire.Open{DSN: "file:/d?x=1", Readers: 1}, Source{URI: "file:/d?x=1", Unasked: true}},
		"memory for one":        {wire.Open{Settings: map[string]string{"memory": "1"}, Readers: 1}, Source{URI: "file::memory:"}},
		"memory, turned off":    {wire.Open{Settings: map[string]string{"memory": "0"}, Readers: 1}, Source{URI: "file:/d"}},
		"what the driver lacks": {wire.Open{Settings: map[string]string{"mutex": "no"}, Readers: 1}, Source{}},
	} {
		test.request.Path = "/d"
		s, err := newSetup(d, test.request)
		if test.want == (Source{}) {
			var refused *wire.Error
			if !errors.As(err, &refused) || refused.Code != wire.Unsupported {
				t.Errorf("%s: %v", name, err)
			}
		} else if err != nil || s.source != test.want {
			t.Errorf("%s: %+v, %v; want %+v", name, s, err, test.want)
		}
	}
}

func TestNothingIsAllocatedForAnOperation(t *testing.T) {
	f := newFake()
	c := clientOf(t, f.database(t, f.driver(), wire.Open{Readers: 1}), reading("once"), traceOf(t, 1))
	f.quiet = true
	do(t, c, 0, 1)
	if n := testing.AllocsPerRun(100, func() { do(t, c, 0, 1) }); n > 0 {
		t.Errorf("%g allocations", n)
	}
}

func TestReadOnlyOfOldSQLite(t *testing.T) {
	for queryOnly, want := range map[string]map[string]string{"0": {"read_only": "1"}, "1": {}} {
		f := newFake()
		d := f.driver()
		d.Code = func(error) int { return codeReadOnly | 1<<8 }
		db := f.database(t, d, wire.Open{Readers: 1})
		f.fails["BEGIN IMMEDIATE"] = errors.New("attempt to write a readonly database")
		f.answers["PRAGMA query_only"] = []any{queryOnly}
		got, err := db.Settings([]string{"read_only"})
		if wanted := []wire.Connection{{Name: "reader-1", Settings: want}}; err != nil || !reflect.DeepEqual(got, wanted) {
			t.Errorf("query_only %s: %v, %v; want %v", queryOnly, got, err, wanted)
		}
	}
}
