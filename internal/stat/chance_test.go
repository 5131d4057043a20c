package stat

import (
	"math"
	"testing"
)

// compared are comparisons of members over tables, of whose launches the log ratios are given.
func compared(tables ...[]float64) []Comparison {
	var all []Comparison
	for _, logs := range tables {
		all = append(all, Rule{Margin: 0.02}.JudgeOne(NewTable([][]float64{logs, make([]float64, len(logs))}).Pair(0, 1), Prior{}, false))
	}
	return all
}

// Who is ahead by as much as launches spread is likely the faster one, more so over several
// tables; who is behind is not; and of few launches nothing is said.
func TestChance(t *testing.T) {
	ahead, behind := []float64{-0.02, -0.1, -0.04, -0.08, -0.01, -0.11}, []float64{0.02, 0.1, 0.04, 0.08, 0.01, 0.11}
	one, three, worse := Chance(compared(ahead)), Chance(compared(ahead, ahead, ahead)), Chance(compared(behind))
	if !(one > 0.9 && one < three && three < 1 && worse < 0.3) {
		t.Errorf("got %.3f for one table, %.3f for three, %.3f for who is behind", one, three, worse)
	}
	for name, few := range map[string][]Comparison{"one launch": compared([]float64{-1}), "two launches": compared([]float64{-1, -1.1}), "none": nil} {
		if got := Chance(few); !math.IsNaN(got) {
			t.Errorf("%s: got %.3f, want that it is not known", name, got)
		}
	}
}

func TestApart(t *testing.T) {
	near := compared([]float64{0.01, -0.01, 0.02, 0}, []float64{0.03, 0.05, 0.04, 0.04})
	if got := Apart(near); math.Abs(got-near[1].Ratio.High) > 1e-12 {
		t.Errorf("got %g, want the farthest end of all intervals, %g", got, near[1].Ratio.High)
	}
	if got := Apart([]Comparison{near[0], near[1].OfOneLayout()}); !math.IsNaN(got) {
		t.Errorf("got %g of programs of one link layout, want that it is unknown", got)
	}
	if got := Apart(compared([]float64{0.01})); !math.IsNaN(got) {
		t.Errorf("one launch: got %g, want that it is not known", got)
	}
}
