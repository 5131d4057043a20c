package load

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

func TestSearch(t *testing.T) {
	for _, test := range []struct {
		knee, limit float64
		stall       int // the last of the steps that fail whatever the rate is
		stalled     int // and the first of them
		low, high   float64
		limited     bool
	}{
		{knee: 7000, limit: 1e5, low: 6650, high: 7000},
		{knee: 120, limit: 1e5, low: 114, high: 120},
		{knee: 7000, limit: 1e5, stall: 2, stalled: 2, low: 6650, high: 7000},
		{knee: 7000, limit: 1e5, stall: 14, stalled: 1, low: 6650, high: 7000},
		{knee: 7000, limit: 3000, low: 3000, high: 3000, limited: true},
		{knee: 5, limit: 1e5},
	} {
		steps := 0
		rate, limited, err := Search{Limit: test.limit, Holds: func(rate float64, _ bool) (bool, error) {
			steps++
			return rate <= test.knee && (steps < test.stalled || steps > test.stall), nil
		}}.Run()
		if err != nil || rate < test.low || rate > test.high || limited != test.limited || steps > 60 {
			t.Errorf("knee at %g: found %g (limited %t) in %d steps, %v", test.knee, rate, limited, steps, err)
		}
	}
	broken := errors.New("broken")
	if _, _, err := (Search{Limit: 1e5, Holds: func(float64, bool) (bool, error) { return false, broken }}).Run(); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// A step holds below a threshold that varies from step to step: what is found is
// as right with a noisy server as with a steady one. The rate that is right holds
// in half of the steps; what is reported is half a step of 5 % below it.
func TestSearchIsNotBiased(t *testing.T) {
	const searches = 2000
	for _, spread := range []float64{0, 0.1, 0.2, 0.4} {
		random := rand.New(rand.NewPCG(1, 2))
		sum := 0.0
		for range searches {
			right := 3000 + 6000*random.Float64()
			rate, _, err := Search{Limit: 1e5, Holds: func(rate float64, _ bool) (bool, error) {
				return rate <= right*math.Exp(spread*random.NormFloat64()), nil
			}}.Run()
			must(t, err)
			sum += rate / right
		}
		if got := sum / searches; got < 0.95 || got > 1.02 {
			t.Errorf("thresholds spread by %.0f %%: found / right is %.3f, want 0.95 to 1.02", 100*spread, got)
		}
	}
}

// What is reported was held in steps that confirm, not in the search.
func TestSearchConfirms(t *testing.T) {
	rate, _, err := Search{Limit: 1e5, Holds: func(rate float64, confirm bool) (bool, error) {
		return rate <= 7000 && (!confirm || rate <= 6000), nil
	}}.Run()
	if err != nil || rate > 6000 || rate < 5700 {
		t.Errorf("found %g, %v, want 5700 to 6000: what the steps that confirm hold", rate, err)
	}
}
