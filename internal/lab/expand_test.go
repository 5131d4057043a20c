package lab

import (
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"assay"
	"assay/internal/build"
	"assay/internal/plan"
	"assay/internal/runner"
	"assay/plans"
)

// * stands for the maintained Go drivers of the plan's engine, the plan's own first.
func TestGoDriversOfAPlan(t *testing.T) {
	root, err := filepath.Abs("../..")
	must(t, err)
	l := &Lab{Source: build.Source{Dir: root}}
	for name, want := range map[string][2][]string{ // some that are among them, and some that are not
		"quick":     {{"mattn", "modernc", "glebarez", "ncruces", "zombiezen"}, {"crawshaw", "pgx", "bbolt", "python", "sqlite-c", "better-sqlite3", "null", "duckdb"}},
		"analytics": {{"mattn", "duckdb", "ncruces"}, {"pgx", "bbolt"}},
		"kv":        {{"bbolt", "badger", "pebble"}, {"goleveldb", "pgx", "python"}},
	} {
		text, _ := plans.Read(name)
		p, err := plan.Decode(name+".yaml", text)
		must(t, err)
		got, err := l.expandDrivers(t.Context(), p, []string{"*"})
		must(t, err)
		if n := len(p.Drivers); !slices.Equal(got[:n], p.Drivers) {
			t.Errorf("%s: %v, want the plan's own first: %v", name, got, p.Drivers)
		}
		for _, driver := range want[0] {
			if !slices.Contains(got, driver) {
				t.Errorf("%s: %v, want %s among them", name, got, driver)
			}
		}
		for _, driver := range want[1] {
			if slices.Contains(got, driver) && !slices.Contains(p.Drivers, driver) {
				t.Errorf("%s: %v, want no %s", name, got, driver)
			}
		}
	}
}

// toldBuilds keeps what a watcher is told of builds.
type toldBuilds struct {
	sync.Mutex
	notes  []string
	builds []build.Event
}

func (b *toldBuilds) Build(e build.Event)          { b.builds = append(b.builds, e) }
func (b *toldBuilds) Note(text string)             { b.notes = append(b.notes, text) }
func (b *toldBuilds) Data(string, int, int)        {}
func (b *toldBuilds) Measure(runner.Event)         {}
func (b *toldBuilds) Trial(assay.Run, assay.Trial) {}

// Several builds are said before they begin, and counted; layouts are no builds of their own.
func TestBuildsAreCounted(t *testing.T) {
	root, err := filepath.Abs("../..")
	must(t, err)
	told := &toldBuilds{}
	l := &Lab{Source: build.Source{Dir: root}, Cache: t.TempDir(), Watcher: told}
	log := l.countBuilds(t.Context(), []assay.Case{{Cell: assay.Cell{Driver: "mattn"}}, {Cell: assay.Cell{Driver: "bbolt"}}, {Cell: assay.Cell{Driver: "mattn"}},
		{Cell: assay.Cell{Driver: "missing"}}}) // there is none to build
	for _, worker := range []string{"bbolt", "mattn", "bbolt", "mattn, layout 1"} {
		log(build.Event{Worker: worker, State: build.Building})
	}
	var got [][2]int
	for _, e := range told.builds {
		got = append(got, [2]int{e.Number, e.Of})
	}
	if want := [][2]int{{1, 2}, {2, 2}, {1, 2}, {0, 0}}; !slices.Equal(got, want) || len(told.notes) != 1 {
		t.Errorf("got builds %v and notes %q, want %v and one note", got, told.notes, want)
	}
	log = l.countBuilds(t.Context(), []assay.Case{{Cell: assay.Cell{Driver: "mattn"}}})
	if log(build.Event{Worker: "mattn", State: build.Building}); told.builds[len(told.builds)-1].Of != 0 || len(told.notes) != 1 {
		t.Errorf("a build alone is counted: %+v, %q", told.builds, told.notes)
	}
}
