package audit_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"assay"
	"assay/internal/audit"
	"assay/published"
)

// A claim of which one part holds and another cannot be told cannot be told; where operations of
// one part fail, they fail, and where one part does not hold, it does not.
func TestAllComparisonsHaveToHold(t *testing.T) {
	failed := trial(0, "g")
	failed.Outcome = assay.Failed
	for name, test := range map[string]struct {
		others map[string]assay.Trial
		want   audit.Verdict
	}{
		"one is not there":                {nil, audit.Unknown},
		"one fails":                       {map[string]assay.Trial{"c": failed}, audit.Broken},
		"one fails, another is faster":    {map[string]assay.Trial{"c": failed, "d": trial(500, "g")}, audit.Fails},
		"one fails, another is not there": {map[string]assay.Trial{"d": failed}, audit.Broken},
	} {
		cells := map[string]assay.Trial{"a": trial(1000, "g"), "b": trial(2000, "g")}
		maps.Copy(cells, test.others)
		drivers := []string{"a", "b", "c"}
		if test.others["d"].Group != "" {
			drivers = append(drivers, "d")
		}
		f := judge(t, published.Source{}, asked("c", "p", drivers...), reports(t, cells))
		if f.Verdict != test.want || f.Evidence[0].Verdict != audit.Holds {
			t.Errorf("%s: got %s, of which the first %s; want %s, and that the first holds", name, f.Verdict, f.Evidence[0].Verdict, test.want)
		}
	}
}

// One comparison that fails refutes a claim, whatever the others say.
func TestWorstComparisonDecides(t *testing.T) {
	r := reports(t, map[string]assay.Trial{"a": trial(1000, "g"), "b": trial(2000, "g"), "c": trial(500, "g")})
	c := claim(published.Faster, 0)
	c.Compare = append(c.Compare, published.Comparison{A: map[string]string{"driver": "a"}, B: map[string]string{"driver": "c"}, Expect: published.Faster})
	if f := judge(t, published.Source{}, c, r); f.Verdict != audit.Fails || len(f.Evidence) != 2 || f.Evidence[0].Verdict != audit.Holds {
		t.Errorf("%+v", f)
	}
}

// What has no effect is no failure, and what fails at times says how often.
func TestWorseOfTwoEnds(t *testing.T) {
	failed, ignored := trial(0, "g"), trial(0, "g")
	failed.Outcome, ignored.Outcome, ignored.Cell.AsPublished = assay.Failed, assay.NotApplied, true
	cells := map[string]assay.Trial{"a": trial(1000, "g"), "b": ignored, "c": failed}
	f := judge(t, published.Source{}, asked("c", "p", "a", "b", "c"), reports(t, cells))
	if f.Verdict != audit.NoEffect {
		t.Errorf("got %s, want %s: it is of the condition that the source published", f.Verdict, audit.NoEffect)
	}
	if got, want := printed(t, f, judge(t, published.Source{}, asked("c", "p", "a", "c"), reports(t, cells))), "condition had no effect: 1; its operations fail here: 1."; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
	f = ofRun(t, 0, cellTrials("a", 6, 1000, nil), cellTrials("b", 6, 2000, func(t *assay.Trial) {
		if t.Launch%3 == 0 {
			t.Outcome, t.Reason = assay.Failed, "busy"
		}
	}))
	if want := "b: failed here in 2 of 6 launches: busy"; f.Verdict != audit.Broken || f.Reason != want {
		t.Errorf("got %s: %s, want %s: %s", f.Verdict, f.Reason, audit.Broken, want)
	}
}

// Launches that one of two cells has of another run alone do not make them of other times.
func TestTimesOfSharedRuns(t *testing.T) {
	at := func(run, group string, from int64) func(*assay.Trial) {
		return func(t *assay.Trial) {
			t.Run, t.Group, t.Started = run, group, time.Unix(from+60*int64(t.Launch), 0)
			t.Figures[assay.NsPerOp] *= 1 + 0.05*float64(t.Launch)
		}
	}
	both := [][]assay.Trial{cellTrials("a", 12, 1000, at("r1", "g", 0)), cellTrials("b", 12, 900000, at("r1", "h", 20))}
	if f := ofRun(t, 0, both...); f.Verdict != audit.Holds {
		t.Fatalf("of one run: got %s, %s", f.Verdict, f.Reason)
	}
	if f := ofRun(t, 0, append(both, cellTrials("a", 3, 1000, at("r2", "g", 1e6)))...); f.Verdict != audit.Holds {
		t.Errorf("with another run of one: got %s, %s; want that it holds", f.Verdict, f.Reason)
	}
}
