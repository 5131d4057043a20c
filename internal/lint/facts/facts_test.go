package facts

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/internal/build"
	"assay/internal/build/catalog"
	"assay/internal/sys/guard"

	"github.com/google/go-cmp/cmp"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// drivers are those that the source holds.
func drivers(t *testing.T) []catalog.Driver {
	t.Helper()
	all, err := catalog.Read("../../../workers")
	must(t, err)
	return all
}

func load(t *testing.T, folder string) *Table {
	t.Helper()
	all, err := Load(drivers(t), folder)
	must(t, err)
	return all
}

// Truths that are known from elsewhere: the drivers' release notes and
// workers' own tests of spellings.
func TestKnownTruth(t *testing.T) {
	all := load(t, "")
	for _, c := range []struct {
		driver, version, parameter string
		uri                        bool
		want                       Effect
	}{
		{"modernc", "v1.54.0", "_journal_mode=WAL", true, Ignored},
		{"modernc", "v1.55.0", "_journal_mode=WAL", true, Applied},
		{"modernc", "v1.54.0", "_pragma=journal_mode(WAL)", true, Applied},
		{"modernc", "v1.61.1", "_pragma=journal_mode%3DWAL", true, Applied},
		{"modernc", "v1.61.1", "mode=ro", false, Ignored},
		{"modernc", "v1.61.1", "mode=ro", true, Applied},
		{"mattn", "v1.14.52", "_pragma=foreign_keys(1)", true, Ignored},
		{"mattn", "v1.14.52", "_fk=1", false, Applied},
		{"glebarez", "v1.23.0", "_journal_mode=WAL", true, Ignored},
	} {
		f, ok := all.Find(c.driver, c.version)
		if !ok {
			t.Errorf("%s@%s has no facts", c.driver, c.version)
			continue
		}
		s, _, known := Parse(c.uri, c.parameter)
		if got, _ := f.Effect(s); !known || got != c.want {
			t.Errorf("%s %s uri %v: got %q, want %q", f.At(), c.parameter, c.uri, got, c.want)
		}
	}
}

// What sets a setting behind file: need not do so behind a plain path.
func TestWorking(t *testing.T) {
	f, _ := load(t, "").Find("modernc", "v1.61.1")
	for uri, want := range map[bool][]string{true: {"file:?mode"}, false: nil} {
		var got []string
		for _, s := range f.WorkingIn("read_only", uri) {
			got = append(got, s.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("file: %t: got %q, want %q", uri, got, want)
		}
	}
}

func TestParse(t *testing.T) {
	for parameter, want := range map[string]struct{ name, value string }{
		"_pragma=busy_timeout(5000)":   {"file:?_pragma=busy_timeout()", "5000"},
		"_pragma=busy_timeout%3d5000":  {"file:?_pragma=busy_timeout=", "5000"},
		"_pragma=BUSY_TIMEOUT(5000)":   {"file:?_pragma=busy_timeout()", "5000"},
		"_pragma=busy_timeout%285000)": {"file:?_pragma=busy_timeout()", "5000"},
		"_fk=on":                       {"file:?_fk", "on"},
	} {
		s, value, known := Parse(true, parameter)
		if !known || s.String() != want.name || value != want.value {
			t.Errorf("%s: got %s %q %v, want %s %q", parameter, s, value, known, want.name, want.value)
		}
	}
	for _, parameter := range []string{"_pragma=frob(1)", "_txlock=immediate", "", "_pragma"} {
		if s, _, known := Parse(true, parameter); known {
			t.Errorf("%q: got %s, want nothing: no driver was asked about it", parameter, s)
		}
	}
}

// What was saved of a release that the program lacks comes back as it was. Of one that it has,
// only options count that nobody tried.
func TestSavedFacts(t *testing.T) {
	folder := t.TempDir()
	f, _ := load(t, "").Find("modernc", "v1.54.0")
	other := f
	other.Version = "v1.54.999"
	older := f
	older.On, older.Effects = "here", map[Effect][]string{Applied: {"file:?_journal_mode", "file:?_slip"}}
	for _, saved := range []Facts{other, older} {
		_, err := Save(folder, saved)
		must(t, err)
	}
	want := f
	want.Effects = maps.Clone(f.Effects)
	want.Effects[Applied] = append(slices.Clone(f.Effects[Applied]), "file:?_slip")
	for version, want := range map[string]Facts{"v1.54.999": other, "v1.54.0": want} {
		got, ok := load(t, folder).Find("modernc", version)
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Errorf("%s: there %v, (-want +got)\n%s", version, ok, diff)
		}
	}
	must(t, os.WriteFile(filepath.Join(folder, "broken.json"), []byte("{"), 0o600))
	if _, err := Load(nil, folder); err == nil || !strings.Contains(err.Error(), filepath.Join(folder, "broken.json")) {
		t.Errorf("got %v, want an error that names the broken file", err)
	}
}

// Facts of a driver that is not known are no facts of any: those that were saved are left out
// by name, and those beside drivers are refused.
func TestFactsOfNoDriver(t *testing.T) {
	folder := t.TempDir()
	f, _ := load(t, "").Find("modernc", "v1.54.0")
	f.Driver = "gone"
	name, err := Save(folder, f)
	must(t, err)
	all, err := Load(drivers(t), folder)
	must(t, err)
	if len(all.Versions("gone")) > 0 || !slices.Equal(all.Unknown, []string{name}) || len(all.Versions("modernc")) == 0 {
		t.Errorf("got facts %v, left out %q, want %s left out", all.Versions("gone"), all.Unknown, name)
	}
	beside := filepath.Join(t.TempDir(), "x")
	_, err = Save(filepath.Join(beside, "facts"), f)
	must(t, err)
	if _, err := Load([]catalog.Driver{{Name: "x", Dir: beside}}, folder); err == nil || !strings.Contains(err.Error(), beside) || !strings.Contains(err.Error(), `"gone"`) {
		t.Errorf("got %v, want an error that names the driver and its file", err)
	}
}

// A file of facts appears whole or not at all: a new one takes the old one's place.
func TestSaveReplacesTheFile(t *testing.T) {
	folder := t.TempDir()
	f := Facts{Common: Common{Driver: "mattn", Version: "v1.0.0"}}
	name, err := Save(folder, f)
	must(t, err)
	old := filepath.Join(folder, "old")
	if err := os.Link(name, old); err != nil {
		t.Skip(err)
	}
	f.Engine = "3.53.4"
	if _, err := Save(folder, f); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(old); err != nil || strings.Contains(string(data), f.Engine) {
		t.Errorf("the old file was written over: %s, %v", data, err)
	}
	if data, err := os.ReadFile(name); err != nil || !strings.Contains(string(data), f.Engine) {
		t.Errorf("got %s, %v, want the facts with engine %s", data, err, f.Engine)
	}
}

func TestJudgesOfDrivers(t *testing.T) {
	var all Table
	for _, version := range []string{"v1.9.0", "v1.10.0", "v1.2.0"} {
		all.Add(Facts{Common: Common{Driver: "d", Version: version}})
	}
	for version, want := range map[string]string{"v1.9.5": "v1.9.0 v1.10.0", "v1.2.0": "v1.2.0", "v1.1.0": "", "v1.11.0": "", "": "", "master": ""} {
		var got []string
		for _, f := range all.Judges("d", version, "") {
			got = append(got, f.Version)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %v, want %s", version, got, want)
		}
	}
}

func checkout(t *testing.T) build.Source {
	t.Helper()
	dir, err := filepath.Abs("../../..")
	must(t, err)
	return build.Source{Dir: dir}
}

// measuredDrivers are those whose facts lint has.
var measuredDrivers = []string{"mattn", "modernc", "glebarez", "zombiezen", "crawshaw", "eatonphil", "ncruces"}

// A new version of a driver needs new facts.
func TestPinnedVersionsHaveFacts(t *testing.T) {
	drivers, err := checkout(t).Drivers()
	must(t, err)
	for _, d := range drivers {
		if _, ok := load(t, "").Find(d.Name, d.Version); slices.Contains(measuredDrivers, d.Name) && !ok {
			t.Errorf("%s %s has no facts: run bin/assay facts %s --save workers/%s/facts", d.Name, d.Version, d.Name, d.Name)
		}
	}
}

// The experiments, made again here, come out as they were saved.
func TestMeasure(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a driver and opens 350 databases")
	}
	cache, err := os.UserCacheDir()
	must(t, err)
	b := &build.Builder{Source: checkout(t), Cache: filepath.Join(cache, "assay")}
	w, err := b.Build(t.Context(), build.Spec{Name: "modernc"})
	must(t, err)
	got, err := Measure(t.Context(), Worker{w.Program, w.Name, w.Module, w.Version}, t.TempDir())
	must(t, err)
	want, ok := load(t, "").Find(w.Name, w.Version)
	got.On = want.On
	if diff := cmp.Diff(want, got); !ok || diff != "" {
		t.Errorf("there %v, (-want +got)\n%s", ok, diff)
	}
	checkTry(t, Worker{w.Program, w.Name, w.Module, w.Version}, want)
	if got.Exec != 1 || got.Reopened != 0 || !maps.Equal(got.ReadOnlyWAL, map[string]Effect{"mode=ro": Fails, "immutable=1": Ignored}) {
		t.Errorf("got Exec %d, Reopened %d, ReadOnlyWAL %v, want 1, 0, fails and ignored", got.Exec, got.Reopened, got.ReadOnlyWAL)
	}
}

// checkTry tries misspellings: an experiment tells that the driver ignores them.
func checkTry(t *testing.T, w Worker, f Facts) {
	t.Helper()
	var slips []Slip
	for _, parameter := range []string{"_pragma=jurnal_mode(WAL)", "_pragm=journal_mode(WAL)", "_jurnal_mode=WAL"} {
		s, _, known := Parse(true, parameter)
		slip, found := f.Near(s)
		if known || !found {
			t.Fatalf("%s: known %v, near a known one %v", parameter, known, found)
		}
		slips = append(slips, slip)
	}
	got, err := Try(t.Context(), w, f, slips, t.TempDir())
	must(t, err)
	for _, s := range slips {
		if effect, _ := got.Effect(s.Written); effect != Ignored {
			t.Errorf("%s: got %q, want ignored", s.Written, effect)
		}
		if effect, tried := f.Effect(s.Written); tried {
			t.Errorf("%s is %s in the facts that were given, too", s.Written, effect)
		}
	}
}

// What the driver has under another name is near nothing.
func TestNear(t *testing.T) {
	mattn, _ := load(t, "").Find("mattn", "v1.14.52")
	modernc, _ := load(t, "").Find("modernc", "v1.61.1")
	for parameter, want := range map[string][2]string{ // for mattn and modernc
		"_sychronous=1": {"_synchronous=...", "_synchronous=..."}, "_Journal_Mode=WAL": {"_journal_mode=...", "_journal_mode=..."}, "_fks=1": {"_fk=...", "_fk=..."}, "_jurnal_mod=WAL": {"_journal_mode=...", "_journal_mode=..."},
		"_tz=UTC": {}, "vfs=unix": {}, "modeof=a": {}, "_timefmt=a": {}, "_txlock=immediate": {}, "_wibble=1": {},
		"_pragma=jurnal_mode(WAL)": {"", "_pragma=journal_mode(...)"}, "_pragma=jurnal_mode=WAL": {"", "_pragma=journal_mode=..."},
	} {
		s, _, _ := Parse(true, parameter)
		for i, f := range []Facts{mattn, modernc} {
			got := ""
			if slip, found := f.Near(s); found {
				got = slip.Meant.With("...")
			}
			if got != want[i] {
				t.Errorf("%s of %s: got %q, want %q", parameter, f.At(), got, want[i])
			}
		}
	}
}

// A parameter names a setting also where it is misspelled.
func TestNamed(t *testing.T) {
	for parameter, want := range map[string]string{
		"_sychronous=OFF": "synchronous=0", "cache_size=-64000": "cache_size=-64000", "_pragma=journal_mode(WAL)": "journal_mode=wal",
		"_pragm=journal_mode(WAL)": "journal_mode=wal", "_pragma=jurnal_mode(WAL)": "journal_mode=wal", "mode=ro": "read_only=1", "mode=rwx": "read_only=",
		"cache=private": "shared_cache=0", "_timeout=5s": "busy_timeout=", "_txlock=immediate": "", "vfs=unix": "",
	} {
		got := ""
		if s, value, named := Named(true, parameter); named {
			read, _ := s.Reads(value)
			got = s.Meaning + "=" + read
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", parameter, got, want)
		}
	}
}

// A fault in one of several experiments at the same time is an error.
func TestPanicInAnExperiment(t *testing.T) {
	program, err := exec.LookPath("true")
	if err != nil {
		t.Skip(err)
	}
	f := Facts{Common: Common{Defaults: map[string]string{}, Effects: map[Effect][]string{}}}
	for _, q := range questions {
		f.Defaults[q.setting] = "unlike any other"
	}
	l := &lab{worker: Worker{Program: program}, scratch: t.TempDir()}
	var none context.Context // with which no worker can be started
	var fault *guard.Panic
	if err := l.effects(none, &f); !errors.As(err, &fault) || !strings.Contains(string(fault.Stack), "facts.(*lab).open") {
		t.Errorf("got %v, want the panic of an experiment without a context", err)
	}
}

// A driver without a pool that closes connections may refuse to: then all keep what was sent.
func TestPoolThatKeepsAll(t *testing.T) {
	program := filepath.Join(t.TempDir(), "worker")
	must(t, os.WriteFile(program, []byte(`#!/bin/sh
echo '{"type":"hello","protocol":1,"capabilities":["sql"],"target":{"driver":"d","driver_version":"1","engine":"sqlite","engine_version":"3"}}'
id=0
while read -r line; do
	id=$((id + 1))
	case $line in
	*'"type":"open"'*'"idle":0'*) echo '{"type":"error","id":'$id',"code":"unsupported","definite":true,"message":"it keeps all"}' ;;
	*'"type":"settings"'*) echo '{"type":"ok","id":'$id',"body":{"connections":[{"name":"reader-1","settings":{"cache_size":"4321"}},{"name":"reader-2","settings":{"cache_size":"-2000"}}]}}' ;;
	*) echo '{"type":"ok","id":'$id',"body":{}}' ;;
	esac
done
`), 0o755))
	l := &lab{worker: Worker{Program: program}, scratch: t.TempDir()}
	var got Facts
	must(t, l.pool(t.Context(), &got))
	if got.Exec != 1 || got.Reopened != 1 {
		t.Errorf("got Exec %d, Reopened %d, want 1 of both", got.Exec, got.Reopened)
	}
}
