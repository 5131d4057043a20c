package crash

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// A call that is made twice can be the second one at which a worker is killed.
func TestDrawNumber(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, count := range []int{1, 2, 5} {
		drawn := map[int]bool{}
		for range 500 {
			drawn[drawNumber(random, count)] = true
		}
		if got := slices.Sorted(maps.Keys(drawn)); len(got) != count || got[0] != 1 || got[count-1] != count {
			t.Errorf("of %d: got %v, want 1 to %d", count, got, count)
		}
	}
}
