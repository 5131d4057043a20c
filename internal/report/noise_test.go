package report

import (
	"iter"
	"strings"
	"testing"
	"time"

	"assay"
	"assay/internal/analysis"
)

func TestNull(t *testing.T) {
	var all iter.Seq2[assay.Trial, error] = func(yield func(assay.Trial, error) bool) {
		for launch := 1; launch <= 6; launch++ {
			for profile, ns := range map[string]float64{"alike-1a": 1000, "alike-1b": 1000, "alike-2a": 1000, "alike-2b": 1100} {
				noise := 1 + 0.01*float64((launch*7+len(profile)*int(profile[6]))%5-2)
				trial := assay.Trial{Group: "g", Launch: launch, Outcome: assay.OK, Took: time.Second,
					Cell:    assay.Cell{Operation: "read", Driver: "modernc", Profile: profile, Clients: 1, Pool: 1, Idle: 1},
					Figures: map[string]float64{assay.NsPerOp: ns * noise}}
				if !yield(trial, nil) {
					return
				}
			}
		}
	}
	r, err := analysis.New(assay.Run{Plan: "null", Baseline: assay.ParseBaseline("modernc@")}, all)
	must(t, err)
	n := analysis.NewNoise(r)
	if len(n.Kinds) != 1 {
		t.Fatalf("%+v", n)
	}
	k := n.Kinds[0]
	if k.Operation != "read" || k.Pairs != 2 || k.Alarms != 1 || k.Launch != 2*time.Second || !(k.Spread >= 0) {
		t.Errorf("%+v", k)
	}
	if _, _, ok := k.Smallest(3 * time.Second); ok {
		t.Error("one launch gives no verdict")
	}
	if _, launches, _ := k.Smallest(time.Minute); launches != 30 {
		t.Errorf("%d launches in a minute", launches)
	}
	var out strings.Builder
	must(t, WriteNoise(n, &out))
	if !strings.Contains(out.String(), "2 A/A comparisons; 1 reported a difference") {
		t.Error(out.String())
	}
	if strings.Contains(out.String(), "%%") || !strings.Contains(out.String(), "80 % of runs of that length") {
		t.Errorf("got a footnote with %%%%, want 80 %%: %s", out.String())
	}
}
