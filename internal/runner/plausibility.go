//go:build unix

package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"assay"
	"assay/internal/runner/host"
	"assay/kit/process"
	"assay/kit/wire"
)

// untrue is the outcome of an answer that cannot be true; nil where err is.
func untrue(kind string, err error) error {
	if err == nil {
		return nil
	}
	return &failure{assay.Failed, "the worker's answer to " + kind + " cannot be true: " + err.Error() + "; assay check finds out what else is wrong with it"}
}

// checkedMeasure has the worker measure, and refuses an answer that does not fit
// what was asked, the time of the call or the CPU time that the system counted.
func (in *instance) checkedMeasure(ctx context.Context, request wire.Measure, m *wire.Measured) error {
	call, err := in.checkedCall(ctx, request, m)
	if err != nil {
		return err
	}
	return in.checkPace(*m, call)
}

// checkedCall is checkedMeasure for a call that shows the worker's pace only together with
// others.
func (in *instance) checkedCall(ctx context.Context, request wire.Measure, m *wire.Measured) (wire.Call, error) {
	p := in.prepared[request.Operation]
	call := wire.Call{Measure: request, Clients: p.clients, Unit: p.unit, CPU: -1, Prepares: p.call}
	before, known := in.processCPU()
	waited, _ := in.waited()
	pauses, _ := process.Pauses()
	began := time.Now()
	if err := in.call(ctx, wire.TypeMeasure, request, m); err != nil {
		return call, err
	}
	call.Took = time.Since(began)
	if now, _ := process.Pauses(); now != pauses {
		return call, errPaused
	}
	if after, ok := in.processCPU(); ok && known {
		call.CPU = after - before
	}
	if after, ok := in.waited(); ok {
		call.Waited = max(0, after-waited) // threads may have ended
	}
	err := m.Check(call)
	if errors.Is(err, wire.ErrSlowClock) && in.r.observed.stalled(in.paceKey(call)) {
		return call, errPaused
	}
	return call, untrue(wire.TypeMeasure, err)
}

// stalled notes that a call took much longer than the worker says, and reports whether it was
// the first one of a key: by an accident, which is measured again.
func (o *observations) stalled(key string) bool {
	o.paces.Lock()
	defer o.paces.Unlock()
	if o.stalls == nil {
		o.stalls = map[string]bool{}
	}
	again := o.stalls[key]
	o.stalls[key] = true
	return !again
}

// checkPace refuses what was measured where all that the target has measured of the operation
// so far shows that its clock is wrong.
func (in *instance) checkPace(m wire.Measured, call wire.Call) error {
	return untrue(wire.TypeMeasure, in.r.observed.paces.add(in.paceKey(call), m, call))
}

func (in *instance) paceKey(call wire.Call) string {
	return strings.Join([]string{in.cell().Driver, in.cell().Build, in.cell().Profile, call.Operation}, "|")
}

const (
	// shortCalls is how many calls that measure next to nothing a launch has for
	// each operation, beside its windows: they show what a call itself takes.
	shortCalls = 5
	// shortLength is how long they are where operations are shorter.
	shortLength = 10 * time.Microsecond
)

// shortCall has the worker measure as little as it can, where it has read already.
func (t *turn) shortCall(ctx context.Context) error {
	unit := t.prepared[t.j.Cell.Peer()].unit
	units := max(1, int64(shortLength/max(1, t.each*time.Duration(unit))))
	var m wire.Measured
	return t.checkedMeasure(ctx, wire.Measure{Operation: t.j.Cell.Peer(), Operations: units * unit}, &m)
}

// paces are how long calls took beside what was measured in them, by the driver, the build,
// the profile and the operation, over all launches.
type paces struct {
	sync.Mutex // instances that are warmed up at the same time share them
	all        map[string]*wire.Pace
}

func (p *paces) add(key string, m wire.Measured, call wire.Call) error {
	p.Lock()
	defer p.Unlock()
	if p.all == nil {
		p.all = map[string]*wire.Pace{}
	}
	if p.all[key] == nil {
		p.all[key] = &wire.Pace{}
	}
	return p.all[key].Add(m, call)
}

// processCPU is the CPU time that the system counted for the worker's process.
// It is not known of a worker that is more than one process, nor under a tracer.
func (in *instance) processCPU() (time.Duration, bool) {
	if !in.isOneProcess() {
		return 0, false
	}
	return host.ProcessCPU(in.worker.PID())
}

// systemWaited is process.Waited, but in tests.
var systemWaited = process.Waited

// waited is for how long the worker's threads waited for a processor so far, known where
// processCPU is.
func (in *instance) waited() (time.Duration, bool) {
	if !in.isOneProcess() {
		return 0, false
	}
	return systemWaited(in.worker.PID())
}

// isOneProcess reports whether the worker is one process that nobody traces.
func (in *instance) isOneProcess() bool {
	if in.single == nil {
		single := !in.traced && host.GroupSize(in.worker.PID()) == 1
		in.single = &single
	}
	return *in.single
}

// impossible names a figure that is no number or below zero; nil where there is
// none. None can be kept, shown or compared.
func impossible(t *assay.Trial) error {
	for _, name := range slices.Sorted(maps.Keys(t.Figures)) {
		if v := t.Figures[name]; math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
			return &failure{assay.Failed, fmt.Sprintf("the worker reported an impossible value for %s: %g", name, v)}
		}
	}
	return nil
}
