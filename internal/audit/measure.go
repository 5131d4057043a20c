package audit

import (
	"cmp"
	"context"
	"slices"
	"time"

	"assay/published"
)

// Meter measures the cells of a claim for some time, and returns how long it
// measured.
type Meter func(ctx context.Context, claim published.Claim, budget time.Duration) (time.Duration, error)

const (
	// minSlice is the shortest time that is worth the building and preparing
	// before it.
	minSlice = 20 * time.Second
	// maxTurns is how often one claim is measured: what three turns leave open
	// would take the time of many others.
	maxTurns = 3
)

// Measure measures what open claims need until none is open or the budget has
// passed, and returns the findings after that: claims without any figure first,
// those of few cells before others, then those that need the fewest launches.
// A claim is judged by all launches of all runs, see lab.Pool: looking more
// often than once is allowed for by the widened intervals.
func Measure(ctx context.Context, budget time.Duration, judge func() ([]Finding, error), measure Meter) ([]Finding, error) {
	turns := map[string]int{}
	for {
		findings, err := judge()
		if err != nil {
			return nil, err
		}
		open := slices.DeleteFunc(slices.Clone(findings), func(f Finding) bool { return !f.open() || turns[f.name()] >= maxTurns })
		if len(open) == 0 || budget < minSlice {
			return findings, nil
		}
		next := slices.MinFunc(open, func(a, b Finding) int {
			return cmp.Or(cmp.Compare(turns[a.name()], turns[b.name()]), cmp.Compare(a.needs(), b.needs()))
		})
		turns[next.name()]++
		took, err := measure(ctx, next.Claim, min(budget, max(minSlice, budget/time.Duration(len(open)))))
		if err != nil {
			return findings, err
		}
		budget -= max(took, time.Second) // a turn that measures nothing ends too
	}
}

func (f Finding) name() string { return f.Source.Name + "/" + f.Claim.Name }

// needs is an estimate of the launches that decide an open claim, times its
// cells: what is worth most is cheapest.
func (f Finding) needs() int {
	launches := 0
	for _, e := range f.Evidence {
		switch {
		case !e.Open || e.Verdict != Unknown:
		case e.Here == nil:
			launches = max(launches, 1)
		default:
			launches = max(launches, cmp.Or(e.Here.MoreLaunches(), notEstimable))
		}
	}
	return launches * len(f.Evidence)
}

// notEstimable stands for an estimate that there is none of: such claims come last.
const notEstimable = 1000
