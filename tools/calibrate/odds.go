package main

import (
	"math"
	"math/rand/v2"

	"assay/internal/stat"
)

// oddsFrom are the lowest chances, in percent, of the classes in which odds are checked.
var oddsFrom = []float64{50, 75, 90}

// minRuns is the number of runs of a class below which a share says nothing.
const minRuns = 30

// busy are runs on a machine that others use: figures spread widely, and there are few
// launches.
var busy = []scenario{
	{name: "spread 30 %", spread: always(0.3)},
	{name: "spreads 5-60 %, drivers differ 3x", spread: between(0.05, 0.6), factor: between(1, 3)},
	{name: "3 members, 10-60 %", tables: 16, members: 3, spread: between(0.1, 0.6)},
	{name: "2 members, 30 %", tables: 16, members: 2, spread: always(0.3)},
	{name: "heavy tails (t3), 30 %", spread: always(0.3), side: student3},
	{name: "disturbed launches that count", spread: always(0.1), extra: stalls},
}

// truths are how members differ, from hardly to much.
var truths = []struct {
	name string
	draw func(*rand.Rand, int) []float64
}{
	{"equal", equals},
	{"within 5 %", within(0.05)},
	{"within 20 %", within(0.2)},
	{"two thirds by 1 to 40 %", mixed},
}

func within(ratio float64) func(*rand.Rand, int) []float64 {
	return func(random *rand.Rand, members int) []float64 {
		return each(members, func(int) float64 { return math.Log1p(ratio) * (random.Float64() - 0.5) })
	}
}

// odds checks what is said of a leader that is not shown to be the best: how likely it is
// that nobody is faster than it over all tables, by more than the margin. Members differ alike in
// all tables of a run.
func (p *printer) odds(chance func([]stat.Comparison) float64, all []scenario) {
	p.title("Runs of 2 and 3 launches on a busy machine: of members of which the odds are said that nobody is faster by more than the margin, over all tables, the chance that was said, %%, and how often it was so, %%; by classes from %v %%.", oddsFrom)
	p.head("scenario", "members differ", "said", "true", "runs")
	tallies := make([]oddsTally, len(all)*len(truths))
	parallel(len(tallies), func(i int) {
		for _, launches := range []int{2, 3} {
			e := experiment{scenario: all[i/len(truths)], judge: chosen, launches: launches}
			truth := truths[i%len(truths)].draw
			random := rand.New(rand.NewPCG(p.seed, uint64(launches)))
			for range max(1, p.draws/4) {
				common := truth(random, e.membersOf())
				e.truth = func(*rand.Rand, int) []float64 { return common }
				tallies[i].note(e.begin(random), e, common, chance)
			}
		}
	})
	var few oddsTally // of classes with few runs, together
	for i, t := range tallies {
		var said, held []float64
		var runs []int
		for class := range oddsFrom {
			said, held = append(said, t.said[class]/float64(max(1, t.runs[class]))), append(held, percent(t.held[class], max(1, t.runs[class])))
			runs = append(runs, t.runs[class])
			if t.runs[class] < minRuns {
				few.runs[class], few.held[class], few.said[class] = few.runs[class]+t.runs[class], few.held[class]+t.held[class], few.said[class]+t.said[class]
				continue
			}
			p.oddsBar(all[i/len(truths)], "odds where members differ: "+truths[i%len(truths)].name, t, class)
		}
		p.row(all[i/len(truths)].name, truths[i%len(truths)].name, list(said), list(held), runs)
	}
	for class, runs := range few.runs {
		if runs > 0 {
			p.oddsBar(scenario{name: "classes of few runs together"}, "odds", few, class)
		}
	}
}

func (p *printer) oddsBar(s scenario, what string, t oddsTally, class int) {
	runs := t.runs[class]
	p.bar(s, what, percent(t.held[class], runs), min(t.said[class]/float64(runs), 100)-maxOverstated, 100, runs)
}

func (s scenario) membersOf() int {
	_, members := s.size()
	return members
}

type oddsTally struct {
	runs, held [3]int
	said       [3]float64
}

// note counts a run: its leader has the best figure in most tables.
func (t *oddsTally) note(r *state, e experiment, truth []float64, chance func([]stat.Comparison) float64) {
	verdicts := e.judge(e.rule(), r.tables)
	leader, ok := mostOftenAhead(r.tables, verdicts)
	if !ok {
		return
	}
	against := make([][]stat.Comparison, len(truth))
	for i, table := range r.tables {
		for j, test := range table.Tests {
			switch c := verdicts[i].Comparisons[j]; leader {
			case test.A:
				against[test.B] = append(against[test.B], c)
			case test.B:
				against[test.A] = append(against[test.A], c.Swapped())
			}
		}
	}
	said, held := 1.0, true
	for member, comparisons := range against {
		if member != leader {
			said -= 1 - chance(comparisons)
			held = held && truth[leader]-truth[member] <= math.Log1p(margin)
		}
	}
	for class := len(oddsFrom) - 1; class >= 0; class-- {
		if 100*said >= oddsFrom[class] {
			t.runs[class]++
			t.said[class] += 100 * said
			if held {
				t.held[class]++
			}
			return
		}
	}
}

// mostOftenAhead is the member with the best figure in most tables; false where several have
// it as often.
func mostOftenAhead(tables []stat.Table, judged []stat.Judged) (leader int, ok bool) {
	counts := map[int]int{}
	for i, table := range tables {
		behind := map[int]bool{}
		for j, test := range table.Tests {
			if judged[i].Comparisons[j].Ratio.Center > 1 {
				behind[test.A] = true
			} else {
				behind[test.B] = true
			}
		}
		for member := range len(table.Pairs) - 1 { // the last is a twin
			if !behind[member] {
				counts[member]++
			}
		}
	}
	return mostOften(counts)
}
