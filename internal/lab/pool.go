package lab

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"

	"assay"
	"assay/internal/analysis"
	"assay/internal/store"
)

// sameMachine are the facts that are alike where two runs count as one machine's.
var sameMachine = []string{"cpu", "cores", "memory", "virtualization", "kernel", "filesystem"}

// Pool analyzes runs of one plan together, the newest first: every launch of
// those that the newest one's machine, assay, plan text and data made counts. Of a
// driver that was built anew since, only the newest build's do. More launches
// than were fixed beforehand widen the intervals, as within one run.
func Pool(ctx context.Context, s *store.Store, runs []assay.Run) (*analysis.Result, error) {
	return analyze(ctx, s, pooled(runs))
}

// pooled are the runs that count together with the first one.
func pooled(runs []assay.Run) []assay.Run {
	return slices.DeleteFunc(slices.Clone(runs), func(r assay.Run) bool { return !alike(r, runs[0]) })
}

func analyze(ctx context.Context, s *store.Store, pooled []assay.Run) (*analysis.Result, error) {
	newest := pooled[0]
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

func alike(a, b assay.Run) bool { return sameCells(a, b) && a.Version == b.Version }

func sameCells(a, b assay.Run) bool {
	return a.OnMachine(b.Host) && a.PlanText == b.PlanText && slices.Equal(data(a), data(b)) && a.Options.Launches == b.Options.Launches &&
		!slices.ContainsFunc(sameMachine, func(fact string) bool { return a.Host[fact] != b.Host[fact] })
}

// data are the digests of the user's own files, in the order of their paths, which differ
// between machines.
func data(r assay.Run) (digests []string) {
	for _, file := range slices.Sorted(maps.Keys(r.Files)) {
		digests = append(digests, r.Files[file])
	}
	return digests
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
// made them, since two of them could be one machine's, and runs of other data, or that a
// pool has not.
func Machines(ctx context.Context, s *store.Store, runs []assay.Run) (results []*analysis.Result, unknown, unlike int, err error) {
	var machines [][]assay.Run
	for _, run := range runs {
		i := slices.IndexFunc(machines, func(those []assay.Run) bool { return run.OnMachine(those[0].Host) })
		switch {
		case run.PlanText != runs[0].PlanText:
		case run.Host["machine"] == "":
			unknown++
		case !slices.Equal(data(run), data(runs[0])):
			unlike++
		case i < 0:
			machines = append(machines, []assay.Run{run})
		default:
			machines[i] = append(machines[i], run)
		}
	}
	for _, those := range machines {
		r, err := Pool(ctx, s, those)
		if err != nil {
			return nil, unknown, unlike, err
		}
		results, unlike = append(results, r), unlike+len(those)-1-len(r.Earlier)
	}
	return results, unknown, unlike, nil
}

// Kept are the pools that were asked for last: a run that was made since changes one of many.
// The zero value keeps what it is used for.
type Kept struct{ last, now map[string]*analysis.Result } // by the IDs of their runs

// turn forgets what was not asked for since the last one.
func (k *Kept) turn() { k.last, k.now = k.now, map[string]*analysis.Result{} }

func (k *Kept) pool(ctx context.Context, s *store.Store, runs []assay.Run) (*analysis.Result, error) {
	those := pooled(runs)
	var ids []string
	for _, r := range those {
		ids = append(ids, r.ID)
	}
	key := strings.Join(ids, " ")
	result, err := k.last[key], error(nil)
	if result == nil {
		result, err = analyze(ctx, s, those)
	}
	k.now[key] = result
	return result, err
}

// Pools are the runs pooled by plan, each pool when it is asked for. Of age 0 are the newest
// run and those like it; of age 1 the newest of the runs that an earlier assay, or earlier
// builds of drivers, made of the same plan text on the same machine; and so on. A pool is nil
// where there are no more.
func Pools(ctx context.Context, s *store.Store, runs []assay.Run, kept *Kept) func(plan string, age int) (*analysis.Result, error) {
	kept.turn()
	type pools struct {
		made []*analysis.Result
		left []assay.Run // the newest first
	}
	all := map[string]*pools{}
	return func(plan string, age int) (*analysis.Result, error) {
		p := all[plan]
		if p == nil {
			p = &pools{left: slices.DeleteFunc(slices.Clone(runs), func(r assay.Run) bool { return r.Plan != plan })}
			p.left = slices.DeleteFunc(p.left, func(r assay.Run) bool { return !sameCells(r, p.left[0]) })
			all[plan] = p
		}
		for age >= len(p.made) && len(p.left) > 0 {
			result, err := kept.pool(ctx, s, p.left)
			if err != nil {
				return nil, err
			}
			p.made, p.left = append(p.made, result), outdated(p.left, result.Run)
		}
		if age >= len(p.made) {
			return nil, nil
		}
		return p.made[age], nil
	}
}

// outdated are the runs that a pool has not, or not with all their drivers: pooled is its run.
func outdated(runs []assay.Run, pooled assay.Run) []assay.Run {
	return slices.DeleteFunc(slices.Clone(runs), func(r assay.Run) bool {
		return alike(r, pooled) && !slices.ContainsFunc(r.Targets, func(t assay.Target) bool {
			return !slices.ContainsFunc(pooled.Targets, func(other assay.Target) bool { return other.Name() == t.Name() && other.Build == t.Build })
		})
	})
}
