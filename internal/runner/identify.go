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

// identify starts every program once and asks what it is, which fills targets
// and engines. Those that do not say it are in refused, each with its *failure.
func (r *Runner) identify(ctx context.Context) error {
	config := r.config
	targets, refused := map[string]assay.Target{}, map[string]error{}
	r.targets, r.refused, r.engines, r.can = targets, refused, map[string]engine{}, map[string][]string{}
	for _, key := range slices.Sorted(maps.Keys(config.Programs)) {
		program := config.Programs[key]
		worker, err := startWorker(ctx, config, program.Path, process.Options{})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var environment *EnvironmentError
		if err = notStarted(err); errors.As(err, &environment) {
			return err
		}
		if err != nil {
			refused[key] = err
			continue
		}
		said := worker.Hello().Target
		r.can[key] = worker.Hello().Capabilities
		r.engines[key] = engineOf(r.can[key])
		_, _ = stopWorker(ctx, config, worker) // it has nothing open that could fail to close
		if said.EngineVersion, err = r.engines[key].version(ctx, r, said.EngineVersion); err != nil {
			refused[key] = err
			continue
		}
		targets[key] = assay.Target{Driver: said.Driver, DriverVersion: cmp.Or(program.Version, said.DriverVersion), Engine: said.Engine,
			EngineVersion: said.EngineVersion, Build: program.Digest, Facts: said.Facts, CompileOptions: said.CompileOptions,
			Options: program.Options, Layouts: len(program.Layouts)}
	}
	if len(targets) == 0 && len(refused) > 0 {
		key := slices.Min(slices.Collect(maps.Keys(refused)))
		return fmt.Errorf("no worker can be measured; %s: %w", key, refused[key])
	}
	return nil
}

// startWorker and stopWorker keep to the plan's time limit.
func startWorker(ctx context.Context, config Config, program string, options process.Options) (*process.Worker, error) {
	limited, cancel := context.WithTimeout(ctx, config.Timeout)
	defer cancel()
	options.Trace = config.Wire
	return process.Start(limited, program, options)
}

func stopWorker(ctx context.Context, config Config, worker *process.Worker) (wire.Closed, error) {
	limited, cancel := context.WithTimeout(ctx, config.Timeout)
	defer cancel()
	return worker.Stop(limited)
}
