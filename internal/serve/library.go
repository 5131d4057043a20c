package serve

import (
	"context"
	"slices"
	"strings"
	"sync"

	"assay"
	"assay/internal/analysis"
	"assay/internal/audit"
	"assay/internal/history"
	"assay/internal/lab"
	"assay/internal/store"
	"assay/published"
)

// library keeps what is worked out of finished runs, which do not change.
type library struct {
	store   *store.Store
	mutex   sync.Mutex // of what follows: one request works it out, others wait
	cells   map[string][]history.Entry
	judged  string // the runs that the verdicts are of
	verdict []machineVerdicts
}

func newLibrary(s *store.Store) *library {
	return &library{store: s, cells: map[string][]history.Entry{}}
}

// finished are the runs of a machine that are finished; of all machines where it is
// empty.
func finished(runs []assay.Run, machine string) []assay.Run {
	return slices.DeleteFunc(slices.Clone(runs), func(r assay.Run) bool {
		return r.Status != assay.Finished || machine != "" && r.Machine() != machine
	})
}

// machines are those of the runs, in their order.
func machines(runs []assay.Run) []string {
	var all []string
	for _, run := range runs {
		if m := run.Machine(); m != "" && !slices.Contains(all, m) {
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
	machine string
	claims  []claimVerdict
}

// claimVerdict is what a page shows of a finding, without the trials behind it.
type claimVerdict struct {
	says, source, reason string
	verdict              audit.Verdict
}

// verdicts judges all claims by the runs of each machine that has some of their
// plans.
func (l *library) verdicts(ctx context.Context, runs []assay.Run) ([]machineVerdicts, error) {
	runs = finished(runs, "")
	var ids strings.Builder
	for _, run := range runs {
		ids.WriteString(run.ID + "\n")
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.judged == ids.String() {
		return l.verdict, nil
	}
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
	runs = slices.DeleteFunc(runs, func(r assay.Run) bool { return !plans[r.Plan] })
	var all []machineVerdicts
	for _, machine := range machines(runs) {
		findings, err := audit.Judge(sources, lab.Pools(ctx, l.store, finished(runs, machine)))
		if err != nil {
			return nil, err
		}
		one := machineVerdicts{machine: machine}
		for _, f := range findings {
			one.claims = append(one.claims, claimVerdict{f.Claim.Says, f.Source.Name, f.Reason, f.Verdict})
		}
		all = append(all, one)
	}
	l.judged, l.verdict = ids.String(), all
	return all, nil
}
