//go:build unix

package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"assay"
	"assay/internal/runner/load"
	"assay/internal/stat"
	"assay/kit/process"
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
	a.Error = cmp.Or(a.Error, b.Error)
	a.Miss = cmp.Or(a.Miss, b.Miss)
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

// record writes samples and figures into a trial of a target with these facts. A trial
// that is not right keeps its samples, but gets no figures.
func (t *tally) record(trial *assay.Trial, op assay.Operation, facts map[string]string) {
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
	forget(figures, facts["uncounted"])
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

// forget leaves out figures of counters that the worker lacks: it names them before a colon.
func forget(figures map[string]float64, uncounted string) {
	lacks, _, _ := strings.Cut(uncounted, ":")
	for name, metric := range map[string]string{"allocs": assay.AllocationsPerOp, "alloc_bytes": assay.AllocatedPerOp, "switches": assay.SwitchesPerOp} {
		if slices.Contains(strings.Split(lacks, ", "), name) {
			delete(figures, metric)
		}
	}
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

const (
	// nearLimit is the part of the generator's own limit beyond which a figure
	// may be the generator's.
	nearLimit = 0.8
	// kept is the part of the offered rate that a server has to answer to keep up.
	kept = 0.99
)

// fellBehind reports whether a server answered less than was asked at a rate, by more than two standard
// deviations of chance: how many requests are under way varies at both ends, as in a Poisson process.
func fellBehind(result load.Result, rate float64) bool {
	underWay := rate * time.Duration(load.Quantile(result.Histogram, 0.5)).Seconds()
	return float64(result.Right) < kept*rate*time.Duration(result.Nanos).Seconds()-2*math.Sqrt(2*underWay)
}

// recordLoad writes what is known of the load into a trial, with the doubts that
// it raises.
func (in *instance) recordLoad(t *assay.Trial, j *job, result load.Result) {
	all, figures := float64(result.Offered), t.Figures
	figures[assay.FailedOp] = float64(result.Failed) / (all + float64(j.warm))
	limit := in.r.observed.limits[j.Cell.Clients]
	figures[assay.LimitPerS] = limit
	if j.Cell.Rate > 0 {
		figures[assay.OfferedPerS] = all / (float64(result.Nanos) / 1e9)
		figures[assay.LateOp] = float64(result.Late) / all
		figures[assay.DroppedOp] = float64(result.Dropped) / all
		if lag, ok := stat.PercentileOf(result.Lag, 0.99); ok {
			figures[assay.Lag] = lag
		}
	}
	t.Warnings = append(t.Warnings, loadWarnings(result, j, limit)...)
}

// loadWarnings are the doubts that a load raises.
func loadWarnings(result load.Result, j *job, limit float64) []assay.Warning {
	var all []assay.Warning
	if rate := result.PerSecond(); rate > nearLimit*limit {
		all = append(all, assay.Warning{Code: "generator-bound",
			Evidence: fmt.Sprintf("%.0f requests a second, and the load generator reaches %.0f without a database", rate, limit),
			Advice:   "the figure may be the load generator's: give it more processors, or compare at a rate below"})
	}
	if j.Cell.Rate > 0 && (result.Dropped > 0 || fellBehind(result, j.Cell.Rate)) {
		all = append(all, assay.Warning{Code: "overloaded",
			Evidence: fmt.Sprintf("%.0f of %g requests a second were answered, %d of %d were never sent", result.PerSecond(), j.Cell.Rate, result.Dropped, result.Offered),
			Advice:   "the server does not keep up, and latency grows for as long as that lasts: compare at a lower rate"})
	}
	if server, _ := splitCPUs(process.CPUs()); server == nil {
		all = append(all, assay.Warning{Code: "shared-cpus",
			Evidence: "load and server run on the same processors",
			Advice:   "the load takes time from the server: measure under Linux, with four processors or more"})
	}
	return all
}

// pool asks what the pools of all processes did so far, where they close connections that are
// idle.
func (in *instance) pool(ctx context.Context, j *job) (did *wire.Pool, err error) {
	if j.Cell.Idle >= j.Cell.Pool {
		return nil, nil
	}
	err = in.each(func(one *instance) error {
		var stats wire.Stats
		err := one.call(ctx, wire.TypeStats, nil, &stats)
		if stats.Pool != nil && did == nil {
			did = &wire.Pool{}
		}
		if stats.Pool != nil {
			did.Closed, did.Waited = did.Closed+stats.Pool.Closed, did.Waited+stats.Pool.Waited
		}
		return err
	})
	return did, err
}

// pooled measures something, and returns what the pool did meanwhile; nil where there is none.
func (in *instance) pooled(ctx context.Context, j *job, measure func() error) (*wire.Pool, error) {
	before, err := in.pool(ctx, j)
	if err != nil {
		return nil, err
	}
	if err := measure(); err != nil {
		return nil, err
	}
	after, err := in.pool(ctx, j)
	return poolDid(before, after), err
}

// poolDid returns what a pool did between two counts; nil where there is none.
func poolDid(before, after *wire.Pool) *wire.Pool {
	if before == nil || after == nil {
		return nil
	}
	return &wire.Pool{Closed: after.Closed - before.Closed, Waited: after.Waited - before.Waited}
}

// recordPool writes down what the pool did during some operations; nil: nothing.
func recordPool(t *assay.Trial, j *job, operations int64, did *wire.Pool) {
	if did == nil {
		return
	}
	done := float64(max(1, operations))
	closed := did.Closed // opened anew as soon as it is needed
	t.Figures[assay.ReopensOp] = float64(closed) / done
	t.Figures[assay.PoolWaitPerOp] = float64(did.Waited) / done
	if closed > 0 {
		t.Warnings = append(t.Warnings, assay.Warning{Code: "reopens",
			Evidence: fmt.Sprintf("the pool closed %d connections during %d operations, and opened others for them: it keeps %d of %d when they are idle", closed, operations, j.Cell.Idle, j.Cell.Pool),
			Advice:   "set SetMaxIdleConns to the number of open connections; otherwise you measure connection setup"})
	}
}

// phaseWindows is how many windows with timed phases an operation has in a
// launch. They come after the others, so that nothing of them is in ns/op.
const phaseWindows = 2

// phases measures the windows in which the phases of each execution are timed,
// in turn on all instances, where the operation asks for that.
func (l *jointLaunch) phases(ctx context.Context, turns []*turn) error {
	if op := turns[0].j.Operation; !op.Phases || turns[0].j.Cell.Clients != 1 {
		return nil
	}
	for range phaseWindows {
		if err := l.round(ctx, turns, l.phaseWindow); err != nil {
			return err
		}
	}
	return nil
}

func (l *jointLaunch) phaseWindow(ctx context.Context, t *turn, start int64) (used int64, err error) {
	if l.ended(t) {
		return 0, nil
	}
	request := wire.Measure{Operation: t.j.Cell.Peer(), Start: start, Nanos: int64(windowLength), Phases: true}
	began := time.Now()
	var m wire.Measured
	err = whileResumed(ctx, t.instance, func() error {
		err := t.measure(ctx, request, &m)
		if f, is := errors.AsType[*failure](err); is && f.outcome == assay.Unsupported {
			t.noPhases = f.reason
			return nil
		}
		if err == nil {
			t.phased.add(m)
			l.r.time.add(assay.StageMeasured, time.Duration(m.Nanos))
			err = wrong(m)
		}
		return err
	})
	t.took += time.Since(began)
	_, err = l.settle(t, err)
	return m.Executed, err
}

// phased adds up windows with timed phases.
type phased struct {
	operations int64
	nanos      map[string]int64
	readings   int64
	clock      float64 // ns of one reading, summed over windows
	windows    int
}

func (p *phased) add(m wire.Measured) {
	if p.nanos == nil {
		p.nanos = map[string]int64{}
	}
	p.operations += m.Executed
	p.clock += m.ClockNanos
	p.windows++
	for _, phase := range m.Phases {
		p.nanos[phase.Name] += phase.Nanos
		p.readings += phase.Count
	}
}

// record writes the phases' figures: of an operation, or of a row. The clock is
// read once for each phase, and its cost is stated and not subtracted.
func (p *phased) record(t *assay.Trial, op assay.Operation) {
	if p.operations == 0 {
		return
	}
	operations := float64(p.operations) * rowsPer(op)
	for name, nanos := range p.nanos {
		t.Figures[name+assay.PhaseSuffix] = float64(nanos) / operations
	}
	t.Figures[assay.ClockPerOp] = p.clock / float64(p.windows) * float64(p.readings) / operations
}

// warnPhases says why a trial has no phases.
func (t *turn) warnPhases() {
	if t.noPhases == "" {
		return
	}
	t.trial.Warnings = append(t.trial.Warnings, assay.Warning{Code: "no-phases", Evidence: t.noPhases,
		Advice: "this worker's phases cannot be compared"})
}
