package serve

import (
	"context"
	"slices"
	"sync"
	"time"

	"assay"
	"assay/internal/analysis"
	"assay/internal/audit"
	"assay/internal/history"
	"assay/internal/lab"
	"assay/internal/store"
	"assay/published"
)

// library keeps what is worked out of finished runs. Of these only the proofs change.
type library struct {
	store    *store.Store
	mutex    sync.Mutex                   // of what follows: one request works it out, others wait
	cells    map[string][]history.Entry   // by the run's ID: their ratios do not depend on proofs
	slow     shelf                        // of what follows
	machines map[string]*work[acrossRuns] // by plan
	verdict  work[[]machineVerdicts]
}

func newLibrary(ctx context.Context, s *store.Store, patience time.Duration) *library {
	return &library{store: s, cells: map[string][]history.Entry{}, slow: shelf{life: ctx, patience: patience}, machines: map[string]*work[acrossRuns]{}}
}

// finished are the runs of a machine that are finished; of all machines where it is
// empty.
func finished(runs []assay.Run, machine string) []assay.Run {
	return slices.DeleteFunc(slices.Clone(runs), func(r assay.Run) bool {
		return r.Status != assay.Finished || machine != "" && shown(r.Machine()) != machine
	})
}

func machines(runs []assay.Run) []string {
	var all []string
	for _, run := range runs {
		if m := shown(run.Machine()); m != "" && !slices.Contains(all, m) {
			all = append(all, m)
		}
	}
	return all
}

// entries are the cells of the finished ones of these runs.
func (l *library) entries(ctx context.Context, runs []assay.Run) ([]history.Entry, error) {
	var all []history.Entry
	for _, run := range finished(runs, "") {
		some, err := l.entriesOf(ctx, run)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

func (l *library) entriesOf(ctx context.Context, run assay.Run) ([]history.Entry, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if known, has := l.cells[run.ID]; has {
		return known, nil
	}
	r, err := analysis.New(run, l.store.Trials(ctx, run.ID))
	if err != nil {
		return nil, err
	}
	l.cells[run.ID] = history.Entries(r)
	return l.cells[run.ID], nil
}

// machineVerdicts are the verdicts of one class of machines on all claims.
type machineVerdicts struct {
	machine  string
	imported bool // all of its runs are
	claims   []claimVerdict
}

// claimVerdict is what a page shows of a finding, without the trials behind it.
type claimVerdict struct {
	says, source, reason string
	doubts               []string // codes
	verdict              audit.Verdict
}

// verdicts judges all claims by the runs of each machine that has some of their
// plans. Imported runs count where a machine has no others, as assay audit leaves
// them out.
func (l *library) verdicts(ctx context.Context, runs []assay.Run) ([]machineVerdicts, age, error) {
	judged := finished(runs, "")
	return ask(ctx, &l.slow, &l.verdict, judged, func(ctx context.Context) ([]machineVerdicts, error) { return l.judge(ctx, judged) })
}

func (l *library) judge(ctx context.Context, judged []assay.Run) ([]machineVerdicts, error) {
	sources, err := published.Claims()
	if err != nil {
		return nil, err
	}
	plans := map[string]bool{}
	for _, source := range sources {
		for _, claim := range source.Claims {
			plans[claim.Plan] = true
		}
	}
	runs := slices.DeleteFunc(slices.Clone(judged), func(r assay.Run) bool { return !plans[r.Plan] })
	var all []machineVerdicts
	for _, machine := range machines(runs) {
		those, imported := ownFirst(finished(runs, machine))
		findings, err := audit.Judge(sources, lab.Pools(ctx, l.store, those, new(lab.Kept)))
		if err != nil {
			return nil, err
		}
		one := machineVerdicts{machine: machine, imported: imported}
		for _, f := range findings {
			one.claims = append(one.claims, claimVerdict{f.Claim.Says, f.Source.Name, f.Reason, f.Codes(), f.Verdict})
		}
		all = append(all, one)
	}
	return all, nil
}

// ownFirst are the runs that were made here, or all where every one was imported.
func ownFirst(runs []assay.Run) (those []assay.Run, imported bool) {
	own := slices.DeleteFunc(slices.Clone(runs), func(r assay.Run) bool { return r.Imported })
	if len(own) == 0 {
		return runs, true
	}
	return own, false
}
