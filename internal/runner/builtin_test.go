//go:build unix

package runner

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay"
	"assay/internal/build"
	"assay/internal/dataset"
	"assay/internal/plan"
	"assay/kit/process"
	"assay/kit/wire"
	"assay/plans"
)

const (
	// smallTrace is how many positions of a reading operation are compared.
	smallTrace = 100
	// smallBlock is how many rows operations that change data write, or a few more.
	smallBlock = 200
	// smallMix is likewise, of mixes: every part has to occur.
	smallMix = 2000
)

// smallData makes the tables of built-in plans small, and what is drawn from
// them with a number.
var smallData = strings.NewReplacer("[100000, 1000000]", "[3000]", "999_001", "2001", "1_000_000", "3000", "100000", "3000",
	"125_673", "1300", "50_000", "8000", "20_000", "2000", "10_000", "1200", "1e4", "1100", "1e5", "2000", "5e5", "3000", "1e6", "4000")

// builtinCases are the different operations of all built-in plans but those of
// a worker's own and sums, with little data. A store's operations are done in SQL.
func builtinCases(t *testing.T) []assay.Case {
	t.Helper()
	var all []assay.Case
	seen := map[string]bool{}
	for _, name := range plans.Names() {
		text, _ := plans.Read(name)
		p, err := plan.Decode(name+".yaml", []byte(smallData.Replace(string(text))))
		must(t, err)
		cases, err := p.Expand(nil)
		must(t, err)
		for _, c := range cases {
			key := fmt.Sprint(name, c.Cell.Workload, c.Operation.Name, c.Operation.Steps)
			changing := func(p assay.Part) bool { return p.Operation.Changes }
			never := len(c.Operation.Parts) > 0 && c.Operation.Changes && !slices.ContainsFunc(c.Operation.Parts, changing) // of weight 0
			if c.Operation.Call() || len(c.Operation.Terms) > 0 || never || seen[key] {
				continue
			}
			seen[key] = true
			most := smallBlock/rowsEach(c.Operation) + 1
			if len(c.Operation.Parts) > 0 {
				most = smallMix
			}
			c.Operation.Count = min(c.Operation.Count, most)
			c.Operation.Statement, c.Operation.Transaction = "once", 0 // how it is done changes no answer
			c.Cell.Workload = name + "/" + c.Cell.Workload
			all = append(all, c)
		}
	}
	if len(all) < 40 {
		t.Fatalf("got %d operations in the built-in plans, want 40 or more", len(all))
	}
	return all
}

// rowsEach is how many rows an operation answers or changes each time, 1 at least.
func rowsEach(op assay.Operation) int {
	rows := 0
	for _, step := range op.Steps {
		rows += max(0, step.Rows)
	}
	return max(1, rows)
}

// played is one operation, done by a worker on a copy of its data.
type played struct {
	worker *process.Worker
	op     assay.Operation
	data   *dataset.Data
	trace  *dataset.Trace
	path   string // of the copy
}

// play opens a copy of a case's data in a worker.
func play(t *testing.T, cache dataset.Cache, program string, c assay.Case) *played {
	t.Helper()
	p := &played{path: filepath.Join(t.TempDir(), "data.db")}
	var err error
	if p.data, err = cache.Prepare(t.Context(), c.Dataset); err != nil {
		t.Fatal(err)
	}
	if p.op, err = p.data.Resolve(t.Context(), c.Operation); err != nil {
		t.Fatal(err)
	}
	length := smallTrace
	if p.op.Changes {
		length = p.op.Count
	}
	if p.trace, err = p.data.Trace(t.Context(), p.op, length); err != nil {
		t.Fatal(err)
	}
	must(t, p.data.Copy(p.path))
	if p.worker, err = process.Start(t.Context(), program, process.Options{Dir: filepath.Dir(p.path)}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.worker.Kill)
	p.ask(t, wire.TypeOpen, wire.Open{Path: p.path, Readers: 1, Idle: 1, Writers: 1,
		Settings: map[string]string{"synchronous": "off"}}, nil)
	return p
}

func (p *played) ask(t *testing.T, kind string, request, reply any) {
	t.Helper()
	if err := p.worker.Call(t.Context(), kind, request, reply); err != nil {
		t.Fatalf("%s: %v", kind, err)
	}
}

// answers compares what a reading operation answers with what is expected.
func (p *played) answers(t *testing.T, op assay.Operation, trace *dataset.Trace) {
	t.Helper()
	count := min(smallTrace, trace.Length)
	want, err := p.data.Expect(t.Context(), op, trace, 0, count)
	must(t, err)
	p.ask(t, wire.TypePrepare, wire.Prepare{Operation: wireOperation(op.Name, op, trace), Clients: 1}, nil)
	var got wire.Verified
	p.ask(t, wire.TypeVerify, wire.Verify{Operation: op.Name, Count: int64(count)}, &got)
	if got.Digest != want.Digest || got.Rows != want.Rows {
		t.Errorf("%s: got %d rows with digest %.12s, the expected answers are %d with digest %.12s", op.Name, got.Rows, got.Digest, want.Rows, want.Digest)
	}
}

// change executes an operation that changes data.
func (p *played) change(t *testing.T) {
	t.Helper()
	p.ask(t, wire.TypePrepare, wire.Prepare{Operation: wireOperation("all", p.op, p.trace), Clients: 1}, nil)
	var m wire.Measured
	p.ask(t, wire.TypeMeasure, wire.Measure{Operation: "all", Operations: int64(p.op.Count)}, &m)
	if err := wrong(m); err != nil || m.Executed != int64(p.op.Count) {
		t.Fatalf("%d operations were executed, want %d; error %v", m.Executed, p.op.Count, err)
	}
}

// state is the digest of what the operation's check answers.
func (p *played) state(t *testing.T) string {
	t.Helper()
	if p.op.Check == nil {
		t.Fatalf("%s changes data, and the plan has no check of what it leaves behind", p.op.Name)
	}
	request := wire.Verify{SQL: p.op.Check.SQL}
	for _, kind := range p.op.Check.Returns {
		request.Returns = append(request.Returns, string(kind))
	}
	var got wire.Verified
	p.ask(t, wire.TypeVerify, request, &got)
	return got.Digest
}

// expectedState is what the check has to answer after the block.
func (p *played) expectedState(t *testing.T) string {
	t.Helper()
	want, err := p.data.Expect(t.Context(), p.op, p.trace, 0, p.op.Count)
	must(t, err)
	return want.State
}

// The expected answers are made with the SQLite that the driver modernc has, too. A fault of
// that translation would be blamed on all the others: so the SQLite that a C compiler makes has
// to answer the same, to every operation. The check of each one that changes data finds one
// wrong value in any column that it wrote, two that balance each other, and a row that is gone.
func TestBuiltInOperations(t *testing.T) {
	t.Setenv(logVariable, filepath.Join(t.TempDir(), "log"))
	program := programs(t, t.TempDir(), []string{"honest"})["honest"].Path
	if !testing.Short() {
		t.Run("SQLite of a C compiler", func(t *testing.T) { program = cLibrary(t) })
	}
	cache := dataset.Cache{Dir: t.TempDir()}
	for _, c := range builtinCases(t) {
		t.Run(c.Cell.Workload+"/"+c.Operation.Name, func(t *testing.T) {
			t.Parallel()
			p := play(t, cache, program, c)
			for _, e := range verifiable(p.op, p.trace) {
				p.answers(t, e.operation, e.trace)
			}
			if !p.op.Changes {
				return
			}
			p.change(t)
			left := p.state(t)
			if want := p.expectedState(t); left != want {
				t.Fatalf("the check answers digest %.12s, expected is %.12s", left, want)
			}
			if !p.op.KV() { // of a store, all is read
				findsForgeries(t, p, left)
			}
		})
	}
}

// findsForgeries demands that the check finds each change of what an operation left behind.
func findsForgeries(t *testing.T, p *played, left string) {
	t.Helper()
	f := newForger(t, p)
	for _, forgery := range f.forgeries() {
		f.do(forgery)
		if p.state(t) == left {
			t.Errorf("the check %q does not find this: %s", p.op.Check.SQL, forgery)
		}
		f.restore()
	}
	if got := p.state(t); got != left {
		t.Fatalf("the test did not restore the data: digest %.12s, want %.12s", got, left)
	}
}

// cLibrary is a worker that is SQLite as a C compiler makes it; where there is no compiler, it
// skips the test. The worker is kept in the cache that the command uses, because compiling
// SQLite takes a minute.
func cLibrary(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("cc"); err != nil && os.Getenv("CC") == "" {
		t.Skip("the expected answers are not compared with those of another SQLite: ", err)
	}
	cache, err := os.UserCacheDir()
	must(t, err)
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	must(t, err)
	b := &build.Builder{Source: build.Source{Dir: dir}, Cache: filepath.Join(cache, "assay")}
	worker, err := b.Build(t.Context(), build.Spec{Name: "sqlite-c"})
	must(t, err)
	return worker.Program
}

// forger changes what an operation left behind, and puts it back.
type forger struct {
	t       *testing.T
	db      *sql.DB
	table   string
	all     []string // its columns
	columns []string // that the operation wrote
	rows    []int64  // that it wrote, by their rowid
}

func newForger(t *testing.T, p *played) *forger {
	t.Helper()
	f := &forger{t: t}
	db, err := sql.Open("sqlite", "file:"+escaped(p.path)+"?_pragma=busy_timeout(5000)&_pragma=synchronous(off)")
	must(t, err)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	f.db = db
	for name := range f.query("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid LIMIT 1") {
		f.table = name.(string)
	}
	f.do("ATTACH '" + p.data.Path + "' AS before")
	f.do("CREATE TEMP TABLE saved AS SELECT rowid AS saved_rowid, * FROM main." + f.table)
	for row := range f.query("SELECT r FROM (SELECT rowid AS r, * FROM main." + f.table + " EXCEPT SELECT rowid, * FROM before." + f.table + ") ORDER BY r") {
		f.rows = append(f.rows, row.(int64))
	}
	if len(f.rows) < 2 {
		t.Fatalf("the operation wrote %d rows, want 2 or more", len(f.rows))
	}
	for column := range f.query("SELECT name FROM pragma_table_info('" + f.table + "') ORDER BY cid") {
		name := column.(string)
		f.all = append(f.all, name)
		for changed := range f.query(fmt.Sprintf("SELECT count(*) FROM main.%[1]s AS a LEFT JOIN before.%[1]s AS b ON a.rowid = b.rowid WHERE a.%[2]s IS NOT b.%[2]s", f.table, name)) {
			if changed.(int64) > 0 {
				f.columns = append(f.columns, name)
			}
		}
	}
	return f
}

// forgeries are statements of which each changes what was written.
func (f *forger) forgeries() []string {
	first, middle, last := f.rows[0], f.rows[len(f.rows)/2], f.rows[len(f.rows)-1]
	all := []string{fmt.Sprintf("DELETE FROM %s WHERE rowid = %d", f.table, middle)}
	for _, column := range f.columns {
		for _, row := range slices.Compact([]int64{first, middle, last}) {
			all = append(all, fmt.Sprintf("UPDATE %[1]s SET %[2]s = CASE typeof(%[2]s) WHEN 'text' THEN "+
				"substr(%[2]s, 1, length(%[2]s) - 1) || 'A' ELSE %[2]s + 50000000 END WHERE rowid = %[3]d", f.table, column, row))
		}
		all = append(all, fmt.Sprintf("UPDATE %[1]s SET %[2]s = CASE typeof(%[2]s) WHEN 'text' THEN 'swapped' || rowid "+
			"ELSE %[2]s + CASE rowid WHEN %[3]d THEN 60000000 ELSE -60000000 END END WHERE rowid IN (%[3]d, %[4]d)", f.table, column, first, last))
	}
	return all
}

func (f *forger) do(statement string) {
	f.t.Helper()
	if _, err := f.db.ExecContext(f.t.Context(), statement); err != nil {
		f.t.Fatalf("%s: %v", statement, err)
	}
}

// restore puts back what a forgery has changed.
func (f *forger) restore() {
	f.t.Helper()
	f.do(fmt.Sprintf("DELETE FROM main.%[1]s WHERE rowid IN (SELECT forged FROM (SELECT rowid AS forged, * FROM main.%[1]s EXCEPT SELECT * FROM temp.saved))", f.table))
	into, from := f.all, f.all
	if !slices.Contains(f.all, "rowid") {
		into, from = append([]string{"rowid"}, f.all...), append([]string{"saved_rowid"}, f.all...)
	}
	f.do(fmt.Sprintf("INSERT INTO main.%[1]s (%[2]s) SELECT %[3]s FROM temp.saved WHERE saved_rowid NOT IN (SELECT rowid FROM main.%[1]s)",
		f.table, strings.Join(into, ", "), strings.Join(from, ", ")))
}

// query yields the first column of an answer.
func (f *forger) query(query string) func(func(any) bool) {
	return func(yield func(any) bool) {
		f.t.Helper()
		rows, err := f.db.QueryContext(f.t.Context(), query)
		if err != nil {
			f.t.Fatalf("%s: %v", query, err)
		}
		var values []any
		for rows.Next() {
			var value any
			if err = rows.Scan(&value); err != nil {
				break
			}
			values = append(values, value)
		}
		if err := errors.Join(err, rows.Err(), rows.Close()); err != nil {
			f.t.Fatalf("%s: %v", query, err)
		}
		for _, value := range values {
			if !yield(value) {
				return
			}
		}
	}
}
