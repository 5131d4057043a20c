//go:build unix

package runner

import (
	"context"

	"assay"
)

// Inspect opens the first case as a run would, and returns a trial without
// figures: what was issued, and every setting on every connection. Where it
// does not open, the trial's outcome and reason say why.
func (r *Runner) Inspect(ctx context.Context) (assay.Trial, error) {
	if len(r.groups) == 0 { // the target cannot run the case, and said why
		return r.unmeasured[0], nil
	}
	m := r.groups[0].members[0]
	j := m.first
	want := j.method.connections(j)
	if want.readers == 0 { // an operation that only changes data: show both kinds
		want.readers, want.idle = 1, 1
	}
	if err := r.traceGroup(ctx, r.groups[0]); err != nil { // what a store does not read back shows in a trace
		return assay.Trial{}, err
	}
	in, err := r.start(ctx, m, 0, want)
	if err != nil {
		t := newTrial(m, j, 0)
		return t, end(&t, err)
	}
	t := in.trial(j, 0)
	t.Settings = in.all
	in.recordSyncs(&t, j)
	stopped := in.stop(ctx)
	in.kill()
	for _, err := range []error{in.applied, stopped} {
		if err := end(&t, err); err != nil {
			return t, err
		}
	}
	return t, nil
}
