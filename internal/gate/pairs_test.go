package gate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/internal/build"
	"assay/internal/lab"
	"assay/internal/plan"
)

// The base is what go.mod required, and the head what it requires now. What assay cannot
// build is not measured, and says why.
func TestMovedPair(t *testing.T) {
	const module = "example.org/driver"
	of := func(version, fork, folder string) Requirement {
		return Requirement{Module: module, Version: version, Fork: fork, Folder: folder, File: "go.mod", Line: 7}
	}
	plain := build.Driver{Name: "mattn", Module: module, Ecosystem: build.Go, Package: module}
	store := plain
	store.Name, store.Store = "bbolt", true
	for name, c := range map[string]struct {
		driver      build.Driver
		base, head  Requirement
		want        string // BASE HEAD
		notMeasured string
	}{
		"a version":                    {plain, of("v1.0.0", "", ""), of("v1.1.0", "", ""), "mattn@v1.0.0 mattn@v1.1.0", ""},
		"a version before":             {plain, of("v1.1.0", "", ""), of("v1.0.0", "", ""), "mattn@v1.1.0 mattn@v1.0.0", ""},
		"to a fork":                    {plain, of("v1.0.0", "", ""), of("v1.1.0", "example.org/fork", ""), "", "go.mod replaces it with example.org/fork"},
		"from a fork":                  {plain, of("v1.0.0", "example.org/fork", ""), of("v1.1.0", "", ""), "", "go.mod replaced it with example.org/fork"},
		"from a folder":                {plain, of("v1.0.0", "", "../fork"), of("v1.1.0", "", ""), "", "whose files may have changed since"},
		"a store, which SQL says none": {store, of("v1.0.0", "", ""), of("v1.1.0", "", ""), "", "plan quick has no kv operations: assay gate kv --base-ref v1 --driver bbolt --dir app"},
	} {
		m := &Measuring{request: Request{Plan: &plan.Plan{Name: "quick"}, Dir: "app", Revision: "v1"}}
		got, err := m.movedPair(t.Context(), Move{c.driver, c.base, c.head})
		must(t, err)
		if c.notMeasured != "" {
			if !strings.Contains(got.notMeasured, c.notMeasured) {
				t.Errorf("%s: got %+v, want that it is not measured: %s", name, got, c.notMeasured)
			}
			continue
		}
		if pair := got.base + " " + got.head; pair != c.want || got.notMeasured != "" || got.line != 7 || got.file != "app/go.mod" {
			t.Errorf("%s: got %+v, want %s of line 7 of app/go.mod", name, got, c.want)
		}
	}
}

// A plan that a migration changed is said to be another one than at the revision, where it lies below
// the folder that is compared.
func TestOtherPlan(t *testing.T) {
	dir := t.TempDir()
	below := filepath.Join(dir, "plans")
	must(t, os.Mkdir(below, 0o755))
	app := filepath.Join(below, "app.yaml")
	put(t, app, "name: app\n")
	commit(t, dir)
	for _, c := range []struct {
		dir, file string
		want      bool
	}{{dir, app, true}, {below, app, true}, {filepath.Join(dir, "service"), app, false}, {dir, filepath.Join(dir, "new.yaml"), false}, {dir, "app.yaml", false}} {
		for text, changed := range map[string]bool{"name: app\n": false, "name: other\n": true} {
			m := &Measuring{request: Request{Plan: &plan.Plan{Text: text}, PlanFile: c.file, Dir: c.dir, Revision: "HEAD"}}
			if got := m.otherPlan(t.Context()); (got != "") != (c.want && changed) {
				t.Errorf("%s beside %s with %q: got %q", c.file, c.dir, text, got)
			}
		}
	}
}

// The checkout of another module is no build of a driver.
func TestCheckoutOfAnotherModule(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "checkout")
	must(t, os.Mkdir(dir, 0o755))
	must(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.org/driver\n"), 0o644))
	for module, want := range map[string]bool{"example.org/driver": true, "example.org/other": false} {
		m := &Measuring{lab: &lab.Lab{}}
		got, err := m.side(t.Context(), build.Driver{Name: "mattn", Ecosystem: build.Go, Package: module}, dir)
		if (err == nil) != want || want && (!strings.HasPrefix(got, "mattn@") || len(m.lab.Checkouts) != 1) {
			t.Errorf("a driver of %s: got %q of %d checkouts, %v; want a build: %v", module, got, len(m.lab.Checkouts), err, want)
		}
	}
}

// A folder in go.mod is one from where that lies.
func TestMovedToAFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, folder := range []string{"fork", "app/fork"} {
		must(t, os.MkdirAll(folder, 0o755))
		must(t, os.WriteFile(filepath.Join(folder, "go.mod"), []byte("module example.org/driver\n"), 0o644))
	}
	absolute, err := filepath.Abs("fork")
	must(t, err)
	for _, c := range []struct{ dir, folder, want string }{{".", "./fork", "fork"}, {"app", "./fork", "app/fork"}, {"app", "../fork", "fork"}, {"app", absolute, "fork"}} {
		m := &Measuring{lab: &lab.Lab{}, request: Request{Plan: &plan.Plan{Name: "quick"}, Dir: c.dir}}
		driver := build.Driver{Name: "mattn", Ecosystem: build.Go, Package: "example.org/driver"}
		move := Move{Driver: driver, Base: Requirement{Version: "v1.0.0"}, Head: Requirement{Version: "v1.0.0", Folder: c.folder}}
		got, err := m.movedPair(t.Context(), move)
		if err != nil || len(m.lab.Checkouts) != 1 {
			t.Errorf("%s of %s/go.mod: got %+v, %d checkouts, %v; want one", c.folder, c.dir, got, len(m.lab.Checkouts), err)
			continue
		}
		want, err := filepath.Abs(c.want)
		must(t, err)
		if checkout := m.lab.Checkouts[0]; checkout.Dir != want || got.base != "mattn@v1.0.0" || got.head != "mattn@"+checkout.Version {
			t.Errorf("%s of %s/go.mod: got %+v of %s, want %s", c.folder, c.dir, got, checkout.Dir, want)
		}
	}
}

// Where a lock file says no version, as one that asks for a range, the upgrade is not measured.
func TestMovedRange(t *testing.T) {
	m := &Measuring{lab: &lab.Lab{}, request: Request{Plan: &plan.Plan{Name: "quick"}, Dir: "."}}
	driver := build.Driver{Name: "rusqlite", Ecosystem: build.Cargo, Package: "rusqlite"}
	for versions, measured := range map[[2]string]bool{{"0.37.0", "0.42.0"}: true, {"0.37", "0.42"}: false, {"0.37.0", `rusqlite = ">=0.38"`}: false} {
		got, err := m.movedPair(t.Context(), Move{driver, Requirement{Version: versions[0]}, Requirement{Version: versions[1]}})
		if err != nil || (got.notMeasured == "") != measured {
			t.Errorf("%q: got %+v, %v, want measured: %t", versions, got, err, measured)
		}
	}
}

// What gate cannot compare it refuses before it builds anything, with one reason.
func TestRefusedPairs(t *testing.T) {
	l := &lab.Lab{Source: build.Source{Dir: "../.."}}
	for name, c := range map[string]struct {
		request Request
		want    string
	}{
		"the same version":       {Request{Driver: "mattn", Base: "v1.14.30", Head: "v1.14.30"}, "mattn@v1.14.30 and mattn@v1.14.30 are the same program"},
		"the same driver":        {Request{Base: "mattn", Head: "mattn"}, "mattn and mattn are the same program"},
		"versions of Python":     {Request{Driver: "python", Base: "3.11", Head: "3.12"}, "driver python has no versions: no registry that assay knows has its library"},
		"a revision of a script": {Request{Driver: "activerecord", Revision: "HEAD"}, "driver activerecord has no versions: no registry that assay knows has its library"},
		"versions of C":          {Request{Driver: "sqlite-c", Base: "v3.49.0", Head: "v3.50.0"}, "driver sqlite-c has no versions: no registry that assay knows has its library"},
	} {
		_, err := New(t.Context(), l, c.request)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
