package lab

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"time"

	"assay"
	"assay/internal/host"
	"assay/internal/plan"
	"assay/internal/runner"
	"assay/internal/store"
	"assay/internal/syncs"
)

// run is a run with everything that it needs.
type run struct {
	lab     *Lab
	store   *store.Store
	request Request
	plan    *plan.Plan
	now     assay.Run
	cases   []assay.Case
	done    []assay.Trial
	latency *runner.LatencyTarget // nil: no capacity is searched
	result  Result
}

// execute does everything from the request to the last trial.
func (r *run) execute(ctx context.Context) error {
	if err := r.choose(ctx); err != nil {
		return err
	}
	// Whatever happens: a run that was begun and is not finished is interrupted.
	defer r.interrupt(context.WithoutCancel(ctx))
	programs, err := r.build(ctx)
	if err != nil {
		return err
	}
	return r.measure(ctx, programs)
}

func (r *run) interrupt(ctx context.Context) {
	if r.result.ID == "" || r.now.Status == assay.Finished {
		return
	}
	r.now.Status = assay.Interrupted
	_ = r.store.Update(ctx, r.now) // where that fails, the store knows it by the end of this process
}

// choose selects the cells of the plan, new or of the run to resume.
func (r *run) choose(ctx context.Context) error {
	options, err := r.options()
	if err != nil {
		return err
	}
	r.now = assay.Run{ID: newRunID(), Plan: r.plan.Name, PlanText: r.plan.Text, PlanFile: r.request.PlanFile, Seed: r.plan.Seed,
		Options: options, Started: time.Now().UTC(), Status: assay.Running, Version: r.lab.Version}
	if r.request.Resume {
		if err := r.recall(ctx); err != nil {
			return err
		}
	}
	return r.selectCases(ctx)
}

// options combines the request with the plan.
func (r *run) options() (assay.Options, error) {
	o := assay.Options{Drivers: r.request.Drivers, Reference: r.request.Reference, Only: r.request.Only, Capacity: r.request.Capacity,
		Budget: r.plan.Budget, Precision: r.plan.Precision, Margin: r.plan.Margin, Launches: r.plan.Launches}
	if r.request.Budget > 0 {
		o.Budget = r.request.Budget
	}
	if r.request.Target > 0 {
		o.Precision = r.request.Target
	}
	_, err := latencyTarget(o.Capacity)
	return o, AsInputError(err)
}

func newRunID() string {
	random := make([]byte, 2)
	_, _ = rand.Read(random) // never fails
	return time.Now().UTC().Format("20060102-150405") + "-" + hex.EncodeToString(random)
}

// measure runs the cases and keeps every trial as it comes.
func (r *run) measure(ctx context.Context, programs map[string]runner.Program) error {
	work, err := r.lab.workspace(r.now.ID)
	if err != nil {
		return err
	}
	defer work.Close()
	config := r.config(ctx, programs, work)
	all, err := runner.New(ctx, config)
	if err != nil {
		return err
	}
	if err := r.begin(ctx, all, config.Files, work.Dir); err != nil {
		return err
	}
	if err := r.launch(ctx, all); err != nil {
		return err
	}
	if err := r.ablation(ctx, config); err != nil {
		return err
	}
	return r.finish(ctx, all.MinTime())
}

// finish marks the run as finished.
func (r *run) finish(ctx context.Context, minTime time.Duration) error {
	now := r.now
	now.Status, now.Finished, now.MinTime = assay.Finished, time.Now().UTC(), minTime
	if err := r.whenUnlocked(ctx, func(ctx context.Context) error { return r.store.Update(ctx, now) }); err != nil {
		return err
	}
	r.now = now
	return r.whenUnlocked(ctx, r.store.Deliver)
}

func (r *run) config(ctx context.Context, programs map[string]runner.Program, work *runner.Workspace) runner.Config {
	c := r.lab.config(r.cases, programs, work)
	c.Reference, c.ReferenceProfile = r.reference(), r.referenceProfile()
	c.Seed, c.Launches, c.Budget = r.now.Seed, r.plan.Launches, r.mainBudget()
	c.Precision, c.Timeout, c.Done, c.LatencyTarget = r.now.Options.Precision, r.plan.Timeout, r.done, r.latency
	c.Emit = func(t assay.Trial) error { return r.keep(ctx, t) }
	c.Files = runner.Files{} // shared with the ablation, which is to have the same data
	return c
}

// keep puts a trial into the store, also when the run is being interrupted.
func (r *run) keep(ctx context.Context, t assay.Trial) error {
	r.lab.Watcher.Trial(t)
	return r.whenUnlocked(ctx, func(ctx context.Context) error { return r.store.Append(ctx, r.now.ID, t) })
}

func (r *run) whenUnlocked(ctx context.Context, write func(context.Context) error) error {
	return r.lab.whenUnlocked(ctx, r.store, write)
}

// whenUnlocked writes to a store. It waits as long as another program keeps the
// store locked, so that no measurement is lost.
func (l *Lab) whenUnlocked(ctx context.Context, s *store.Store, write func(context.Context) error) error {
	for {
		err := write(context.WithoutCancel(ctx))
		for _, note := range s.Notes() {
			l.Watcher.Note(note)
		}
		if !store.IsLocked(err) || ctx.Err() != nil {
			return err
		}
		l.Watcher.Note("another program keeps the store locked: waiting for it; nothing measured is lost")
	}
}

// KeepProof puts a proof of a plan with this text into a store, also when the command
// is being interrupted.
func (l *Lab) KeepProof(ctx context.Context, s *store.Store, planText string, p assay.Proof) error {
	return l.whenUnlocked(ctx, s, func(ctx context.Context) error { return s.KeepProof(ctx, planText, p) })
}

// Deliver writes what waits for a store. Where its server cannot be reached, the error
// is a store.UndeliveredError.
func (l *Lab) Deliver(ctx context.Context, s *store.Store) error {
	return l.whenUnlocked(ctx, s, s.Deliver)
}

// launch runs a runner and adds up what it took.
func (r *run) launch(ctx context.Context, all *runner.Runner) error {
	began := time.Now()
	err := all.Run(ctx)
	r.result.Took += time.Since(began)
	r.now.Spent = r.now.Spent.Plus(all.Spent())
	r.result.Spent = r.now.Spent
	return err
}

// reference is the one that was asked for, the plan's, or its first driver; where
// that is not measured, the first that is.
func (r *run) reference() string {
	wanted := append([]string{r.now.Options.Reference, r.plan.Reference}, r.plan.Drivers...)
	wanted = slices.DeleteFunc(wanted, func(name string) bool { return name == "" })
	if len(wanted) > 0 {
		baseline := assay.ParseDriverName(wanted[0])
		if slices.ContainsFunc(r.cases, func(c assay.Case) bool { return baseline.MeansBaseline(c.Cell) }) {
			return baseline.String()
		}
	}
	if len(r.cases) == 0 {
		return ""
	}
	return r.cases[0].Cell.Target()
}

// referenceProfile is the plan's, where it is measured and no other reference was
// asked for.
func (r *run) referenceProfile() string {
	if r.now.Options.Reference != "" {
		return ""
	}
	for _, c := range r.cases {
		if c.Cell.Profile == r.plan.ReferenceProfile {
			return r.plan.ReferenceProfile
		}
	}
	return ""
}

// begin stores the run before anything is measured.
func (r *run) begin(ctx context.Context, all *runner.Runner, files runner.Files, workDir string) error {
	if r.request.Resume {
		if err := errors.Join(sameTargets(r.now.Targets, all.Targets()), sameFiles(r.now.Files, files)); err != nil {
			return err
		}
		return r.store.Update(ctx, r.now)
	}
	r.describe(all, files, workDir)
	if err := r.store.Begin(ctx, r.now); err != nil {
		return err
	}
	r.result.ID = r.now.ID
	for _, t := range r.done { // cells whose worker could not be built
		if err := r.keep(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// describe fills in what is known when everything is prepared: the machine, and what
// is measured.
func (r *run) describe(all *runner.Runner, files runner.Files, workDir string) {
	r.now.Host = host.Facts(workDir)
	if rate, err := syncs.Rate(workDir); err == nil { // unknown is no fact
		r.now.Host["syncs-per-second"] = strconv.FormatFloat(rate, 'f', 0, 64)
	}
	r.now.Targets, r.now.Files = all.Targets(), files.Digests()
	r.now.Reference = all.Reference()
	if profile := r.referenceProfile(); profile != "" {
		r.now.Reference += "/" + profile
	}
}

// selectCases fills in the cases. The run keeps the names that * stood for:
// another day there may be other drivers.
func (r *run) selectCases(ctx context.Context) error {
	drivers, err := r.lab.expandDrivers(ctx, r.plan, r.now.Options.Drivers)
	if err != nil {
		return err
	}
	r.now.Options.Drivers = drivers
	all, err := r.plan.Expand(drivers)
	if err != nil {
		return AsInputError(err)
	}
	if r.latency, err = latencyTarget(r.now.Options.Capacity); err != nil {
		return AsInputError(err)
	}
	if r.latency != nil {
		if all, err = searchable(all); err != nil {
			return AsInputError(err)
		}
	}
	r.cases, err = plan.SelectToMeasure(all, r.now.Options.Only)
	return AsInputError(err)
}
