package analysis

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"assay"
	"assay/internal/analysis/analysistest"

	"github.com/google/go-cmp/cmp"
)

func TestPairing(t *testing.T) {
	trial := func(launch int, minute int, ns float64, outcome assay.Outcome, disqualified bool) Trial {
		return newTrial(&assay.Trial{Launch: launch, Outcome: outcome, Disqualified: disqualified,
			Started: analysistest.SampleStart.Add(time.Duration(minute) * time.Minute), Figures: map[string]float64{"ns/op": ns}}, nil)
	}
	row := &Row{Measured: Measured{Trials: []Trial{
		trial(1, 10, 11, assay.OK, false), trial(2, 20, 12, assay.OK, true),
		trial(3, 30, 13, assay.OK, false), trial(4, 40, 14, assay.NotApplied, false),
		trial(5, 50, 15, assay.OK, false),
	}}}
	other := &Row{Measured: Measured{Trials: []Trial{
		trial(1, 11, 21, assay.OK, false), trial(2, 20, 22, assay.OK, false),
		trial(3, 30, 23, assay.OK, false), trial(4, 40, 24, assay.OK, false), trial(5, 50, 25, assay.Failed, false),
	}}}
	figures, partners, _ := pair(row, other, "ns/op")
	if diff := cmp.Diff([][]float64{{11, 13}, {21, 23}}, [][]float64{figures, partners}); diff != "" {
		t.Errorf("figures and partners (-want +got)\n%s", diff)
	}
	row.keepsDisturbed = true
	figures, partners, _ = pair(row, other, "ns/op")
	if diff := cmp.Diff([][]float64{{11, 12, 13}, {21, 22, 23}}, [][]float64{figures, partners}); diff != "" {
		t.Errorf("where disturbed launches count (-want +got)\n%s", diff)
	}
}

func TestLaunchesOfOneLayoutAreOnePair(t *testing.T) {
	row, other := &Row{}, &Row{}
	for launch, figures := range [][2]float64{{100, 50}, {400, 50}, {200, 200}} {
		for i, r := range []*Row{row, other} {
			r.Trials = append(r.Trials, newTrial(&assay.Trial{Group: "g", Launch: launch + 1, Layout: launch%2 + 1, Outcome: assay.OK,
				Figures: map[string]float64{assay.NsPerOp: figures[i]}}, nil))
		}
	}
	x, y, joined := pair(row, other, assay.NsPerOp)
	if len(x) != 2 || math.Abs(x[0]-math.Sqrt(100*200)) > 1e-9 || x[1] != 400 || math.Abs(y[0]-100) > 1e-9 || y[1] != 50 {
		t.Errorf("%v, %v", x, y)
	}
	if !joined {
		t.Error("got pairs that are not joined, want them joined: more launches are not more pairs")
	}
}

// A layout is one of a run and of a group: launches of others are not joined with it.
func TestLayoutsAreOfOneGroup(t *testing.T) {
	for name, change := range map[string]func(*assay.Trial){
		"two runs":   func(t *assay.Trial) { t.Run = fmt.Sprint("run-", t.Launch%2) },
		"two groups": func(t *assay.Trial) { t.Group = fmt.Sprint("group-", t.Launch%2) },
	} {
		row, other := &Row{}, &Row{}
		for launch := range 4 {
			for _, r := range []*Row{row, other} {
				trial := assay.Trial{Launch: launch, Outcome: assay.OK, Figures: map[string]float64{assay.NsPerOp: 100}}
				if r == row {
					trial.Layout = 1 // the other one has one layout only
				}
				change(&trial)
				r.Trials = append(r.Trials, newTrial(&trial, nil))
			}
		}
		for _, swap := range []bool{false, true} {
			a, b := row, other
			if swap {
				a, b = other, row
			}
			if x, _, joined := pair(a, b, assay.NsPerOp); len(x) != 2 || !joined {
				t.Errorf("%s, swapped %t: got %d pairs, joined %t; want 2, joined", name, swap, len(x), joined)
			}
		}
	}
}

// A launch can be disturbed for one of two rows alone. Where they share too few
// others, the disturbed ones count for all rows that are compared.
func TestFewCalmLaunchesTogether(t *testing.T) {
	of := func(launches int, disturbed ...int) *cell {
		c := &cell{}
		for launch := range launches {
			c.Trials = append(c.Trials, newTrial(&assay.Trial{Launch: launch + 1, Outcome: assay.OK, Disqualified: slices.Contains(disturbed, launch+1)}, nil))
		}
		return c
	}
	for _, c := range []struct {
		name  string
		cells []*cell
		want  bool
	}{
		{"none is disturbed", []*cell{of(2), of(2)}, false},
		{"three are left of both", []*cell{of(5, 1), of(5, 2)}, false},
		{"three are left of each, none of both", []*cell{of(6, 1, 2, 3), of(6, 4, 5, 6)}, true},
		{"two are left of one", []*cell{of(3, 1), of(3)}, true},
		{"one has no launch with the other", []*cell{of(3), {}}, false},
	} {
		if got := fewCalm(c.cells); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// Only what promises alike is compared, and keeps its disturbed launches together.
func TestDisturbedLaunchesCountByPromise(t *testing.T) {
	var trials []assay.Trial
	for _, profile := range []string{"default", "web"} {
		for i, driver := range []string{"modernc", "mattn"} {
			class, synchronous := assay.Consistent, "normal"
			if profile == "default" {
				class, synchronous = assay.Power, "full"
			}
			launches := analysistest.Launches(analysistest.Cell("put", driver, profile), 4, 1000, i)
			trials = append(trials, analysistest.Change(analysistest.Durable(launches, class, synchronous), func(t *assay.Trial) {
				t.Disqualified = profile == "default" && t.Launch <= 2
			})...)
		}
	}
	r, err := New(analysistest.PlainRun, analysistest.Each(trials))
	must(t, err)
	for _, row := range r.Tables[0].Rows {
		if want := row.Cell.Profile == "default"; row.keepsDisturbed != want {
			t.Errorf("%s keeps its disturbed launches: %v, want %v", row.Name(), row.keepsDisturbed, want)
		}
	}
}

// A setting that was not read is like any: what is compared across it follows one rule.
func TestDisturbedLaunchesCountAcrossUnreadSettings(t *testing.T) {
	var trials []assay.Trial
	add := func(driver, profile, synchronous string, disturbed ...int) {
		launches := analysistest.Durable(analysistest.Launches(analysistest.Cell("put", driver, profile), 6, 1000, 1), assay.Power, synchronous)
		trials = append(trials, analysistest.Change(launches, func(t *assay.Trial) {
			if synchronous == "" {
				t.Settings = nil
			}
			t.Disqualified = slices.Contains(disturbed, t.Launch)
		})...)
	}
	add("modernc", "default", "full")
	add("mattn", "default", "")
	add("modernc", "web", "extra", 1, 2, 3)
	add("mattn", "web", "", 4, 5, 6)
	r, err := New(analysistest.PlainRun, analysistest.Each(trials))
	must(t, err)
	for _, row := range r.Tables[0].Rows {
		if !row.keepsDisturbed {
			t.Errorf("%s drops its disturbed launches, want that all keep them", row.Name())
		}
	}
}
