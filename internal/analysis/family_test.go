package analysis_test

import (
	"fmt"
	"testing"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/analysistest"
)

// comparisonOf is that of a driver's first row of a profile with its baseline.
func comparisonOf(t *testing.T, r *analysis.Result, driver string) analysis.Comparison {
	t.Helper()
	for row := range r.Rows() {
		if row.Cell.Driver == driver {
			f, _ := row.Figure(assay.NsPerOp)
			if f.Comparison == nil {
				t.Fatalf("%s is not compared", driver)
			}
			return *f.Comparison
		}
	}
	t.Fatalf("there is no row of %s", driver)
	return analysis.Comparison{}
}

// reads are launches of two drivers or more, each a tenth slower than the one before.
func reads(launches int, drivers ...string) []assay.Trial {
	var all []assay.Trial
	for i, driver := range drivers {
		all = append(all, analysistest.Launches(analysistest.Cell("get", driver, "web"), launches, 1000*(1+0.1*float64(i)), i+1)...)
	}
	return all
}

// Launches of a second run were made because the first one did not decide: its
// intervals are wider, in tables and across them.
func TestLaterRunsAreLaterLooks(t *testing.T) {
	const level = 1 - 0.04/4
	ofRun := func(runs int) *analysis.Result {
		trials := analysistest.Change(append(reads(8, "modernc", "mattn"), analysistest.InGroup(analysistest.Launches(analysistest.Cell("scan", "modernc", "web"), 8, 3000, 2), "other")...),
			func(t *assay.Trial) { t.Run = fmt.Sprint(t.Launch % runs) })
		return mustReport(t, analysistest.PlainRun, trials)
	}
	once, twice := ofRun(1), ofRun(2)
	a, b := comparisonOf(t, once, "mattn"), comparisonOf(t, twice, "mattn")
	if a.Level != 0.95 || b.Level != level || !(b.Ratio.High > a.Ratio.High) {
		t.Errorf("in a table: got levels %g and %g, ratios %v and %v; want 0.95 and %g, and the second one wider", a.Level, b.Level, a.Ratio, b.Ratio, level)
	}
	across := func(r *analysis.Result) analysis.Comparison {
		c, basis, err := r.Tables[1].Rows[0].Against(r.Tables[0].Rows[0], r.Tables[0].Primary)
		if err != nil || basis != analysis.Apart {
			t.Fatalf("got basis %v, %v; want launches apart", basis, err)
		}
		return c
	}
	if a, b := across(once), across(twice); a.Level != 0.95 || b.Level != level || !(b.Ratio.High > a.Ratio.High) {
		t.Errorf("across tables: got levels %g and %g, ratios %v and %v; want 0.95 and %g, and the second one wider", a.Level, b.Level, a.Ratio, b.Ratio, level)
	}
}

// Launches of one layout are one pair, so that their number does not show that more were
// made than planned, nor do more launches make more pairs.
func TestLaunchesBeyondThePlanInLayouts(t *testing.T) {
	half := func(planned int) (analysis.Comparison, float64) {
		run := analysistest.PlainRun
		run.Options.Launches = planned
		trials := analysistest.Change(reads(12, "modernc", "mattn"), func(t *assay.Trial) {
			t.Layout, t.Figures[assay.NsPerOp] = 1+t.Launch%6, 1000
			t.Figures[assay.NsPerOp] *= 1 + 0.3*float64(t.Launch*(len(t.Cell.Driver)%5+1)%5)
		})
		c := comparisonOf(t, mustReport(t, run, trials), "mattn")
		return c, c.Ratio.High / c.Ratio.Low
	}
	all, width := half(12)
	more, wider := half(6)
	if all.Ratio.N != 6 || more.Ratio.N != 6 || !(wider > width) {
		t.Errorf("got %d and %d pairs, widths %g and %g; want 6 pairs, and the second one wider", all.Ratio.N, more.Ratio.N, width, wider)
	}
	if n := all.LaunchesToDecide(); all.Verdict.Decided() || n != 0 {
		t.Errorf("%s: got %d more launches, want an undecided comparison of which that cannot be told", all.Verdict, n)
	}
}

// A/A tests, floors, and comparisons that get no verdict are no part of the family that a
// table's p-values are adjusted for.
func TestOnlyClaimsAreTheFamily(t *testing.T) {
	run := analysistest.PlainRun
	plain := reads(6, "modernc", "mattn", "glebarez")
	want := comparisonOf(t, mustReport(t, run, plain), "mattn")
	floor := analysistest.Launches(analysistest.Cell("get", "sqlite-c", "web"), 6, 900, 4)
	run.Targets = []assay.Target{{Driver: "sqlite-c", DriverVersion: floor[0].Cell.DriverVersion, Engine: "sqlite", Facts: map[string]string{"floor": "true"}}}
	more := append(twin(analysistest.Launches(analysistest.Cell("get", "modernc", "web"), 6, 1000, 5)), floor...)
	r := mustReport(t, run, append(more, plain...))
	got := comparisonOf(t, r, "mattn")
	floors := 0
	for row := range r.Rows() {
		if row.IsFloor {
			floors++
		}
	}
	if floors != 1 || len(r.Tables[0].Twins) != 1 {
		t.Fatalf("got %d floors and %d twins, want one each", floors, len(r.Tables[0].Twins))
	}
	if want.Together != 3 || got.Together != 4 { // the floor is compared with the baseline, too
		t.Errorf("got families of %d, and of %d with a twin and a floor; want 3 and 4", want.Together, got.Together)
	}
}

// A comparison of rows of different classes of durability claims nothing, and is in no
// family, whatever their profiles are; within a class, syncs that differ leave the verdict.
func TestUnlikePromisesAreNoFamily(t *testing.T) {
	for profile, c := range map[string]struct {
		class    assay.Durability
		together int
		rankings int
	}{"web": {assay.Consistent, 3, 1}, "default": {assay.LastCommit, 1, 2}} {
		var trials []assay.Trial
		for i, driver := range []string{"modernc", "mattn", "glebarez"} {
			of, class := "web", assay.Consistent
			if driver == "glebarez" {
				of, class = profile, c.class
			}
			all := analysistest.Launches(analysistest.Cell("insert", driver, of), 6, 1000*(1+0.1*float64(i)), i+1)
			trials = append(trials, analysistest.Durable(all, class, map[bool]string{false: "1", true: "2"}[driver == "glebarez"])...)
		}
		r := mustReport(t, analysistest.PlainRun, trials)
		if got := comparisonOf(t, r, "mattn").Together; got != c.together {
			t.Errorf("%s: got a family of %d, want %d", profile, got, c.together)
		}
		if got := len(r.Tables[0].Rankings); got != c.rankings {
			t.Errorf("%s: got %d rankings, want %d", profile, got, c.rankings)
		}
	}
}
