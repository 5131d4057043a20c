package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/internal/plan"
)

// The exhaustive space has 72 configurations, each once, in plans that assay reads.
func TestConfigurations(t *testing.T) {
	seen := map[string]bool{}
	all := configurations()
	for _, c := range all {
		seen[settingsText(c)] = true
	}
	if len(all) != 72 || len(seen) != 72 || len(all[0]) != 0 {
		t.Errorf("got %d configurations, %d of them different, the first %v; want 72, and the current one first", len(all), len(seen), all[0])
	}
	e := experiment{folder: t.TempDir(), launches: 12, rows: 1000}
	names, profiles := []string{"current"}, map[string]map[string]string{"current": {}}
	for i, c := range all[1:] {
		names = append(names, fmt.Sprint("c", i))
		profiles[names[i+1]] = c
	}
	path, err := e.plan("exhaustive-1", 7, names, profiles)
	must(t, err)
	text, err := os.ReadFile(path)
	must(t, err)
	p, err := plan.Decode(path, text)
	if err != nil || len(p.Profiles) != 72 || p.Seed != 7 || p.Launches != 12 {
		t.Errorf("got %+v, %v; want a plan of 72 profiles with the seed 7 and 12 launches", p, err)
	}
}

// Where settings and pairs of settings are all there is, smoothing leaves the gains as they
// are, free of what the launches of a chunk have in common, and the best is the best.
func TestSmoothed(t *testing.T) {
	truth := func(levels []int) float64 {
		return []float64{0, 1, 0.1}[levels[0]] + 0.04*float64(levels[2]) - 0.1*float64(levels[1]) + 0.15*float64(levels[1]*levels[3])
	}
	var cells []cell
	seen := map[string]bool{}
	for i, c := range configurations() {
		if i == 0 {
			continue
		}
		if len(cells)%12 == 0 {
			cells = append(cells, cell{nil, make([]int, len(grid)), len(cells) / 12, 0.01 * float64(len(cells))})
		}
		seen[fmt.Sprint(levelsOf(c))] = true
		chunk := len(cells) / 12
		cells = append(cells, cell{c, levelsOf(c), chunk, truth(levelsOf(c)) + 0.01*float64(12*chunk)})
	}
	if len(seen) != 71 {
		t.Errorf("got %d different levels of 71 configurations", len(seen))
	}
	got, err := smoothed(cells)
	must(t, err)
	for i, c := range cells {
		if math.Abs(got[i]-truth(c.levels)) > 1e-9 {
			t.Fatalf("%v: got %g, want %g", c.levels, got[i], truth(c.levels))
		}
	}
}

// Some tunings show that the search finds what is there, proposes nothing that is
// not, and is repeated by its seed; results/tuning.md has the figures of many.
func TestSimulation(t *testing.T) {
	const tunings, noise = 20, 0.02
	for _, s := range scenarios {
		got, err := s.simulate(1, tunings, noise)
		must(t, err)
		equal := s.best() == 0
		if equal && got.proposed > tunings/20 {
			t.Errorf("%s: got %d proposals of %d, want at most 1 in 20", s.name, got.proposed, tunings)
		}
		if !equal && !s.small && got.nearBest < tunings*9/10 {
			t.Errorf("%s: got %d of %d within 2 %% of the best, want 9 in 10", s.name, got.nearBest, tunings)
		}
		if got.exhaustive < tunings*9/10 {
			t.Errorf("%s: got %d of %d exhaustive proposals within 2 %% of the best, want 9 in 10", s.name, got.exhaustive, tunings)
		}
		if got.forbidden > 0 || !s.small && got.useless > tunings/10 {
			t.Errorf("%s: got %d unsafe proposals and %d with a setting without effect, want none and few", s.name, got.forbidden, got.useless)
		}
		if got.firstHeld < got.confirmed*85/100 { // 3 standard errors below 95 % of 20 would be 80 %
			t.Errorf("%s: got %d of %d intervals that hold, want about 95 %%", s.name, got.firstHeld, got.confirmed)
		}
		if again, err := s.simulate(1, tunings, noise); err != nil || again != got {
			t.Errorf("%s, again: got %+v, %v, want %+v", s.name, again, err, got)
		}
	}
}

// What is said of other data and clients is right: a loss of 20 % is named, a loss of just
// 5 % is neither kept nor exceeded in more than about 5 % of tunings.
func TestRobustness(t *testing.T) {
	const tunings = 150
	for _, e := range robust {
		got, err := e.simulate(1, tunings, 0.02)
		must(t, err)
		lost := 0.0
		for _, gains := range e.gains {
			lost = min(lost, gains[0])
		}
		if got.wrong > tunings*10/100 { // 3 standard errors above 5 %
			t.Errorf("%s: got a wrong operation named in %d of %d tunings, want about 5 %%", e.name, got.wrong, tunings)
		}
		if lost == 0 && got.within < tunings/2 {
			t.Errorf("%s: got that all keep the limit in %d of %d tunings, want most", e.name, got.within, tunings)
		}
		if lost <= limit && got.within > tunings*10/100 {
			t.Errorf("%s: got that all keep the limit in %d of %d tunings, want about 5 %% at most", e.name, got.within, tunings)
		}
		if lost < -0.15 && got.slower < tunings*8/10 {
			t.Errorf("%s: got a slower operation in %d of %d tunings, want most", e.name, got.slower, tunings)
		}
	}
}

// A proposal is compared launch by launch, over all operations, with the highest of the bests.
func TestSeries(t *testing.T) {
	row := func(operation, profile string, values ...string) string {
		var trials []string
		for i, v := range values {
			trials = append(trials, fmt.Sprintf(`{"launch": %d, "figures": {"ns/op": %s}}`, i+1, v))
		}
		return fmt.Sprintf(`{"operation": %q, "profile": %q, "trials": [%s]}`, operation, profile, strings.Join(trials, ","))
	}
	report := `{"tables": [{"rows": [` + strings.Join([]string{
		row("read", "p0", "100", "200", "100"), row("read", "p1", "50", "100", "null"),
	}, ",") + `]}, {"rows": [` + strings.Join([]string{row("write", "p0", "10", "10", "10"), row("write", "p1", "5", "5", "5")}, ",") + `]}]}`
	all, err := seriesOf([]byte(report))
	must(t, err)
	if got := all["p1"].against(all["p0"]); got.N != 2 || math.Abs(got.Center-2) > 1e-9 {
		t.Errorf("got %+v; want 2 in the 2 launches with all operations", got)
	}
	disturbed := strings.ReplaceAll(report, `"launch": 2,`, `"launch": 2, "disqualified": true,`)
	if some, err := seriesOf([]byte(disturbed)); err != nil || some["p0"].against(some["p0"]).N != 2 {
		t.Errorf("got %v, %v; want the 2 launches that were not disturbed", some, err)
	}
	disturbed = strings.ReplaceAll(report, `"launch"`, `"disqualified": true, "launch"`)
	if some, err := seriesOf([]byte(disturbed)); err != nil || some["p0"].against(some["p0"]).N != 3 {
		t.Errorf("got %v, %v; want all launches, since all were disturbed", some, err)
	}
	if got := all["p0"].against(all["p0"]); got.N != 3 || math.Abs(got.Center-1) > 1e-9 {
		t.Errorf("got %+v against itself; want 1 in 3 launches", got)
	}
}

// A tuning that fails does not end the experiment, and counts as none within 2 %.
func TestTuningsGoOnAfterAFailure(t *testing.T) {
	program := filepath.Join(t.TempDir(), "assay")
	script := "#!/bin/sh\ncase $2 in *tuning-2*) exit 1;; esac\necho '{\"settings\": {\"temp_store\": \"memory\"}}'\n"
	must(t, os.WriteFile(program, []byte(script), 0o755))
	e := experiment{assay: program, folder: t.TempDir(), launches: 2, rows: 100, repeats: 3}
	var got []string
	for _, c := range e.tunings(t.Context()) {
		got = append(got, fmt.Sprint(c.seed, settingsText(c.settings), c.failed != nil))
	}
	want := []string{"1temp_store=memoryfalse", "2the current settingstrue", "3temp_store=memoryfalse"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
