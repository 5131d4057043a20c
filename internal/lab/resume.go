package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"assay"
	"assay/internal/plan"
	"assay/internal/runner"
	"assay/internal/runner/host"
	"assay/internal/store"
)

// recall loads the latest unfinished run of the plan and takes it over. What it
// measures was decided when it was started.
func (r *run) recall(ctx context.Context, q Request) error {
	if len(q.Drivers) > 0 || len(q.Only) > 0 || q.Target > 0 || q.Margin > 0 || q.Capacity != "" || q.Replay {
		return AsInputError(errors.New("--resume uses the options that the run was started with; you cannot change --drivers, --only, --precision, --margin, --find-capacity and --replay"))
	}
	before, err := r.store.Unfinished(ctx, r.plan.Name, q.PlanFile, host.Facts(r.lab.Cache))
	if errors.Is(err, store.ErrNotFound) {
		return AsInputError(err, "assay runs lists the runs; without --resume a new one is started")
	}
	if err != nil {
		return err
	}
	before.Options.Budget = cmp.Or(q.Budget, before.Options.Budget)
	spent, err := r.recallTrials(ctx, before.ID)
	if err != nil {
		return err
	}
	if q.Budget > 0 && spent >= q.Budget {
		return AsInputError(fmt.Errorf("--budget %s: the run has used %s already, and its budget counts from its start", q.Budget, spent.Round(time.Millisecond)),
			"give more, or leave --budget out")
	}
	if err := r.store.Claim(ctx, before.ID); err != nil {
		return err
	}
	r.lab.Watcher.Note(fmt.Sprintf("resuming run %s of %s, started %s", before.ID, before.PlanFile, before.Started.Local().Format(time.DateTime)))
	if r.plan.Text != before.PlanText {
		r.lab.Watcher.Note("the plan has changed since the run was started: the run continues with the plan as it was")
	}
	for _, trial := range r.done {
		r.lab.Watcher.Trial(before, trial) // the figures so far are of all trials of the run
	}
	before.Status = assay.Running
	r.now, r.result.ID, r.result.Kept = before, before.ID, len(r.done) > 0
	decode := plan.Decode
	if before.Options.Replay {
		decode = plan.DecodeReplay
	}
	r.plan, err = decode(before.PlanFile, []byte(before.PlanText))
	return err
}

// recallTrials reads what a run has, and returns the time that it took.
func (r *run) recallTrials(ctx context.Context, id string) (spent time.Duration, err error) {
	for trial, err := range r.store.Trials(ctx, id) {
		if err != nil {
			return 0, err
		}
		trial.Histogram, trial.Samples, trial.Settings = nil, nil, nil // not needed to go on
		r.done = append(r.done, trial)
		spent += trial.Took
	}
	return spent, nil
}

// ErrChanged says that a run cannot be resumed: what it measures is something else now.
var ErrChanged = errors.New("start a new run")

// same refuses to resume a run where what it would measure now is something else.
func (r *run) same(all *runner.Runner) error {
	return errors.Join(sameTargets(r.now.Targets, all.Targets()), sameFiles(r.now.Files, all.Files()))
}

// sameTargets refuses to resume with other drivers or builds than the run was
// started with: their figures would stand for one target, and are of two.
func sameTargets(before, now []assay.Target) error {
	for _, t := range now {
		if !slices.ContainsFunc(before, func(b assay.Target) bool { return sameBuild(b, t) }) {
			return fmt.Errorf("driver %s: its worker was rebuilt since the run was started: %w", t.Name(), ErrChanged)
		}
	}
	for _, t := range before {
		if !slices.ContainsFunc(now, func(n assay.Target) bool { return sameBuild(n, t) }) {
			return fmt.Errorf("driver %s: the run was started with it, and now its worker cannot be built or does not start: fix that, or start a new run", t.Name())
		}
	}
	return nil
}

func sameBuild(a, b assay.Target) bool { return a.Name() == b.Name() && a.Build == b.Build }

// sameFiles refuses to resume with other data than the run was started with.
func sameFiles(before map[string]string, now runner.Files) error {
	var changed []error
	var last string // one file may be there with several file settings
	for _, key := range slices.Sorted(maps.Keys(now)) {
		data := now[key]
		if data.Digest != before[key] && data.Spec.File != last {
			last = data.Spec.File
			changed = append(changed, fmt.Errorf("%s has changed since the run was started: %w", last, ErrChanged))
		}
	}
	return errors.Join(changed...)
}
