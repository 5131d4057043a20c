package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"assay"
	"assay/internal/build"
	"assay/internal/dataset"
	"assay/internal/plan"
	"assay/internal/runner"
	"assay/kit/postgres/cluster"
	"assay/kit/process"
	"assay/kit/wire"
)

// Build makes the worker of one driver, which a user names.
func (l *Lab) Build(ctx context.Context, name string) (build.Worker, error) {
	return asked(l, name, func(b *build.Builder, spec build.Spec) (build.Worker, error) { return b.Build(ctx, spec) })
}

// BuildCompared is Build for one of several builds of a driver, with all programs
// that a run of them needs.
func (l *Lab) BuildCompared(ctx context.Context, name string) (build.Worker, error) {
	return asked(l, name, func(b *build.Builder, spec build.Spec) (build.Worker, error) {
		return b.BuildLayouts(ctx, spec, variedLayouts)
	})
}

// CheckBuild reports what is wrong with a driver's name as far as that takes no compiler.
func (l *Lab) CheckBuild(ctx context.Context, name string) error {
	_, err := asked(l, name, func(b *build.Builder, spec build.Spec) (struct{}, error) { return struct{}{}, b.Check(ctx, spec) })
	return err
}

// Cold compiles a driver's worker with an empty build cache.
func (l *Lab) Cold(ctx context.Context, name string) (build.Cold, error) {
	return asked(l, name, func(b *build.Builder, spec build.Spec) (build.Cold, error) { return b.Cold(ctx, spec) })
}

// asked builds what a user names. An error is one of the input where no machine
// can build that.
func asked[T any](l *Lab, name string, do func(*build.Builder, build.Spec) (T, error)) (T, error) {
	var none T
	spec, err := build.ParseSpec(name)
	if err != nil {
		return none, AsInputError(err, driversHint)
	}
	result, err := do(l.builder(), spec)
	if err == nil {
		return result, nil
	}
	switch known, _ := l.Source.Drivers(); {
	case !hasDriver(known, spec.Name):
		return none, AsInputError(err, driversHint)
	case errors.As(err, new(*build.SpecError)):
		return none, AsInputError(err)
	}
	return none, err
}

// Refused builds a driver and asks it to prepare operations on a copy of the data,
// which is made below a folder. It returns by operation why the driver refuses it.
func (l *Lab) Refused(ctx context.Context, driver, path string, data *dataset.Data, operations []assay.Operation, limit time.Duration) (map[string]error, error) {
	worker, err := l.Build(ctx, driver)
	if err != nil {
		return nil, err
	}
	_, refused, err := runner.Prepared(ctx, worker.Program, path, data, operations, limit)
	return refused, err
}

// QueryPlans builds a driver and returns the query plans of a plan's operations, by their names,
// on the first of its data. Those of a server or a store it has none of.
func (l *Lab) QueryPlans(ctx context.Context, p *plan.Plan, driver string) (map[string]string, error) {
	worker, err := l.Build(ctx, driver)
	if err != nil {
		return nil, err
	}
	cases, err := p.Expand([]string{driver})
	if err != nil {
		return nil, AsInputError(err)
	}
	cases = slices.DeleteFunc(cases, func(c assay.Case) bool { return c.Operation.KV() || c.Operation.Call() })
	work, err := l.Workspace()
	if err != nil {
		return nil, err
	}
	defer work.Close()
	all, copies := map[string]string{}, 0
	for _, c := range firstOf(cases, func(c assay.Case) string { return c.Cell.Workload + ":" + c.Operation.Name }) {
		data, err := l.Datasets().Prepare(ctx, c.Dataset)
		if err != nil {
			return nil, err
		}
		copies++
		path := filepath.Join(work.Dir, fmt.Sprintf("%d.db", copies))
		if err := data.Copy(path); err != nil {
			return nil, err
		}
		plans, _, err := runner.Prepared(ctx, worker.Program, path, data, []assay.Operation{c.Operation}, inspectTimeout)
		if err != nil {
			return nil, fmt.Errorf("ask %s for its query plans: %w", driver, err)
		}
		for operation, text := range plans {
			all[cmp.Or(c.Cell.Workload, p.Name)+": "+operation] = text
		}
	}
	return all, nil
}

// Versions are the published versions of a driver's library, older ones first.
func (l *Lab) Versions(ctx context.Context, d build.Driver) ([]string, error) {
	return l.builder().Versions(ctx, d)
}

func hasDriver(known []build.Driver, name string) bool {
	return slices.ContainsFunc(known, func(d build.Driver) bool { return d.Name == name })
}

// Description is a driver with what its worker says of itself.
type Description struct {
	build.Driver
	Target  wire.Target
	Built   bool
	Problem error // why nothing is known, with what to do
}

// Describe asks a driver's worker what it is, where it is built or to be built.
func (l *Lab) Describe(ctx context.Context, d build.Driver, buildIt bool) Description {
	b, spec := l.builder(), build.Spec{Name: d.Name}
	worker, isBuilt, err := b.Cached(ctx, spec)
	if err == nil && !isBuilt && buildIt {
		worker, err = b.Build(ctx, spec)
		isBuilt = true
	}
	result := Description{Driver: d, Built: isBuilt, Problem: err}
	if err == nil && isBuilt {
		result.Target, result.Problem = l.identify(ctx, worker)
	}
	return result
}

// identify starts a worker and asks what it is. The version of a server is that
// of the one that is installed.
func (l *Lab) identify(ctx context.Context, w build.Worker) (wire.Target, error) {
	worker, err := process.Start(ctx, w.Program, process.Options{Trace: l.Wire})
	if err != nil {
		return wire.Target{}, err
	}
	_, err = worker.Stop(ctx)
	target := worker.Hello().Target
	if err != nil || !slices.Contains(worker.Hello().Capabilities, wire.CapPostgreSQL) {
		return target, err
	}
	server, err := cluster.Find(ctx)
	target.EngineVersion = server.Version
	return target, err
}

// The names that stand for several drivers.
const (
	goDrivers  = "*"   // the Go drivers of the plan's engines, but for those with a caution
	allDrivers = "all" // every driver that can run the plan
)

// expandDrivers replaces * and all by the drivers that they stand for, the plan's own
// first, so that its reference stays the reference.
func (l *Lab) expandDrivers(ctx context.Context, p *plan.Plan, names []string) ([]string, error) {
	var all []string
	for _, name := range names {
		if name != goDrivers && name != allDrivers {
			if _, err := build.ParseSpec(name); err != nil {
				return nil, AsInputError(err, driversHint)
			}
			all = append(all, name)
			continue
		}
		found, err := l.Source.Drivers()
		if err != nil {
			return nil, err
		}
		if name == allDrivers {
			l.Watcher.Note("asking each worker that is a script what it can do")
		}
		engines := map[engine]bool{}
		for _, name := range p.Drivers {
			if i := slices.IndexFunc(found, func(d build.Driver) bool { return d.Name == name }); i >= 0 {
				all, engines[engineOf(found[i])] = append(all, name), true
			}
		}
		for _, d := range found {
			wanted := name == allDrivers && (d.Module != "" || d.Prebuilt) || d.IsGo() && d.Caution == "" && (engines[engineOf(d)] || len(engines) == 0)
			if wanted && !slices.Contains(all, d.Name) && (!d.Store || p.KV()) && slices.Contains(l.capabilities(ctx, d), needed(p)) {
				all = append(all, d.Name)
			}
		}
	}
	return all, nil
}

// engine tells the engines of drivers apart, as far as their sources do.
type engine struct{ store, server, duckdb bool }

func engineOf(d build.Driver) engine { return engine{d.Store, d.Server, d.DuckDB} }

// needed is the capability without which a worker runs nothing of a plan. SQL
// stands for the steps of stores too.
func needed(p *plan.Plan) string {
	if p.Calls() {
		return wire.CapCall
	}
	return wire.CapSQL
}

// capabilities returns the capabilities of a driver's worker. Scripts are asked; where one
// cannot say, because it is not built yet, its cells will tell.
func (l *Lab) capabilities(ctx context.Context, d build.Driver) []string {
	if !d.Prebuilt && !d.Script {
		return []string{wire.CapSQL}
	}
	program := filepath.Join(d.Dir, "worker")
	if w, isBuilt, err := l.builder().Cached(ctx, build.Spec{Name: d.Name}); err == nil && isBuilt {
		program = w.Program
	}
	ctx, cancel := context.WithTimeout(ctx, helloTimeout)
	defer cancel()
	worker, err := process.Start(ctx, program, process.Options{})
	if err != nil {
		return []string{wire.CapSQL, wire.CapCall}
	}
	defer worker.Kill()
	if d.Store {
		return []string{wire.CapSQL}
	}
	return worker.Hello().Capabilities
}

// helloTimeout is how long a worker may take to say what it is.
const helloTimeout = 10 * time.Second
