//go:build unix

package syncs_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"assay/internal/build"
	"assay/internal/runner/syncs"
	"assay/kit/column"
	"assay/kit/kv"
	"assay/kit/process"
	"assay/kit/wire"
)

// TestEngines: what each engine does by default, and with its setting. A store
// whose setting does nothing, or whose trace is misread, shows here.
func TestEngines(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles all stores")
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("no strace: ", err)
	}
	on, off := map[string]string{kv.Sync: "1"}, map[string]string{kv.Sync: "0"}
	for driver, byDefault := range map[string]string{
		"append-log": "yes", "bbolt": "yes", "lmdb": "yes", "nutsdb": "yes", "pebble": "yes", "redb": "yes",
		"badger": "no", "buntdb": "no", "goleveldb": "no", "lotusdb": "no", "rocksdb": "no",
	} {
		t.Run(driver, func(t *testing.T) {
			program := worker(t, driver)
			for name, c := range map[string]struct {
				settings map[string]string
				want     string
			}{"default": {nil, byDefault}, "on": {on, "yes"}, "off": {off, "no"}} {
				v := traced(t, strace, program, wire.Open{Settings: c.settings, Writers: 1}, wire.Step{KV: wire.Put, Args: 2, Rows: 1})
				if v.Answer() != c.want || v.Units != units {
					t.Errorf("sync %s: synced before acknowledged: %q, want %q; %s", name, v.Answer(), c.want, v.Evidence())
				}
				if least := float64(len(c.want) - 2); v.Syncs < least { // yes has one letter more than no
					t.Errorf("sync %s: %g syncs a commit", name, v.Syncs)
				}
			}
		})
	}
	t.Run("mattn", func(t *testing.T) {
		program := worker(t, "mattn")
		for _, c := range []struct{ journal, synchronous, want string }{
			{"wal", "2", "yes"}, {"wal", "1", "no"}, {"delete", "2", "yes"}, {"delete", "0", "no"}, {"truncate", "2", "yes"}, {"persist", "2", "yes"},
		} {
			open := wire.Open{Settings: map[string]string{"journal_mode": c.journal, "synchronous": c.synchronous}, Once: []string{kv.Schema}, Writers: 1}
			v := traced(t, strace, program, open, wire.Step{SQL: kv.Put, Args: 2, Rows: 1})
			if v.Answer() != c.want {
				t.Errorf("%s with synchronous %s: %q, want %q; %s", c.journal, c.synchronous, v.Answer(), c.want, v.Evidence())
			}
		}
	})
}

// worker builds a worker of this checkout in the cache that the command uses.
func worker(t *testing.T, driver string) string {
	t.Helper()
	dir, err := filepath.Abs("../../..")
	must(t, err)
	cache, err := os.UserCacheDir()
	must(t, err)
	b := &build.Builder{Source: build.Source{Dir: dir}, Cache: filepath.Join(cache, "assay")}
	w, err := b.Build(t.Context(), build.Spec{Name: driver})
	if lacks := new(build.NotInstalledError); errors.As(err, &lacks) || errors.Is(err, build.ErrUnreachable) {
		t.Skip(err)
	}
	must(t, err)
	return w.Program
}

// units is how many commits are judged; as many come before them.
const units = 10

// traced puts records one by one and judges the commits.
func traced(t *testing.T, strace, program string, open wire.Open, step wire.Step) syncs.Verdict {
	t.Helper()
	dir, output := t.TempDir(), filepath.Join(t.TempDir(), "calls")
	marks, trace := filepath.Join(t.TempDir(), "marks"), filepath.Join(t.TempDir(), "trace.col")
	builder := column.NewBuilder(column.Blob, column.Blob)
	for i := range 2 * units {
		must(t, builder.Append(fmt.Appendf(nil, "key %d", i), make([]byte, 100)))
	}
	must(t, builder.WriteFile(trace))
	w, err := process.Start(t.Context(), program, process.Options{Dir: dir, Under: syncs.Command(strace, output)})
	must(t, err)
	defer w.Kill()
	open.Path = filepath.Join(dir, "data")
	operation := wire.Operation{Name: "put", Trace: trace, Changes: true, Steps: []wire.Step{step}}
	for _, call := range []struct {
		kind    string
		request any
	}{
		{wire.TypeOpen, open},
		{wire.TypePrepare, wire.Prepare{Operation: operation, Clients: 1}},
		{wire.TypeMeasure, wire.Measure{Operation: "put", Operations: units}},
		{wire.TypeMeasure, wire.Measure{Operation: "put", Start: units, Operations: units, Marks: marks}},
	} {
		if err := w.Call(t.Context(), call.kind, call.request, nil); err != nil {
			t.Fatalf("%s: %v", call.kind, err)
		}
	}
	if _, err := w.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(output)
	must(t, err)
	defer file.Close()
	calls, err := syncs.Parse(file)
	must(t, err)
	return syncs.Judge(calls, dir, marks, false)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
