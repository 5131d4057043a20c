//go:build unix

package runner

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"assay"
	"assay/internal/runner/syncs"
	"assay/kit/kv"
	"assay/kit/wire"

	"github.com/google/go-cmp/cmp"
)

// A trace serves the next run of the same build, settings, data and environment, which says so.
func TestKeptTraces(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("no strace: ", err)
	}
	kept := TraceCache(t.TempDir())
	run := func(driver, sync string) (issued string) {
		text := strings.NewReplacer("[store, honest]", "["+driver+"]", "{sync: on}", "{sync: "+sync+"}").Replace(stores)
		b := newBench(t, text)
		b.Strace, b.Traces, b.Launches = strace, kept, 1
		b.Cases = slices.DeleteFunc(b.Cases, func(c assay.Case) bool { return c.Cell.Operation != "put" || c.Cell.Transaction != 0 })
		b.run(t)
		for _, s := range b.trials[0].Settings {
			if s.Name == "sync-before-ack" {
				return s.Effective + ": " + s.Issued
			}
		}
		t.Fatalf("%s, %s: settings %v", b.trials[0].Outcome, b.trials[0].Reason, b.trials[0].Settings)
		return ""
	}
	first, again, other := run("store", "on"), run("store", "on"), run("store", "off")
	liar := run("store-lies", "on")
	t.Setenv("MALLOC_ARENA_MAX", "2")
	elsewhere := run("store", "on")
	const earlier = "; traced for a run of the same build on "
	if strings.Contains(first, earlier) || !strings.HasPrefix(again, first+earlier) {
		t.Errorf("got %q, then %q; want the same, and that it was traced earlier", first, again)
	}
	if strings.Contains(other, earlier) {
		t.Errorf("of other settings got %q, want a trace of its own", other)
	}
	if strings.Contains(liar, earlier) || liar == first {
		t.Errorf("of a driver that does not sync got %q, want a trace of its own", liar)
	}
	if strings.Contains(elsewhere, earlier) {
		t.Errorf("in another environment got %q, want a trace of its own", elsewhere)
	}
	if files, err := os.ReadDir(string(kept)); err != nil || len(files) != 4 {
		t.Errorf("kept are %v, %v; want four traces", files, err)
	}
}

// Without strace nothing is proved, nor where tracing takes too much of the budget, and that is said:
// the setting is claimed.
func TestNotTraced(t *testing.T) {
	for budget, strace := range map[time.Duration]string{0: "", 9 * typicalTrace: "/no/strace"} {
		testNotTraced(t, budget, strace)
	}
}

func testNotTraced(t *testing.T, budget time.Duration, strace string) {
	b := newBench(t, strings.Replace(stores, "[store, honest]", "[store-deaf]", 1))
	b.Launches, b.Budget, b.Strace = 1, budget, strace
	b.Cases = slices.DeleteFunc(b.Cases, func(c assay.Case) bool { return c.Cell.Operation != "put" })
	b.run(t)
	for _, trial := range b.trials {
		if trial.Outcome != assay.OK {
			t.Errorf("%s, %s; want ok", trial.Outcome, trial.Reason)
		}
		if !slices.ContainsFunc(trial.Warnings, func(w assay.Warning) bool { return w.Code == "not-traced" }) {
			t.Errorf("warnings %v", trial.Warnings)
		}
	}
}

// A block that failed has no figures, whether its commits were traced or not.
func TestTraceOfAFailedBlock(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("no strace: ", err)
	}
	for _, tracer := range []string{"", strace} {
		b := faultyBench(t, failsLast, strings.Replace(insert, "count: 20", "count: 100", 1))
		b.Strace = tracer
		launchOnce(t, &b.Config)
		failed := b.of(failsLast)
		if len(failed) != 1 || failed[0].Outcome != assay.Failed || failed[0].Measured() || len(failed[0].Figures) > 0 {
			t.Errorf("tracer %q: got %+v, want one that failed, without figures", tracer, failed)
		}
		if _, traced := b.of("honest")[0].Figures[assay.SyncsPerOp]; traced != (tracer != "") {
			t.Errorf("tracer %q: of the driver without a fault it is %v that its syncs are known", tracer, traced)
		}
	}
}

// Tracing takes a tenth of the budget at most, by what traces took so far.
func TestTimeToTrace(t *testing.T) {
	for name, c := range map[string]struct {
		budget time.Duration
		traced spent
		want   int // further ones
	}{
		"none yet":  {10 * time.Second, spent{}, 3},
		"fast ones": {10 * time.Second, spent{2, 200 * time.Millisecond}, 8},
		"slow ones": {10 * time.Second, spent{2, 900 * time.Millisecond}, 0},
		"a minute":  {time.Minute, spent{2, 900 * time.Millisecond}, 11},
	} {
		r := &Runner{config: Config{Budget: c.budget}, observed: observations{traced: c.traced}}
		got := 0
		for r.timeToTrace(got + 1) {
			got++
		}
		if got != c.want {
			t.Errorf("%s: time for %d further traces, want %d", name, got, c.want)
		}
	}
}

// A store that cannot read back whether it syncs is taken to do so where a trace shows it
// of each commit, and what it reads back stays as it is.
func TestProveSync(t *testing.T) {
	for name, c := range map[string]struct {
		found tracing
		read  map[string]string
		want  map[string]string
	}{
		"each commit is synced":   {tracing{verdict: syncs.Verdict{Units: 20, Covered: 20}}, map[string]string{"a": "b"}, map[string]string{"a": "b", kv.Sync: "1"}},
		"some happen to be":       {tracing{verdict: syncs.Verdict{Units: 20, Covered: 19}}, nil, map[string]string{kv.Sync: "0"}},
		"none is":                 {tracing{verdict: syncs.Verdict{Units: 20}}, nil, map[string]string{kv.Sync: "0"}},
		"the trace tells nothing": {tracing{why: "it hides"}, nil, nil},
		"it is read back":         {tracing{verdict: syncs.Verdict{Units: 20, Covered: 20}}, map[string]string{kv.Sync: "0"}, map[string]string{kv.Sync: "0"}},
	} {
		j := &job{engine: keyValueStore{}}
		r := &Runner{observed: observations{tracings: map[string]tracing{traceKey(j): c.found}}}
		read := []wire.Connection{{Name: "writer-1", Settings: c.read}}
		(&instance{r: r, member: &member{first: j}}).proveSync(read)
		if diff := cmp.Diff(c.want, read[0].Settings); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}
