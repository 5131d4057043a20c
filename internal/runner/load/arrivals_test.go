package load

import (
	"math"
	"slices"
	"testing"
)

// due is when the requests of a load are due.
func due(c Config) []int64 {
	a := newArrivals(&c)
	times := make([]int64, c.Warm+c.Requests)
	for i := range times {
		times[i] = a.next()
	}
	return times
}

// TestArrivals: gaps between requests are those of independent users, or all the same; either
// way warm-up and measured part last as long as the rate says.
func TestArrivals(t *testing.T) {
	for _, even := range []bool{false, true} {
		c := Config{Warm: 2000, Requests: 20_000, Rate: 1000, Even: even, Seed: [2]uint64{1, 2}}
		times := due(c)
		if !slices.IsSorted(times) || times[c.Warm-1] >= 2e9 || times[c.Warm] < 2e9 || times[len(times)-1] >= 22e9 {
			t.Errorf("even %t: warm-up ends at %d, then %d to %d", even, times[c.Warm-1], times[c.Warm], times[len(times)-1])
		}
		sum, squares, long := 0.0, 0.0, 0
		for i := range times[1:] {
			gap := float64(times[i+1]-times[i]) / 1e6
			sum, squares = sum+gap, squares+gap*gap
			if gap > 2 { // exp(-2) of exponential gaps
				long++
			}
		}
		n := float64(len(times) - 1)
		mean := sum / n
		variation, share, want := math.Sqrt(squares/n-mean*mean)/mean, float64(long)/n, []float64{1, math.Exp(-2)}
		if even {
			want = []float64{0, 0}
		}
		if math.Abs(mean-1) > 0.002 || math.Abs(variation-want[0]) > 0.03 || math.Abs(share-want[1]) > 0.01 {
			t.Errorf("even %t: gaps of %g ms, coefficient of variation %g, %g over 2 ms; want 1, %g, %g", even, mean, variation, share, want[0], want[1])
		}
	}
}

// TestArrivalsAreSeeded: equal seeds give equal times, and the measured part does not repeat those of
// the warm-up.
func TestArrivalsAreSeeded(t *testing.T) {
	c := Config{Warm: 10, Requests: 10, Rate: 1000, Seed: [2]uint64{1, 2}}
	first := due(c)
	if !slices.Equal(first, due(c)) {
		t.Error("one seed gives two schedules")
	}
	if first[10] == first[0]+10e6 {
		t.Error("the warm-up and the measured part begin alike")
	}
	for _, seed := range [][2]uint64{{1, 3}, {2, 2}} {
		if c.Seed = seed; slices.Equal(first, due(c)) {
			t.Errorf("seeds 1, 2 and %d give one schedule", seed)
		}
	}
}
