package analysis_test

import (
	"slices"
	"testing"

	"assay"
	"assay/internal/analysis/analysistest"
	"assay/internal/stat"
)

// Two drivers are not equivalent by one link layout of one of them, and their ratio is
// doubted; two profiles of one program are, and drivers by several layouts.
func TestOneLayout(t *testing.T) {
	for name, test := range map[string]struct {
		other   string // driver
		profile string
		layouts [2]int // of the baseline, of the other
		cgo     bool
		verdict stat.Verdict
		reason  stat.Reason
		doubt   bool
	}{
		"one each":              {"mattn", "web", [2]int{1, 1}, false, stat.Undecided, stat.OneLayout, true},
		"one of one":            {"mattn", "web", [2]int{6, 1}, false, stat.Undecided, stat.OneLayout, true},
		"several":               {"mattn", "web", [2]int{6, 6}, false, stat.Equivalent, "", false},
		"several, but C":        {"mattn", "web", [2]int{6, 6}, true, stat.Equivalent, "", true},
		"two programs from one": {"modernc", "web", [2]int{1, 1}, false, "", "", false},
	} {
		launches := func(driver string, layouts int) []assay.Trial {
			return analysistest.Change(analysistest.Launches(analysistest.Cell("get", driver, test.profile), 6, 1000, 0), func(trial *assay.Trial) {
				if trial.Layout = 0; layouts > 1 {
					trial.Layout = 1 + (trial.Launch-1)%layouts
				}
			})
		}
		run := analysistest.PlainRun
		run.Targets = []assay.Target{{Driver: "mattn", DriverVersion: analysistest.Versions["mattn"], Facts: map[string]string{}}}
		if test.cgo {
			run.Targets[0].Facts["cgo"] = "true"
		}
		trials := launches("modernc", test.layouts[0])
		if test.other != "modernc" {
			trials = append(trials, launches(test.other, test.layouts[1])...)
		}
		row := rowsOf(t, mustReport(t, run, trials))[test.other+" ("+test.profile+")"]
		if f, _ := row.Figure(assay.NsPerOp); f.Comparison != nil && (f.Comparison.Verdict != test.verdict || f.Comparison.Reason != test.reason || f.Comparison.LaunchesToDecide() != 0) {
			t.Errorf("%s: got %s (%s), %d more launches; want %s (%s), none", name, f.Comparison.Verdict, f.Comparison.Reason, f.Comparison.LaunchesToDecide(), test.verdict, test.reason)
		}
		if got := slices.Contains(row.Codes(), "layout"); got != test.doubt {
			t.Errorf("%s: got the warning %t, want %t", name, got, test.doubt)
		}
		if test.verdict == "" {
			continue
		}
		c, _, err := row.Against(row.Reference, row.Table.Primary)
		if err != nil || c.Verdict != test.verdict {
			t.Errorf("%s: asked for, got %s, %v; want %s", name, c.Verdict, err, test.verdict)
		}
	}
}
