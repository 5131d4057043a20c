package main

import (
	"math"
	"math/rand/v2"

	"assay/internal/stat"
)

// losses checks what is said of a pick: that nowhere in the run it is slower than the
// fastest by more than a factor.
func (p *printer) losses(loss func([]stat.Comparison) float64, all []scenario) {
	p.title("Runs of %v launches in which one member is the fastest most often (two thirds of the members differ by 1 to 40 %%): those in which it is nowhere slower than the fastest by more than the bound that is said, %%; the bound, %% (geometric mean); by how much it is slower in truth, %%.", fixedLaunches)
	table(p, all, len(fixedLaunches), func(s scenario, i int) lossTally {
		return experiment{scenario: s, judge: chosen, launches: fixedLaunches[i], truth: mixed}.losses(loss, p.seed, p.draws)
	}, barred(p, "bound holds", "bound of a pick", minHeld, 100, func(t lossTally) float64 { return percent(t.held, t.picks) }, func(t lossTally) int { return t.picks }),
		column[lossTally]{head: "bound", figure: func(t lossTally) float64 { return 100 * math.Expm1(t.bound/float64(t.picks)) }},
		column[lossTally]{head: "truth", figure: func(t lossTally) float64 { return 100 * math.Expm1(t.truth/float64(t.picks)) }})
}

type lossTally struct {
	picks, held  int
	bound, truth float64 // sums of logarithms
}

func (e experiment) losses(loss func([]stat.Comparison) float64, seed uint64, tables int) lossTally {
	random := rand.New(rand.NewPCG(seed, 1961))
	var t lossTally
	for judged := 0; judged < tables; {
		r := e.begin(random)
		judged += len(r.tables)
		verdicts := e.judge(e.rule(), r.tables)
		pick, ok := mostOftenFastest(r.tables, verdicts)
		if !ok {
			continue
		}
		var own []stat.Comparison
		truth := 0.0
		for i, table := range r.tables {
			for j, test := range table.Tests {
				c := verdicts[i].Comparisons[j]
				switch pick {
				case test.B:
					c = c.Swapped()
					fallthrough
				case test.A:
					own = append(own, c)
				}
			}
			for _, other := range r.truths[i][:len(r.truths[i])-1] {
				truth = max(truth, r.truths[i][pick]-other)
			}
		}
		bound := math.Log(loss(own))
		if math.IsNaN(bound) {
			continue
		}
		t.picks++
		t.bound, t.truth = t.bound+bound, t.truth+truth
		if truth <= bound {
			t.held++
		}
	}
	return t
}

// mostOftenFastest is the member that alone has the best rank in most tables; false
// where that is nobody, or more than one.
func mostOftenFastest(tables []stat.Table, judged []stat.Judged) (pick int, ok bool) {
	counts := map[int]int{}
	for i, table := range tables {
		members := len(table.Pairs) - 1 // the last is a twin
		faster := map[[2]int]bool{}
		for j, test := range table.Tests {
			switch judged[i].Comparisons[j].Verdict {
			case stat.Faster:
				faster[[2]int{test.A, test.B}] = true
			case stat.Slower:
				faster[[2]int{test.B, test.A}] = true
			}
		}
		best, alone := -1, true
		for member, rank := range stat.Rank(members, func(a, b int) bool { return faster[[2]int{a, b}] }) {
			if rank == 1 {
				best, alone = member, best < 0
			}
		}
		if alone && best >= 0 {
			counts[best]++
		}
	}
	return mostOften(counts)
}

// mostOften is the member with the highest count; false where that is nobody, or more than one.
func mostOften(counts map[int]int) (member int, ok bool) {
	most := 0
	for m, n := range counts {
		switch {
		case n > most:
			member, most, ok = m, n, true
		case n == most:
			ok = false
		}
	}
	return member, ok
}
