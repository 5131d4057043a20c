package stat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// named are tables of equals whose members have names; the last of them is so many times as
// noisy as the others.
func named(random *rand.Rand, tables, members, launches int, noisy float64) []Table {
	var all []Table
	for range tables {
		var logs [][]float64
		for i := range members {
			sd := 0.02
			if i == members-1 {
				sd *= noisy
			}
			var member []float64
			for range launches {
				member = append(member, sd*random.NormFloat64())
			}
			logs = append(logs, member)
		}
		t := NewTable(logs)
		for i, row := range t.Pairs {
			for j := range row {
				row[j].Members = [2]string{fmt.Sprint(i), fmt.Sprint(j)}
			}
			if i > 0 {
				t.Tests = append(t.Tests, Test{A: i, B: 0, Baseline: true})
			}
		}
		all = append(all, t)
	}
	return all
}

// A member that is shown to be noisier in all tables has intervals that hold as often as
// those of the others, which are no wider for it.
func TestNoisiestMember(t *testing.T) {
	const members, runs = 6, 60
	for _, noisy := range []float64{3, 10} {
		random := rand.New(rand.NewPCG(7, uint64(noisy)))
		held, tables, wide, calm := 0, 0, 0.0, 0.0
		for range runs {
			for _, judged := range (Rule{}).Judge(named(random, 14, members, 3, noisy)) {
				for i, c := range judged.Comparisons {
					if i == members-2 {
						tables++
						if c.Ratio.Low <= 1 && 1 <= c.Ratio.High {
							held++
						}
						continue
					}
					calm++
					wide += math.Log(c.Ratio.High/c.Ratio.Low) / 2
				}
			}
		}
		if got := 100 * float64(held) / float64(tables); got < 93 {
			t.Errorf("%gx: got %.1f %% of the noisy member's intervals that hold, want 93", noisy, got)
		}
		// Those of the true spread: 1.96 * 0.02 * sqrt(2/3).
		if got := wide / calm; got > 1.6*0.032 {
			t.Errorf("%gx: got half-widths of %.3f of the others, want at most 1.6 times 0.032", noisy, got)
		}
	}
}

// Members that vary alike are taken so, and a table's own launches have no part in what it
// is told of its members.
func TestFactors(t *testing.T) {
	differing := 0
	for seed := range uint64(40) {
		if newMembers(named(rand.New(rand.NewPCG(seed, 1)), 8, 5, 3, 1)).of(0)(Pairs{Members: [2]string{"4", "0"}}) != (factor{times: 1}) {
			differing++
		}
	}
	if differing > 3 {
		t.Errorf("got %d of 40 runs of members that vary alike in which some differ, want about 1 %%", differing)
	}
	tables := named(rand.New(rand.NewPCG(1, 1)), 8, 5, 3, 5)
	want := newMembers(tables).of(0)(Pairs{Members: [2]string{"4", "0"}})
	if m := newMembers(tables); !slices.Equal(m.all.squares, m.total().squares) {
		t.Errorf("got the sums %v, want those of the factors, %v", m.all.squares, m.total().squares)
	}
	if want.times < 2 {
		t.Errorf("got a factor of %.2f for a member of 25 times the variance", want.times)
	}
	if got := newMembers(tables).of(0)(Pairs{}); got != (factor{times: 1}) {
		t.Errorf("got %+v for members without names", got)
	}
	for _, row := range tables[0].Pairs { // all of a table alike moves nothing
		for j := range row {
			row[j].SD *= 100
		}
	}
	if got := newMembers(tables).of(0)(Pairs{Members: [2]string{"4", "0"}}); math.Abs(got.times/want.times-1) > 1e-6 {
		t.Errorf("got %.4f where the table's own launches spread more, want %.4f", got.times, want.times)
	}
}
