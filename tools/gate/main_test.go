package main

import "testing"

// Few jobs show that the simulation finds what is there and is repeated by its
// seed; results/gate.md has the figures of many.
func TestSimulation(t *testing.T) {
	equal, err := scenarios[0].simulate(1, 4, 6)
	if err != nil || equal.failed > 0 {
		t.Errorf("A/A: got %+v, %v, want none failed", equal, err)
	}
	large := scenario{name: "30 % slower", layout: 0.02, slower: 0.3, in: tables}
	found, err := large.simulate(1, 4, 6)
	if err != nil || found.failed != 4 || found.suspected != 4 {
		t.Errorf("30 %% slower: got %+v, %v, want all 4 failed", found, err)
	}
	if again, err := large.simulate(1, 4, 6); err != nil || again != found {
		t.Errorf("again: got %+v, %v, want %+v", again, err, found)
	}
}
