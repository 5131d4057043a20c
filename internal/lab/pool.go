package lab

import (
	"context"
	"iter"
	"slices"

	"assay"
	"assay/internal/analysis"
	"assay/internal/store"
)

// sameMachine are the facts that are alike where two runs count as one machine's.
var sameMachine = []string{"cpu", "cores", "memory", "virtualization", "kernel", "filesystem"}

// Pool analyzes runs of one plan together, the newest first: every launch of
// those that the newest one's machine, assay and plan text made counts. Of a
// driver that was built anew since, only the newest build's do. More launches
// than were fixed beforehand widen the intervals, as within one run.
func Pool(ctx context.Context, s *store.Store, runs []assay.Run) (*analysis.Result, error) {
	newest := runs[0]
	pooled := slices.DeleteFunc(slices.Clone(runs), func(r assay.Run) bool { return !alike(r, newest) })
	builds := map[string]string{}
	newest.Targets = nil
	for _, run := range pooled {
		for _, t := range run.Targets {
			if _, known := builds[t.Name()]; !known {
				builds[t.Name()] = t.Build
				newest.Targets = append(newest.Targets, t)
			}
		}
	}
	result, err := analysis.New(newest, launches(ctx, s, pooled, builds))
	if err == nil {
		result.Earlier = pooled[1:]
	}
	return result, err
}

func alike(a, b assay.Run) bool {
	return a.OnMachine(b.Host) && a.PlanText == b.PlanText && a.Version == b.Version && a.Options.Launches == b.Options.Launches &&
		!slices.ContainsFunc(sameMachine, func(fact string) bool { return a.Host[fact] != b.Host[fact] })
}

// launches are the trials of the runs, the oldest first, in the order in which
// they were made. Groups of an ablation count in the newest run only.
func launches(ctx context.Context, s *store.Store, runs []assay.Run, builds map[string]string) iter.Seq2[assay.Trial, error] {
	return func(yield func(assay.Trial, error) bool) {
		for i, run := range slices.Backward(runs) {
			own := map[string]bool{}
			for _, t := range run.Targets {
				own[t.Name()] = t.Build == builds[t.Name()]
			}
			for t, err := range s.Trials(ctx, run.ID) {
				if i > 0 && err == nil {
					if !own[t.Cell.Target()] || t.Ablation {
						continue
					}
					t.Run = run.ID
				}
				if !yield(t, err) {
					return
				}
			}
		}
	}
}

// Machines analyzes the runs of the first one's plan text, those of each machine
// together as Pool does. It leaves out, and counts, runs that do not say which machine
// made them: two of them could be one machine's.
func Machines(ctx context.Context, s *store.Store, runs []assay.Run) (results []*analysis.Result, unknown int, err error) {
	var machines [][]assay.Run
	for _, run := range runs {
		if run.PlanText != runs[0].PlanText {
			continue
		}
		if run.Host["machine"] == "" {
			unknown++
			continue
		}
		i := slices.IndexFunc(machines, func(those []assay.Run) bool { return run.OnMachine(those[0].Host) })
		if i < 0 {
			i, machines = len(machines), append(machines, nil)
		}
		machines[i] = append(machines[i], run)
	}
	for _, those := range machines {
		r, err := Pool(ctx, s, those)
		if err != nil {
			return nil, unknown, err
		}
		results = append(results, r)
	}
	return results, unknown, nil
}

// Pools are the runs pooled by plan, each when it is asked for; nil where a plan has
// none.
func Pools(ctx context.Context, s *store.Store, runs []assay.Run) func(plan string) (*analysis.Result, error) {
	pools := map[string]*analysis.Result{}
	return func(plan string) (*analysis.Result, error) {
		those := slices.DeleteFunc(slices.Clone(runs), func(r assay.Run) bool { return r.Plan != plan })
		if pools[plan] != nil || len(those) == 0 {
			return pools[plan], nil
		}
		var err error
		pools[plan], err = Pool(ctx, s, those)
		return pools[plan], err
	}
}
