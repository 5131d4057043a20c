package kit

import "assay/kit/wire"

// Phase is one phase of a statement's execution. A driver has those that its
// API shows apart.
type Phase int

// The phases, in their order.
const (
	PhasePrepare   Phase = iota // compile the statement
	PhaseBind                   // hand over its arguments, where that is a call of its own
	PhaseQuery                  // hand over its arguments and start it
	PhaseNext                   // step to the next row
	PhaseScan                   // read the columns of a row
	PhaseCloseRows              // end the answer, or reset the statement
	PhaseCloseStmt              // finalize the statement
	phaseCount
)

var phaseNames = [phaseCount]string{wire.PhasePrepare, wire.PhaseBind, wire.PhaseQuery, wire.PhaseNext,
	wire.PhaseScan, wire.PhaseCloseRows, wire.PhaseCloseStmt}

// Profiler is a Client that can also time the phases of an operation.
type Profiler interface {
	Client
	// DoPhases is Do, with the time of each phase added to phases: Begin when
	// it begins, End when a phase ends and the next one begins.
	DoPhases(position int, phases *Phases) (rows int, err error)
}

// Phases adds up the time of each phase over operations. Each Begin and End
// reads the clock once, and that is a part of the phase that it ends.
type Phases struct {
	last int64
	sums [phaseCount]struct{ nanos, count int64 }
}

// Begin starts the time of the first phase. Without Phases, as where phases are
// not timed, it and End do nothing.
func (p *Phases) Begin() {
	if p != nil {
		p.last = clock()
	}
}

// End adds the time since the last Begin or End to a phase.
func (p *Phases) End(phase Phase) {
	if p != nil {
		p.end(phase)
	}
}

func (p *Phases) end(phase Phase) {
	now := clock()
	p.sums[phase].nanos += now - p.last
	p.sums[phase].count++
	p.last = now
}

func (p *Phases) report() []wire.Phase {
	var all []wire.Phase
	for i, sum := range p.sums {
		if sum.count > 0 {
			all = append(all, wire.Phase{Name: phaseNames[i], Nanos: sum.nanos, Count: sum.count})
		}
	}
	return all
}

// profiled is a client whose operations are timed phase by phase.
type profiled struct {
	Profiler
	phases *Phases
}

func (p profiled) Do(position int) (int, error) { return p.DoPhases(position, p.phases) }

// profile replaces the one client by one that times its phases.
func profile(clients []Client) ([]Client, *Phases, error) {
	if len(clients) != 1 {
		return nil, nil, wire.Errorf(wire.Invalid, "phases of %d clients: want one client", len(clients))
	}
	client, ok := clients[0].(Profiler)
	if !ok {
		return nil, nil, wire.Errorf(wire.Unsupported, "this worker does not time phases of this operation")
	}
	phases := new(Phases)
	return []Client{profiled{client, phases}}, phases, nil
}

// clockNanos is what one reading of the clock costs.
func clockNanos() float64 {
	const readings = 100_000
	began := clock()
	for range readings {
		clock()
	}
	return float64(clock()-began) / readings
}
