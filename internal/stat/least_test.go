package stat

import "testing"

// The fast search finds what one by one finds.
func TestLeast(t *testing.T) {
	for want := 1; want <= MaxMore+2; want++ {
		got := least(func(n int) bool { return n >= want })
		if got != min(want, MaxMore+1) {
			t.Fatalf("got %d, want %d", got, min(want, MaxMore+1))
		}
	}
}
