package lab

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"assay"
	"assay/internal/build"
	"assay/internal/plan"
	"assay/internal/store"
	"assay/kit/wire"
	"assay/plans"
)

// Every worker that runs SQL on SQLite, and can be built here or is built already, measures
// each cell of quick: what a run asks of workers beside the operations of its plan is
// nothing that one of them may refuse.
func TestQuickWithEveryWorker(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles drivers")
	}
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("no C compiler: ", err)
	}
	dir, err := filepath.Abs("../..")
	must(t, err)
	cache, err := os.UserCacheDir()
	must(t, err)
	l := &Lab{Cache: filepath.Join(cache, "assay"), Source: build.Source{Dir: dir}, Watcher: &watcher{}}
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "assay.db"))
	must(t, err)
	defer s.Close()
	series, err := l.Series(t.Context(), s, Request{Plan: quickInSmall(t), PlanFile: "/quick.yaml", Drivers: sqliteDrivers(t, l),
		Only: map[string][]string{"profile": {"web"}}}, time.Time{})
	must(t, err)
	defer series.Close(t.Context())
	var members []Member
	for _, c := range series.run.chosen.cases {
		members = append(members, Member{c.Cell.DriverName(), c.Cell.Profile})
	}
	trials, err := series.Launch(t.Context(), members)
	must(t, err)
	cells := map[string]int{}
	for _, trial := range trials {
		if trial.Launch == 0 { // its worker could not be built
			t.Logf("%s: %s", trial.Cell.Driver, trial.Reason)
			continue
		}
		want := assay.OK
		if trial.Cell.Statement == string(wire.Never) && slices.Contains(alwaysPrepare, trial.Cell.Driver) {
			want = assay.Unsupported
		}
		if trial.Cell.Begin != "" && trial.Cell.Driver == "activerecord" && trial.Outcome == assay.Unsupported {
			continue // before Rails 8, transactions begin in one way
		}
		if trial.Cell.Begin == "deferred" && trial.Cell.Driver == "libsql" && (trial.Outcome == assay.Failed || trial.Outcome == assay.TimedOut) {
			continue // it does not end a statement that was answered busy, and the transaction cannot end either: other processes may wait for it
		}
		if trial.Cell.Driver == "turso" && trial.Cell.Processes > 1 {
			want = assay.Unsupported // it opens a file in one process only
		}
		if trial.Outcome != want {
			t.Errorf("%s of %s: got %s (%s), want %s", trial.Cell.Operation, trial.Cell.Driver, trial.Outcome, trial.Reason, want)
		}
		if !trial.Twin {
			cells[trial.Cell.Driver]++
		}
	}
	for _, name := range []string{"mattn", "modernc", "glebarez", "ncruces", "ncruces-direct", "zombiezen", "crawshaw", "eatonphil", "sqlite-c"} {
		want := 0
		for _, c := range series.run.chosen.cases {
			if c.Cell.Driver == name && len(c.Operation.Terms) == 0 {
				want++
			}
		}
		if want == 0 || cells[name] != want {
			t.Errorf("%s: got %d cells of %d", name, cells[name], want)
		}
	}
}

// alwaysPrepare are the drivers without a call for SQL that is not prepared: the operation
// that asks for it is unsupported, and no other.
var alwaysPrepare = []string{"sqlite-c", "eatonphil", "ncruces-direct", "better-sqlite3", "libsql", "node-sqlite", "bun"}

// sqliteDrivers are the drivers of SQLite that need no installation, or have it already.
func sqliteDrivers(t *testing.T, l *Lab) []string {
	t.Helper()
	all, err := l.Source.Drivers()
	must(t, err)
	var names []string
	for _, d := range all {
		_, cached, _ := l.builder().Cached(t.Context(), build.Spec{Name: d.Name})
		if !d.Store && (!d.Installs || cached) && !slices.Contains([]string{"null", "pgx", "activerecord-postgresql", "duckdb"}, d.Name) {
			names = append(names, d.Name)
		}
	}
	return names
}

// quickInSmall is the plan quick with few rows and operations.
func quickInSmall(t *testing.T) *plan.Plan {
	t.Helper()
	text, known := plans.Read("quick")
	if !known {
		t.Fatal("there is no plan quick")
	}
	for pattern, small := range map[string]string{
		`(?m)^budget: .*$`:             "",
		`rows: \[100000(, 1000000)?\]`: "rows: [1000]",
		`\{default: \d+, web: \d+\}.*`: "100",
		`count: (2000|15000)`:          "count: 100",
	} {
		of := regexp.MustCompile(pattern)
		if !of.Match(text) {
			t.Fatalf("quick has nothing like %s", pattern)
		}
		text = of.ReplaceAll(text, []byte(small))
	}
	p, err := plan.Decode("quick.yaml", text)
	must(t, err)
	return p
}
