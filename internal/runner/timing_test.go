//go:build unix

package runner

import (
	"math/rand/v2"
	"testing"
	"time"

	"assay"
)

// What happens at the same time adds up to no more than the wall time, in
// proportion to what each part took.
func TestTimeOfPartsAtTheSameTime(t *testing.T) {
	var times timing
	times.add(assay.StageOpen, time.Hour) // of an earlier launch
	began := time.Now()
	times.inParallel(rand.New(rand.NewPCG(1, 1)), 4, func(int) error {
		times.add(assay.StageOpen, 3*time.Hour)
		times.add(assay.StageCopy, time.Hour)
		return nil
	})
	wall := time.Since(began)
	open, copied := times.parts[assay.StageOpen]-time.Hour, times.parts[assay.StageCopy]
	if open+copied > wall || open <= 0 || copied <= 0 || open/copied != 3 && open/copied != 2 {
		t.Errorf("opening got %s and copying %s of %s, want three parts and one", open, copied, wall)
	}
}

// What a launch that is not measured does is one part, and what no part claims
// is the last one.
func TestTimeOfOtherParts(t *testing.T) {
	var times timing
	times.add(assay.StageMeasured, 6*time.Millisecond)
	times.wall = 10 * time.Millisecond
	_ = times.only(assay.StageTrace, func() error {
		times.add(assay.StageCopy, time.Hour)
		time.Sleep(time.Millisecond)
		return nil
	})
	spent := times.spent()
	if spent[assay.StageCopy] != 0 || spent[assay.StageTrace] < time.Millisecond {
		t.Errorf("a traced launch counts as %v, want tracing alone", spent)
	}
	if got := spent[assay.StageOther]; got != 4*time.Millisecond {
		t.Errorf("%s are left over, want 4ms", got)
	}
	if total := spent.Total(); total != times.wall {
		t.Errorf("the parts add up to %s of %s", total, times.wall)
	}
}
