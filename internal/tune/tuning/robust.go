package tuning

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"assay"
	"assay/internal/plan"
	"assay/internal/tune"
)

// elsewhere is a condition of the plan: other data, or other clients.
type elsewhere struct {
	scale plan.Scale
	// cases are those of the operations in the condition, by their place in the plan.
	// One that the condition leaves as it was has none.
	cases map[string]assay.Case
	// only is what was chosen of the plan, as the condition calls it.
	only map[string][]string
}

// scalePlan finds the conditions that the plan can have. Why it cannot have the others is
// told with the answer.
func (t *Tuning) scalePlan() {
	t.elsewhere = map[tune.Stage]elsewhere{}
	for _, c := range tune.Conditions() {
		e := elsewhere{scale: plan.Scale{Data: c.Data, Clients: c.Clients}}
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
		t.elsewhere[c.Stage] = e
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
func (t *Tuning) unscalable(c tune.Condition) string {
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

// judgeElsewhere compares the proposal with the current settings in a condition, and
// says of operations that could not be measured there why.
func (t *Tuning) judgeElsewhere(p tune.Point, trials []assay.Trial, e elsewhere, where string) tune.Member {
	var m tune.Member
	for _, o := range t.operations {
		here, ok := e.cases[o.Cell.Peer()]
		now, measured := t.trial(trials, t.baseline(), here)
		then, both := t.trial(trials, t.member(p), here)
		switch {
		case !ok:
		case measured && now.Outcome != assay.OK && now.Outcome != assay.NotRun:
			t.noteOnce(fmt.Sprintf("at %s %s cannot be measured with the current settings: %s: %s", where, operationName(o), now.Outcome, now.Reason))
		case both && m.Refused == "":
			if why := t.refuse(p, now, then); why != "" {
				m.Refused = operationName(o) + ": " + why
			}
		}
		change := math.NaN()
		if now.Outcome == assay.OK && then.Outcome == assay.OK {
			change = t.gain(t.metric(where, here, trials), o, now, then)
		}
		m.Gains = append(m.Gains, change)
	}
	return m
}

func (t *Tuning) noteOnce(text string) {
	if !slices.Contains(t.notes, text) {
		t.notes = append(t.notes, text)
	}
}

// stagePlan is the plan of a stage, with what chooses its cells.
func (t *Tuning) stagePlan(b tune.Block, profiles []assay.Profile) (*plan.Plan, map[string][]string) {
	e, scaled := t.elsewhere[b.Stage]
	seed := t.request.Plan.Seed
	if scaled || b.Stage == tune.Confirmation {
		seed++ // new data and argument sequences
	}
	staged := t.request.Plan.WithProfiles(t.request.Plan.Name+"."+string(b.Stage), t.current.Name, profiles, seed)
	if scaled {
		return staged.Scaled(e.scale), maps.Clone(e.only)
	}
	return staged, t.request.Only
}
