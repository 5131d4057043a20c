package analysis_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/analysistest"
)

// drawn makes six launches of each driver's read, around the times of all, with
// a spread of its own each.
func drawn(random *rand.Rand, times, spreads map[string]float64) []assay.Trial {
	var trials []assay.Trial
	for _, driver := range []string{"mattn", "modernc", "glebarez"} {
		trials = append(trials, analysistest.Change(analysistest.Launches(analysistest.Cell("get", driver, "web"), 6, times[driver], 1), func(t *assay.Trial) {
			t.Figures["ns/op"] *= math.Exp(spreads[driver] * random.NormFloat64())
		})...)
	}
	return trials
}

// named are the rows that a result recommends for use, or names as candidates.
func named(r *analysis.Result) (recommended, candidates map[string]bool) {
	recommended, candidates = map[string]bool{}, map[string]bool{}
	for _, s := range r.Suggestions {
		for _, c := range s.Connections {
			recommended[c.Name] = true
		}
		for _, row := range s.Open {
			candidates[row.Row.Name()] = true
		}
	}
	for _, t := range r.Tables {
		for _, k := range t.Rankings {
			for _, row := range k.Recommended() {
				recommended[row.Name()] = true
			}
		}
	}
	for _, pick := range r.Answer().Picks {
		for _, c := range pick.Best {
			recommended[c.Row.Name()] = true
		}
	}
	return recommended, candidates
}

// A target with twice the mean is never recommended for being so noisy that it is
// undecided against everybody.
func TestNoiseIsNeverRecommended(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 14))
	undecided, recommendedOther := 0, 0
	for range 300 {
		trials := drawn(random, map[string]float64{"mattn": 1000, "modernc": 1300, "glebarez": 2000},
			map[string]float64{"mattn": 0.02, "modernc": 0.02, "glebarez": 0.8})
		r, err := analysis.New(analysistest.PlainRun, analysistest.Each(trials))
		must(t, err)
		for _, row := range r.Tables[0].Rankings[0].Leaders() {
			if row.Driver == "glebarez" {
				undecided++
			}
		}
		recommended, _ := named(r)
		if recommended["glebarez (web)"] {
			t.Fatalf("got recommended %v; want no glebarez, which takes twice as long", recommended)
		}
		if recommended["mattn (web)"] {
			recommendedOther++
		}
	}
	if undecided < 100 || recommendedOther < 30 {
		t.Errorf("got %d of 300 tables in which the noisy target shares rank 1, want 100; %d recommend the best, want 30", undecided, recommendedOther)
	}
}

// Leaders that are undecided against each other are all candidates, whether or not they
// beat another; the only leader, and leaders that are equivalent, are recommended.
func TestRecommendedRows(t *testing.T) {
	for name, test := range map[string]struct {
		times, spreads          map[string]float64
		recommended, candidates string
	}{
		"one leader": {map[string]float64{"mattn": 1000, "modernc": 1300, "glebarez": 2000},
			map[string]float64{"mattn": 0.001, "modernc": 0.001, "glebarez": 0.001}, "map[mattn (web):true]", "map[]"},
		"equivalent leaders": {map[string]float64{"mattn": 1000, "modernc": 1001, "glebarez": 2000},
			map[string]float64{"mattn": 0.001, "modernc": 0.001, "glebarez": 0.001}, "map[mattn (web):true modernc (web):true]", "map[]"},
		"undecided leaders": {map[string]float64{"mattn": 1000, "modernc": 1010, "glebarez": 4000},
			map[string]float64{"mattn": 0.1, "modernc": 0.1, "glebarez": 0.1}, "map[]", "map[mattn (web):true modernc (web):true]"},
		"equivalent, and beat nobody": {map[string]float64{"mattn": 1000, "modernc": 1001, "glebarez": 1010},
			map[string]float64{"mattn": 0.001, "modernc": 0.001, "glebarez": 0.5}, "map[]", "map[glebarez (web):true mattn (web):true modernc (web):true]"},
		"nothing decided": {map[string]float64{"mattn": 1000, "modernc": 1010, "glebarez": 1020},
			map[string]float64{"mattn": 0.3, "modernc": 0.3, "glebarez": 0.3}, "map[]", "map[glebarez (web):true mattn (web):true modernc (web):true]"},
	} {
		r, err := analysis.New(analysistest.PlainRun, analysistest.Each(drawn(rand.New(rand.NewPCG(1, 2)), test.times, test.spreads)))
		must(t, err)
		recommended, candidates := named(r)
		if got := fmt.Sprint(recommended); got != test.recommended {
			t.Errorf("%s: got recommended %s, want %s", name, got, test.recommended)
		}
		if got := fmt.Sprint(candidates); got != test.candidates {
			t.Errorf("%s: got candidates %s, want %s", name, got, test.candidates)
		}
	}
}
