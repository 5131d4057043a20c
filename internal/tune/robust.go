package tune

import (
	"context"
	"math"
	"time"

	"assay/internal/stat"
)

// Condition is an amount of data or a number of clients other than the plan's, at which
// a proposal has to do as well. Each is a stage with a run of its own.
type Condition struct {
	Stage Stage
	Name  string // four times the data
	// Data and Clients are what the plan's are multiplied by; 0: not at all.
	Data, Clients float64
}

// Conditions are all, those first at which a proposal is the likeliest to fail: where a
// budget ends, the last are left out.
func Conditions() []Condition {
	return []Condition{
		{Stage: "four-times-data", Name: "four times the data", Data: 4},
		{Stage: "twice-clients", Name: "twice the clients", Clients: 2},
		{Stage: "quarter-data", Name: "a quarter of the data", Data: 0.25},
		{Stage: "half-clients", Name: "half the clients", Clients: 0.5},
	}
}

const (
	// robustLaunches is how many launches compare the proposal with the current settings
	// in a condition, and minRobustLaunches the fewest that say anything.
	robustLaunches    = 6
	minRobustLaunches = 3
)

// Robustness is what a proposal does in a condition, against the current settings there.
type Robustness struct {
	Condition Condition
	Launches  int    // 0: the budget did not pay for it, or it failed
	Failed    string // why it could not be measured to its end; empty: it was
	// Losses are of the operations, in their order. One that the condition leaves as it
	// was, or that cannot be measured there, is not Measured.
	Losses []stat.NonInferiority
	// Refused says which constraint the proposal breaks in this condition, or why it
	// cannot be measured there. Empty: neither.
	Refused string
}

// robustness compares the proposal with the current settings in all conditions. The
// search never saw them, and nothing is chosen by what they show.
func (t *tuning) robustness(ctx context.Context) error {
	if t.outcome.Chosen == nil {
		return nil
	}
	var tables []stat.Table
	for i, c := range t.config.Conditions {
		share := (t.config.Budget - t.spent) / time.Duration(len(t.config.Conditions)-i)
		r, measured, err := t.robustIn(ctx, c, share)
		if err != nil {
			return err
		}
		t.outcome.Robustness = append(t.outcome.Robustness, r)
		for _, gains := range measured.operations {
			tables = append(tables, stat.Table{Pairs: [][]stat.Pairs{nil, {pair(gains, make([]float64, len(gains)))}},
				Tests: []stat.Test{{A: 1, B: 0, Baseline: true, HigherBetter: true}}})
		}
	}
	var all []stat.Comparison
	for _, judged := range (stat.Rule{}).Judge(tables) {
		all = append(all, judged.Comparisons...)
	}
	losses := stat.NonInferior(all, harm)
	for i := range t.outcome.Robustness {
		r := &t.outcome.Robustness[i]
		n := len(r.Losses)
		r.Losses, losses = losses[:n], losses[n:]
	}
	return nil
}

// robustIn measures the proposal in a condition, within a part of the budget.
func (t *tuning) robustIn(ctx context.Context, c Condition, share time.Duration) (Robustness, row, error) {
	r, measured, point := Robustness{Condition: c}, row{}, []Point{t.outcome.Chosen.Point}
	if t.config.Budget > 0 && share < minRobustLaunches*t.memberTime(2) {
		return r, measured, nil
	}
	start, launches := t.spent, robustLaunches
	for n := 1; n <= launches; n++ {
		before := t.spent
		m, err := t.measure(ctx, Block{Stage: c.Stage, Number: n, Of: robustLaunches, Points: point, All: point, Where: c.Name})
		if ctx.Err() != nil {
			return r, row{}, err
		}
		if err != nil { // the confirmed answer stays what it is
			r.Failed = err.Error()
			return r, row{}, nil
		}
		t.spent += m.Took
		t.members += 2
		measured.add(m.Members[0])
		if r.Refused == "" {
			r.Refused = m.Members[0].Refused
		}
		if n <= 2 && t.config.Budget > 0 {
			launches = launchesWithin(n, robustLaunches, t.spent-before, share-(t.spent-start))
		}
	}
	if launches < minRobustLaunches {
		return r, row{}, nil
	}
	r.Launches = launches
	r.Losses = make([]stat.NonInferiority, len(measured.operations))
	return r, measured, nil
}

// launchesWithin is how many launches a part of the budget pays for, where the last of
// so many took some time and the rest of the part is left. The first one takes longer
// than all others, as commits are traced in it: it ends the stage only where it used up
// the part.
func launchesWithin(done, planned int, last, left time.Duration) int {
	switch {
	case last == 0:
		return planned
	case left <= 0:
		return done
	case done == 1:
		return planned
	}
	return min(planned, done+int(left/last))
}

// memberTime is what some members of a launch take, as the launches so far had it.
func (t *tuning) memberTime(members int) time.Duration {
	return time.Duration(members) * t.spent / time.Duration(max(1, t.members))
}

// lowest is the smallest bound that an operation keeps; NaN where none was measured.
func (r Robustness) lowest() float64 {
	least := math.NaN()
	for _, l := range r.Losses {
		if l.Measured && !(l.AtLeast >= least) {
			least = l.AtLeast
		}
	}
	return least
}

// measured is how many operations the condition has figures of.
func (r Robustness) measured() int {
	n := 0
	for _, l := range r.Losses {
		if l.Measured {
			n++
		}
	}
	return n
}
