package dataset

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"assay"
)

// monsters is a dataset with columns of every type.
func monsters(rows int) assay.Dataset {
	return assay.Dataset{
		Workload: "monsters",
		Schema: `CREATE TABLE monster (id INTEGER PRIMARY KEY, name TEXT NOT NULL, hp INT, weight REAL, "odd ""name""" BLOB,
			tame BOOLEAN, lair INT, mail TEXT, note TEXT, unfilled TEXT DEFAULT 'default');
			CREATE INDEX monster_hp ON monster (hp);
			CREATE TABLE "two words" (n INT);`,
		Seed: 7,
		Tables: []assay.Table{
			{Name: "monster", Select: fmt.Sprintf(`SELECT value, text(12), iif(random(0, 9), random(1, 9999), NULL), random(0, 10000) / 100.0, blob(5),
				random(0, 1), random_zipfian(1, 100, 1.07), printf('m%%d@example.org', value), '-', 'default' FROM generate_series(1, %d)`, rows)},
			{Name: "two words", Select: "SELECT value FROM generate_series(10, 12)"},
		},
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func prepare(t *testing.T, ds assay.Dataset) *Data {
	t.Helper()
	d, err := Cache{Dir: t.TempDir()}.Prepare(t.Context(), ds)
	must(t, err)
	return d
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	must(t, err)
	return string(content)
}

// names lists a folder.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	list := []string{}
	for _, entry := range entries {
		if entry.Name() != "sweeping.lock" { // of package scratch
			list = append(list, entry.Name())
		}
	}
	return list
}

// queryAll returns an answer as text, a line a row.
func queryAll(t *testing.T, path, query string) string {
	t.Helper()
	conn, done, err := connect(t.Context(), path, "mode=ro")
	must(t, err)
	defer done()
	rows, err := conn.QueryContext(t.Context(), query)
	must(t, err)
	lines := []string{}
	err = Visit(rows, func(row []any) error {
		lines = append(lines, strings.TrimSuffix(fmt.Sprintln(row...), "\n"))
		return nil
	})
	must(t, err)
	return strings.Join(lines, "\n")
}

func TestPrepare(t *testing.T) {
	d := prepare(t, monsters(1000))
	got := queryAll(t, d.Path, `SELECT count(*), min(id), max(id), count(hp) BETWEEN 850 AND 950, min(hp) >= 1, max(hp) <= 9999,
		sum(length(name) = 12), sum(length("odd ""name""") = 5), sum(tame IN (0, 1)), sum(mail = 'm' || id || '@example.org'),
		count(DISTINCT note), count(DISTINCT unfilled), sum(typeof(weight) = 'real') FROM monster`)
	if want := "1000 1 1000 1 1 1 1000 1000 1000 1000 1 1 1000"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := queryAll(t, d.Path, `SELECT n FROM "two words"`), "10\n11\n12"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	header, err := Header(d.Path)
	want := map[string]string{"journal_mode": "rollback", "page_size": "4096", "auto_vacuum": "none", "encoding": "UTF-8"}
	if err != nil || !reflect.DeepEqual(header, want) {
		t.Errorf("header %v, %v", header, err)
	}
	info, err := os.Stat(d.Path)
	if err != nil || info.Mode().Perm() != 0o444 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if got, want := names(t, filepath.Dir(d.Path)), []string{"data.db", "data.sha256"}; !reflect.DeepEqual(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
}

// TestDeterminism: two caches hold the same bytes, and a seed matters.
func TestDeterminism(t *testing.T) {
	a, b := prepare(t, monsters(5000)), prepare(t, monsters(5000))
	if read(t, a.Path) != read(t, b.Path) || a.Digest != b.Digest {
		t.Error("two caches have different files")
	}
	other := monsters(5000)
	other.Seed++
	if prepare(t, other).Digest == a.Digest {
		t.Error("another seed, the same data")
	}
}

func TestPrepareFindsWhatIsThere(t *testing.T) {
	cache := Cache{Dir: t.TempDir()}
	ds := monsters(500)
	first, err := cache.Prepare(t.Context(), ds)
	must(t, err)
	calls := 0
	cache.Progress = func(string, int, int) { calls++ }
	ds.Workload = "another name"
	second, err := cache.Prepare(t.Context(), ds)
	if err != nil || second.Path != first.Path || second.Digest != first.Digest || calls != 0 {
		t.Errorf("%+v, %v, %d calls of Progress", second, err, calls)
	}
}

func TestPrepareRepairsDamage(t *testing.T) {
	cache := Cache{Dir: t.TempDir()}
	d, err := cache.Prepare(t.Context(), monsters(500))
	must(t, err)
	good := read(t, d.Path)
	damages := map[string]func() error{
		"cut":     func() error { return os.Truncate(d.Path, 5000) },
		"changed": func() error { return os.WriteFile(d.Path, []byte("x"+good[1:]), 0o644) },
		"removed": func() error { return os.Remove(d.Path) },
		"no sum":  func() error { return os.Remove(filepath.Join(filepath.Dir(d.Path), sumName)) },
	}
	for name, damage := range damages {
		must(t, errors.Join(os.Chmod(d.Path, 0o644), damage()))
		again, err := cache.Prepare(t.Context(), monsters(500))
		if err != nil || again.Digest != d.Digest || read(t, d.Path) != good {
			t.Errorf("%s: %v, %v", name, again, err)
		}
	}
}

func TestPrepareAtTheSameTime(t *testing.T) {
	cache := Cache{Dir: t.TempDir()}
	var group sync.WaitGroup
	digests, errs := make([]string, 4), make([]error, 4)
	for i := range digests {
		group.Go(func() {
			d, err := cache.Prepare(context.Background(), monsters(2000))
			if errs[i] = err; err == nil {
				digests[i] = d.Digest
			}
		})
	}
	group.Wait()
	for i, digest := range digests {
		if errs[i] != nil || digest != digests[0] {
			t.Errorf("%s, %v", digest, errs[i])
		}
	}
	if got := names(t, cache.Dir); len(got) != 1 {
		t.Errorf("left behind: %q", got)
	}
}

func TestCancelLeavesNothing(t *testing.T) {
	for _, at := range []int{0, 10_000, 30_000} {
		ctx, cancel := context.WithCancel(t.Context())
		cache := Cache{Dir: t.TempDir(), Progress: func(_ string, done, _ int) {
			if done >= at {
				cancel()
			}
		}}
		if at == 0 {
			cancel()
		}
		_, err := cache.Prepare(ctx, monsters(30_000))
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled at %d: %v", at, err)
		}
		if got := names(t, cache.Dir); len(got) != 0 {
			t.Errorf("cancelled at %d, left behind: %q", at, got)
		}
	}
}

func TestProgress(t *testing.T) {
	var got []string
	cache := Cache{Dir: t.TempDir(), Progress: func(table string, done, rows int) {
		got = append(got, fmt.Sprintf("%s %d/%d", table, done, rows))
	}}
	if _, err := cache.Prepare(t.Context(), monsters(25_000)); err != nil {
		t.Fatal(err)
	}
	want := []string{"monster 25000/25000", "two words 3/3"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What a killed process left behind in the cache goes when the next one makes
// something; what another process makes stays, and so does what is none of ours.
func TestSweep(t *testing.T) {
	data := prepare(t, monsters(10))
	cache := filepath.Dir(filepath.Dir(data.Path))
	going, err := data.scratch()
	must(t, err)
	for _, name := range []string{workPrefix + "killed", workPrefix + "locked", "mine"} {
		must(t, os.MkdirAll(filepath.Join(cache, name, "x"), 0o755))
	}
	if _, err := (Cache{Dir: cache}).Prepare(t.Context(), monsters(10)); err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Base(going.Path), filepath.Base(filepath.Dir(data.Path)), "mine"}
	if got := names(t, cache); !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	must(t, going.Remove())
}

func TestHostilePaths(t *testing.T) {
	for _, name := range []string{"with space", "a?b=c&mode=memory", "#hash", "100%", "%20", "quote'\"`", "ü\nline", "file:x", ":memory:"} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), name)
			d, err := Cache{Dir: dir}.Prepare(t.Context(), monsters(10))
			must(t, err)
			if filepath.Dir(filepath.Dir(d.Path)) != dir {
				t.Errorf("made at %s", d.Path)
			}
			src, dst := filepath.Join(dir, name+".db"), filepath.Join(dir, name+" copy.db")
			must(t, errors.Join(d.Copy(src), Snapshot(t.Context(), src, dst)))
			if got := queryAll(t, dst, "SELECT count(*) FROM monster"); got != "10" {
				t.Errorf("%s rows", got)
			}
			if got := names(t, filepath.Dir(dir)); len(got) != 1 {
				t.Errorf("written beside: %q", got)
			}
		})
	}
}

func TestFileSettings(t *testing.T) {
	for _, settings := range []map[string]string{
		{"page_size": "512"},
		{"page_size": "65536"},
		{"auto_vacuum": "1"},
		{"auto_vacuum": "2"},
		{"encoding": "UTF-16le"},
		{"page_size": "8192", "auto_vacuum": "2", "encoding": "UTF-16be"},
	} {
		ds := monsters(100)
		ds.FileSettings = settings
		d := prepare(t, ds)
		header, err := Header(d.Path)
		must(t, err)
		for name, value := range settings {
			said := value
			if name == "auto_vacuum" {
				said = []string{"none", "full", "incremental"}[value[0]-'0']
			}
			if header[name] != said {
				t.Errorf("%s=%s: the file says %s", name, value, header[name])
			}
			if pragma := queryAll(t, d.Path, "PRAGMA "+name); pragma != value {
				t.Errorf("%s=%s: SQLite says %s", name, value, pragma)
			}
		}
		if got := queryAll(t, d.Path, "SELECT mail FROM monster WHERE id = 7"); got != "m7@example.org" {
			t.Errorf("%v: %s", settings, got)
		}
	}
}

func TestSchemaMayTurnTheLogOn(t *testing.T) {
	ds := monsters(10)
	ds.Schema = "PRAGMA journal_mode=wal;" + ds.Schema
	d := prepare(t, ds)
	if header, err := Header(d.Path); err != nil || header["journal_mode"] != "rollback" {
		t.Errorf("%v, %v", header, err)
	}
	if got := names(t, filepath.Dir(d.Path)); len(got) != 2 {
		t.Errorf("files %q", got)
	}
}

func TestPrepareErrors(t *testing.T) {
	cases := map[string]struct {
		change func(*assay.Dataset)
		want   []string
	}{
		"schema":  {func(ds *assay.Dataset) { ds.Schema = "CREATE TABL x" }, []string{`"monsters"`, "schema:", "CREATE TABL x", "syntax error"}},
		"nothing": {func(ds *assay.Dataset) { ds.Schema = "-- nothing" }, []string{`table "monster"`, "no such table: monster"}},
		"table":   {func(ds *assay.Dataset) { ds.Tables[1].Name = "missing" }, []string{`table "missing"`, "no such table"}},
		"columns": {func(ds *assay.Dataset) { ds.Tables[0].Select = "SELECT 1" }, []string{`table "monster"`, "has 10 columns but 1 values"}},
		"value": {func(ds *assay.Dataset) {
			ds.Tables[0].Select = strings.Replace(ds.Tables[0].Select, "text(12)", "NULL", 1)
		}, []string{`table "monster"`, "NOT NULL constraint failed: monster.name"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			ds := monsters(1000)
			c.change(&ds)
			dir := t.TempDir()
			_, err := Cache{Dir: dir}.Prepare(t.Context(), ds)
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v lacks %q", err, want)
				}
			}
			if got := names(t, dir); len(got) != 0 {
				t.Errorf("left behind: %q", got)
			}
		})
	}
}

// A schema whose statements, views or triggers have no end is given up.
func TestTimeout(t *testing.T) {
	const endless = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) AS n FROM c"
	for name, schema := range map[string]string{
		"statement": "CREATE TABLE monster AS " + endless,
		"view":      "CREATE VIEW circle AS " + endless + "; CREATE TABLE monster AS SELECT n FROM circle",
		"trigger":   "CREATE TABLE monster (id); CREATE VIEW circle AS " + endless + "; CREATE TRIGGER t AFTER INSERT ON monster BEGIN SELECT n FROM circle; END",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			ds := assay.Dataset{Workload: "w", Schema: schema, Tables: []assay.Table{{Name: "monster", Select: "SELECT value FROM generate_series(1, 10)"}}}
			_, err := Cache{Dir: dir, Timeout: 50 * time.Millisecond}.Prepare(t.Context(), ds)
			if !errors.Is(err, ErrTimeout) || !strings.Contains(err.Error(), map[bool]string{true: "1.5s", false: "50ms"}[name == "trigger"]) { // data may take 30 times as long
				t.Errorf("got %v, want that the statement took longer than 50ms", err)
			}
			if got := names(t, dir); len(got) != 0 {
				t.Errorf("left behind: %q", got)
			}
		})
	}
}

func TestCopy(t *testing.T) {
	d := prepare(t, monsters(100))
	dst := filepath.Join(t.TempDir(), "copy.db")
	must(t, d.Copy(dst))
	if read(t, dst) != read(t, d.Path) {
		t.Error("the copy differs")
	}
	execute(t, dst, "DELETE FROM monster")
	if got := queryAll(t, d.Path, "SELECT count(*) FROM monster"); got != "100" {
		t.Errorf("the data have %s rows after a change of the copy", got)
	}
	if err := d.Copy(dst); !errors.Is(err, os.ErrExist) {
		t.Errorf("over an existing file: %v", err)
	}
}

// execute runs SQL on a file as any program would, and closes it.
func execute(t *testing.T, path, script string) {
	t.Helper()
	conn, done, err := connect(t.Context(), path, "mode=rwc&_pragma=busy_timeout(5000)")
	must(t, err)
	_, err = conn.ExecContext(t.Context(), script)
	must(t, errors.Join(err, done()))
}

// An index and statistics change the file and neither its rows nor the arguments:
// SQLite would read the rows of a covering index in another order.
func TestPrepareChangesNoArgument(t *testing.T) {
	cache := Cache{Dir: t.TempDir()}
	plain := monsters(500)
	indexed := monsters(500)
	indexed.Prepare = []string{"CREATE INDEX by_name ON monster (name)", "ANALYZE"}
	op := assay.Operation{Name: "read", Steps: []assay.Step{{SQL: "SELECT id FROM monster WHERE name = ?", Query: true, Args: []assay.Values{{Kind: assay.Row, Query: "SELECT name FROM monster"}}}}}
	var sums, drawn []string
	for _, ds := range []assay.Dataset{plain, indexed} {
		d, err := cache.Prepare(t.Context(), ds)
		must(t, err)
		trace, err := d.Trace(t.Context(), op, 50)
		must(t, err)
		sums, drawn = append(sums, d.Digest), append(drawn, trace.Digest)
		if got, want := queryAll(t, d.Path, "SELECT count(*) FROM sqlite_schema WHERE name IN ('by_name', 'sqlite_stat1')"), map[bool]string{false: "0", true: "2"}[len(ds.Prepare) > 0]; got != want {
			t.Errorf("%q: got %s of the index and the statistics, want %s", ds.Prepare, got, want)
		}
	}
	if sums[0] == sums[1] || drawn[0] != drawn[1] {
		t.Errorf("got files %.8q with arguments %.8q, want two files with the same arguments", sums, drawn)
	}
	if again, err := cache.Prepare(t.Context(), plain); err != nil || again.Digest != sums[0] {
		t.Errorf("the file without the index became another: %v", err)
	}
	indexed.Prepare = []string{"CREATE INDEX by_name ON nosuch (name)"}
	if _, err := cache.Prepare(t.Context(), indexed); err == nil || !strings.Contains(err.Error(), "no such table") {
		t.Errorf("got %v, want an error that names the missing table", err)
	}
}
