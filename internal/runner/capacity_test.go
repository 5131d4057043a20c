//go:build unix

package runner

import (
	"errors"
	"testing"
	"time"

	"assay/internal/load"
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
		rate, limited, err := search{limit: test.limit, holds: func(rate float64) (bool, error) {
			steps++
			return rate <= test.knee && (steps < test.stalled || steps > test.stall), nil
		}}.run()
		if err != nil || rate < test.low || rate > test.high || limited != test.limited || steps > 45 {
			t.Errorf("knee at %g: found %g (limited %t) in %d steps, %v", test.knee, rate, limited, steps, err)
		}
	}
	broken := errors.New("broken")
	if _, _, err := (search{limit: 1e5, holds: func(float64) (bool, error) { return false, broken }}).run(); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func TestWish(t *testing.T) {
	wish := Wish{0.99, 5 * time.Millisecond}
	fine := load.Result{Offered: 1000, Right: 1000, Nanos: 1e9, Histogram: [][2]int64{{1e6, 990}, {9e6, 10}}}
	if !wish.holds(fine, 1000) {
		t.Error("a wish that holds does not")
	}
	for what, change := range map[string]func(*load.Result){
		"slow":    func(r *load.Result) { r.Histogram[0][1], r.Histogram[1][1] = 989, 11 },
		"failed":  func(r *load.Result) { r.Failed = 1 },
		"dropped": func(r *load.Result) { r.Dropped = 1 },
		"behind":  func(r *load.Result) { r.Right = 980 },
	} {
		r := fine
		r.Histogram = [][2]int64{{1e6, 990}, {9e6, 10}}
		if change(&r); wish.holds(r, 1000) {
			t.Errorf("%s: the wish holds", what)
		}
	}
}
