package lab

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"assay"
	"assay/internal/build"
	"assay/internal/runner"
	"assay/internal/sys/guard"

	"golang.org/x/sync/errgroup"
)

// built holds the worker programs by driver, and why others could not be built.
type built struct {
	known    []build.Driver
	mu       sync.Mutex
	programs map[string]runner.Program
	failed   map[string]error
}

// workers are the programs that do cases, by driver.
type workers struct {
	programs map[string]runner.Program
	cases    []assay.Case
	unbuilt  []assay.Trial    // of the other cases: why they have no program
	failed   map[string]error // likewise, by driver
}

// none is the error where workers could not be built: why each. It is one
// of the input where no machine can build any of them.
func (w workers) none() error {
	var all []error
	impossible := true
	for _, key := range slices.Sorted(maps.Keys(w.failed)) {
		all = append(all, w.failed[key])
		impossible = impossible && errors.As(w.failed[key], new(*build.SpecError))
	}
	if impossible {
		return AsInputError(errors.Join(all...))
	}
	return errors.Join(all...)
}

// build makes the run's worker programs, and leaves the cells that have none out.
func (r *run) build(ctx context.Context) (map[string]runner.Program, error) {
	made, err := r.lab.build(ctx, r.chosen.cases, r.now.Options.Budget)
	if err == nil && len(made.programs) == 0 {
		err = made.none()
	}
	if err != nil {
		return nil, err
	}
	r.chosen.cases = made.cases
	if !r.started() { // else it has them
		r.done = made.unbuilt
	}
	return made.programs, nil
}

// build makes the worker programs of cases, several at the same time. A driver that
// cannot be built leaves its cells unsupported, or failed where it does not compile, with
// the reason. What the budget of measuring is decides how many link layouts drivers get.
func (l *Lab) build(ctx context.Context, cases []assay.Case, budget time.Duration) (workers, error) {
	b := l.builder()
	known, err := b.Source.Drivers()
	if err != nil {
		return workers{}, err
	}
	all := built{known: known, programs: map[string]runner.Program{}, failed: map[string]error{}}
	var group errgroup.Group
	var caught guard.Catcher
	group.SetLimit(max(2, runtime.NumCPU()))
	b.Log = l.countBuilds(ctx, cases)
	for key := range firstOf(cases, target) {
		spec, err := build.ParseSpec(key)
		if err != nil {
			return workers{}, AsInputError(err)
		}
		group.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			caught.Do(func() {
				all.build(ctx, b, spec, key, layouts(cases, spec.Name, budget), severalBuilds(cases, spec.Name))
			})
			return ctx.Err()
		})
	}
	err = group.Wait()
	caught.Rethrow()
	if err != nil {
		return workers{}, err
	}
	return all.leaveOut(cases)
}

// countBuilds counts the workers of cases that are not built yet, and returns a function that
// numbers their builds for the watcher. It says first how many these are, where they are several.
func (l *Lab) countBuilds(ctx context.Context, cases []assay.Case) func(build.Event) {
	b := l.builder()
	b.Log = nil
	all, unbuilt := 0, map[string]bool{}
	for name := range firstOf(cases, target) {
		all++
		if spec, err := build.ParseSpec(name); err == nil {
			if _, isBuilt, err := b.Cached(ctx, spec); err == nil && !isBuilt {
				unbuilt[spec.String()] = true
			}
		}
	}
	if len(unbuilt) < 2 {
		return l.Watcher.Build
	}
	l.Watcher.Note(fmt.Sprintf("%d of %d workers are still to be built: the first build of each compiles its driver, and may take minutes", len(unbuilt), all))
	var mu sync.Mutex
	numbers := map[string]int{}
	return func(e build.Event) {
		mu.Lock()
		if unbuilt[e.Worker] && numbers[e.Worker] == 0 {
			numbers[e.Worker] = len(numbers) + 1
		}
		e.Number = numbers[e.Worker]
		mu.Unlock()
		if e.Number > 0 {
			e.Of = len(unbuilt)
		}
		l.Watcher.Build(e)
	}
}

func (all *built) build(ctx context.Context, b *build.Builder, spec build.Spec, key string, layouts int, severalBuilds bool) {
	worker, err := b.BuildLayouts(ctx, spec, layouts)
	all.mu.Lock()
	defer all.mu.Unlock()
	if err != nil {
		all.failed[key] = err
		return
	}
	all.programs[key] = program(worker, all.known, severalBuilds)
}

const (
	// variedLayouts is how many link layouts a driver gets that is compared with others:
	// one for each of the launches that a verdict needs.
	variedLayouts = 6
	// linkTime is what a processor takes for one of them, and linkShare the part of the
	// budget that all may take.
	linkTime  = 1500 * time.Millisecond
	linkShare = 0.1
)

// layouts returns how many link layouts each build of a driver gets. Several builds of it always
// get some; drivers that are compared with each other do where that is cheap beside the
// measuring.
func layouts(cases []assay.Case, driver string, budget time.Duration) int {
	all := map[string]bool{}
	for _, c := range cases {
		all[c.Cell.Target()] = true
	}
	links := time.Duration(len(all)*variedLayouts) * linkTime / time.Duration(runtime.NumCPU())
	if severalBuilds(cases, driver) || len(all) > 1 && links <= time.Duration(linkShare*float64(budget)) {
		return variedLayouts
	}
	return 0
}

func severalBuilds(cases []assay.Case, driver string) bool {
	builds := map[string]bool{}
	for _, c := range cases {
		if c.Cell.Driver == driver {
			builds[c.Cell.Target()] = true
		}
	}
	return len(builds) > 1
}

// program is a worker as the runner knows it. Whether the layout of its code
// is a doubt depends on whether several builds are compared.
func program(w build.Worker, known []build.Driver, compared bool) runner.Program {
	p := runner.Program{Path: w.Program, Digest: w.Digest, Options: w.Options, Layouts: w.Layouts}
	if w.Named {
		p.Version = w.Version
	}
	if compared {
		p.FixedLayout = w.FixedLayout
	}
	if i := slices.IndexFunc(known, func(d build.Driver) bool { return d.Name == w.Name }); i >= 0 {
		p.Caution = known[i].Caution
	}
	return p
}

// leaveOut takes the cells of drivers that could not be built out of the cases.
func (all *built) leaveOut(cases []assay.Case) (workers, error) {
	for _, key := range slices.Sorted(maps.Keys(all.failed)) {
		spec, err := build.ParseSpec(key)
		if err != nil || !hasDriver(all.known, spec.Name) {
			return workers{}, AsInputError(all.failed[key], driversHint)
		}
	}
	w := workers{programs: all.programs, failed: all.failed}
	for _, c := range cases {
		reason := all.failed[c.Cell.Target()]
		if reason == nil {
			w.cases = append(w.cases, c)
			continue
		}
		outcome := assay.Unsupported
		if build.Broken(reason) {
			outcome = assay.Failed
		}
		w.unbuilt = append(w.unbuilt, assay.Trial{Cell: c.Cell, Outcome: outcome,
			Reason: "its worker could not be built: " + reason.Error(), Started: time.Now().UTC()})
	}
	return w, nil
}
