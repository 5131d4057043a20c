package main

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"assay/internal/audit"
	"assay/internal/build"
	"assay/internal/lab"
	"assay/published"
)

// All of a claim's budget is for its cells, though some plans measure single settings, too.
func TestClaimsMeasureNoFactors(t *testing.T) {
	sources, err := published.Claims()
	if err != nil {
		t.Fatal(err)
	}
	factors := 0
	for _, source := range sources {
		for _, claim := range source.Claims {
			if claim.Plan == "" { // it is not tested
				continue
			}
			p, err := readPlan(claim.Plan)
			if err != nil {
				t.Fatal(err)
			}
			if p.Factors {
				factors++
			}
			request, err := claimRequest(audit.Work{Plan: claim.Plan, Claims: []published.Claim{claim}}, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			if request.Plan.Factors || request.Budget != time.Minute {
				t.Errorf("%s: factors %v, budget %s; want none and 1m", claim.Says, request.Plan.Factors, request.Budget)
			}
		}
	}
	if factors == 0 {
		t.Error("no claim's plan measures single settings: this test tests nothing")
	}
}

// A claim whose workers lack what they need leaves the others to be measured; an
// interrupt and a full disk do not.
func TestClaimsThatCannotBeMeasured(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"no Ruby":        {stopped(t.Context(), fmt.Errorf("worker activerecord: %w", &build.NotInstalledError{Words: "Ruby is not installed"}), "", ""), true},
		"a mistake":      {lab.AsInputError(errors.New("no such driver")), true},
		"interrupted":    {context.Canceled, false},
		"no disk":        {errors.New("no space left on device"), false},
		"nothing at all": {nil, false},
	} {
		if got := cannotMeasure(test.err); got != test.want {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
}
