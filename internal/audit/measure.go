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

// MinSlice is the shortest time that is worth the building and preparing before
// it.
const MinSlice = 20 * time.Second

// Measure measures what open claims need until each was measured once or the
// budget has passed, and returns the findings after that: claims without any
// figure first, those of few cells before others, then those that need the fewest
// launches. What one leaves of its share is the others'. Claims about the same
// cells are measured together.
//
// A claim is judged by all launches of all runs, see lab.Pool, and each run is a
// look at a higher level: one long run tells more than several short ones.
func Measure(ctx context.Context, budget time.Duration, judge func() ([]Finding, error), measure Meter) ([]Finding, error) {
	measured := map[string]bool{}
	for {
		findings, err := judge()
		if err != nil {
			return nil, err
		}
		open := slices.DeleteFunc(slices.Clone(findings), func(f Finding) bool { return !f.open() || measured[f.Claim.Cells()] })
		if len(open) == 0 || budget < MinSlice {
			return findings, nil
		}
		next := slices.MinFunc(open, func(a, b Finding) int { return cmp.Compare(a.needs(), b.needs()) })
		measured[next.Claim.Cells()] = true
		slice := min(budget, max(MinSlice, budget/time.Duration(selections(open))))
		took, err := measure(ctx, strictest(open, next), slice)
		if err != nil {
			return findings, err
		}
		budget -= took
	}
}

// selections counts the different selections of cells.
func selections(findings []Finding) int {
	all := map[string]bool{}
	for _, f := range findings {
		all[f.Claim.Cells()] = true
	}
	return len(all)
}

// strictest is the claim that needs the narrowest intervals of those about the
// same cells.
func strictest(findings []Finding, f Finding) published.Claim {
	claim := f.Claim
	for _, other := range findings {
		precision := other.Claim.Precision()
		if other.Claim.Cells() == claim.Cells() && precision > 0 && (claim.Precision() == 0 || precision < claim.Precision()) {
			claim = other.Claim
		}
	}
	return claim
}

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
