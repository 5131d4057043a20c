package build

import (
	"context"
	"fmt"
	"time"
)

// BuildLayouts is Build, and makes n programs of the build whose functions lie
// in another order each: two builds of one source can differ by several
// percent through that alone. Only linking is repeated. What it cannot
// reorder, C code, is said in the worker's FixedLayout.
//
// A bundle has as many as it was made with.
func (b *Builder) BuildLayouts(ctx context.Context, spec Spec, n int) (Worker, error) {
	w, err := b.Build(ctx, spec)
	if _, bundled := b.Bundle.packed(spec); bundled || err != nil || w.Toolchain == "" {
		return w, err
	}
	d, err := b.Source.driver(spec.Name)
	if err != nil || d.C || d.Script || d.Prebuilt {
		return w, err
	}
	tools, err := findToolchain(ctx, d.Dir)
	if err != nil {
		return w, fmt.Errorf("worker %s: %w", spec, err)
	}
	with, err := cgoPackages(ctx, d, d.Dir, tools.environment("readonly"))
	if err != nil {
		return w, fmt.Errorf("worker %s: %w", spec, err)
	}
	if len(with) > 0 {
		w.FixedLayout = "its C code"
	}
	for seed := 1; seed <= n; seed++ {
		program, err := b.layout(ctx, d, spec, seed)
		if err != nil {
			return w, fmt.Errorf("worker %s, layout %d: %w", spec, seed, err)
		}
		w.Layouts = append(w.Layouts, program)
	}
	return w, nil
}

func (b *Builder) layout(ctx context.Context, d Driver, spec Spec, seed int) (string, error) {
	start := time.Now()
	j, err := b.newJob(ctx, d, spec)
	if err != nil {
		return "", err
	}
	j.layout = seed
	j.program += fmt.Sprintf("-layout%d", seed)
	if intact(j.program) {
		return j.program, nil
	}
	b.log(Event{Worker: fmt.Sprintf("%s, layout %d", spec, seed), State: Building})
	err = j.build(ctx)
	b.log(Event{Worker: fmt.Sprintf("%s, layout %d", spec, seed), State: Built, Took: time.Since(start)})
	return j.program, err
}
