package audit

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"assay/internal/analysis/wording"
	"assay/internal/stat"
	"assay/published"
)

// leastLaunches are what a claim without figures needs.
const leastLaunches = 3

// need holds what likely decides an open comparison.
type need struct {
	stat.Needed
	holds bool // what it then likely says
}

// need estimates what decides an open comparison that has figures.
func (e Evidence) need(higherBetter bool) need {
	within := func(low, high float64) stat.Needed {
		if !higherBetter {
			low, high = 1/high, 1/low
		}
		return e.Here.ToPlace(e.Looks+1, low, high)
	}
	center := gain(e.Here.Ratio, higherBetter).Center
	if p := e.Comparison; p.Size+p.AtLeast > 0 {
		low, high := p.Bounds()
		holds := low <= center && center <= high
		if holds {
			low, high = holding(p, e.Here.Comparison)
			if center < low || high < center { // which is due to layouts
				return need{stat.Needed{Launches: stat.MaxMore + 1}, holds}
			}
		}
		return need{within(low, high), holds}
	}
	margin, expect := 1+e.Here.Rule().Margin, e.Comparison.Expect
	differs := need{within(1, math.Inf(1)), (center > 1) == (expect == published.Faster || expect == published.NotSlower)}
	low, high := 0.0, margin // excludes what Faster claims
	if expect == published.Slower || expect == published.NotSlower {
		low, high = 1/margin, math.Inf(1)
	}
	if excluded := within(low, high); !e.Here.OfLayout() && excluded.Launches < differs.Launches {
		return need{excluded, expect == published.NotFaster || expect == published.NotSlower}
	}
	return differs
}

// deciding are the open comparisons that likely decide a claim soonest: the one that refutes
// it in the least time, or else all.
func (f Finding) deciding() []Evidence {
	var open []Evidence
	var soonest *Evidence
	var least time.Duration
	for _, e := range f.Evidence {
		if !e.open() {
			continue
		}
		open = append(open, e)
		if f.lacksFigures() {
			continue
		}
		need := e.need(f.metric().HigherBetter)
		takes := time.Duration(need.Launches) * max(1, e.Took[0]+e.Took[1])
		if !need.holds && need.Launches <= stat.MaxMore && (soonest == nil || takes < least) {
			soonest, least = &e, takes
		}
	}
	if soonest != nil {
		return []Evidence{*soonest}
	}
	return open
}

// claimOf is the claim with some of its comparisons alone.
func (f Finding) claimOf(some []Evidence) published.Claim {
	claim := f.Claim
	claim.Compare = nil
	for _, e := range some {
		claim.Compare = append(claim.Compare, e.Comparison)
	}
	return claim
}

// work measures what decides a claim. Where this session made what it has, its launches count:
// earlier ones may be of another build. A work has at least as many launches as were made, so
// that they are looked at a few times, and not often.
func (f Finding) work(made bool) Work {
	deciding := f.deciding()
	w := Work{Plan: f.Claim.Plan, Claims: []published.Claim{f.claimOf(deciding)}, needs: leastLaunches, took: map[string]time.Duration{}}
	for _, e := range deciding {
		for i, cell := range []map[string]string{e.Comparison.A, e.Comparison.B} {
			w.took[coordinates(f.Claim.Where, cell)] = e.Took[i]
		}
		if e.Here == nil {
			continue
		}
		needed := e.need(f.metric().HigherBetter)
		more := needed.Launches
		if made {
			more -= e.Here.Ratio.N
		}
		w.needs = max(w.needs, more, e.Here.Ratio.N)
		w.half = narrower(w.half, needed.Half)
	}
	return w
}

// narrower is the smaller of two half-widths; 0 is none.
func narrower(a, b float64) float64 {
	if a == 0 || b == 0 {
		return cmp.Or(a, b)
	}
	return min(a, b)
}

// outlook returns how to decide an open claim, and how long that likely takes; empty where
// something of it was not compared yet.
func (f Finding) outlook() (command, takes string) {
	if !f.open() || f.lacksFigures() {
		return "", ""
	}
	w := f.work(false)
	most := 0
	for _, e := range f.deciding() {
		most = max(most, e.need(f.metric().HigherBetter).Launches)
	}
	switch took := time.Duration(most) * w.launch(); {
	case most > stat.MaxMore:
		return f.rest().Command(), fmt.Sprintf("more than %d launches of each cell", stat.MaxMore)
	case took > 0:
		return w.Claims[0].CommandTo(w.Precision()), fmt.Sprintf("about %s, %d launches of each cell", wording.Brief(took), most)
	}
	return "", ""
}
