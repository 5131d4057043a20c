package kit

import (
	"os"
	"slices"
	"testing"
	"time"

	"assay/kit/process"
	"assay/kit/wire"
)

// asWorker is the variable by which this test program is a worker.
const asWorker = "KIT_TEST_WORKER"

func TestMain(m *testing.M) {
	if os.Getenv(asWorker) != "" {
		os.Exit(Main(&fake{}))
	}
	os.Exit(m.Run())
}

// The monitor thread of Go's runtime does not interrupt the windows of a worker that
// was paused before them. It would do so about 50 times in each. Where the worker is
// paused in the middle of a system call, which a busy machine makes likely, some of the
// next windows are interrupted: one calm series of three is enough.
func TestMonitorOfAPausedWorker(t *testing.T) {
	var all [][]int64
	for range 3 {
		switches := switchesInWindows(t)
		if switches[len(switches)/2] < 20 {
			return
		}
		all = append(all, switches)
	}
	t.Errorf("half of the windows had 20 context switches or more, want fewer: %v", all)
}

// switchesInWindows are the context switches in windows that follow on a pause, in
// ascending order.
func switchesInWindows(t *testing.T) (switches []int64) {
	t.Setenv(asWorker, "1")
	program, err := os.Executable()
	must(t, err)
	w, err := process.Start(t.Context(), program, process.Options{Dir: t.TempDir(), Paused: true})
	must(t, err)
	defer w.Kill()
	ask := func(kind string, request, reply any) {
		t.Helper()
		if err := w.Call(t.Context(), kind, request, reply); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
	}
	ask(wire.TypeOpen, wire.Open{Path: "none", Readers: 1}, nil)
	ask(wire.TypePrepare, wire.Prepare{Operation: oneRow("one"), Clients: 1}, nil)
	ask(wire.TypeMeasure, wire.Measure{Operation: "one", Nanos: int64(50 * time.Millisecond)}, nil)
	for range 41 {
		must(t, w.Pause())
		time.Sleep(20 * time.Millisecond) // others have their turns
		must(t, w.Resume(t.Context()))
		var m wire.Measured
		ask(wire.TypeMeasure, wire.Measure{Operation: "one", Nanos: int64(5 * time.Millisecond), Batch: 1000}, &m)
		switches = append(switches, m.Counters.Switches)
	}
	slices.Sort(switches)
	return switches
}
