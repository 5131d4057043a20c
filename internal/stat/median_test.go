package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The median is that of the sorted values, which stay as they are.
func TestMedian(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for n := 1; n <= 60; n++ {
		for range 50 {
			values := make([]float64, n)
			for i := range values {
				values[i] = float64(random.IntN(n+3)) / 8 // some are equal
			}
			before, sorted := slices.Clone(values), slices.Sorted(slices.Values(values))
			if got, want := median(values), (sorted[(n-1)/2]+sorted[n/2])/2; got != want || !slices.Equal(values, before) {
				t.Fatalf("got %v, and then %v, want %v of %v", got, values, want, before)
			}
		}
	}
	if got := median(nil); !math.IsNaN(got) {
		t.Errorf("of nothing: got %v, want NaN", got)
	}
}
