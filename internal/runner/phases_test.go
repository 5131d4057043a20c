//go:build unix

package runner

import (
	"testing"

	"assay"
	"assay/kit/wire"

	"github.com/google/go-cmp/cmp"
)

// Phases are totals over the executed operations of all windows, and what reading the
// clock for them cost is the mean of a reading, as often as it was read.
func TestPhaseFigures(t *testing.T) {
	var p phased
	p.add(wire.Measured{Operations: 7, Executed: 10, ClockNanos: 20, Phases: []wire.Phase{{Name: "bind", Nanos: 300, Count: 10}, {Name: "step", Nanos: 500, Count: 20}}})
	p.add(wire.Measured{Operations: 30, Executed: 30, ClockNanos: 40, Phases: []wire.Phase{{Name: "bind", Nanos: 500, Count: 30}}})
	for rows, want := range map[int]map[string]float64{
		1: {"bind" + assay.PhaseSuffix: 20, "step" + assay.PhaseSuffix: 12.5, assay.ClockPerOp: 45}, // 30 ns, 60 times in 40 operations
		5: {"bind" + assay.PhaseSuffix: 4, "step" + assay.PhaseSuffix: 2.5, assay.ClockPerOp: 9},
	} {
		trial := assay.Trial{Figures: map[string]float64{}}
		p.record(&trial, assay.Operation{PerRow: true, Steps: []assay.Step{{Rows: rows}}})
		if diff := cmp.Diff(want, trial.Figures); diff != "" {
			t.Errorf("%d rows (-want +got)\n%s", rows, diff)
		}
	}
	none := assay.Trial{Figures: map[string]float64{}}
	new(phased).record(&none, assay.Operation{})
	if len(none.Figures) > 0 {
		t.Errorf("got %v where no window was timed, want no figure", none.Figures)
	}
}
