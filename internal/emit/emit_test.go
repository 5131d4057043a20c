package emit_test

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay"
	"assay/internal/build/catalog"
	"assay/internal/emit"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// The ecosystems of the drivers that the source holds, and their names.
var (
	ecosystems = func() emit.Ecosystems {
		drivers, err := catalog.Read("../../workers")
		if err != nil {
			panic(err)
		}
		all, err := emit.Of(drivers)
		if err != nil {
			panic(err)
		}
		return all
	}()
	names = slices.DeleteFunc(ecosystems.Names(), func(name string) bool { return name == emit.PostgreSQL })
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A driver's parameters of a DSN are those that experiments found; without, SQL does it.
func TestParametersOfFacts(t *testing.T) {
	for applied, want := range map[string]string{`"file:?_pragma=cache_size()"`: "_pragma=journal_mode(WAL)", `"file:?_journal"`: "_journal=WAL", `"?_journal"`: "PRAGMA journal_mode = WAL", ``: "PRAGMA journal_mode = WAL"} {
		dir := filepath.Join(t.TempDir(), "fresh")
		must(t, os.MkdirAll(filepath.Join(dir, "facts"), 0o700))
		must(t, os.WriteFile(filepath.Join(dir, "driver.yaml"), []byte("go: {package: example.com/fresh, sql: fresh}\nemit: {name: go-fresh, title: fresh, language: go, uri: true}\n"), 0o600))
		facts := `{"driver": "fresh", "module": "example.com/fresh", "version": "v1.0.0", "effects": {"applied": [` + applied + `]}}`
		must(t, os.WriteFile(filepath.Join(dir, "facts", "fresh@v1.0.0.json"), []byte(facts), 0o600))
		drivers, err := catalog.Read(filepath.Dir(dir))
		must(t, err)
		all, err := emit.Of(drivers)
		must(t, err)
		form, err := all.For("go-fresh", emit.Source{Name: "p/q", Profile: assay.Profile{Settings: map[string]string{"journal_mode": "WAL"}}})
		must(t, err)
		if !strings.Contains(form.Text, want) {
			t.Errorf("applied %s: got %s, want %s", applied, form.Text, want)
		}
	}
}

// Two profiles are printed for all ecosystems, the others for one of each kind: database/sql, an
// API of its own, and those with notes. TestReadBack runs all.
func TestGolden(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(profiles)) {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			for _, ecosystem := range names {
				if name != "every" && name != "web" && !slices.Contains([]string{"go-modernc", "go-zombiezen", "django", "rails"}, ecosystem) {
					continue
				}
				form, err := ecosystems.For(ecosystem, named(name))
				must(t, err)
				out.WriteString("-- " + ecosystem + " --\n" + form.Text)
				for _, unset := range form.Unset {
					if !strings.Contains(form.Text, "NOT SET: "+unset+".\n") {
						t.Errorf("%s: the text does not say %q", ecosystem, unset)
					}
				}
			}
			file := filepath.Join("testdata", name+".golden")
			if *update {
				must(t, os.WriteFile(file, []byte(out.String()), 0o644))
			}
			want, err := os.ReadFile(file)
			must(t, err)
			if got := out.String(); got != string(want) {
				t.Errorf("%s differs (go test ./internal/emit -update writes it anew):\n%s", file, got)
			}
		})
	}
}

// What an ecosystem cannot set is told, never left out.
func TestUnset(t *testing.T) {
	memory := ": a plan's data are copied into memory; an application has its data in a file"
	prepare := "CREATE INDEX i ON t (a): changes the database before it is opened, which is the application's to do"
	once := "ANALYZE: runs once on one connection after opening, which is the application's to do"
	path := "ATTACH '{{path}}' AS other: it names the file of the plan"
	tests := []struct {
		ecosystem, profile string
		want               []string
	}{
		{"rails", "gaps", []string{"memory = 1" + memory, "mutex = NO: database.yml has no key for it", path, once, prepare}},
		{"go-mattn", "gaps", []string{"memory = 1" + memory, path, once, prepare}},
		{"go-zombiezen", "gaps", []string{"memory = 1" + memory, "mutex = NO: its connections never have one", path, once, prepare}},
		{"go-glebarez", "gaps", []string{"memory = 1" + memory, "mutex = NO: the driver has no parameter for it", path, once, prepare}},
		{"go-ncruces", "gaps", []string{"memory = 1" + memory, "mutex = NO: its connections never have one", path, once, prepare}},
		{"go-ncruces-direct", "shared", []string{"shared_cache = 1: the driver's SQLite is compiled without the shared cache"}},
		{"go-ncruces", "raw", []string{"mmap_size = 268435456: the driver's SQLite is compiled without memory mapping"}},
		{"go-eatonphil", "every", []string{"encoding = 'UTF-16LE': the driver's SQLite is compiled without UTF-16"}},
		{"go-crawshaw", "gaps", []string{"memory = 1" + memory, path, once, prepare}},
		{"go-eatonphil", "gaps", []string{"memory = 1" + memory, path, once, prepare}},
		{"django", "gaps", []string{"memory = 1" + memory, "mutex = NO: sqlite3.connect has no parameter for it", path,
			"SELECT ';': init_command cannot have a semicolon within a statement", once, prepare}},
		{"apsw", "shared", []string{"shared_cache = 1: APSW's packages are compiled without the shared cache"}},
		{"rusqlite", "shared", nil},
		{"node", "immutable", []string{"immutable = 1: better-sqlite3 takes no file: URI"}},
		{"node", "shared", []string{"shared_cache = 1: better-sqlite3 is compiled without the shared cache"}},
		{"node", "unshared", nil},
		{"python", "raw", nil},
		{"python", "immutable-log", []string{"journal_mode = WAL: an immutable file is read without its log, and SQLite does not refuse"}},
		{"python", "raw-memory", []string{
			"ATTACH '{{path}}' AS filedb: runs once on one connection after opening, which is the application's to do", "a database in memory" + memory}},
		{"python", "store", nil},
	}
	for _, test := range tests {
		form, err := ecosystems.For(test.ecosystem, named(test.profile))
		must(t, err)
		if diff := cmp.Diff(test.want, form.Unset); diff != "" {
			t.Errorf("%s for %s: (-want +got)\n%s", test.profile, test.ecosystem, diff)
		}
	}
}

// SQL of a plan that a setting stands for is told in a comment, whatever lines it has.
func TestLinesOfSQL(t *testing.T) {
	source := emit.Source{Name: "test/lines", Profile: assay.Profile{
		Requests: map[string]string{"foreign_keys": "1"}, Each: []string{"PRAGMA foreign_keys = ON\nplanted(1)"}}}
	for _, ecosystem := range names {
		form, err := ecosystems.For(ecosystem, source)
		if err != nil {
			t.Errorf("%s: %v", ecosystem, err)
			continue
		}
		for line := range strings.Lines(form.Text) {
			if strings.HasPrefix(strings.TrimSpace(line), "planted") {
				t.Errorf("%s: the SQL of a plan is a line of the form:\n%s", ecosystem, form.Text)
			}
		}
	}
}

// Two pools are printed where both can be open at once: a connection with exclusive
// locking shuts others out, unless they share its cache.
func TestPoolsPrinted(t *testing.T) {
	for settings, want := range map[string]bool{"": true, "locking_mode=normal": true, "locking_mode=exclusive": false, "locking_mode=exclusive journal_mode=wal": false,
		"locking_mode=exclusive shared_cache=1": true, "read_only=1": false} {
		source := emit.Source{Name: "test/pools", Profile: assay.Profile{Settings: map[string]string{}}}
		for _, setting := range strings.Fields(settings) {
			name, value, _ := strings.Cut(setting, "=")
			source.Profile.Settings[name] = value
		}
		for _, ecosystem := range names {
			if !strings.HasPrefix(ecosystem, "go-") {
				continue
			}
			form, err := ecosystems.For(ecosystem, source)
			must(t, err)
			if got := strings.Contains(form.Text, "func OpenPools("); got != want {
				t.Errorf("%s with %q: prints OpenPools: got %v, want %v", ecosystem, settings, got, want)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	raw := emit.Source{Name: "test/raw", Profile: assay.Profile{Raw: map[string]string{"mattn": "file:{{path}}"}}}
	_, err := ecosystems.For("python", raw)
	if want := "profile test/raw is a raw DSN of a driver and has no requests that say what it is meant to set: only requests can be said in another form"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := ecosystems.For("perl", named("web")); err == nil || err.Error() != `unknown ecosystem "perl"` {
		t.Errorf("got %v", err)
	}
}

// The ecosystem of a driver is one that For prints for.
func TestOfDriver(t *testing.T) {
	for driver, want := range map[string]string{"mattn": "go-mattn", "ncruces-direct": "go-ncruces-direct", "django": "django", "activerecord": "rails",
		"better-sqlite3": "node", "sqlite3-node": "sqlite3-node", "apsw": "apsw", "rusqlite": "rusqlite", "bbolt": "", "null": ""} {
		got := ecosystems.OfDriver(driver)
		if got != want || got != "" && !slices.Contains(names, got) {
			t.Errorf("%s: got %q, want %q", driver, got, want)
		}
	}
}

// What is printed carries the compile options that were measured, and no folder of the user.
func TestOptionsAndName(t *testing.T) {
	source := emit.Source{Name: "/home/somebody/secret/app.yaml/web", Profile: assay.Profile{Settings: map[string]string{"journal_mode": "wal", "encoding": "UTF-8"}},
		Options: ecosystems.OptionsOf("go-mattn", []string{"modernc", "mattn:ENABLE_FTS5:DQS=0"})}
	form, err := ecosystems.For("go-mattn", source)
	must(t, err)
	if want := `CGO_CFLAGS="-DSQLITE_DQS=0 -DSQLITE_ENABLE_FTS5" CGO_LDFLAGS="-lm" go build`; !strings.Contains(form.Text, want) {
		t.Errorf("got %s\nwant %s in it", form.Text, want)
	}
	if strings.Contains(form.Text, "somebody") || !strings.Contains(form.Text, "Profile app.yaml/web for") {
		t.Errorf("got %s\nwant the name app.yaml/web without its folders", form.Text)
	}
	for drivers, want := range map[string]string{"mattn": "", "mattn,mattn:DQS=0": "", "modernc,glebarez": "", "mattn@v1.14.52:DQS=0": "DQS=0"} {
		if got := ecosystems.OptionsOf("go-mattn", strings.Split(drivers, ",")); got != want {
			t.Errorf("%s: got %q, want %q", drivers, got, want)
		}
	}
}
