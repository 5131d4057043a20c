package audit_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"assay"
	"assay/internal/audit"
	"assay/published"
)

// Claims are measured in order of what they need, those about the same cells once,
// and only while the budget lasts.
func TestMeasureOpenClaims(t *testing.T) {
	told := map[string]assay.Trial{"a": trial(1000, "g"), "b": trial(2000, "g")}
	open := map[string]assay.Trial{"a": trial(1, "g"), "b": trial(4, "g")}
	decided, sized, unmeasured := claim(published.Faster, 0), claim(published.Faster, 3), claim(published.Faster, 0)
	decided.Name, sized.Name, unmeasured.Name = "decided", "sized", "unmeasured"
	unmeasured.Plan = "q"
	again := sized
	again.Name = "again"
	for name, test := range map[string]struct {
		cells  map[string]assay.Trial
		claims []published.Claim
		budget time.Duration
		took   time.Duration
		want   []string
	}{
		"what is decided is not measured": {told, []published.Claim{decided}, time.Hour, time.Minute, nil},
		"unmeasured first":                {open, []published.Claim{sized, unmeasured}, time.Hour, time.Minute, []string{"unmeasured", "sized"}},
		"the same cells are one run":      {open, []published.Claim{sized, again}, time.Hour, time.Minute, []string{"sized"}},
		"until the budget ends":           {open, []published.Claim{sized, unmeasured}, 50 * time.Second, 45 * time.Second, []string{"unmeasured"}},
		"too short for any":               {open, []published.Claim{sized}, 19 * time.Second, time.Minute, nil},
		"one that measures nothing":       {open, []published.Claim{sized}, 21 * time.Second, 0, []string{"sized"}},
	} {
		t.Run(name, func(t *testing.T) {
			source := published.Source{Name: "s", Claims: test.claims}
			var got []string
			judge := func() ([]audit.Finding, error) {
				return audit.Judge([]published.Source{source}, reports(t, test.cells))
			}
			findings, err := audit.Measure(t.Context(), test.budget, judge, func(_ context.Context, c published.Claim, budget time.Duration) (time.Duration, error) {
				if budget > test.budget || budget <= 0 {
					t.Errorf("%s gets %s of %s", c.Name, budget, test.budget)
				}
				got = append(got, c.Name)
				return test.took, nil
			})
			if err != nil || len(findings) != len(test.claims) {
				t.Errorf("got %d findings, %v, want %d", len(findings), err, len(test.claims))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("measured %q, want %q", got, test.want)
			}
		})
	}
}

func TestMeasureEndsWithTheFirstError(t *testing.T) {
	source := published.Source{Name: "s", Claims: []published.Claim{claim(published.Faster, 0)}}
	broken := errors.New("no disk")
	judge := func() ([]audit.Finding, error) { return audit.Judge([]published.Source{source}, reports(t)) }
	_, err := audit.Measure(t.Context(), time.Hour, judge, func(context.Context, published.Claim, time.Duration) (time.Duration, error) { return 0, broken })
	if !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
}
