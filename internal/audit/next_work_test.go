package audit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"assay"
	"assay/internal/audit"
	"assay/published"
)

// fakeMeter takes some time for each launch of a cell, and has no other cells than
// drivers and operations.
type fakeMeter struct {
	launch time.Duration // of one cell
	took   func(budget time.Duration) time.Duration
	err    error

	measured []string // what was measured: its claims, and the time it got
	cells    []string // the drivers of each
}

func (m *fakeMeter) Launch(_ context.Context, w audit.Work) (time.Duration, error) {
	n := 1
	for _, values := range w.Only() {
		n *= len(values)
	}
	return time.Duration(n) * m.launch, nil
}

func (m *fakeMeter) Measure(_ context.Context, w audit.Work, budget time.Duration) (time.Duration, error) {
	var names []string
	for _, c := range w.Claims {
		names = append(names, c.Name)
	}
	m.measured = append(m.measured, fmt.Sprint(strings.Join(names, "+"), " ", budget.Round(time.Second)))
	m.cells = append(m.cells, fmt.Sprint(w.Only()["driver"]))
	return m.took(budget), m.err
}

// asked is a claim about drivers of a plan.
func asked(name, plan string, drivers ...string) published.Claim {
	c := claim(published.Faster, 0)
	c.Name, c.Plan, c.Compare = name, plan, nil
	for _, driver := range drivers[1:] {
		c.Compare = append(c.Compare, published.Comparison{A: map[string]string{"driver": drivers[0]}, B: map[string]string{"driver": driver}, Expect: published.Faster})
	}
	return c
}

// What needs the least time is measured first, claims whose cells overlap together, and
// each for what its launches take or more.
func TestMeasureOpenClaims(t *testing.T) {
	told := map[string]assay.Trial{"a": trial(1000, "g"), "b": trial(2000, "g")}
	open := map[string]assay.Trial{"a": trial(1, "g"), "b": trial(4, "g")}
	sized := claim(published.Faster, 3)
	sized.Name = "sized"
	sure := asked("sure", "p", "a", "c")
	sure.Compare[0].Expect, sure.Compare[0].Size = published.Alike, 1.5 // its ratio is at the bound
	pairs := []published.Claim{asked("one", "p", "a", "b"), asked("other", "p", "c", "d")}
	pairs[0].Compare[0].Size, pairs[1].Compare[0].Size = 3, 3
	narrow := asked("narrow", "q", "a", "c")
	narrow.Compare[0].Expect, narrow.Compare[0].Size = published.Alike, 1.02
	half := func(b time.Duration) time.Duration { return min(b, 30*time.Second) }
	all := func(budget time.Duration) time.Duration { return budget }
	nothing := func(time.Duration) time.Duration { return 0 }
	for name, test := range map[string]struct {
		cells  map[string]assay.Trial
		claims []published.Claim
		budget time.Duration
		launch time.Duration
		took   func(time.Duration) time.Duration
		want   []string
	}{
		"what is decided is not measured": {told, []published.Claim{asked("decided", "p", "a", "b")}, time.Hour, time.Second, all, nil},
		"too short for any":               {open, []published.Claim{sized}, 19 * time.Second, time.Second, all, nil},
		"all of the budget is for one":    {open, []published.Claim{sized}, time.Minute, time.Second / 2, all, []string{"sized 1m0s"}},
		"what takes less first, each as it needs": {nil, []published.Claim{asked("three", "q", "a", "b", "c"), asked("two", "r", "a", "b")},
			5 * time.Minute, 10 * time.Second, all, []string{"two 1m0s", "three 4m0s"}},
		"what one leaves is the others'": {nil, []published.Claim{asked("three", "q", "a", "b", "c"), asked("two", "r", "a", "b")},
			5 * time.Minute, 10 * time.Second, half, []string{"two 1m0s", "three 4m30s"}},
		"cells that overlap are one run": {nil, []published.Claim{asked("one", "q", "a", "b"), asked("other", "q", "a", "c")},
			5 * time.Minute, 10 * time.Second, all, []string{"one+other 5m0s"}},
		"those that do not are two": {nil, []published.Claim{asked("one", "q", "a", "b"), asked("other", "q", "c", "d")},
			4 * time.Minute, 10 * time.Second, all, []string{"one 1m0s", "other 3m0s"}},
		"nor are those of which one needs narrower intervals": {nil, []published.Claim{asked("one", "q", "a", "b"), narrow},
			4 * time.Minute, 10 * time.Second, all, []string{"one 1m0s", "narrow 3m0s"}},
		"nor are those of other plans one": {nil, []published.Claim{asked("one", "q", "a", "b"), asked("other", "r", "a", "b")},
			4 * time.Minute, 10 * time.Second, all, []string{"one 1m0s", "other 3m0s"}},
		"three launches where the budget is small": {nil, []published.Claim{asked("one", "q", "a", "b"), asked("other", "r", "a", "b")},
			80 * time.Second, 10 * time.Second, all, []string{"one 1m0s"}},
		"none where it is too small for two": {nil, []published.Claim{asked("one", "q", "a", "b")}, 39 * time.Second, 10 * time.Second, all, nil},
		"again where the rest may tell it": {open, []published.Claim{sized}, time.Minute, time.Second / 4,
			half, []string{"sized 1m0s", "sized 30s"}},
		"half of the budget first, then what the figures say": {map[string]assay.Trial{"a": trial(1, "g"), "b": trial(4, "g"), "c": trial(1, "g"), "d": trial(4, "g")},
			[]published.Claim{pairs[0], pairs[1]}, 4 * time.Minute, time.Second / 5, all,
			[]string{"one 1m0s", "other 48s", "one 1m6s", "one 33s", "other 33s"}},
		"again where it may at most": {open, []published.Claim{sized}, time.Minute, 400 * time.Millisecond,
			half, []string{"sized 1m0s", "sized 30s"}},
		"not again where it does not": {open, []published.Claim{sized}, time.Minute, 590 * time.Millisecond,
			half, []string{"sized 1m0s"}},
		"what the rest cannot tell holds nothing up": {map[string]assay.Trial{"a": trial(1, "g"), "b": trial(4, "g"), "c": trial(3, "g")},
			[]published.Claim{sized, sure}, time.Minute, time.Second / 4, half, []string{"sized 1m0s", "sized 30s"}},
		"one at a time where both are too much": {nil, []published.Claim{asked("one", "q", "a", "b"), asked("other", "q", "a", "c")},
			50 * time.Second, 10 * time.Second, all, []string{"one 50s"}},
		"all that is left where it may do":     {open, []published.Claim{sized}, time.Minute, 600 * time.Millisecond, half, []string{"sized 1m0s"}},
		"nothing where no launches are enough": {map[string]assay.Trial{"a": trial(1, "g"), "c": trial(3, "g")}, []published.Claim{sure}, time.Hour, time.Millisecond, half, nil},
		"nothing where its figures say so":     {open, []published.Claim{sized}, time.Minute, 1200 * time.Millisecond, half, nil},
		"three times at most": {open, []published.Claim{sized}, time.Hour, time.Millisecond,
			func(time.Duration) time.Duration { return 3 * time.Second }, []string{"sized 1h0m0s", "sized 59m57s", "sized 59m54s"}},
		"one that measures nothing": {open, []published.Claim{sized}, time.Minute, time.Second / 2, nothing, []string{"sized 1m0s"}},
	} {
		t.Run(name, func(t *testing.T) {
			source := published.Source{Name: "s", Claims: test.claims}
			meter := &fakeMeter{launch: test.launch, took: test.took}
			judge := func() ([]audit.Finding, error) {
				return audit.Judge([]published.Source{source}, reports(t, test.cells))
			}
			findings, err := audit.Measure(t.Context(), test.budget, judge, meter)
			if err != nil || len(findings) != len(test.claims) {
				t.Errorf("got %d findings, %v, want %d", len(findings), err, len(test.claims))
			}
			if !slices.Equal(meter.measured, test.want) {
				t.Errorf("measured %q, want %q", meter.measured, test.want)
			}
		})
	}
}

// What failed under an earlier assay is tried once more, behind all that has figures, for no
// longer than it needs.
func TestMeasureWhatFailed(t *testing.T) {
	failed := took(0, time.Second)
	failed.Outcome, failed.Reason = assay.Failed, "it died"
	runs := ages(reported(t, "r2", map[string]assay.Trial{"a": took(1, time.Second), "b": took(4, time.Second)}),
		reported(t, "r1", map[string]assay.Trial{"a": took(1, time.Second), "d": failed}))
	sized := claim(published.Faster, 3)
	sized.Name = "sized"
	source := published.Source{Name: "s", Claims: []published.Claim{asked("failed", "p", "a", "d"), sized}}
	meter := &fakeMeter{took: func(time.Duration) time.Duration { return 30 * time.Second }}
	_, err := audit.Measure(t.Context(), 5*time.Minute, func() ([]audit.Finding, error) { return audit.Judge([]published.Source{source}, runs) }, meter)
	if want := []string{"sized 5m0s", "sized 4m30s", "sized 4m0s", "failed 20s"}; err != nil || !slices.Equal(meter.measured, want) {
		t.Errorf("measured %q, %v, want %q", meter.measured, err, want)
	}
}

// Comparisons of a claim that are told take no time of those that are not.
func TestMeasureOpenComparisons(t *testing.T) {
	cells := map[string]assay.Trial{"a": trial(1000, "g"), "b": trial(2000, "g")}
	source := published.Source{Name: "s", Claims: []published.Claim{asked("three", "p", "b", "a", "c"), asked("other", "p", "a", "b", "d")}}
	source.Claims[0].Compare[0].Expect = published.Slower
	meter := &fakeMeter{launch: time.Second, took: func(budget time.Duration) time.Duration { return budget }}
	judge := func() ([]audit.Finding, error) { return audit.Judge([]published.Source{source}, reports(t, cells)) }
	findings, err := audit.Measure(t.Context(), time.Minute, judge, meter)
	if want := []string{"[b c]", "[a d]"}; err != nil || !slices.Equal(meter.cells, want) {
		t.Errorf("measured the drivers %q, %v; want %q", meter.cells, err, want)
	}
	for i, want := range []string{"assay run p --only driver=b,c --only operation=scan", "assay run p --only driver=a,d --only operation=scan"} {
		if got := printed(t, findings[i]); !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

func TestMeasureEndsWithTheFirstError(t *testing.T) {
	source := published.Source{Name: "s", Claims: []published.Claim{claim(published.Faster, 0)}}
	judge := func() ([]audit.Finding, error) { return audit.Judge([]published.Source{source}, reports(t)) }
	broken := &fakeMeter{took: func(time.Duration) time.Duration { return 0 }, err: errors.New("no disk")}
	if _, err := audit.Measure(t.Context(), time.Hour, judge, broken); !errors.Is(err, broken.err) {
		t.Errorf("got %v, want %v", err, broken.err)
	}
}

// A run of several claims is as narrow as the strictest of them needs.
func TestPrecisionOfWork(t *testing.T) {
	usual, wide, narrow := claim(published.Faster, 0), claim(published.Alike, 1.06), claim(published.Alike, 1.02)
	for _, test := range []struct {
		claims []published.Claim
		want   float64
	}{
		{[]published.Claim{usual}, 0},
		{[]published.Claim{usual, wide}, wide.Precision()},
		{[]published.Claim{narrow, usual, wide}, narrow.Precision()},
	} {
		if got := (audit.Work{Claims: test.claims}).Precision(); got != test.want {
			t.Errorf("%d claims: got %v, want %v", len(test.claims), got, test.want)
		}
	}
}
