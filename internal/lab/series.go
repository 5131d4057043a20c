package lab

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"assay"
	"assay/internal/runner"
	"assay/internal/runner/host"
	"assay/internal/store"
	"assay/internal/sys/guard"
)

// Member is a driver with a profile, as the plan names them.
type Member struct {
	Driver  assay.DriverName
	Profile string
}

// Series is a run that is measured launch by launch: which members the next launch
// has may follow from the launches before. It is kept like any other run. A series
// that is resumed answers from what was kept as long as it has the answer.
type Series struct {
	run    *run
	runner *runner.Runner // nil of a finished series, which only answers from what was kept
	work   *runner.Workspace
	trials []assay.Trial // of all launches
	last   int           // launch
}

// Series begins a series of a request whose plan no scheduler is to run, or with
// Resume takes over the newest one of the same plan text that was begun after a time.
// Close ends it.
func (l *Lab) Series(ctx context.Context, s *store.Store, request Request, after time.Time) (*Series, error) {
	series := &Series{run: &run{lab: l, store: s}}
	err := guard.Error(func() error { return series.begin(ctx, request, after) })
	if err != nil {
		series.Close(context.WithoutCancel(ctx))
		return nil, err
	}
	return series, nil
}

func (s *Series) begin(ctx context.Context, request Request, after time.Time) error {
	r, resume := s.run, request.Resume
	request.Resume = false // what choose would look for is found here
	if err := r.choose(ctx, request); err != nil {
		return err
	}
	if resume {
		if err := s.recall(ctx, after); err != nil {
			return err
		}
	}
	programs, err := r.build(ctx)
	if err != nil || r.now.Status == assay.Finished {
		return err
	}
	if s.work, err = r.lab.workspace(newRunID()); err != nil {
		return err
	}
	config := r.config(programs, s.work, func(t assay.Trial) error {
		s.trials = append(s.trials, t)
		return r.keep(ctx, t)
	})
	if s.runner, err = prepare(ctx, config); err != nil {
		return err
	}
	s.trials = append(s.trials, r.done...) // of drivers that cannot be built
	return r.begin(ctx, s.runner, s.work.Dir)
}

// recall takes over the newest series of the same plan and request, where there is
// one.
func (s *Series) recall(ctx context.Context, after time.Time) error {
	r := s.run
	runs, err := r.store.Runs(ctx)
	if err != nil {
		return err
	}
	here := host.Facts(r.lab.Cache)
	for _, before := range runs {
		same := !before.Imported && before.OnMachine(here) && before.Version == r.now.Version && before.PlanText == r.plan.Text && before.PlanFile == r.now.PlanFile && before.Started.After(after) &&
			slices.Equal(before.Options.Drivers, r.now.Options.Drivers) && maps.EqualFunc(before.Options.Only, r.now.Options.Only, slices.Equal)
		if !same {
			continue
		}
		if _, err := r.recallTrials(ctx, before.ID); err != nil {
			return err
		}
		s.trials, r.done = r.done, nil
		if before.Status != assay.Finished {
			if err := r.store.Claim(ctx, before.ID); err != nil {
				return err
			}
			before.Status = assay.Running
			r.lab.Watcher.Note(fmt.Sprintf("resuming run %s of %s, started %s", before.ID, before.Plan, before.Started.Local().Format(time.DateTime)))
		}
		r.now, r.result.ID = before, before.ID
		return nil
	}
	if after.IsZero() {
		return AsInputError(errors.New("there is no stored run of this plan, its drivers, operations and constraints by this version of assay on this machine"), "start it without --resume")
	}
	return nil
}

// ID is the run's.
func (s *Series) ID() string { return s.run.now.ID }

// Started returns when the run was begun.
func (s *Series) Started() time.Time { return s.run.now.Started }

// Launch launches members once and returns their trials. Cells that ended in a way
// that another launch cannot change are not measured again.
func (s *Series) Launch(ctx context.Context, members []Member) ([]assay.Trial, error) {
	var cases []assay.Case
	for _, c := range s.run.chosen.cases {
		if len(c.Operation.Terms) > 0 {
			continue // what its operations show is known without it
		}
		if slices.Contains(members, Member{c.Cell.DriverName(), c.Cell.Profile}) && !s.ended(c) {
			cases = append(cases, c)
		}
	}
	for {
		s.last++
		kept := s.ofLaunch(s.last)
		if len(cases) == 0 || len(kept) > 0 && !slices.ContainsFunc(cases, func(c assay.Case) bool { return !s.run.has(kept, c) }) {
			return append(s.unmeasurable(members), kept...), nil
		}
		if len(kept) == 0 {
			break
		}
	}
	if s.run.now.Status == assay.Finished {
		return nil, AsInputError(fmt.Errorf("cannot resume run %s: it was made with another plan or budget", s.ID()), "start anew without --resume")
	}
	before, unmeasurable := len(s.trials), s.unmeasurable(members)
	err := guard.Error(func() error {
		return s.run.launch(s.runner, func() error { return s.runner.Launch(ctx, s.last, cases) })
	})
	return append(unmeasurable, s.trials[before:]...), err
}

// unmeasurable are the trials of cells of members that no launch can measure, such as those
// of a worker that does not start. They belong to no launch, and are told with each, so that
// a series that is resumed says what the first one said.
func (s *Series) unmeasurable(members []Member) []assay.Trial {
	return slices.DeleteFunc(s.ofLaunch(0), func(t assay.Trial) bool {
		return !slices.Contains(members, Member{s.run.chosen.names.Of(t.Cell), t.Cell.Profile})
	})
}

// ended reports whether a case has a trial after which it is not measured again in
// this series.
func (s *Series) ended(c assay.Case) bool {
	return slices.ContainsFunc(s.trials, func(t assay.Trial) bool {
		return t.Launch <= s.last && t.PermanentFailure() && s.run.of(t, c)
	})
}

func (s *Series) ofLaunch(number int) []assay.Trial {
	return slices.DeleteFunc(slices.Clone(s.trials), func(t assay.Trial) bool { return t.Launch != number })
}

func (r *run) has(trials []assay.Trial, c assay.Case) bool {
	return slices.ContainsFunc(trials, func(t assay.Trial) bool { return r.of(t, c) })
}

// of reports whether a trial is of a case, whose cell is without what only the worker
// says.
func (r *run) of(t assay.Trial, c assay.Case) bool {
	return !t.Twin && r.chosen.names.Of(t.Cell) == c.Cell.DriverName() && t.Cell.Profile == c.Cell.Profile && t.Cell.Peer() == c.Cell.Peer()
}

// Finish ends a series that has all that it was made for.
func (s *Series) Finish(ctx context.Context) error {
	if s.run.now.Status == assay.Finished {
		return nil
	}
	return s.run.finish(ctx, 0)
}

// Close ends a series; one that is not finished can be resumed.
func (s *Series) Close(ctx context.Context) {
	if s.run.now.Status != assay.Finished && s.run.result.ID != "" {
		s.run.interrupt(ctx)
	}
	if s.work != nil {
		s.work.Close()
	}
}
