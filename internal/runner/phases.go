//go:build unix

package runner

import (
	"context"
	"errors"
	"time"

	"assay"
	"assay/kit/wire"
)

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
