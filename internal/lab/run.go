package lab

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"slices"
	"strconv"
	"time"

	"assay"
	"assay/internal/plan"
	"assay/internal/runner"
	"assay/internal/runner/host"
	"assay/internal/runner/syncs"
	"assay/internal/store"
)

type selection struct {
	options assay.Options
	cases   []assay.Case
	names   assay.DriverNames     // of the cases
	latency *runner.LatencyTarget // nil: no capacity is searched
}

// run is a run under way.
type run struct {
	lab     *Lab
	store   *store.Store
	plan    *plan.Plan
	now     assay.Run
	chosen  selection
	request Request
	// done are trials that the run has: those of before it was resumed, or of a new
	// one those of cells whose worker could not be built.
	done   []assay.Trial
	result Result
}

// execute does everything from the request to the last trial.
func (r *run) execute(ctx context.Context, request Request) error {
	if err := r.choose(ctx, request); err != nil {
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

func (r *run) started() bool { return r.result.ID != "" }

func (r *run) interrupt(ctx context.Context) {
	if !r.started() || r.now.Status == assay.Finished {
		return
	}
	r.now.Status = assay.Interrupted
	_ = r.store.Update(ctx, r.now) // where that fails, the store knows it by the end of this process
	ctx, cancel := context.WithTimeout(ctx, interruptedPatience)
	defer cancel()
	r.lab.ended(ctx, r.store, r.now.ID)
}

// interruptedPatience is how long what follows an interrupted run may take: the user who
// interrupted it waits.
const interruptedPatience = 5 * time.Second

// choose selects the cells of the plan, new or of the run to resume.
func (r *run) choose(ctx context.Context, request Request) error {
	r.request = request
	if r.plan = request.Plan; request.Resume {
		if err := r.recall(ctx, request); err != nil {
			return err
		}
	} else {
		r.now = assay.Run{ID: newRunID(), Plan: r.plan.Name, PlanText: r.plan.Text, PlanFile: request.PlanFile, Seed: r.plan.Seed,
			Options: request.options(), Started: time.Now().UTC(), Status: assay.Running, Version: r.lab.Version}
	}
	return r.chooseCases(ctx)
}

// chooseCases selects the cells that the run's options ask for. The run keeps the names
// that * stood for: another day there may be other drivers.
func (r *run) chooseCases(ctx context.Context) (err error) {
	r.chosen, err = r.lab.selectCases(ctx, r.plan, r.now.Options, r.request.Sides)
	r.now.Options = r.chosen.options
	return err
}

func (q Request) options() assay.Options {
	o := assay.Options{Drivers: q.Drivers, Baseline: q.Baseline, Only: q.Only, Capacity: q.Capacity, Replay: q.Replay, Exact: q.Target > 0,
		Budget: cmp.Or(q.Budget, q.Plan.Budget), Precision: cmp.Or(q.Target, q.Plan.Precision), Margin: cmp.Or(q.Margin, q.Plan.Margin), Launches: q.Plan.Launches}
	if slices.Contains(q.Drivers, goDrivers) || slices.Contains(q.Drivers, allDrivers) {
		o.Asked = q.Drivers
	}
	return o
}

// InTurn reports whether sides are compared that are measured in different launches: then all
// cells get as many launches as the budget allows, whatever their own comparisons need.
func (q Request) InTurn(cases []assay.Case) bool {
	for sides := range slices.Chunk(q.Sides, 2) {
		a, errA := plan.Select(cases, sides[0])
		b, errB := plan.Select(cases, sides[1])
		if errA == nil && errB == nil && !runner.Together(a[0], b[0]) {
			return true
		}
	}
	return false
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
	config := r.config(programs, work, func(t assay.Trial) error { return r.keep(ctx, t) })
	config.Budget, config.Done = r.mainBudget(), r.done
	config.Kept = r.now.Options.Budget - config.Budget
	all, err := prepare(ctx, config)
	if err != nil {
		return err
	}
	if err := r.begin(ctx, all, work.Dir); err != nil {
		return err
	}
	if err := r.launch(all, func() error { return all.Run(ctx) }); err != nil {
		return err
	}
	if err := r.ablation(ctx, config); err != nil {
		return err
	}
	return r.finish(ctx, all.MinTime())
}

func (r *run) finish(ctx context.Context, minTime time.Duration) error {
	now := r.now
	now.Status, now.Finished, now.MinTime = assay.Finished, time.Now().UTC(), minTime
	if err := r.lab.whenUnlocked(ctx, func(ctx context.Context) error { return r.store.Update(ctx, now) }); err != nil {
		return err
	}
	r.now = now
	r.lab.ended(ctx, r.store, now.ID)
	return nil
}

// config returns what the run measures, as long as it takes.
func (r *run) config(programs map[string]runner.Program, work *runner.Workspace, emit func(assay.Trial) error) runner.Config {
	return runner.Config{Machine: r.lab.machine(work), Cases: r.chosen.cases, Programs: programs, Baseline: r.baseline(),
		Seed: r.now.Seed, Launches: r.plan.Launches, Precision: r.now.Options.Precision, Exact: r.now.Options.Exact, InTurn: r.request.InTurn(r.chosen.cases), LeaveOut: r.request.LeaveOut,
		Timeout: r.plan.Timeout, LatencyTarget: r.chosen.latency, Emit: emit,
		Files: runner.Files{}, // shared with the ablation, which is to have the same data
	}
}

// keep puts a trial into the store, also when the run is being interrupted.
func (r *run) keep(ctx context.Context, t assay.Trial) error {
	r.lab.Watcher.Trial(r.now, t)
	r.result.Kept = true
	return r.lab.whenUnlocked(ctx, func(ctx context.Context) error { return r.store.Append(ctx, r.now.ID, t) })
}

// whenUnlocked writes to a store. It waits as long as another program keeps the
// store locked, so that no measurement is lost.
func (l *Lab) whenUnlocked(ctx context.Context, write func(context.Context) error) error {
	for {
		err := write(context.WithoutCancel(ctx))
		if !store.IsLocked(err) || ctx.Err() != nil {
			return err
		}
		l.Watcher.Note("another program keeps the store locked: waiting for it; nothing measured is lost")
	}
}

// KeepProof puts a proof of a plan with this text into a store, also when the command
// is being interrupted.
func (l *Lab) KeepProof(ctx context.Context, s *store.Store, planText string, p assay.Proof) error {
	return l.whenUnlocked(ctx, func(ctx context.Context) error { return s.KeepProof(ctx, planText, p) })
}

// launch has a runner do launches and adds up what they took.
func (r *run) launch(all *runner.Runner, do func() error) error {
	err := do()
	r.result.Took += all.Spent().Total()
	r.now.Spent = r.now.Spent.Plus(all.Spent())
	r.result.Spent = r.now.Spent
	return err
}

// baseline returns the baseline that was asked for, the plan's, or the plan's first driver; where
// that is not measured, the first that is.
func (r *run) baseline() assay.Baseline {
	wanted := r.plan.Baseline
	if asked := r.now.Options.Baseline; asked != (assay.Baseline{}) {
		wanted = asked
	}
	if wanted.Driver.Name == "" && len(r.plan.Drivers) > 0 {
		wanted.Driver = assay.ParseDriverName(r.plan.Drivers[0])
	}
	cells := make([]assay.Cell, len(r.chosen.cases))
	for i, c := range r.chosen.cases {
		cells[i] = c.Cell
	}
	return wanted.Within(cells)
}

// begin stores the run before anything is measured.
func (r *run) begin(ctx context.Context, all *runner.Runner, workDir string) error {
	if r.started() {
		if err := r.same(all); err != nil {
			return err
		}
		return r.store.Update(ctx, r.now)
	}
	r.describe(all, workDir)
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
func (r *run) describe(all *runner.Runner, workDir string) {
	r.now.Host = host.Facts(workDir)
	if rate, err := syncs.Rate(workDir); err == nil { // unknown is no fact
		r.now.Host["syncs-per-second"] = strconv.FormatFloat(rate, 'f', 0, 64)
	}
	r.now.Targets, r.now.Files = all.Targets(), all.Files().Digests()
	r.now.Baseline = all.Baseline()
}

// selectCases returns what of a plan is to be measured with some options, of which it expands
// the drivers.
func (l *Lab) selectCases(ctx context.Context, p *plan.Plan, options assay.Options, sides []map[string][]string) (s selection, err error) {
	if s.latency, err = latencyTarget(options.Capacity); err != nil {
		return s, AsInputError(err)
	}
	if options.Drivers, err = l.expandDrivers(ctx, p, options.Drivers); err != nil {
		return s, err
	}
	s.options = options
	all, err := p.Expand(options.Drivers)
	if err != nil {
		return s, AsInputError(err)
	}
	if s.latency != nil {
		if all, err = searchable(all); err != nil {
			return s, AsInputError(err)
		}
	}
	if options.Replay {
		if all, err = l.replays(ctx, all); err != nil {
			return s, AsInputError(err)
		}
	}
	s.cases, err = plan.SelectToMeasure(all, options.Only, sides...)
	for i := range s.cases {
		d := &s.cases[i].Dataset
		d.File, d.Recorded = l.Bundle.DataFile(d.File), l.Bundle.DataFile(d.Recorded)
	}
	s.names = assay.NamesOf(s.cases)
	return s, AsInputError(err)
}
