//go:build unix

package process

import (
	"testing"
	"time"
)

func TestPauses(t *testing.T) {
	var p pauses
	now := time.Now()
	for _, step := range []struct {
		after time.Duration
		count int
		lost  time.Duration
	}{
		{0, 0, 0},
		{tick, 0, 0},
		{tick + shortestPause, 0, 0},
		{6 * time.Second, 1, 6 * time.Second},
		{tick, 1, 6 * time.Second},
		{2 * time.Second, 2, 8 * time.Second},
	} {
		now = now.Add(step.after)
		if count, lost := p.ran(now); count != step.count || lost != step.lost {
			t.Errorf("%s later: got %d pauses of %s, want %d of %s", step.after, count, lost, step.count, step.lost)
		}
	}
}
