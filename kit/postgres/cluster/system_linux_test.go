package cluster

import (
	"testing"
	"time"
)

// A process's own CPU time and that of its ended children, with and without schedstat.
func TestCPU(t *testing.T) {
	const stat = "7 (postgres: a) b) S 1 7 7 0 -1 0 0 0 0 0 3 2 20 10 20 0 1 0 5"
	for _, c := range []struct {
		schedstat, stat string
		want            time.Duration
	}{
		{"41000000 5 6\n", stat, 341 * time.Millisecond}, {"", stat, 350 * time.Millisecond}, {"0 0 0\n", stat, 350 * time.Millisecond},
		{"41000000 5 6\n", "", 41 * time.Millisecond}, {"", "", 0},
	} {
		if got := cpu([]byte(c.schedstat), []byte(c.stat)); got != c.want {
			t.Errorf("%q, %q: got %s, want %s", c.schedstat, c.stat, got, c.want)
		}
	}
}
