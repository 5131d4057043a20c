package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"assay"
	"assay/internal/plan"
	"assay/internal/runner"
	"assay/internal/store"
)

// sameTargets refuses to go on with other drivers or builds than the run was
// started with: their figures would stand for one target, and are of two.
func sameTargets(before, now []assay.Target) error {
	for _, t := range now {
		if !slices.ContainsFunc(before, func(b assay.Target) bool { return sameBuild(b, t) }) {
			return fmt.Errorf("driver %s: its worker was rebuilt since the run was started: start a new run", t.Name())
		}
	}
	for _, t := range before {
		if !slices.ContainsFunc(now, func(n assay.Target) bool { return sameBuild(n, t) }) {
			return fmt.Errorf("driver %s: the run was started with it, and now its worker cannot be built or does not start: mend that, or start a new run", t.Name())
		}
	}
	return nil
}

func sameBuild(a, b assay.Target) bool { return a.Name() == b.Name() && a.Build == b.Build }

// sameFiles refuses to go on with other data than the run was started with.
func sameFiles(before map[string]string, now runner.Files) error {
	var changed []error
	var last string // one file may be there with several file settings
	for _, key := range slices.Sorted(maps.Keys(now)) {
		data := now[key]
		if data.Digest != before[key] && data.Spec.File != last {
			last = data.Spec.File
			changed = append(changed, fmt.Errorf("%s has changed since the run was started: start a new run", last))
		}
	}
	return errors.Join(changed...)
}

// recall loads the plan's newest unfinished run. What it measures was decided
// when it was started.
func (s *session) recall(ctx context.Context) error {
	if len(s.flags.drivers) > 0 || len(s.flags.only) > 0 || s.flags.precision != "" || s.flags.capacity != "" {
		return usage(errors.New("--resume goes on with what the run was started with; --drivers, --only, --precision and --find-capacity cannot be changed"))
	}
	run, err := s.store.Unfinished(ctx, s.plan.Name, s.run.PlanFile)
	if errors.Is(err, store.ErrNotFound) {
		return usage(err, "assay runs lists the runs; without --resume a new one is started")
	}
	if err != nil {
		return err
	}
	if s.flags.budget > 0 {
		run.Options.Budget = s.flags.budget
	}
	var spent time.Duration
	for trial, err := range s.store.Trials(ctx, run.ID) {
		if err != nil {
			return err
		}
		trial.Histogram, trial.Samples, trial.Settings = nil, nil, nil // not needed to go on
		s.done = append(s.done, trial)
		spent += trial.Took
	}
	if s.flags.budget > 0 && spent >= s.flags.budget {
		return usage(fmt.Errorf("--budget %s: the run has used %s already, and its budget counts from its start", s.flags.budget, brief(spent)),
			"give more, or leave --budget out")
	}
	if s.plan.Text != run.PlanText {
		fmt.Fprintln(s.stderr, "the plan has changed since the run was started: it goes on with the plan as it was")
	}
	if err := s.store.Claim(ctx, run.ID); err != nil {
		return err
	}
	fmt.Fprintf(s.stderr, "resuming run %s of %s, started %s\n", run.ID, run.PlanFile, run.Started.Local().Format(time.DateTime))
	run.Status = assay.Running
	s.run = run
	s.plan, err = plan.Decode(run.PlanFile, []byte(run.PlanText))
	return err
}
