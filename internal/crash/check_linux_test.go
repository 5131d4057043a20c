package crash

import "testing"

// A database that does not open had its creation cut short only where nothing was
// acknowledged.
func TestUnopened(t *testing.T) {
	for acked, want := range map[int]Damage{0: Unmade, 1: Unopened, 2: Unopened} {
		if got := unopened(acked); got != want {
			t.Errorf("after %d acknowledged transactions: got %q, want %q", acked, got, want)
		}
	}
}

// What is there is whole where it is the state after some of the transactions that were
// acknowledged, or after one more.
func TestWhole(t *testing.T) {
	tried, err := newWorkload(t.TempDir(), 10, 64, 1)
	must(t, err)
	for _, c := range []struct {
		acked, there, rows int
		digest             string
		n                  int
		found              bool
	}{
		{acked: 3, there: 0, n: 0, found: true},
		{acked: 3, there: 2, n: 2, found: true},
		{acked: 3, there: 3, n: 3, found: true},
		{acked: 3, there: 4, n: 4, found: true},
		{acked: 3, there: 5, n: 5},                                   // the fifth was not begun before the fourth was acknowledged
		{acked: 3, there: 3, rows: 1, digest: tried.digest(4), n: 4}, // no whole number of transactions
		{acked: 3, there: 3, digest: "x", n: 3},                      // other values
		{acked: 10, there: 11, n: 11},                                // the one that is written after a crash is not there before it
	} {
		digest := tried.digest(c.there)
		if c.digest != "" {
			digest = c.digest
		}
		n, found := tried.whole(tried.history.rows(c.there)+c.rows, digest, c.acked)
		if n != c.n || found != c.found {
			t.Errorf("%+v: got %d, %v, want %d, %v", c, n, found, c.n, c.found)
		}
	}
}
