package main

import "testing"

// Some tunings show that the search finds what is there, proposes nothing that is
// not, and is repeated by its seed; docs/statistics.md has the figures of many.
func TestSimulation(t *testing.T) {
	const tunings, noise = 40, 0.02
	for _, s := range scenarios {
		got, err := s.simulate(1, tunings, noise)
		if err != nil {
			t.Fatal(err)
		}
		equal := s.best() == 0
		if equal && got.proposed > tunings/20 {
			t.Errorf("%s: got %d proposals of %d, want at most 1 in 20", s.name, got.proposed, tunings)
		}
		if !equal && got.nearBest < tunings*9/10 {
			t.Errorf("%s: got %d of %d within 2 %% of the best, want 9 in 10", s.name, got.nearBest, tunings)
		}
		if got.forbidden > 0 || got.useless > 0 {
			t.Errorf("%s: got %d unsafe proposals and %d with a setting without effect, want none", s.name, got.forbidden, got.useless)
		}
		if got.firstHeld < got.confirmed*85/100 { // 4 standard errors below 95 % of 40 would be 81 %
			t.Errorf("%s: got %d of %d intervals that hold, want about 95 %%", s.name, got.firstHeld, got.confirmed)
		}
		if again, err := s.simulate(1, tunings, noise); err != nil || again != got {
			t.Errorf("%s, again: got %+v, %v, want %+v", s.name, again, err, got)
		}
	}
}
