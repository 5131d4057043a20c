package audit

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"assay/internal/stat"
	"assay/published"
)

// Work is what one run measures: the cells of claims about one plan.
type Work struct {
	Plan   string
	Claims []published.Claim // with what decides each alone
	needs  int               // launches that may decide the claims, by an estimate
	half   float64           // of the intervals that may decide them; 0: unknown
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

// Drivers are those of all its claims, each as [published.Claim.Drivers] has it; none: the plan's.
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

// Says is what the claims say, each on a line.
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
	return Work{w.Plan, slices.Concat(w.Claims, other.Claims), max(w.needs, other.needs), narrower(w.half, other.half), both}
}

// launch is how long one of all its cells takes by those that were measured; 0 where one was
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
	// Cells counts the cells of a work.
	Cells(Work) (int, error)
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
// would tell nothing, and returns the findings after that. Claims whose cells overlap are
// measured in one run, so that they share its launches. They have their turn by stage, within
// it by the least time, and each gets the time that it needs or more. As long as the rest of
// the budget may help other claims, a first run gets its part of half of what is left.
//
// A comparison is judged by all launches of the newest runs that have its cells, see lab.Pools,
// and each run is a look at a higher level: one long run tells more than several short ones.
func Measure(ctx context.Context, budget time.Duration, judge func() ([]Finding, error), meter Meter) ([]Finding, error) {
	s := session{meter: meter, launches: map[string]time.Duration{}, measured: map[string]int{}, stuck: map[string]bool{}}
	for {
		findings, err := judge()
		if err != nil {
			return nil, err
		}
		if budget < MinSlice {
			return findings, nil
		}
		work, slice, err := s.next(ctx, findings, budget)
		if err != nil || len(work.Claims) == 0 {
			return findings, err
		}
		took, err := meter.Measure(ctx, work, slice)
		if err != nil {
			return findings, err
		}
		for _, c := range work.Claims {
			s.measured[id(c)]++
			s.stuck[id(c)] = took == 0 || s.measured[id(c)] == maxRuns
		}
		budget -= took
	}
}

// session is what Measure knows while it goes on.
type session struct {
	meter    Meter
	launches map[string]time.Duration // estimates, by the work's key
	measured map[string]int           // runs of claims, by id
	stuck    map[string]bool          // claims that another run is no use to, by id
}

// maxRuns is how often a claim is measured: each run is a look, after which the next one
// has to show more.
const maxRuns = 3

// id tells claims of all sources apart.
func id(c published.Claim) string { return strings.Join([]string{c.Plan, c.Name, c.Says}, "/") }

// stage says when a claim has its turn.
type stage int

const (
	unmeasured stage = iota // something of it was never measured
	estimated               // what earlier sessions measured says what it needs
	again                   // it was measured in this session
	failed                  // something of it failed when it was measured by an earlier assay, or with other builds
	chance                  // it likely takes longer than the rest of the budget, at most twice as long
	stages
)

// manyNeeds bounds the time of a first run: more than so many times what it needs is others'.
const manyNeeds = 10

// stageOf is where a claim is, if another run may be of use to it.
func (s session) stageOf(f Finding) (at stage, has bool) {
	made := s.measured[id(f.Claim)] > 0
	switch {
	case !f.open() || s.stuck[id(f.Claim)] || made && f.lacksFigures():
		return 0, false
	case made:
		return again, true
	case f.lacksFigures() && f.work(false).launch() > 0:
		return failed, true
	case f.lacksFigures():
		return unmeasured, true
	}
	return estimated, true
}

// takes reports whether a claim has its turn at a stage. The last stage is of those that were
// left out of others.
func (s session) takes(f Finding, at stage) bool {
	its, has := s.stageOf(f)
	return has && (its == at || at == chance && (its == estimated || its == again))
}

// next is the work to be done next, and the time that it gets. There is none where the budget
// is too short for what is left.
func (s session) next(ctx context.Context, findings []Finding, budget time.Duration) (Work, time.Duration, error) {
	for at := range stages {
		works, err := s.works(ctx, findings, budget, at)
		if err != nil {
			return Work{}, 0, err
		}
		needs := make([]time.Duration, len(works))
		for i, w := range works {
			if needs[i], err = s.need(ctx, w, budget, at); err != nil {
				return Work{}, 0, err
			}
		}
		shared := budget
		if at < again {
			others, err := s.hasLater(ctx, findings, budget/2, at)
			if err != nil {
				return Work{}, 0, err
			}
			if len(works) > 1 || others {
				shared /= 2 // the figures of the first runs say where the rest decides most
			}
		}
		if first, slice := share(needs, budget, shared); slice > 0 {
			return works[first], min(slice, at.most(needs[first])), nil
		}
	}
	return Work{}, 0, nil
}

// most is the longest time for what needs so long.
func (at stage) most(need time.Duration) time.Duration {
	switch at {
	case unmeasured:
		return max(MinSlice, manyNeeds*need)
	case failed:
		return max(MinSlice, need)
	}
	return math.MaxInt64
}

// hasLater reports whether there is work of later stages that likely tells something.
func (s session) hasLater(ctx context.Context, findings []Finding, budget time.Duration, than stage) (bool, error) {
	for at := than + 1; at <= again; at++ {
		if works, err := s.works(ctx, findings, budget, at); err != nil || len(works) > 0 {
			return true, err
		}
	}
	return false, nil
}

// share gives what needs the least its part of what is shared, or all that it needs if
// that is more. Needs of 0 are none.
func share(needs []time.Duration, budget, shared time.Duration) (first int, slice time.Duration) {
	var least, sum time.Duration
	for i, need := range needs {
		sum += need
		if need > 0 && (least == 0 || need < least) {
			first, least = i, need
		}
	}
	if least == 0 {
		return 0, 0
	}
	part := time.Duration(float64(shared) * float64(least) / float64(sum))
	return first, min(budget, max(MinSlice, least, part))
}

// need estimates how long a work takes to decide; 0 where that is not worth a try: no number of
// launches is likely enough, or the budget is shorter than two launches, or than what figures
// say that it needs.
func (s session) need(ctx context.Context, w Work, budget time.Duration, at stage) (time.Duration, error) {
	launch := w.launch()
	if launch == 0 {
		var err error
		if launch, err = s.estimate(ctx, w); err != nil {
			return 0, err
		}
	}
	need := max(time.Millisecond, time.Duration(w.needs)*launch)
	if bound := at.bound(budget); 2*launch > budget || w.needs > stat.MaxMore || bound > 0 && need > bound {
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

// bound is what a claim may need at most where so much of the budget is left; 0: anything.
func (at stage) bound(left time.Duration) time.Duration {
	switch at {
	case unmeasured, failed:
		return 0
	case chance:
		return 2 * left
	}
	return left
}

// works are the claims of a stage: claims together that have fewer cells than apart, as
// long as the budget allows it. One whose figures say that it needs more than the budget is
// none: it would take the time of those that it shares cells with.
func (s session) works(ctx context.Context, findings []Finding, budget time.Duration, at stage) ([]Work, error) {
	var works []Work
	for _, f := range findings {
		if !s.takes(f, at) {
			continue
		}
		w := f.work(s.measured[id(f.Claim)] > 0)
		if at.bound(budget) > 0 {
			need, err := s.need(ctx, w, budget, at)
			if err != nil {
				return nil, err
			}
			if need == 0 {
				continue
			}
		}
		works = append(works, w)
	}
	cells := make([]int, len(works))
	for i, w := range works {
		var err error
		if cells[i], err = s.meter.Cells(w); err != nil {
			return nil, err
		}
	}
	for {
		i, j, both, err := s.closest(works, cells)
		if err != nil || i == j {
			return works, err
		}
		merged := works[i].with(works[j])
		if need, err := s.need(ctx, merged, budget, at); err != nil || need == 0 {
			return works, err // the budget is enough for one at a time
		}
		works[i], cells[i] = merged, both
		works, cells = slices.Delete(works, j, j+1), slices.Delete(cells, j, j+1)
	}
}

// fits reports whether a run, which is as narrow everywhere, may measure both works: neither
// needs many more launches than the other.
func (w Work) fits(other Work) bool {
	if w.half == 0 || other.half == 0 {
		return w.Precision() == other.Precision()
	}
	return max(w.needs, other.needs) <= 2*min(w.needs, other.needs)
}

// closest are the two works that save the most cells together, of one precision where that is
// all that is known of what they need, and how many both have; twice the same where no two
// save any.
func (s session) closest(works []Work, cells []int) (first, second, both int, err error) {
	most := 0
	for i, w := range works {
		for j, other := range works[:i] {
			if other.Plan != w.Plan || !w.fits(other) {
				continue
			}
			n, err := s.meter.Cells(other.with(w))
			if err != nil {
				return 0, 0, 0, err
			}
			if saved := cells[i] + cells[j] - n; saved > most {
				first, second, both, most = j, i, n, saved
			}
		}
	}
	return first, second, both, nil
}

// lacksFigures reports whether something that is open was not compared at all.
func (f Finding) lacksFigures() bool {
	return slices.ContainsFunc(f.Evidence, func(e Evidence) bool { return e.open() && e.Here == nil })
}
