package tune

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"assay"
	"assay/internal/plan"
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

// Robustness holds what a proposal does in a condition, against the current settings there.
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
			tables = append(tables, tableOf([][]float64{gains}, len(gains)))
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
	r, p := Robustness{Condition: c}, t.outcome.Chosen.Point
	if t.config.Budget > 0 && share < minRobustLaunches*t.memberTime(2) {
		return r, row{}, nil
	}
	end := t.spent + share
	rows, launches, err := t.rows(ctx, Block{Stage: c.Stage, Of: robustLaunches, Points: []Point{p}, Where: c.Name},
		func(_ map[string]*row, done int, last time.Duration) int {
			return t.launchesWithin(done, robustLaunches, last, end-t.spent)
		})
	if ctx.Err() != nil {
		return r, row{}, err
	}
	measured := rows[p.Key()]
	if measured != nil {
		r.Refused = measured.refused
	}
	if err != nil { // the confirmed answer stays what it is
		r.Failed = err.Error()
	}
	if err != nil || launches < minRobustLaunches {
		return r, row{}, nil
	}
	r.Launches, r.Losses = launches, make([]stat.NonInferiority, len(measured.operations))
	return r, *measured, nil
}

// launchesWithin returns how many launches a part of the budget pays for, where the last of
// so many took some time and the rest of the part is left. The first one takes longer
// than all others, as commits are traced in it: it ends the stage only where it used up
// the part.
func (t *tuning) launchesWithin(done, planned int, last, left time.Duration) int {
	switch {
	case t.config.Budget == 0 || last == 0:
		return planned
	case left <= 0:
		return done
	case done == 1:
		return planned
	}
	return min(planned, done+int(left/last))
}

// memberTime returns what some members of a launch take, as the launches so far had it.
func (t *tuning) memberTime(members int) time.Duration {
	return time.Duration(members) * t.spent / time.Duration(max(1, t.members))
}

// scaledPlan is the plan with other data or other clients.
type scaledPlan struct {
	scale plan.Scale
	// cases holds the cases of the operations in the condition, by their place in the plan.
	// One that the condition leaves as it was has none.
	cases map[string]assay.Case
	// only is what was chosen of the plan, as the condition calls it.
	only map[string][]string
}

// scalePlan finds the conditions that the plan can have. Why it cannot have the others is
// told with the answer.
func (t *Tuning) scalePlan() {
	t.scaled = map[Stage]scaledPlan{}
	for _, c := range Conditions() {
		e := scaledPlan{scale: plan.Scale{Data: c.Data, Clients: c.Clients}}
		cases, err := t.request.Plan.Scaled(e.scale).Expand(t.drivers[:1])
		if err != nil {
			t.unscaled = append(t.unscaled, fmt.Sprintf("%s cannot be tried: %v", c.Name, err))
			continue
		}
		e.cases, e.only = t.counterparts(cases)
		if len(e.cases) == 0 {
			t.unscaled = append(t.unscaled, c.Name+" cannot be tried: "+t.unscalable(c))
			continue
		}
		t.scaled[c.Stage] = e
		t.conditions = append(t.conditions, c)
	}
}

// counterparts are the cases of the operations in a scaled plan, and what chooses them.
func (t *Tuning) counterparts(cases []assay.Case) (map[string]assay.Case, map[string][]string) {
	found, only := map[string]assay.Case{}, map[string][]string{}
	for _, o := range t.operations {
		for _, c := range cases {
			if c.Cell.Profile != t.current.Name || !samePlace(c.Unscaled, o.Cell) {
				continue
			}
			found[o.Cell.Peer()] = c
			for key := range t.request.Only {
				if value, ok := c.Cell.Coordinate(key); ok && !slices.Contains(only[key], value) {
					only[key] = append(only[key], value)
				}
			}
		}
	}
	return found, only
}

// unscalable says why no operation has a condition.
func (t *Tuning) unscalable(c Condition) string {
	switch {
	case c.Clients > 1:
		return "only one client can do these operations"
	case c.Clients > 0:
		return "the operations have one client"
	case slices.ContainsFunc(t.operations, func(o assay.Case) bool { return o.Dataset.File != "" }):
		return "the data are a file of yours, which is not made from generators"
	}
	return "the plan's data have no rows or records"
}

func (t *Tuning) noteOnce(text string) {
	if !slices.Contains(t.notes, text) {
		t.notes = append(t.notes, text)
	}
}

// stagePlan is the plan of a stage, with what chooses its cells.
func (t *Tuning) stagePlan(b Block, profiles []assay.Profile) (*plan.Plan, map[string][]string) {
	e, scaled := t.scaled[b.Stage]
	seed := t.request.Plan.Seed
	if scaled || b.Stage == Confirmation {
		seed++ // new data and argument sequences
	}
	staged := t.request.Plan.WithProfiles(t.request.Plan.Name+"."+string(b.Stage), t.current.Name, profiles, seed)
	if scaled {
		return staged.Scaled(e.scale), maps.Clone(e.only)
	}
	return staged, t.request.Only
}
