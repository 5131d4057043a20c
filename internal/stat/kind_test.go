package stat

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A table of two kinds says of the pairs of each what a table of these alone would: loud
// members do not widen the intervals of quiet ones.
func TestKinds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	kinds := []string{"quiet", "loud"}
	spread := map[string]float64{"quiet": 0.01, "loud": 0.2}
	var logs [][]float64
	for i := range 6 {
		var member []float64
		for range 4 {
			member = append(member, spread[kinds[i%2]]*random.NormFloat64())
		}
		logs = append(logs, member)
	}
	one := NewTable(logs)
	one.Tests = []Test{{A: 2, B: 0, Baseline: true}, {A: 4, B: 0, Baseline: true}, {A: 3, B: 1, Baseline: true}, {A: 1, B: 0}}
	apart := map[string]Table{}
	for _, kind := range append(kinds, CommonKind(kinds[0], kinds[1])) {
		apart[kind] = Table{}
	}
	for i, row := range one.Pairs {
		for j := range row {
			row[j].Kind = CommonKind(kinds[i%2], kinds[j%2])
		}
		for kind, table := range apart {
			only := slices.Clone(row)
			for j := range only {
				if only[j].Kind != kind {
					only[j] = Pairs{Kind: kind}
				}
			}
			table.Pairs = append(table.Pairs, only)
			apart[kind] = table
		}
	}
	// With other tables, which say something of the run.
	other := NewTable([][]float64{{0, 0.01, 0.02}, {0.01, 0.03, 0.01}, {0.02, 0, 0}})
	mixed := Rule{}.Judge([]Table{one, other})[0]
	separate := Rule{}.Judge([]Table{apart["quiet"], apart["loud"], apart[CommonKind("quiet", "loud")], other})
	for _, test := range one.Tests {
		p := one.Pair(test.A, test.B)
		place := slices.Index([]string{"quiet", "loud"}, p.Kind)
		if place < 0 {
			place = 2
		}
		if got, want := mixed.Prior(p), separate[place].Prior(p); got != want {
			t.Errorf("members %d and %d, %s: got %+v, want %+v", test.A, test.B, p.Kind, got, want)
		}
	}
	if got := mixed.Comparisons[0].Borrowed; got < 2 {
		t.Errorf("got %.1f degrees of freedom borrowed, want those of the other quiet member", got)
	}
	quiet, loud := mixed.Comparisons[0].Ratio, mixed.Comparisons[2].Ratio
	if wide := quiet.High - quiet.Low; wide > 0.1 || loud.High-loud.Low < 0.1 {
		t.Errorf("got [%.3f, %.3f] of quiet members and [%.3f, %.3f] of loud ones", quiet.Low, quiet.High, loud.Low, loud.High)
	}
}
