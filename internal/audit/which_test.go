package audit_test

import (
	"strings"
	"testing"

	"assay"
	"assay/internal/audit"
	"assay/published"
)

// cellTrials are launches of a driver's scan; change may make each another one.
func cellTrials(driver string, launches int, ns float64, change func(*assay.Trial)) []assay.Trial {
	var all []assay.Trial
	for launch := 1; launch <= launches; launch++ {
		one := trial(ns+float64(launch), "g")
		one.Launch, one.Mode = launch, assay.Windows
		one.Cell = assay.Cell{Driver: driver, DriverVersion: "v1", Operation: "scan", Clients: 1, Pool: 1}
		if change != nil {
			change(&one)
		}
		all = append(all, one)
	}
	return all
}

// ofRun judges the claim that a is faster than b.
func ofRun(t *testing.T, size float64, parts ...[]assay.Trial) audit.Finding {
	t.Helper()
	var all []assay.Trial
	for _, part := range parts {
		all = append(all, part...)
	}
	run := assay.Run{ID: "r1", Plan: "p", Baseline: assay.ParseBaseline("a@v1"), Options: assay.Options{Margin: 0.02}}
	return judge(t, published.Source{}, claim(published.Faster, size), listed(t, run, all))
}

// A claim is about drivers as they are installed, with whole profiles.
func TestClaimsAreOfPlainCells(t *testing.T) {
	plain := append(cellTrials("a", 6, 1000, nil), cellTrials("b", 6, 2000, nil)...)
	for name, change := range map[string]func(*assay.Trial){
		"a build with options of its own": func(t *assay.Trial) { t.Cell.Options = "THREADSAFE=0" },
		"a setting left out":              func(t *assay.Trial) { t.Cell.Without, t.Ablation = "cache_size", true },
	} {
		if f := ofRun(t, 0, plain, cellTrials("a", 6, 9000, change)); f.Verdict != audit.Holds {
			t.Errorf("beside %s: got %s (%v), want that the claim holds", name, f.Verdict, f.Evidence)
		}
	}
}

// Two launches are enough to judge a size, and a second run is a second look.
func TestSizesAndLooks(t *testing.T) {
	if f := ofRun(t, 5, cellTrials("a", 2, 1000, nil), cellTrials("b", 2, 1500, nil)); f.Verdict != audit.Fails || f.Evidence[0].Missed == "" {
		t.Errorf("two launches: got %s, %q missed; want that five times as fast does not hold, by its size", f.Verdict, f.Evidence[0].Missed)
	}
	second := func(t *assay.Trial) { t.Run = map[bool]string{true: "r0"}[t.Launch > 3] }
	if f := ofRun(t, 0, cellTrials("a", 6, 1000, second), cellTrials("b", 6, 2000, second)); f.Evidence[0].Looks != 2 {
		t.Errorf("got %d looks at two runs, want 2", f.Evidence[0].Looks)
	}
}

// Drift within launches that both share is no doubt about their ratio's time.
func TestDriftOfSharedLaunches(t *testing.T) {
	drifts := func(t *assay.Trial) { t.Figures[assay.NsPerOp] *= 1 + 0.05*float64(t.Launch) }
	f := ofRun(t, 0, cellTrials("a", 12, 1000, drifts), cellTrials("b", 12, 2000, drifts))
	if f.Verdict != audit.Holds || !strings.Contains(printed(t, f), "drift: ") {
		t.Errorf("got %s, want that it holds, with a doubt about drift, in\n%s", f.Verdict, printed(t, f))
	}
}

// What a row promises against its own reference is no doubt about two others.
func TestDoubtsOfOthersPairs(t *testing.T) {
	with := func(profile, synchronous string) func(*assay.Trial) {
		return func(t *assay.Trial) {
			t.Cell.Profile, t.Durability = profile, assay.Consistent
			t.Settings = []assay.Setting{{Name: "synchronous", Connection: "writer-1", Effective: synchronous, Applied: true}}
		}
	}
	c := claim(published.Faster, 0)
	c.Compare[0].A = map[string]string{"driver": "b", "profile": "x"}
	c.Compare[0].B = map[string]string{"driver": "b", "profile": "y"}
	run := assay.Run{ID: "r1", Plan: "p", Baseline: assay.ParseBaseline("a@v1"), Options: assay.Options{Margin: 0.02}}
	var all []assay.Trial
	for _, part := range [][]assay.Trial{
		cellTrials("a", 6, 500, with("x", "1")), cellTrials("a", 6, 600, with("y", "1")),
		cellTrials("b", 6, 1000, with("x", "2")), cellTrials("b", 6, 2000, with("y", "2")),
	} {
		all = append(all, part...)
	}
	f := judge(t, published.Source{}, c, listed(t, run, all))
	if got := printed(t, f); f.Verdict != audit.Holds || strings.Contains(got, "unequal-durability") {
		t.Errorf("got %s, want that it holds, and no doubt about the durability of a, in\n%s", f.Verdict, got)
	}
}
