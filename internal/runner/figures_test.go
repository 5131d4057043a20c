//go:build unix

package runner

import (
	"errors"
	"maps"
	"testing"
	"time"

	"assay"
	"assay/kit/wire"
)

// recorded are the figures of a trial with these windows.
func recorded(op assay.Operation, outcome assay.Outcome, windows ...wire.Measured) assay.Trial {
	var sum tally
	for _, w := range windows {
		sum.add(w)
	}
	trial := assay.Trial{Outcome: outcome, Figures: map[string]float64{}}
	sum.record(&trial, op, nil)
	return trial
}

// The figures are totals over totals, of several windows too. Times are of the operations
// that were right within them, and what is used is of all that were executed.
func TestFigures(t *testing.T) {
	windows := []wire.Measured{
		{Operations: 10, Nanos: 1000, Executed: 16, Busy: 4, Counters: wire.Counters{CPU: 800, Allocs: 32, Alloc: 320, Read: 160, Fetched: 80, Written: 1600, Switches: 8, Peak: 500}},
		{Operations: 22, Nanos: 1000, Executed: 24, Counters: wire.Counters{CPU: 1200, Peak: 400}},
	}
	want := map[string]float64{assay.NsPerOp: 62.5, assay.OpPerS: 1.6e7, "cpu-ns/op": 50, "B/op": 8, "allocs/op": 0.8,
		"read-B/op": 4, "fetched-B/op": 2, "bytes-written/op": 40, "switches/op": 0.2, "peak-B": 500}
	trial := recorded(assay.Operation{}, assay.OK, windows...)
	if !maps.Equal(trial.Figures, want) {
		t.Errorf("figures %v, want %v", trial.Figures, want)
	}
	if len(trial.Samples) != 2 || trial.Samples[1] != (assay.Sample{Operations: 22, Nanos: 1000}) {
		t.Errorf("samples %v", trial.Samples)
	}
	if trial := recorded(assay.Operation{RetryBusy: true}, assay.NotApplied, windows...); trial.Figures[assay.BusyOp] != 0.1 {
		t.Errorf("figures of a not-applied trial that is tried again: %v", trial.Figures)
	}
	perRow := assay.Operation{PerRow: true, Steps: []assay.Step{{Rows: 4}, {Rows: -1}}}
	if trial := recorded(perRow, assay.OK, windows...); trial.Figures[assay.NsPerOp] != 15.625 || trial.Figures["B/op"] != 2 {
		t.Errorf("figures per row: %v", trial.Figures)
	}
	loop := windows[0]
	loop.LoopNanos = 8
	if got := recorded(perRow, assay.OK, loop).Figures[assay.LoopNsPerOp]; got != 2 {
		t.Errorf("got %v ns of the loop by itself for each of 4 rows, want 2", got)
	}
	lacking := tally{total: windows[0]}
	without := assay.Trial{Outcome: assay.OK, Figures: map[string]float64{}}
	if lacking.record(&without, assay.Operation{}, map[string]string{"uncounted": "allocs, alloc_bytes: nobody counts them"}); len(without.Figures) != len(want)-2 || without.Figures["switches/op"] != 0.5 {
		t.Errorf("figures of a worker that does not count allocations: %v", without.Figures)
	}
	uncounted := assay.Trial{Outcome: assay.OK, Figures: map[string]float64{}}
	(&tally{total: windows[0], uncounted: true}).record(&uncounted, assay.Operation{RetryBusy: true}, nil)
	if got, has := uncounted.Figures[assay.BusyOp]; has {
		t.Errorf("got %v busy answers of a worker that does not count them, want no figure", got)
	}
	if got, want := (&tally{total: loop}).each(3), 300*time.Nanosecond; got != want { // 10 in 1000 ns, three at a time
		t.Errorf("got %s for one operation of three clients, want %s", got, want)
	}
	for _, outcome := range []assay.Outcome{assay.Failed, assay.WrongAnswer, assay.TimedOut} {
		if trial := recorded(assay.Operation{}, outcome, windows...); len(trial.Figures) > 0 || len(trial.Samples) != 2 {
			t.Errorf("%s: figures %v and %d samples, want the samples only", outcome, trial.Figures, len(trial.Samples))
		}
	}
}

// A percentile wants a hundred samples beyond it.
func TestPercentiles(t *testing.T) {
	for _, c := range []struct {
		samples int64
		want    []string
	}{
		{199, nil},
		{200, []string{assay.P50}},
		{999, []string{assay.P50}},
		{1000, []string{assay.P50, "p90"}},
		{10_000, []string{assay.P50, "p90", assay.P99}},
		{100_000, []string{assay.P50, "p90", assay.P99, "p99.9"}},
	} {
		trial := recorded(assay.Operation{}, assay.OK, wire.Measured{Operations: c.samples, Nanos: 1, Executed: c.samples,
			Histogram: [][2]int64{{127, c.samples / 2}, {255, c.samples - c.samples/2}}})
		got := 0
		for name := range assay.Percentiles {
			if _, ok := trial.Figures[name]; ok {
				got++
			}
		}
		for _, name := range c.want {
			if trial.Figures[name] != 127 && trial.Figures[name] != 255 {
				t.Errorf("%d samples: %s is %v", c.samples, name, trial.Figures[name])
			}
		}
		if got != len(c.want) {
			t.Errorf("%d samples: %v, want %v only", c.samples, trial.Figures, c.want)
		}
	}
}

// Errors, misses and nothing at all are never a figure.
func TestFailureOfCounts(t *testing.T) {
	for _, c := range []struct {
		measured wire.Measured
		outcome  assay.Outcome
		reason   string
	}{
		{wire.Measured{Operations: 9, Nanos: 1, Executed: 10, Errors: 1, Error: "locked", Misses: 2, Miss: "0 rows"}, assay.Failed,
			"1 of 10 operations failed; the first: locked"},
		{wire.Measured{Operations: 8, Nanos: 1, Executed: 10, Misses: 2, Miss: "0 rows"}, assay.WrongAnswer,
			"2 of 10 operations had the wrong number of rows; the first: 0 rows"},
		{wire.Measured{Nanos: 5}, assay.Failed, "the worker reports 0 operations in 5 ns"},
		{wire.Measured{Operations: 5}, assay.Failed, "the worker reports 5 operations in 0 ns"},
		{wire.Measured{Operations: 5, Nanos: 5, Executed: 5, Busy: 3}, "", ""},
	} {
		var sum tally
		sum.add(c.measured)
		err := sum.failure()
		var f *failure
		if c.outcome == "" && err == nil {
			continue
		}
		if !errors.As(err, &f) || f.outcome != c.outcome || f.reason != c.reason {
			t.Errorf("%+v: %v, want %s: %s", c.measured, err, c.outcome, c.reason)
		}
	}
}

// Of several outcomes the worst stays, with its own reason.
func TestWorstOutcomeStays(t *testing.T) {
	trial := assay.Trial{Outcome: assay.OK}
	for _, err := range []error{
		&failure{assay.NotApplied, "a setting"}, &failure{assay.TimedOut, "too late"},
		&failure{assay.WrongAnswer, "one"}, &failure{assay.WrongAnswer, "two"},
		&failure{assay.NotApplied, "another setting"}, &failure{assay.TimedOut, "later"}, nil,
	} {
		if err := end(&trial, err); err != nil {
			t.Error(err)
		}
	}
	if trial.Outcome != assay.WrongAnswer || trial.Reason != "one" {
		t.Errorf("%s: %s", trial.Outcome, trial.Reason)
	}
	other := errors.New("the store is gone")
	if err := end(&trial, other); !errors.Is(err, other) {
		t.Errorf("an error that is no outcome: %v", err)
	}
}
