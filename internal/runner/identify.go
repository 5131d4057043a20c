//go:build unix

package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"assay"
	"assay/kit/process"
	"assay/kit/wire"
)

// identity is what a worker said of itself.
type identity struct {
	target       assay.Target
	engine       engine // nil: there is no such worker
	capabilities []string
	refused      error // a *failure: it did not say what it is
}

// known reports whether the worker can be measured.
func (i identity) known() bool { return i.engine != nil && i.refused == nil }

// identify starts every program once and asks what it is.
func (r *Runner) identify(ctx context.Context) error {
	r.workers = map[string]identity{}
	var refused error
	measurable := false
	for _, key := range slices.Sorted(maps.Keys(r.config.Programs)) {
		w, err := r.ask(ctx, r.config.Programs[key])
		if err != nil {
			return err
		}
		r.workers[key] = w
		measurable = measurable || w.known()
		if w.refused != nil && refused == nil {
			refused = fmt.Errorf("no worker can be measured; %s: %w", key, w.refused)
		}
	}
	if measurable {
		return nil
	}
	return refused
}

// ask starts a program and asks what it is. Its error ends the run.
func (r *Runner) ask(ctx context.Context, program Program) (identity, error) {
	worker, err := startWorker(ctx, r.config, program.Path, process.Options{})
	if ctx.Err() != nil {
		return identity{}, ctx.Err()
	}
	if err = notStarted(err); errors.As(err, new(*EnvironmentError)) {
		return identity{}, err
	}
	if err != nil {
		return identity{refused: err}, nil
	}
	said, capabilities := worker.Hello().Target, worker.Hello().Capabilities
	w := identity{engine: engineOf(capabilities), capabilities: capabilities}
	_, _ = stopWorker(ctx, r.config, worker) // it has nothing open that could fail to close
	version, err := w.engine.version(ctx, r, said.EngineVersion)
	w.refused = err
	w.target = assay.Target{Driver: said.Driver, DriverVersion: cmp.Or(program.Version, said.DriverVersion), Engine: said.Engine,
		EngineVersion: version, Build: program.Digest, Facts: said.Facts, CompileOptions: said.CompileOptions,
		Options: program.Options, Layouts: len(program.Layouts)}
	return w, nil
}

// startWorker and stopWorker keep to the plan's time limit.
func startWorker(ctx context.Context, config Config, program string, options process.Options) (worker *process.Worker, err error) {
	options.Trace = config.Wire
	_, err = withinTime(ctx, config.Timeout, func(ctx context.Context) (err error) {
		worker, err = process.Start(ctx, program, options)
		return err
	})
	return worker, err
}

func stopWorker(ctx context.Context, config Config, worker *process.Worker) (wire.Closed, error) {
	limited, cancel := context.WithTimeout(ctx, config.Timeout)
	defer cancel()
	return worker.Stop(limited)
}
