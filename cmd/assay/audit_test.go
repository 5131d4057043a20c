package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay"
	"assay/internal/audit"
	"assay/internal/build"
	"assay/internal/lab"
	"assay/internal/plan"
	"assay/published"
)

// All of a claim's budget is for its cells, though some plans measure single settings, too.
func TestClaimsMeasureNoFactors(t *testing.T) {
	sources, err := published.Claims()
	must(t, err)
	factors := 0
	for _, source := range sources {
		for _, claim := range source.Claims {
			if claim.Plan == "" { // it is not tested
				continue
			}
			p, err := readPlan(claim.Plan)
			must(t, err)
			if p.Factors {
				factors++
			}
			request, err := new(claimMeter).request(audit.Work{Plan: claim.Plan, Claims: []published.Claim{claim}}, time.Minute)
			must(t, err)
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

// Where Ruby is missing, the claims about Rails are told and measure nothing.
func TestClaimsWithoutRuby(t *testing.T) {
	programs := t.TempDir()
	for _, name := range []string{"go", "gcc", "env", "sh", "bash", "dirname", "uname", "cat"} {
		if path, err := exec.LookPath(name); err == nil {
			must(t, os.Symlink(path, filepath.Join(programs, name)))
		}
	}
	t.Setenv("PATH", programs)
	checkout, err := filepath.Abs("../..")
	must(t, err)
	t.Setenv("ASSAY_SOURCE", checkout) // the program of this test lies elsewhere
	var said strings.Builder
	a := &app{stdout: io.Discard, stderr: &said, store: filepath.Join(t.TempDir(), "store.db")}
	s, err := a.openStore(t.Context())
	must(t, err)
	defer s.Close()
	meter := &claimMeter{app: a, store: s, quiet: true}
	took, err := meter.Measure(t.Context(), audit.Work{Plan: "rails", Claims: claimsOf(t, "rails")}, time.Minute)
	if took != 0 || err != nil || !strings.Contains(said.String(), "not measured: ") || !strings.Contains(said.String(), "Ruby is not installed") {
		t.Errorf("took %s, %v, and said:\n%s", took, err, said.String())
	}
}

// Of two cells that differ in several coordinates, no others are measured.
func TestClaimsMeasureTheirCells(t *testing.T) {
	w := audit.Work{Plan: "kv", Claims: []published.Claim{{Plan: "kv", Metric: assay.NsPerOp, Where: map[string]string{"operation": "read", "n": "1000000"},
		Compare: []published.Comparison{{A: map[string]string{"driver": "badger", "transaction": "1000000"}, B: map[string]string{"driver": "lotusdb", "transaction": "none"}}}}}}
	meter := &claimMeter{}
	request, err := meter.request(w, time.Minute)
	must(t, err)
	all, err := request.Plan.Expand(nil)
	must(t, err)
	cases, err := plan.SelectToMeasure(all, request.Only, request.Sides...)
	if len(cases) != 2 || len(request.Sides) != 2 || err != nil {
		t.Errorf("got %d cells, %d sides, %v, want 2 of both", len(cases), len(request.Sides), err)
	}
}

// Sizes of a pool are measured in different launches, forms of a read in the same ones.
func TestClaimsApart(t *testing.T) {
	meter := &claimMeter{}
	for says, want := range map[string]bool{
		"zombiezen is faster with a pool of 50 than with one of 4":      true,
		"an update is somewhat faster than an insert":                   true,
		"a statement that is prepared once is the fastest to read with": false,
		"in memory mattn is fastest with a single thread":               false,
	} {
		found := false
		for _, plan := range []string{"http", "statements", "monster"} {
			for _, c := range claimsOf(t, plan) {
				if c.Says != says {
					continue
				}
				found = true
				request, err := meter.request(audit.Work{Plan: plan, Claims: []published.Claim{c}}, time.Minute)
				must(t, err)
				cases, err := request.Plan.Expand(nil)
				must(t, err)
				if got := request.InTurn(cases); got != want {
					t.Errorf("%s: in turn: got %v, want %v", says, got, want)
				}
			}
		}
		if !found {
			t.Errorf("no claim says %q", says)
		}
	}
}

// claimsOf are the claims about a plan.
func claimsOf(t *testing.T, plan string) (all []published.Claim) {
	t.Helper()
	sources, err := published.Claims()
	must(t, err)
	for _, source := range sources {
		for _, c := range source.Claims {
			if c.Plan == plan {
				all = append(all, c)
			}
		}
	}
	return all
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
