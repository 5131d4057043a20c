//go:build unix

package runner

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"assay"
	"assay/internal/stat"
	"assay/kit/wire"
)

// tally adds up what the windows, the block or its parts of one trial measured.
type tally struct {
	total   wire.Measured
	samples []assay.Sample
	partial bool // some operations were not done: what is left behind is not known
	// uncounted says that the worker did not count how often it tried operations again.
	uncounted bool
}

func (t *tally) add(m wire.Measured) {
	t.samples = append(t.samples, assay.Sample{Operations: m.Operations, Nanos: m.Nanos})
	a, b := &t.total, m
	a.Operations += b.Operations
	a.Nanos += b.Nanos
	a.Executed += b.Executed
	a.Errors += b.Errors
	a.Misses += b.Misses
	a.Busy += b.Busy
	a.Stale += b.Stale
	a.Splits += b.Splits
	if a.Error == "" {
		a.Error = b.Error
	}
	if a.Miss == "" {
		a.Miss = b.Miss
	}
	a.Counters.Add(b.Counters)
	a.Histogram = append(a.Histogram, b.Histogram...)
	a.LoopNanos = b.LoopNanos
}

// join makes one sample and one histogram of the parts of a block.
func (t *tally) join() {
	if len(t.samples) < 2 {
		return
	}
	t.samples = []assay.Sample{{Operations: t.total.Operations, Nanos: t.total.Nanos}}
	counts := map[int64]int64{}
	for _, b := range t.total.Histogram {
		counts[b[0]] += b[1]
	}
	t.total.Histogram = nil
	for _, upper := range slices.Sorted(maps.Keys(counts)) {
		t.total.Histogram = append(t.total.Histogram, [2]int64{upper, counts[upper]})
	}
}

func (t *tally) took() time.Duration { return time.Duration(t.total.Nanos) }

// each is about how long an operation took of so many clients.
func (t *tally) each(clients int) time.Duration {
	return t.took() * time.Duration(clients) / time.Duration(max(1, t.total.Operations))
}

// failure is the outcome that the counts ask for, nil where all was right.
func (t *tally) failure() error {
	if err := wrong(t.total); err != nil {
		return err
	}
	if m := t.total; m.Operations == 0 || m.Nanos <= 0 {
		return &failure{assay.Failed, fmt.Sprintf("the worker reports %d operations in %d ns", m.Operations, m.Nanos)}
	}
	return nil
}

// wrong is the outcome that errors and misses ask for. In a warm-up it is all
// that counts: where each client has one operation, none may be completed while
// all are at work.
func wrong(m wire.Measured) error {
	switch {
	case m.Errors > 0:
		return &failure{assay.Failed, fmt.Sprintf("%d of %d operations failed; the first: %s", m.Errors, m.Executed, m.Error)}
	case m.Misses > 0:
		return &failure{assay.WrongAnswer, fmt.Sprintf("%d of %d operations had the wrong number of rows; the first: %s", m.Misses, m.Executed, m.Miss)}
	}
	return nil
}

// record writes samples and figures into a trial. A trial that is not right
// keeps its samples, but gets no figures.
func (t *tally) record(trial *assay.Trial, op assay.Operation) {
	trial.Samples = t.samples
	for _, b := range t.total.Histogram {
		trial.Histogram = append(trial.Histogram, assay.Bucket{Upper: b[0], Count: b[1]})
	}
	if trial.Outcome != assay.OK && trial.Outcome != assay.NotApplied {
		return
	}
	m, figures := t.total, trial.Figures
	operations := float64(m.Operations) * rowsPer(op)
	executed := float64(m.Executed) * rowsPer(op)
	figures[assay.NsPerOp] = float64(m.Nanos) / operations
	figures[assay.OpPerS] = operations / (float64(m.Nanos) / 1e9)
	figures[assay.CPUPerOp] = float64(m.Counters.CPU) / executed
	figures[assay.AllocatedPerOp] = float64(m.Counters.Alloc) / executed
	figures[assay.AllocationsPerOp] = float64(m.Counters.Allocs) / executed
	figures[assay.ReadPerOp] = float64(m.Counters.Read) / executed
	figures[assay.FetchedPerOp] = float64(m.Counters.Fetched) / executed
	figures[assay.WrittenPerOp] = float64(m.Counters.Written) / executed
	figures[assay.SwitchesPerOp] = float64(m.Counters.Switches) / executed
	figures[assay.PeakBytes] = float64(m.Counters.Peak)
	if m.LoopNanos > 0 {
		figures[assay.LoopNsPerOp] = m.LoopNanos / rowsPer(op)
	}
	if op.RetryBusy && !t.uncounted {
		figures[assay.BusyOp] = float64(m.Busy) / executed
		if trial.Cell.Begin == assay.Deferred && !op.Serve {
			figures[assay.StaleOp] = float64(m.Stale) / executed
		}
	}
	recordPercentiles(figures, m.Histogram)
}

// rowsPer is by how much a figure per operation becomes one per row.
func rowsPer(op assay.Operation) float64 {
	if !op.PerRow {
		return 1
	}
	rows := 0
	for _, step := range op.Steps {
		rows += max(0, step.Rows)
	}
	return float64(max(1, rows))
}

func recordPercentiles(figures map[string]float64, histogram [][2]int64) {
	for name, p := range assay.Percentiles {
		if value, ok := stat.PercentileOf(histogram, p); ok {
			figures[name] = value
		}
	}
}
