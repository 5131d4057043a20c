package main

import (
	"strings"
	"testing"
	"time"

	"assay/internal/plan"
)

// A plan without a budget is said to have none.
func TestBudgetOf(t *testing.T) {
	for want, budget := range map[string]time.Duration{"no budget": 0, "budget 1m30s": 90 * time.Second} {
		if got := budgetOf(&plan.Plan{Budget: budget}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Somebody waits for plan check: scripts set another time than this one.
func TestCheckPatience(t *testing.T) {
	if checkPatience != 15*time.Second {
		t.Errorf("plan check times operations for %s, want 15s", checkPatience)
	}
}

// What a budget is for depends on whether the minimum fits.
func TestOfBudget(t *testing.T) {
	for _, c := range []struct {
		least, budget time.Duration
		want          string
	}{
		{104 * time.Second, 140 * time.Second, "the rest of the budget, up to 2m20s in all, is for comparisons that are still undecided then"},
		{140 * time.Second, 140 * time.Second, "the rest of the budget, up to 2m20s in all, "},
		{141 * time.Second, 140 * time.Second, "the budget of 2m20s is too small for 3 launches of each cell: some comparisons will stay undecided; --budget 2m30s is enough by this estimate"},
		{9 * time.Minute, 0, "a run without a budget goes on until its intervals are narrow enough"},
		{9 * time.Minute, 140 * time.Second, "--budget 9m0s is enough"},
	} {
		if got := ofBudget(c.least, c.budget, 3); !strings.HasPrefix(got, c.want) && !strings.Contains(got, c.want) {
			t.Errorf("minimum %s, budget %s: got %q, want %q", c.least, c.budget, got, c.want)
		}
	}
}
