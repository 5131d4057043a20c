package stat

import (
	"math"
	"testing"
)

// The logarithm of a variance of few degrees of freedom is too small on average, by
// Euler's constant where they are two.
func TestUnbiasedLog(t *testing.T) {
	const euler = 0.5772156649015329
	for freedom, want := range map[float64]float64{1: euler + math.Ln2, 2: euler, 4: euler - 1 + math.Ln2} {
		if got := unbiasedLog(1, freedom); math.Abs(got-want) > 1e-9 {
			t.Errorf("%g degrees of freedom: got %v, want %v", freedom, got, want)
		}
	}
	if got, want := unbiasedLog(math.E, 2), euler+1; math.Abs(got-want) > 1e-9 {
		t.Errorf("got %v, want %v", got, want)
	}
}

// What a comparison borrows is what the others of its table say: its own spread, counted
// twice, would make its interval too narrow.
func TestPriorLeavesOutItsOwn(t *testing.T) {
	b := borrow(nil)
	for _, test := range []struct {
		name  string
		own   Pairs
		table spread
		want  Prior
	}{
		{"others vary more", Pairs{N: 5, SD: 0.1}, spread{variance: 0.02, freedom: 8}, Prior{Variance: 0.03, Freedom: b.shrink(4, 0)}}, // (8 * 0.02 - 4 * 0.01) / 4
		{"it is alone", Pairs{N: 5, SD: 0.1}, spread{variance: 0.01, freedom: 4}, Prior{}},
		{"it does not vary", Pairs{N: 5}, spread{variance: 0.02, freedom: 8}, Prior{Variance: 0.02, Freedom: b.shrink(8, 0)}},
	} {
		if got := b.prior(test.table, test.own, 0); math.Abs(got.Variance-test.want.Variance) > 1e-12 || got.Freedom != test.want.Freedom {
			t.Errorf("%s: got %+v, want %+v", test.name, got, test.want)
		}
	}
	alike := make([]spread, 50)
	for i := range alike {
		alike[i] = spread{variance: 1, freedom: 100}
	}
	if got := borrow(alike).run.Freedom; got > maxFromRun {
		t.Errorf("of tables that are all alike, %v degrees of freedom are borrowed, want at most %v", got, maxFromRun)
	}
	if got := b.shrink(1e9, 0); got > maxFromTable {
		t.Errorf("of any number, %v degrees of freedom are borrowed, want at most %v", got, maxFromTable)
	}
}
