package lab

import (
	"cmp"
	"context"
	"slices"
	"time"

	"assay"
	"assay/internal/plan"
	"assay/internal/runner"
)

// inspectTimeout is the time limit of one request to a worker.
const inspectTimeout = time.Minute

// Inspection is a driver with a profile, opened once.
type Inspection struct {
	Target assay.Target
	Trial  assay.Trial
}

// Inspect opens a driver with a profile of a plan, on the plan's smallest data,
// and reads back what the profile did.
func (l *Lab) Inspect(ctx context.Context, p *plan.Plan, driver, profile string) (*Inspection, error) {
	c, err := firstCase(p, driver, profile)
	if err != nil {
		return nil, err
	}
	worker, err := l.Build(ctx, driver)
	if err != nil {
		return nil, err
	}
	known, err := l.builder().Source.Drivers()
	if err != nil {
		return nil, err
	}
	work, err := l.workspace(newRunID())
	if err != nil {
		return nil, err
	}
	defer work.Close()
	key := c.Cell.Target()
	r, err := prepare(ctx, runner.Config{Machine: l.machine(work), Cases: []assay.Case{c}, Programs: map[string]runner.Program{key: program(worker, known, false)},
		Baseline: assay.Baseline{Driver: c.Cell.DriverName()}, Timeout: inspectTimeout})
	if err != nil {
		return nil, err
	}
	trial, err := r.Inspect(ctx)
	return &Inspection{Target: r.Targets()[0], Trial: trial}, err
}

// firstCase finds the profile's case of the first size that the plan names.
func firstCase(p *plan.Plan, driver, profile string) (assay.Case, error) {
	cases, err := p.Expand([]string{driver})
	if err != nil {
		return assay.Case{}, AsInputError(err)
	}
	cases, err = plan.Select(cases, map[string][]string{"profile": {profile}})
	if err != nil {
		return assay.Case{}, AsInputError(err)
	}
	return slices.MinFunc(cases, func(a, b assay.Case) int {
		return cmp.Or(a.Cell.Pool-b.Cell.Pool, hidesPromise(a)-hidesPromise(b))
	}), nil
}

// hidesPromise is 1 for a case that cannot show a key-value store's promise: sync does not matter
// to one that changes nothing.
func hidesPromise(c assay.Case) int {
	if c.Operation.KV() && !c.Operation.Changes {
		return 1
	}
	return 0
}
