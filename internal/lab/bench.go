package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"assay"
	"assay/internal/plan"
	"assay/internal/runner"
	"assay/internal/sys/guard"
)

// Template is what the runs of a request on several machines have in common, before any
// of them is begun. It refuses what one machine alone can measure.
func (l *Lab) Template(ctx context.Context, request Request) (assay.Run, error) {
	if request.Budget > 0 || request.Target > 0 || request.Capacity != "" || request.Resume {
		return assay.Run{}, AsInputError(errors.New("on several machines each makes the launches of the plan: you cannot give --budget, --precision, --find-capacity or --resume"),
			"set the number of launches in the plan, such as launches: 6")
	}
	if err := l.knowsDrivers(request); err != nil {
		return assay.Run{}, err
	}
	r := &run{lab: l}
	if err := r.choose(ctx, request); err != nil {
		return assay.Run{}, err
	}
	for _, c := range r.chosen.cases {
		if c.Dataset.File != "" {
			return assay.Run{}, AsInputError(fmt.Errorf("plan %s measures the file %s, which the other machines do not have", r.plan.Name, c.Dataset.File),
				"describe the data in the plan, or run the plan on each machine")
		}
	}
	r.now.Options.Fleet = r.now.ID
	return r.now, nil
}

// Bench measures a run launch by launch, without a budget, so that each machine makes the
// same launches. It keeps nothing: its caller does.
type Bench struct {
	run    *run
	runner *runner.Runner
	work   *runner.Workspace
	ended  []assay.Trial // after which their cells are not measured again
	first  []assay.Trial // of cells whose worker could not be built, for the first launch
	made   []assay.Trial // of the launch under way
}

// Bench prepares a run: a new one where it has no targets yet, or else one that was
// begun on this machine and has these trials. Close ends it.
func (l *Lab) Bench(ctx context.Context, of assay.Run, trials []assay.Trial) (*Bench, error) {
	b := &Bench{run: &run{lab: l, now: of}}
	err := guard.Error(func() error { return b.prepare(ctx, trials) })
	if err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

func (b *Bench) prepare(ctx context.Context, trials []assay.Trial) (err error) {
	r := b.run
	begun := len(r.now.Targets) > 0
	if r.plan, err = plan.Decode(r.now.PlanFile, []byte(r.now.PlanText)); err != nil {
		return err
	}
	if !begun {
		r.now.ID, r.now.Started, r.now.Status = newRunID(), time.Now().UTC(), assay.Running
	}
	if err := r.chooseCases(ctx); err != nil {
		return err
	}
	b.note(trials)
	programs, err := r.build(ctx)
	if err != nil {
		return err
	}
	if len(trials) == 0 { // else the run has the cells without a worker
		b.first = r.done
	}
	r.done = nil
	if b.work, err = r.lab.workspace(newRunID()); err != nil {
		return err
	}
	config := r.config(programs, b.work, func(t assay.Trial) error {
		r.lab.Watcher.Trial(t)
		b.made = append(b.made, t)
		return nil
	})
	if b.runner, err = prepare(ctx, config); err != nil {
		return err
	}
	if begun {
		return r.same(b.runner)
	}
	r.describe(b.runner, b.work.Dir)
	return nil
}

// note keeps which cells are not measured again: those that ended in a way that
// another launch cannot change.
func (b *Bench) note(trials []assay.Trial) {
	for _, t := range trials {
		if t.PermanentFailure() || t.Launch == 0 {
			t.Histogram, t.Samples, t.Settings = nil, nil, nil
			b.ended = append(b.ended, t)
		}
	}
}

// Run is the run as it is so far.
func (b *Bench) Run() assay.Run { return b.run.now }

// Launch launches every group once, under a number, and returns the trials.
func (b *Bench) Launch(ctx context.Context, number int) ([]assay.Trial, error) {
	cases := slices.DeleteFunc(slices.Clone(b.run.chosen.cases), func(c assay.Case) bool { return b.run.has(b.ended, c) })
	if len(cases) == 0 {
		return b.first, nil
	}
	b.made = slices.Clone(b.first)
	err := guard.Error(func() error {
		return b.run.launch(b.runner, func() error { return b.runner.Launch(ctx, number, cases) })
	})
	if err != nil {
		return nil, err
	}
	b.first = nil
	b.note(b.made)
	return b.made, nil
}

// Finished is the run with its end.
func (b *Bench) Finished() assay.Run {
	run := b.run.now
	run.Status, run.Finished = assay.Finished, time.Now().UTC()
	return run
}

// Close removes what the bench has on the disk.
func (b *Bench) Close() {
	if b.work != nil {
		_ = b.work.Close() // the next run removes what is left
	}
}
