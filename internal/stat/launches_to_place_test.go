package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Of ratios that the launches of a first look do not place, as many as are said place most
// at the second look, which is made anew, and twice as many two thirds.
func TestToPlaceIsLikelyEnough(t *testing.T) {
	random := rand.New(rand.NewPCG(19, 1))
	for name, bounds := range map[string][2]float64{"beyond 1": {1, math.Inf(1)}, "of a size": {1.015, 1.06}, "within a margin": {1 / 1.02, 1.02}} {
		isPlaced := func(look, launches int, mean float64) (Comparison, bool) {
			c := Rule{Looks: look}.JudgeOne(pairsAbout(random, launches, mean), Prior{}, true)
			inside, outside := Rule{}.Place(c.Ratio, bounds[0], bounds[1])
			return c, inside || outside
		}
		estimates, placed, placedByTwice := 0, 0, 0
		for range 4000 {
			mean := random.NormFloat64() * 0.05
			first, is := isPlaced(1, 8, mean)
			n := first.ToPlace(2, bounds[0], bounds[1]).Launches
			if is || n > MaxMore {
				continue
			}
			estimates++
			if _, is := isPlaced(2, n, mean); is {
				placed++
			}
			if _, is := isPlaced(2, 2*n, mean); is {
				placedByTwice++
			}
		}
		of := float64(estimates)
		if estimates < 1000 || float64(placed)/of < 0.55 || float64(placed)/of > 0.85 || float64(placedByTwice)/of < 2./3 {
			t.Errorf("%s: of %d ratios, %d are placed by the launches said and %d by twice as many; want most, and two thirds", name, estimates, placed, placedByTwice)
		}
	}
}

// pairsAbout are pairs of so many launches, whose log ratios spread by 6 %.
func pairsAbout(random *rand.Rand, n int, mean float64) Pairs {
	ratios, ones := make([]float64, n), make([]float64, n)
	for i := range ratios {
		ratios[i], ones[i] = math.Exp(mean+0.06*random.NormFloat64()), 1
	}
	p, err := NewPairs(ratios, ones)
	if err != nil {
		panic(err)
	}
	return p
}

func TestToPlace(t *testing.T) {
	of := func(n int, center, low, high float64) Comparison {
		return Comparison{Ratio: Interval{N: n, Center: center, Low: low, High: high}, Level: level}
	}
	for name, test := range map[string]struct {
		c         Comparison
		low, high float64
		want      int
	}{
		"one launch":              {of(1, 1.1, math.NaN(), math.NaN()), 1, 2, 0},
		"an interval without end": {of(2, 1.1, 0, math.Inf(1)), 1, 2, 0},
		"at a bound":              {of(8, 1, 0.9, 1.1), 1, 2, MaxMore + 2},
		"far from both":           {of(8, 2, 1.9, 2.1), 1, 4, 3},
	} {
		if got := test.c.ToPlace(2, test.low, test.high).Launches; got != test.want {
			t.Errorf("%s: got %d, want %d", name, got, test.want)
		}
	}
}

// A run that stops at the half-width that is said has about the launches that are said.
func TestHalfToPlace(t *testing.T) {
	random := rand.New(rand.NewPCG(20, 1))
	first := Rule{}.JudgeOne(pairsAbout(random, 30, 0.03), Prior{}, true)
	needed := first.ToPlace(3, 1, math.Inf(1))
	more := Rule{}.launchesToWidth(Pairs{N: 30, Mean: 0.03, SD: first.gain.sd}, Prior{}, Width{Half: needed.Half, Exact: true})
	if got := 30 + more; needed.Launches < 60 || math.Abs(float64(got)/float64(needed.Launches)-1) > 0.1 {
		t.Errorf("got %d launches at a half-width of %.4f, want about %d, more than 60", got, needed.Half, needed.Launches)
	}
}
