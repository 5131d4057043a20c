//go:build unix

package runner

import (
	"strings"
	"testing"
	"time"

	"assay"
	"assay/kit/wire"
)

// disturbed is a worker for which others have the processor half of the time.
const disturbed = "disturbed"

// A quarter of the windows may be measured again. All of them have arguments of their
// own, and the trial has as many as that of a neighbour that nobody disturbed.
func TestDisturbedWindowsAreMeasuredAgain(t *testing.T) {
	b := newBench(t, strings.Replace(header, "second", disturbed, 1)+read)
	b.Launches = 1
	all := b.run(t)
	for _, trial := range b.trials {
		if trial.Outcome != assay.OK || len(trial.Samples) != windowsPerLaunch {
			t.Errorf("%s: %d windows, %s %s, want %d, ok", trial.Cell.Driver, len(trial.Samples), trial.Outcome, trial.Reason, windowsPerLaunch)
		}
	}
	windows, starts := map[string]int{}, map[string]map[int64]bool{}
	for _, a := range all {
		if a.window() {
			windows[a.Worker]++
			if starts[a.Worker] == nil {
				starts[a.Worker] = map[int64]bool{}
			}
			starts[a.Worker][a.Start] = true
		}
	}
	want := b.launches() * (windowsPerLaunch + windowsPerLaunch/maxAgain)
	if got := windows[disturbed]; got != want || len(starts[disturbed]) != want {
		t.Errorf("%d windows with %d parts of the arguments, want %d", got, len(starts[disturbed]), want)
	}
	if got := windows["honest"]; got == 0 || got%windowsPerLaunch != 0 {
		t.Errorf("%d windows of its neighbour and the twin, want %d a launch", got, windowsPerLaunch)
	}
}

const (
	stallEvery  = 200
	stallLength = time.Millisecond
)

// What an operation itself waits for stays in its figure.
func TestStallsStayInTheFigure(t *testing.T) {
	b := newBench(t, strings.Replace(header, "second", stalls, 1)+read)
	b.run(t)
	for _, trial := range b.of(stalls) {
		if got, want := trial.Figures[assay.NsPerOp], float64(stallLength)/stallEvery; got < 0.9*want { // a launch begins between two stalls
			t.Errorf("launch %d: %.0f ns/op, want at least the %.0f of the stalls", trial.Launch, got, want)
		}
	}
	if len(b.of(stalls)) < 2 {
		t.Errorf("%d trials, want 2 or more", len(b.of(stalls)))
	}
}

func TestDisturbedWindow(t *testing.T) {
	measured := func(delayed, cpu time.Duration) wire.Measured {
		return wire.Measured{Operations: 10, Executed: 10, Nanos: int64(5 * time.Millisecond), Delayed: int64(delayed), Counters: wire.Counters{CPU: int64(cpu)}}
	}
	wrong := measured(time.Millisecond, 4*time.Millisecond)
	wrong.Misses = 1
	for _, test := range []struct {
		name string
		of   wire.Measured
		want bool
	}{
		{"nobody else ran", measured(0, 5*time.Millisecond), false},
		{"others had the processor for a fifth", measured(time.Millisecond, 4*time.Millisecond), true},
		{"for a hundredth", measured(50*time.Microsecond, 4950*time.Microsecond), false},
		{"its own threads had it", measured(time.Millisecond, 5*time.Millisecond), false},
		{"it waited for storage", measured(0, time.Millisecond), false},
		{"the worker does not count its CPU time", measured(time.Millisecond, 0), true},
		{"an answer was wrong", wrong, false},
	} {
		if got := disturbedWindow(test.of); got != test.want {
			t.Errorf("%s: got %t, want %t", test.name, got, test.want)
		}
	}
}
