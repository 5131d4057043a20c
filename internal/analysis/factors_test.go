package analysis_test

import (
	"math/rand/v2"
	"testing"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/analysistest"
)

// Settings are left out of what is ahead, and where nothing is, of what may turn out to be
// the best; never where no driver was told a setting.
func TestBest(t *testing.T) {
	clearly := map[string]float64{"mattn": 1000, "modernc": 2000, "glebarez": 4000}
	hardly := map[string]float64{"mattn": 1000, "modernc": 1010, "glebarez": 4000}
	told := []assay.Setting{{Name: "cache_size", Connection: "reader-1", Requested: "-4096", Issued: "_cache_size=-4096", Effective: "-4096", Applied: true}}
	type best struct {
		driver       string
		clear, found bool
	}
	for name, c := range map[string]struct {
		times    map[string]float64
		spread   float64
		settings []assay.Setting
		want     best
	}{
		"ahead":               {clearly, 0.001, told, best{"mattn", true, true}},
		"two may be the best": {hardly, 0.1, told, best{"mattn", false, true}},
		"nothing is decided":  {map[string]float64{"mattn": 1000, "modernc": 1010, "glebarez": 1020}, 0.3, told, best{"mattn", false, true}},
		"without settings":    {clearly, 0.001, nil, best{"", false, false}},
	} {
		trials := drawn(rand.New(rand.NewPCG(1, 2)), c.times, map[string]float64{"mattn": c.spread, "modernc": c.spread, "glebarez": c.spread})
		trials = analysistest.Change(trials, func(t *assay.Trial) { t.Settings = c.settings })
		r, err := analysis.New(analysistest.PlainRun, analysistest.Each(trials))
		must(t, err)
		cell, clear, found := r.Best()
		if got := (best{cell.Driver, clear, found}); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}
