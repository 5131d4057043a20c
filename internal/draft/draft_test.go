package draft

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"assay"
	"assay/internal/build/catalog"
	"assay/internal/dataset"
	"assay/internal/plan"
)

var update = flag.Bool("update", false, "write the golden files anew")

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// create makes a database by SQL and returns its path.
func create(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "own.db")
	db, err := sql.Open("sqlite", path)
	must(t, err)
	_, err = db.Exec(text)
	must(t, errors.Join(err, db.Close()))
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	return string(text)
}

// folder lists a folder's files with their digests.
func folder(t *testing.T, path string) []string {
	t.Helper()
	entries, err := os.ReadDir(path)
	must(t, err)
	var all []string
	for _, e := range entries {
		all = append(all, fmt.Sprintf("%s %x", e.Name(), sha256.Sum256([]byte(read(t, filepath.Join(path, e.Name()))))))
	}
	return all
}

// known are the drivers that the source holds.
var known = func() []catalog.Driver {
	all, err := catalog.Read("../../workers")
	if err != nil {
		panic(err)
	}
	return all
}()

func options(database, queries string) Options {
	return Options{Database: database, Drivers: known, Queries: "q.sql", SQL: queries, Plan: filepath.Join(filepath.Dir(database), "plan.yaml"),
		Estimate: func(_ *dataset.Data, cases []assay.Case, launches int) time.Duration {
			return time.Duration(len(cases)*launches) * 100 * time.Millisecond
		},
		Refused: func(_ context.Context, driver, _ string, _ *dataset.Data, operations []assay.Operation) (map[string]error, error) {
			return refused(driver, operations), nil
		}}
}

func usedCPU() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// refused are the operations that builds of mattn's driver refuse, which meet a missing
// module before a missing function.
func refused(driver string, operations []assay.Operation) map[string]error {
	all := map[string]error{}
	for _, op := range operations {
		switch {
		case !strings.HasPrefix(driver, "mattn"):
		case strings.HasPrefix(op.Name, "reading ") && !strings.Contains(driver, "FTS5"):
			all[op.Name] = errors.New("step 1: no such module: fts5")
		case strings.Contains(fmt.Sprint(stepTexts(op)), "sqrt(") && strings.Contains(driver, "FTS5") && !strings.Contains(driver, "MATH"):
			all[op.Name] = errors.New("step 1: no such function: sqrt")
		}
	}
	return all
}

// draftIn drafts a plan in a folder of its own.
func draftIn(t *testing.T, ctx context.Context, o Options) (*Draft, error) {
	t.Helper()
	o.Folder = t.TempDir()
	if o.Timeout == 0 {
		o.Timeout = time.Minute
	}
	if o.Block == 0 {
		o.Block = time.Hour // however slow the machine is, the plan is the same
	}
	if o.Total == 0 {
		o.Total = 3 * time.Minute
	}
	if o.CPU == nil {
		o.CPU = usedCPU
	}
	if o.CopyTimeout == 0 {
		o.CopyTimeout = time.Minute
	}
	return Make(ctx, o)
}

// An interruption while drivers are asked does not lose what the operations showed.
func TestInterruptedWhileDriversAreAsked(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := options(create(t, "CREATE TABLE item (id INTEGER PRIMARY KEY); INSERT INTO item VALUES (1)"), "SELECT id FROM item WHERE id = ?")
	o.Refused = func(ctx context.Context, driver, _ string, _ *dataset.Data, _ []assay.Operation) (map[string]error, error) {
		if driver == "modernc" {
			cancel()
		}
		return nil, ctx.Err()
	}
	d, err := draftIn(t, ctx, o)
	must(t, err)
	if !d.Interrupted || len(d.Operations) != 1 || len(d.LeftOut) > 0 {
		t.Errorf("got interrupted %t, operations %q, left out %q; want a draft of the one query that says so", d.Interrupted, d.Operations, d.LeftOut)
	}
	for _, want := range []string{"drivers: [mattn, modernc, glebarez]\n", "because init was interrupted:\n# modernc, glebarez\n"} {
		if !strings.Contains(d.Text, want) {
			t.Errorf("the plan has no %q:\n%s", want, d.Text)
		}
	}
}

// A query that does not end is left out, and the others are drafted.
func TestEndlessQuery(t *testing.T) {
	o := options(create(t, "CREATE TABLE item (id INTEGER PRIMARY KEY); INSERT INTO item VALUES (1)"),
		"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n; SELECT id FROM item WHERE id = ?")
	o.Timeout = time.Second
	var steps []string
	o.Progress = func(what string) { steps = append(steps, what) }
	d, err := draftIn(t, t.Context(), o)
	must(t, err)
	if len(d.Operations) != 1 || len(d.LeftOut) != 1 || !strings.Contains(d.LeftOut[0], "it takes longer than 1s of CPU time") {
		t.Errorf("got operations %q, left out %q, want the endless query left out for its time", d.Operations, d.LeftOut)
	}
	if len(steps) < 4 || !strings.HasPrefix(steps[0], "copying ") {
		t.Errorf("got progress %q, want copying, and each query by its name", steps)
	}
}

// A query that waits for a processor for longer than its limit is no slow query.
func TestBusyMachine(t *testing.T) {
	o := options(create(t, "CREATE TABLE item (id INTEGER PRIMARY KEY, n INTEGER); INSERT INTO item VALUES (1, 0)"), "INSERT INTO item (n) VALUES (7); SELECT id FROM item WHERE id = ?")
	o.Timeout, o.CPU = time.Nanosecond, func() time.Duration { return 0 }
	d, err := draftIn(t, t.Context(), o)
	must(t, err)
	if len(d.LeftOut) > 0 || len(d.Operations) < 2 {
		t.Errorf("got operations %q, left out %q; want both queries, which took no CPU time", d.Operations, d.LeftOut)
	}
}

// A query that waits for anything else ends before it takes the time of all.
func TestQueryThatWaits(t *testing.T) {
	d := &drafter{until: time.Now().Add(time.Hour)}
	d.options = Options{Timeout: time.Hour, Total: 30 * time.Millisecond, CPU: usedCPU}
	err := d.within(t.Context(), func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
	if late, is := errors.AsType[lateError](err); !is || late != "it takes longer than 10ms" {
		t.Errorf("got %v, want that it takes longer than a third of the time for all", err)
	}
}

func drafted(t *testing.T, database, queries string) *Draft {
	t.Helper()
	d, err := draftIn(t, t.Context(), options(database, queries))
	must(t, err)
	return d
}

// expanded returns a draft's operations with the first profile and driver.
func expanded(t *testing.T, d *Draft) map[string]assay.Operation {
	t.Helper()
	p, err := plan.Decode("plan.yaml", []byte(d.Text))
	must(t, err)
	cases, err := p.Expand([]string{"mattn"})
	must(t, err)
	all := map[string]assay.Operation{}
	for _, c := range cases {
		if c.Cell.Profile == "current" {
			all[c.Operation.Name] = c.Operation
		}
	}
	return all
}

// TestGolden drafts a plan of a shop with keys of every kind.
func TestGolden(t *testing.T) {
	database := create(t, read(t, "testdata/shop.sql"))
	before := folder(t, filepath.Dir(database))
	d, err := draftIn(t, t.Context(), Options{Database: database, Drivers: known, Queries: "testdata/queries.sql", SQL: read(t, "testdata/queries.sql"),
		Plan: filepath.Join(filepath.Dir(database), "plans", "shop.yaml"),
		Next: []string{"assay plan check DIR/plans/shop.yaml", "assay run DIR/plans/shop.yaml", "assay report"}, Estimate: options("", "").Estimate, Refused: options("", "").Refused})
	must(t, err)
	if after := folder(t, filepath.Dir(database)); !reflect.DeepEqual(after, before) {
		t.Errorf("the folder has %q, before it had %q", after, before)
	}
	got := strings.ReplaceAll(d.Text, filepath.Dir(database), "DIR")
	if *update {
		must(t, os.WriteFile("testdata/shop.yaml", []byte(got), 0o644))
	}
	if want := read(t, "testdata/shop.yaml"); got != want {
		t.Errorf("drafted\n%s\nwant\n%s", got, want)
	}
	if want := 9 * len(d.Operations); d.Cells != want {
		t.Errorf("%d cells, want %d", d.Cells, want)
	}
}

// TestRunning drafts from a file whose write-ahead log another connection
// writes to.
func TestRunning(t *testing.T) {
	database := create(t, "PRAGMA journal_mode = wal")
	db, err := sql.Open("sqlite", database+"?_pragma=busy_timeout(5000)")
	must(t, err)
	defer db.Close()
	if _, err := db.Exec("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')"); err != nil {
		t.Fatal(err)
	}
	writing, err := db.Begin()
	must(t, err)
	if _, err := writing.Exec("INSERT INTO t VALUES (4, 'not committed')"); err != nil {
		t.Fatal(err)
	}
	main := read(t, database)
	d := drafted(t, database, "SELECT v FROM t WHERE id = ?")
	if !strings.Contains(d.Text, "args: SELECT id FROM t\n    rows: 1\n") || !strings.Contains(d.Text, "current: {journal_mode: wal}\n") {
		t.Errorf("drafted\n%s", d.Text)
	}
	if err := writing.Commit(); err != nil {
		t.Errorf("the writer: %v", err)
	}
	if read(t, database) != main {
		t.Error("the database was changed")
	}
}

// TestLeftOut holds that what cannot be measured is said to be left out.
func TestLeftOut(t *testing.T) {
	database := create(t, `CREATE TABLE t (id INTEGER PRIMARY KEY, n INT CHECK (n < 5), d DATE);
		INSERT INTO t VALUES (1, 1, '2020-01-01'), (2, 2, '2021-01-01');
		CREATE TABLE never (a); CREATE TRIGGER no BEFORE INSERT ON never BEGIN SELECT raise(ABORT, 'no rows here'); END`)
	d := drafted(t, database, `SELECT n FROM t WHERE id = ?;
		VACUUM; CREATE TABLE u (a); CREATE TRIGGER x AFTER INSERT ON t BEGIN SELECT 1; SELECT 2; END; ATTACH 'x' AS y;
		SELECT random(); SELECT datetime('now');
		INSERT INTO never VALUES (?);
		UPDATE t SET n = n + 4 WHERE id = ?;
		SELECT NULL;
		UPDATE t SET n = 1 RETURNING d`)
	want := []string{
		"select-1, line 3: its answer is another one each time",
		"select-2, line 3: its answer is another one each time: it asks for datetime of now",
		`insert-never-1, line 4: operation "insert-never-1", step 1 at position 0: constraint failed: no rows here`,
		`update-t-1, line 5: operation "update-t-1"`,
		"update-t-2, line 7: ",
		"VACUUM, line 2: only SELECT", "CREATE, line 2: the schema", "CREATE, line 2: the schema", "ATTACH, line 2: a plan measures one file",
	}
	for i, w := range want {
		if i >= len(d.LeftOut) || !strings.HasPrefix(d.LeftOut[i], w) {
			t.Errorf("left out %d: got %q, want %q", i, slices.Concat(d.LeftOut, make([]string, len(want)))[i], w)
		}
	}
	if !reflect.DeepEqual(d.Operations, []string{"select-t-1", "select-3"}) || len(d.LeftOut) != len(want) {
		t.Errorf("measured %q, left out %q", d.Operations, d.LeftOut)
	}
	if !strings.Contains(d.Text, "\n  #  insert-never-1:\n  #    sql: INSERT INTO never VALUES (?)\n") {
		t.Errorf("what is left out does not stand in\n%s", d.Text)
	}
}

// TestForeignKeys holds that they are enforced where the queries can keep them.
func TestForeignKeys(t *testing.T) {
	database := create(t, `CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (id INTEGER PRIMARY KEY, p INT NOT NULL REFERENCES p);
		INSERT INTO p VALUES (1), (2), (3), (4), (5); INSERT INTO c VALUES (1, 1), (2, 2)`)
	const insert = "INSERT INTO c (p) VALUES (?);"
	if d := drafted(t, database, insert); strings.Count(d.Text, "foreign_keys: on}\n") != 2 || !strings.Contains(d.Text, "args: SELECT (SELECT p FROM c WHERE id >= permute(:i, 2) + 1 LIMIT 1)\n") {
		t.Errorf("drafted\n%s", d.Text)
	}
	d := drafted(t, database, insert+"DELETE FROM p WHERE id = ?")
	if strings.Contains(d.Text, "foreign_keys: on}\n") || !strings.Contains(d.Text, "foreign_keys: on is left out: delete-p-1 fails with them") {
		t.Errorf("drafted\n%s", d.Text)
	}
}

// TestRows holds that a number of rows is stated only where it never varies.
func TestRows(t *testing.T) {
	database := create(t, read(t, "testdata/shop.sql"))
	for query, want := range map[string]int{
		"SELECT name FROM user WHERE id = ?":                1,
		"SELECT id FROM orders WHERE total = ? ORDER BY id": -1,
		"SELECT count(*) FROM orders WHERE total = ?":       -1, // a scan is not tried at every position
		"SELECT id FROM orders ORDER BY id LIMIT 7":         7,
		"SELECT label FROM tag WHERE order_id = ?":          1, // by chance, at every position
		"SELECT id FROM user WHERE mail = 'nobody'":         -1,
		"INSERT INTO note VALUES (?, ?), (?, ?)":            2,
		"UPDATE user SET visits = ? WHERE id = ?":           1,
		"DELETE FROM tag WHERE order_id = ? AND label = ?":  1,
	} {
		d := drafted(t, database, "-- name: q\n"+query)
		if got := expanded(t, d)["q"].Steps[0].Rows; got != want {
			t.Errorf("%s: %d rows, want %d", query, got, want)
		}
	}
}

func TestMistakes(t *testing.T) {
	database := create(t, "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, []byte(content), 0o644))
		return path
	}
	damaged := []byte(read(t, create(t, read(t, "testdata/shop.sql"))))
	for i := range 3000 {
		damaged[5*4096+i] = 0xff
	}
	for name, c := range map[string]struct{ database, queries, want string }{
		"no database":     {filepath.Join(dir, "none.db"), "SELECT 1", "none.db: no such file"},
		"a folder":        {dir, "SELECT 1", "is not a regular file"},
		"empty":           {file("empty.db", ""), "SELECT 1", "empty.db is empty"},
		"not a database":  {file("text.db", strings.Repeat("text ", 100)), "SELECT 1", "is not an SQLite database, or an encrypted one"},
		"damaged":         {file("damaged.db", string(damaged)), "SELECT 1", "damaged.db is damaged or cannot be checked"},
		"no queries":      {database, " -- nothing\n;", "q.sql: there is no query in it"},
		"no text":         {database, "SELECT '\xff'", "q.sql: it is not UTF-8 text"},
		"no end":          {database, "SELECT 1;\nSELECT 'a", "q.sql: after line 2 comes a quote or a comment without an end"},
		"wrong column":    {database, "\n\n-- name: mine\nSELECT b FROM t; SELEKT 1", "q.sql:4: mine cannot be measured: it does not compile: SQL logic error: no such column: b (1)\nq.sql:4: SELEKT "},
		"only others":     {database, "BEGIN; COMMIT", "q.sql:1: transaction transaction-1 cannot be measured: there is no statement in it"},
		"nothing is left": {database, "SELECT random()", "q.sql:1: query select-1 cannot be measured: its answer is another one each time"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := draftIn(t, t.Context(), options(c.database, c.queries))
			var input *InputError
			if !errors.As(err, &input) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, %v; want an InputError with %q", d, err, c.want)
			}
		})
	}
	var input *InputError
	o := options(database, "")
	o.Logs = []Log{{"app.ndjson", []byte(`{"traffic":2}` + "\n" + `{"id":"a","sql":"SELECT nosuch FROM t"}` + "\n" + `{"s":"a","at":0,"conn":1,"tx":0,"ns":1}` + "\n")}}
	if d, err := draftIn(t, t.Context(), o); !errors.As(err, &input) || !strings.HasPrefix(err.Error(), "app.ndjson: select-t-1 cannot") {
		t.Errorf("nothing of a log is left: got %v, %v; want an InputError about the log, without a line", d, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := draftIn(t, ctx, options(database, "SELECT 1")); !errors.Is(err, context.Canceled) || errors.As(err, &input) {
		t.Errorf("cancelled: %v", err)
	}
}

// However many queries change data, and however many builds are asked, the database
// is copied twice: once to be read, and once for all that others have access to.
func TestCopiesAreShared(t *testing.T) {
	database := create(t, "CREATE TABLE item (id INTEGER PRIMARY KEY, n INT); INSERT INTO item (n) WITH RECURSIVE s (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 100) SELECT i FROM s")
	for queries, want := range map[string]int{
		"UPDATE item SET n = n + 1 WHERE id = ?; DELETE FROM item WHERE id = ?; INSERT INTO item (n) VALUES (?)": 2,
		"SELECT n FROM item WHERE id = ?": 2, // the builds are asked
	} {
		o := options(database, queries)
		copies, paths := 0, map[string]bool{}
		o.Progress = func(what string) {
			if strings.HasPrefix(what, "copying ") {
				copies++
			}
		}
		ask := o.Refused
		o.Refused = func(ctx context.Context, driver, path string, data *dataset.Data, operations []assay.Operation) (map[string]error, error) {
			paths[path] = true
			return ask(ctx, driver, path, data, operations)
		}
		d, err := draftIn(t, t.Context(), o)
		must(t, err)
		if copies != want || len(paths) != 1 || paths[database] || len(d.LeftOut) > 0 {
			t.Errorf("%s: got %d copies, drivers asked at %v and %q left out; want %d copies, one of them for all drivers", queries, copies, paths, d.LeftOut, want)
		}
	}
}

func TestCopyHasATimeLimit(t *testing.T) {
	o := options(create(t, "CREATE TABLE item (id INTEGER PRIMARY KEY)"), "SELECT id FROM item WHERE id = ?")
	o.CopyTimeout = time.Nanosecond
	_, err := draftIn(t, t.Context(), o)
	var input *InputError
	if !errors.As(err, &input) || !strings.Contains(err.Error(), "takes longer than 1ns") {
		t.Errorf("got %v, want an InputError that copying takes longer than 1ns", err)
	}
}

// The schema is read in a time that grows with the tables, not with their square.
func TestManyTables(t *testing.T) {
	var text strings.Builder
	text.WriteString("BEGIN;")
	const tables = 1000
	for i := range tables {
		fmt.Fprintf(&text, "CREATE TABLE t%d (a TEXT, b INTEGER); CREATE VIEW v%[1]d AS SELECT b FROM t%[1]d;", i)
	}
	text.WriteString("COMMIT")
	began := time.Now()
	path := create(t, text.String())
	made := time.Since(began)
	began = time.Now()
	s, err := open(t.Context(), path)
	must(t, err)
	defer s.db.Close()
	took := time.Since(began)
	last := s.table(fmt.Sprintf("v%d", tables-1))
	if last == nil || last.view == "" || len(s.tables) < 2*tables {
		t.Fatalf("got %d tables and views, the last one %+v; want %d or more", len(s.tables), last, 2*tables)
	}
	if most := 4*made + time.Second; took > most { // both suffer from a busy machine
		t.Errorf("reading %d tables and views took %s, and making them %s; want at most %s", 2*tables, took, made, most)
	}
}
