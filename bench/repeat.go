//go:build unix

package main

import (
	"fmt"

	"assay"
	"assay/internal/analysis"
	"assay/internal/stat"
	"assay/internal/store"
)

const (
	// alikeRuns of the plan alike have 216 comparisons of a thing with itself.
	alikeRuns   = 12
	alikeBudget = "70s"
	// repeatedRuns of the plan quick make ten pairs.
	repeatedRuns = 5
)

// alike compares things with themselves in runs of their own, as assay noise
// does, and counts how often a difference is claimed.
func (t *tools) alike() error {
	type count struct{ pairs, alarms int }
	kinds, total := map[string]count{}, count{}
	var order []string
	for n := range alikeRuns {
		r, err := t.reportOf("alike", fmt.Sprint("alike-", n), "--budget", alikeBudget)
		if err != nil {
			return err
		}
		for _, k := range analysis.NewNoise(r).Kinds {
			if _, seen := kinds[k.Operation]; !seen {
				order = append(order, k.Operation)
			}
			kinds[k.Operation] = count{kinds[k.Operation].pairs + k.Pairs, kinds[k.Operation].alarms + k.Alarms}
			total = count{total.pairs + k.Pairs, total.alarms + k.Alarms}
		}
	}
	for _, name := range order {
		sayShare("  "+name+" against itself, difference claimed", kinds[name].alarms, kinds[name].pairs)
	}
	sayShare("equals called different", total.alarms, total.pairs)
	return nil
}

// sayShare prints a share of comparisons with its interval. The bar is missed
// where the interval shows that the share is above 5 %.
func sayShare(what string, some, all int) {
	rate := stat.Share(some, all)
	verdict := "ok"
	if all == 0 || rate.Low > 0.05 {
		verdict = "MISSED"
	}
	fmt.Printf("%-55s %d of %d: %.1f %% [%.1f, %.1f]  (bar: 5 %%) %s\n", what, some, all, 100*rate.Center, 100*rate.Low, 100*rate.High, verdict)
}

// pairs runs quick several times, and compares the verdicts of each two runs.
func (t *tools) pairs() error {
	var runs []map[string]stat.Verdict
	for n := range repeatedRuns {
		r, err := t.reportOf("quick", fmt.Sprint("quick-", n))
		if err != nil {
			return err
		}
		runs = append(runs, verdicts(r))
	}
	pairs := 0
	changes := map[string]int{}
	for i := range runs {
		for j := range i {
			pairs++
			for key, a := range runs[i] {
				if b, both := runs[j][key]; both {
					change := changed(a, b)
					changes[change]++
					if change == contradicted {
						fmt.Printf("  %s: %s in one run, %s in another\n", key, a, b)
					}
				}
			}
		}
	}
	fmt.Printf("pairs of runs of quick: %d; pairs of verdicts: %v\n", pairs, changes)
	say("verdicts of quick that contradict each other", one(float64(changes[contradicted])), "", "none", 0, 0)
	return nil
}

const contradicted = "faster and slower"

// changed names how the verdicts of two runs differ.
func changed(a, b stat.Verdict) string {
	switch {
	case a == b:
		return "the same"
	case a == stat.Undecided || b == stat.Undecided:
		return "decided and undecided"
	case a == stat.Equivalent || b == stat.Equivalent:
		return "equivalent and not"
	}
	return contradicted
}

func verdicts(r *analysis.Result) map[string]stat.Verdict {
	all := map[string]stat.Verdict{}
	for row := range r.Rows() {
		if f, ok := row.Figure(row.Table.Primary.Name); ok && f.Comparison != nil && row.Outcome == assay.OK {
			all[row.Cell.Key()] = f.Comparison.Verdict
		}
	}
	return all
}

// reportOf runs a plan with a store of its own, and reads the result.
func (t *tools) reportOf(plan, name string, flags ...string) (*analysis.Result, error) {
	location, _, err := t.assay(plan, name, append(flags, "--quiet")...)
	if err != nil {
		return nil, err
	}
	return t.readReport(location)
}

func (t *tools) readReport(location string) (*analysis.Result, error) {
	s, err := store.Open(t.ctx, location)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	run, err := s.Run(t.ctx, "")
	if err != nil {
		return nil, err
	}
	return analysis.New(run, s.Trials(t.ctx, run.ID))
}
