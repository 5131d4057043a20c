package facts

import (
	"slices"
	"testing"
)

// One DSN has parameters of several settings only where a driver hands it to SQLite, each setting
// once and no way to open a file.
func TestTogether(t *testing.T) {
	var trials []trial
	for _, o := range spellings {
		trials = append(trials, trial{[]written{o.with("1")}, []string{o.Observed}})
	}
	for name, l := range map[string]*lab{"Go": {inGo: true}, "another language": {unchanged: map[string]string{}}} {
		all, most := l.batches(trials), 0
		var indices []int
		for _, some := range all {
			indices, most = append(indices, some...), max(most, len(some))
			settings, places := map[string]bool{}, map[string]bool{}
			for _, i := range some {
				settings[trials[i].Observe[0]], places[trials[i].Settings[0].Place] = true, true
			}
			if len(settings) < len(some) || len(places) > 1 || len(some) > 1 && (settings["read_only"] || settings["immutable"] || settings["shared_cache"]) {
				t.Errorf("%s: %v in %v", name, settings, places)
			}
		}
		slices.Sort(indices)
		if !slices.Equal(slices.Compact(slices.Clone(indices)), indices) || len(indices) != len(trials) {
			t.Errorf("%s: %d trials of %d", name, len(indices), len(trials))
		}
		if want := map[bool]int{true: 1, false: maxBatch}[l.inGo]; most != want {
			t.Errorf("%s: at most %d together, want %d", name, most, want)
		}
	}
}
