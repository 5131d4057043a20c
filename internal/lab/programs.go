package lab

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"assay"
	"assay/internal/build"
	"assay/internal/guard"
	"assay/internal/runner"

	"golang.org/x/sync/errgroup"
)

// built holds the worker programs by driver, and why others could not be built.
type built struct {
	mu       sync.Mutex
	programs map[string]runner.Program
	failed   map[string]error
}

// build makes the worker programs of the selected cells, several at the same
// time. A driver that cannot be built leaves its cells unsupported, with the
// reason, unless no driver can.
func (r *run) build(ctx context.Context) (map[string]runner.Program, error) {
	b := r.lab.builder()
	all := built{programs: map[string]runner.Program{}, failed: map[string]error{}}
	var group errgroup.Group
	var caught guard.Catcher
	group.SetLimit(max(2, runtime.NumCPU()))
	asked := map[string]bool{}
	for _, c := range r.cases {
		key := c.Cell.Target()
		if asked[key] {
			continue
		}
		asked[key] = true
		spec, err := build.ParseSpec(key)
		if err != nil {
			return nil, AsInputError(err)
		}
		group.Go(func() error {
			caught.Do(func() { all.build(ctx, b, spec, key, layouts(r.cases, spec.Name)) })
			return ctx.Err()
		})
	}
	err := group.Wait()
	caught.Rethrow()
	if err != nil {
		return nil, err
	}
	return all.programs, r.leaveOut(b, &all)
}

func (all *built) build(ctx context.Context, b *build.Builder, spec build.Spec, key string, layouts int) {
	worker, err := b.BuildLayouts(ctx, spec, layouts)
	all.mu.Lock()
	defer all.mu.Unlock()
	if err != nil {
		all.failed[key] = err
		return
	}
	all.programs[key] = program(worker, layouts > 0)
}

// variedLayouts is how many link layouts each of several builds of one driver
// gets: one for each of the launches that a verdict needs.
const variedLayouts = 6

// layouts is how many link layouts the builds of a driver get: none where there
// is one build of it only.
func layouts(cases []assay.Case, driver string) int {
	builds := map[string]bool{}
	for _, c := range cases {
		if c.Cell.Driver == driver {
			builds[c.Cell.Target()] = true
		}
	}
	if len(builds) < 2 {
		return 0
	}
	return variedLayouts
}

// program is a worker as the runner knows it. Whether the layout of its code
// is a doubt depends on whether several builds are compared.
func program(w build.Worker, compared bool) runner.Program {
	p := runner.Program{Path: w.Program, Digest: w.Digest, Options: w.Options, Layouts: w.Layouts}
	if w.Checkout {
		p.Version = w.Version
	}
	if compared {
		p.FixedLayout = w.FixedLayout
	}
	return p
}

// leaveOut takes the cells of drivers that could not be built out of the cases.
func (r *run) leaveOut(b *build.Builder, all *built) error {
	known, err := b.Source.Drivers()
	if err != nil {
		return err
	}
	for key, reason := range all.failed {
		spec, err := build.ParseSpec(key)
		if err != nil || !hasDriver(known, spec.Name) {
			return AsInputError(reason, driversHint)
		}
		if len(all.programs) == 0 {
			return reason
		}
	}
	kept := r.cases[:0:0]
	for _, c := range r.cases {
		reason := all.failed[c.Cell.Target()]
		if reason == nil {
			kept = append(kept, c)
			continue
		}
		if !r.request.Resume { // else the run has them already
			outcome := assay.Unsupported
			if errors.Is(reason, build.ErrNotCompiled) {
				outcome = assay.Failed
			}
			r.done = append(r.done, assay.Trial{Cell: c.Cell, Outcome: outcome,
				Reason: "its worker could not be built: " + reason.Error(), Started: time.Now().UTC()})
		}
	}
	r.cases = kept
	return nil
}
