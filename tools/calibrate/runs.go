package main

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"assay/internal/stat"
)

const (
	margin    = 0.02 // the plan's default
	precision = 0.02 // target half-width
	// spare is how many launches are drawn for each that is wanted: some are
	// disqualified and made again.
	spare = 2
)

// judge is a way to judge the tables of a run.
type judge func(rule stat.Rule, tables []stat.Table) []stat.Judged

// chosen is the rule of package stat.
func chosen(rule stat.Rule, tables []stat.Table) []stat.Judged { return rule.Judge(tables) }

// tally counts what became of simulated comparisons and tables.
type tally struct {
	comparisons, covered, decided   int     // with the baseline
	different, found, equivalent    int     // of those that differ by the margin or more: all, found, and falsely equivalent
	half, alone, borrowed, launches float64 // sums over comparisons
	tables, alarmed, ordered        int     // with a false verdict; with any two members falsely ordered
	// runs are the figures' independent repetitions: missed2 is the sum of the
	// squares of a run's intervals that miss the truth.
	runs, missed2 int
}

// judged returns how many independent draws its tables are.
func (t tally) judged() int { return t.tables }

func (t tally) shareCovered() float64 { return percent(t.covered, t.comparisons) }

// coverage is the share of intervals that hold the truth, with its standard error:
// what is compared within a run shares launches and the variance.
func (t tally) coverage() (share, standardError float64) {
	n, missed := float64(t.runs), float64(t.comparisons-t.covered)
	variance := (float64(t.missed2) - missed*missed/n) / max(1, n-1)
	return t.shareCovered(), 100 * math.Sqrt(max(0, variance)*n) / float64(t.comparisons)
}

func (t *tally) add(other tally) {
	t.comparisons, t.covered, t.decided = t.comparisons+other.comparisons, t.covered+other.covered, t.decided+other.decided
	t.different, t.found, t.equivalent = t.different+other.different, t.found+other.found, t.equivalent+other.equivalent
	t.half, t.alone, t.borrowed, t.launches = t.half+other.half, t.alone+other.alone, t.borrowed+other.borrowed, t.launches+other.launches
	t.tables, t.alarmed, t.ordered = t.tables+other.tables, t.alarmed+other.alarmed, t.ordered+other.ordered
	t.runs, t.missed2 = t.runs+other.runs, t.missed2+other.missed2
}

// note counts a table whose members have these true log ratios to the baseline.
func (t *tally) note(table stat.Table, judged stat.Judged, truth []float64) {
	alarmed, ordered := false, false
	for i, test := range table.Tests {
		c, ratio := judged.Comparisons[i], truth[test.A]-truth[test.B]
		wrong := c.Verdict == stat.Faster && ratio >= 0 || c.Verdict == stat.Slower && ratio <= 0
		ordered = ordered || wrong
		if !test.Baseline || c.Ratio.N < stat.MinPairs { // too many launches were disturbed
			continue
		}
		alarmed = alarmed || wrong
		t.comparisons++
		if math.Log(c.Ratio.Low) <= ratio && ratio <= math.Log(c.Ratio.High) {
			t.covered++
		}
		if math.Abs(ratio) >= math.Log1p(margin)-1e-9 {
			t.different++
			switch {
			case c.Verdict.Differs() && !wrong:
				t.found++
			case c.Verdict == stat.Equivalent:
				t.equivalent++
			}
		}
		if c.Verdict.Decided() {
			t.decided++
		}
		pairs := table.Pairs[test.A][test.B]
		alone := stat.Rule{}.JudgeOne(pairs, stat.Prior{}, false).Ratio
		t.half += math.Log(c.Ratio.High/c.Ratio.Low) / 2
		t.alone += math.Log(alone.High/alone.Low) / 2
		t.borrowed += c.Borrowed
		t.launches += float64(pairs.N)
	}
	t.tables++
	if alarmed {
		t.alarmed++
	}
	if ordered {
		t.ordered++
	}
}

// table asks for all comparisons of members: the first of a kind is its baseline, the
// last member the twin of the first.
func (s scenario) table(logs [][]float64) stat.Table {
	table := stat.NewTable(logs)
	twin := len(logs) - 1
	table.Controls = []stat.Test{{A: twin, B: 0}}
	for i, row := range table.Pairs {
		for j := range row {
			kind, other := s.kind(i, twin), s.kind(j, twin)
			row[j].Members = [2]string{fmt.Sprint(i % twin), fmt.Sprint(j % twin)}
			row[j].Kind = stat.CommonKind(fmt.Sprint(kind), fmt.Sprint(other))
			if i < twin {
				table.Tests = append(table.Tests, stat.Test{A: i, B: j, Baseline: kind == other && j == kind})
			}
		}
	}
	return table
}

// experiment says how runs are simulated.
type experiment struct {
	scenario
	judge
	// launches holds the launches of each table; with budget above zero they go on, up to
	// the budget, until intervals are narrow enough.
	launches, budget int
	planned          int // launches that the plan fixed; 0: those that each table has
	// truth draws the true log ratios of a table's members to the baseline.
	truth func(random *rand.Rand, members int) []float64
}

func equals(_ *rand.Rand, members int) []float64 { return make([]float64, members) }

// apart makes every other member differ by a ratio.
func apart(ratio float64) func(*rand.Rand, int) []float64 {
	return func(_ *rand.Rand, members int) []float64 {
		return each(members, func(i int) float64 { return math.Log(ratio) * float64(i%2) })
	}
}

// mixed draws drivers as they are: two thirds differ by 1 to 40 %.
func mixed(random *rand.Rand, members int) []float64 {
	return each(members, func(i int) float64 {
		if i == 0 || random.IntN(3) == 0 {
			return 0
		}
		return math.Log1p(between(0.01, 0.4)(random)) * float64(1-2*random.IntN(2))
	})
}

func (e experiment) run(random *rand.Rand) tally {
	r := e.begin(random)
	var t tally
	for i, judged := range e.judge(e.rule(), r.tables) {
		t.note(r.tables[i], judged, r.truths[i])
	}
	missed := t.comparisons - t.covered
	t.runs, t.missed2 = 1, missed*missed
	return t
}

func (e experiment) rule() stat.Rule {
	planned := cmp.Or(e.planned, e.launches)
	if e.byLayout && e.budget > e.scenario.layouts {
		planned = e.scenario.layouts - 1 // the spread decided on the number of launches
	}
	return stat.Rule{Margin: margin, Planned: planned}
}

// state is a run that goes on.
type state struct {
	truths [][]float64
	drawn  []measured
	counts []int // launches of each table
	tables []stat.Table
}

// begin draws a run and launches until it has enough.
func (e experiment) begin(random *rand.Rand) *state {
	count, members := e.size()
	most := max(e.launches, e.budget)
	r := &state{}
	for range count {
		truth := e.truth(random, members)
		r.truths = append(r.truths, truth)
		r.drawn = append(r.drawn, e.draw(random, spare*most, truth))
		r.counts = append(r.counts, e.launches)
		r.tables = append(r.tables, e.table(e.first(r.drawn[len(r.drawn)-1], e.launches)))
	}
	for launched := e.budget > e.launches; launched; {
		launched = false
		for i, further := range e.rule().LaunchesToWidth(r.baselines(), stat.Width{Half: precision}) {
			if r.counts[i] < e.budget && slices.Max(further) > 0 {
				r.counts[i]++
				r.tables[i] = e.table(e.first(r.drawn[i], r.counts[i]))
				launched = true
			}
		}
	}
	return r
}

// baselines are the tables with the comparisons that decide on more launches.
func (r *state) baselines() []stat.Table {
	all := slices.Clone(r.tables)
	for i := range all {
		all[i].Tests = slices.DeleteFunc(slices.Clone(all[i].Tests), func(t stat.Test) bool { return !t.Baseline })
	}
	return all
}

// simulate repeats runs until there are so many tables, at least.
func (e experiment) simulate(seed uint64, tables int) tally {
	random := rand.New(rand.NewPCG(seed, 2013))
	var all tally
	for all.tables < tables {
		all.add(e.run(random))
	}
	return all
}

// parallel does n things on all processors.
func parallel(n int, do func(i int)) {
	var wait sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range n {
		wait.Add(1)
		free <- struct{}{}
		go func() {
			defer wait.Done()
			do(i)
			<-free
		}()
	}
	wait.Wait()
}
