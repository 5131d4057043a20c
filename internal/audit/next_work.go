package audit

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"assay/internal/stat"
	"assay/published"
)

// Work holds what one run measures: the cells of claims about one plan.
type Work struct {
	Plan   string
	Claims []published.Claim // with what decides each alone
	stage  stage
	needs  int           // launches that may decide the claims, by an estimate
	need   time.Duration // that these take
	half   float64       // of the intervals that may decide them; 0: unknown
	// took is how long a launch of each cell took, by its coordinates; 0 where it has none.
	took map[string]time.Duration
}

// Only selects the cells of the claims, see [published.Selection].
func (w Work) Only() map[string][]string { return published.Selection(w.Claims...) }

// Sides select the cells alone: what Only selects has others, where sides differ in several
// coordinates.
func (w Work) Sides() []map[string][]string {
	var sides []map[string][]string
	for _, c := range w.Claims {
		for _, p := range c.Compare {
			sides = append(sides, c.Side(p.A), c.Side(p.B))
		}
	}
	return sides
}

// Drivers returns the drivers of all its claims, each as [published.Claim.Drivers] has it; none:
// the plan's.
func (w Work) Drivers() []string {
	all := published.Claim{Versions: map[string]string{}}
	for _, c := range w.Claims {
		maps.Copy(all.Versions, c.Versions)
		for _, p := range c.Compare {
			all.Compare = append(all.Compare, published.Comparison{A: c.Cell(p.A), B: c.Cell(p.B)})
		}
	}
	return all.Drivers()
}

// Precision is the narrowest half-width that a claim needs, by its figures or else by what it
// says; 0: the usual one.
func (w Work) Precision() float64 {
	if w.half > 0 {
		return w.half
	}
	least := 0.0
	for _, c := range w.Claims {
		least = narrower(least, c.Precision())
	}
	return least
}

// Says returns what the claims say, each on a line.
func (w Work) Says() string {
	var lines []string
	for _, c := range w.Claims {
		lines = append(lines, c.Says)
	}
	return strings.Join(lines, "\n")
}

// key names the cells that are measured.
func (w Work) key() string { return fmt.Sprint(w.Plan, w.Sides()) }

// with is both works as one.
func (w Work) with(other Work) Work {
	both := maps.Clone(w.took)
	maps.Copy(both, other.took)
	return Work{Plan: w.Plan, Claims: slices.Concat(w.Claims, other.Claims), stage: w.stage, needs: max(w.needs, other.needs), half: narrower(w.half, other.half), took: both}
}

// launch returns how long one of all its cells takes by those that were measured; 0 where one was
// not. The baseline is measured twice.
func (w Work) launch() time.Duration {
	var sum, most time.Duration
	for _, took := range w.took {
		if took == 0 {
			return 0
		}
		sum, most = sum+took, max(most, took)
	}
	return sum + most
}

// Meter measures works.
type Meter interface {
	// Launch estimates how long one launch of all its cells takes, of which some had none yet.
	Launch(context.Context, Work) (time.Duration, error)
	// Measure measures for some time, and returns how long it measured: 0 where
	// nothing could be.
	Measure(ctx context.Context, w Work, budget time.Duration) (time.Duration, error)
}

// MinSlice is the shortest time that is worth the building and preparing before
// it.
const MinSlice = 20 * time.Second

// Measure measures what open comparisons need until the budget has passed or more of it
// would tell nothing, and returns the findings after that. Claims that share cells are measured in
// one run. They have their turn by stage, within it by the least time, and each run gets the time
// that it needs, or of what is left its part of all that is needed if that is more.
//
// A comparison is judged by all launches of the newest runs that have its cells, see lab.Pools,
// and each run is a look at a higher level: one long run tells more than several short ones.
func Measure(ctx context.Context, budget time.Duration, judge func() ([]Finding, error), meter Meter) ([]Finding, error) {
	s := session{meter: meter, launches: map[string]time.Duration{}, measured: map[string]int{}}
	for {
		findings, err := judge()
		if err != nil {
			return nil, err
		}
		if budget < MinSlice {
			return findings, nil
		}
		work, slice, err := s.next(ctx, findings, budget)
		if err != nil || slice == 0 {
			return findings, err
		}
		took, err := meter.Measure(ctx, work, slice)
		if err != nil {
			return findings, err
		}
		for _, c := range work.Claims {
			if s.measured[id(c)]++; took == 0 {
				s.measured[id(c)] = maxRuns
			}
		}
		budget -= took
	}
}

// session holds what Measure knows while it goes on.
type session struct {
	meter    Meter
	launches map[string]time.Duration // estimates, by the work's key
	measured map[string]int           // runs of claims, by id
}

// maxRuns is how often a claim is measured: each run is a look, after which the next one
// has to show more.
const maxRuns = 3

// id tells claims of all sources apart.
func id(c published.Claim) string { return strings.Join([]string{c.Plan, c.Name, c.Says}, "/") }

// stage says when a work has its turn.
type stage int

const (
	unmeasured stage = iota // something of it was never measured
	estimated               // what earlier sessions measured says what it needs
	again                   // it was measured in this session
	failed                  // something of it failed when it was measured by an earlier assay, or with other builds
	chance                  // it likely takes longer than the rest of the budget, at most twice as long
)

// work returns what decides a claim; has is false where another run is of no use to it.
func (s session) work(f Finding) (w Work, has bool) {
	made := s.measured[id(f.Claim)]
	if !f.open() || made == maxRuns || made > 0 && f.lacksFigures() {
		return w, false
	}
	w = f.work(made > 0)
	switch {
	case made > 0:
		w.stage = again
	case !f.lacksFigures():
		w.stage = estimated
	case w.launch() > 0:
		w.stage = failed
	}
	return w, true
}

// next is the work to be done next, and the time that it gets: 0 where the budget is too short
// for what is left. A first run gets its part of half of what is left: its figures say where the
// other half decides most. What failed before gets what it needs.
func (s session) next(ctx context.Context, findings []Finding, budget time.Duration) (Work, time.Duration, error) {
	works, err := s.works(ctx, findings, budget)
	if err != nil || len(works) == 0 {
		return Work{}, 0, err
	}
	first := slices.MinFunc(works, func(a, b Work) int { return cmp.Or(cmp.Compare(a.stage, b.stage), cmp.Compare(a.need, b.need)) })
	var sum time.Duration
	for _, w := range works {
		if w.stage <= max(first.stage, again) { // the others get what these leave
			sum += w.need
		}
	}
	part := float64(budget) * float64(first.need) / float64(sum)
	switch {
	case first.stage == failed: // it may fail again
		part = 0
	case first.stage < again && sum > first.need:
		part /= 2
	}
	return first, min(budget, max(MinSlice, first.need, time.Duration(part))), nil
}

// works returns what open claims need that is worth a try: claims together that share cells, as
// long as the budget is enough for all of them.
func (s session) works(ctx context.Context, findings []Finding, budget time.Duration) ([]Work, error) {
	var works []Work
	for _, f := range findings {
		w, has := s.work(f)
		if !has {
			continue
		}
		if at := slices.IndexFunc(works, w.fits); at >= 0 {
			both := works[at].with(w)
			need, err := s.need(ctx, both, budget)
			if err != nil {
				return nil, err
			}
			if 0 < need && need <= budget {
				works[at] = both
				continue
			}
		}
		works = append(works, w)
	}
	for i := range works {
		w := &works[i]
		var err error
		if w.need, err = s.need(ctx, *w, budget); err != nil {
			return nil, err
		}
		if w.need > budget && w.hasFigures() {
			w.stage = chance
		}
	}
	return slices.DeleteFunc(works, func(w Work) bool { return w.need == 0 }), nil
}

// hasFigures reports whether figures say what a work needs.
func (w Work) hasFigures() bool { return w.stage == estimated || w.stage == again }

// fits reports whether works share cells, and a run, which is as narrow everywhere, may measure
// both: neither needs many more launches than the other.
func (w Work) fits(other Work) bool {
	shares := func(cell string) bool { _, has := other.took[cell]; return has }
	switch {
	case w.Plan != other.Plan || w.stage != other.stage || !slices.ContainsFunc(slices.Collect(maps.Keys(w.took)), shares):
		return false
	case w.half == 0 || other.half == 0:
		return w.Precision() == other.Precision()
	}
	return max(w.needs, other.needs) <= 2*min(w.needs, other.needs)
}

// need estimates how long a work takes to decide; 0 where that is not worth a try: no number of
// launches is likely enough, or the budget is shorter than two launches, or than half of what
// figures say that it needs.
func (s session) need(ctx context.Context, w Work, budget time.Duration) (time.Duration, error) {
	launch := w.launch()
	if launch == 0 {
		var err error
		if launch, err = s.estimate(ctx, w); err != nil {
			return 0, err
		}
	}
	need := max(time.Millisecond, time.Duration(w.needs)*launch)
	if 2*launch > budget || w.needs > stat.MaxMore || w.hasFigures() && need > 2*budget {
		return 0, nil
	}
	return need, nil
}

// estimate asks the meter, once.
func (s session) estimate(ctx context.Context, w Work) (time.Duration, error) {
	if launch, known := s.launches[w.key()]; known {
		return launch, nil
	}
	launch, err := s.meter.Launch(ctx, w)
	if err == nil {
		s.launches[w.key()] = launch
	}
	return launch, err
}

// lacksFigures reports whether something that is open was not compared at all.
func (f Finding) lacksFigures() bool {
	return slices.ContainsFunc(f.Evidence, func(e Evidence) bool { return e.open() && e.Here == nil })
}
