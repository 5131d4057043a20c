package main

import (
	"context"
	"errors"
	"time"

	"assay"
	"assay/internal/build"
	"assay/internal/runner"
)

// build makes the worker programs of the selected cells. A driver that cannot
// be built leaves its cells out, with the reason.
func (s *session) build(ctx context.Context) (map[string]runner.Program, error) {
	b, err := s.builder(s.flags.quiet)
	if err != nil {
		return nil, err
	}
	programs := map[string]runner.Program{}
	failed := map[string]error{}
	for _, c := range s.cases {
		key := runner.Driver(c.Cell)
		if _, ok := programs[key]; ok || failed[key] != nil {
			continue
		}
		spec, err := build.ParseSpec(key)
		if err != nil {
			return nil, usage(err)
		}
		worker, err := b.BuildLayouts(ctx, spec, layouts(s.cases, spec.Name))
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			failed[key] = err
			continue
		}
		programs[key] = program(worker, layouts(s.cases, spec.Name) > 0)
	}
	return programs, s.leaveOut(b, programs, failed)
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
			builds[runner.Driver(c.Cell)] = true
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
	if compared {
		p.FixedLayout = w.FixedLayout
	}
	return p
}

// leaveOut takes the cells of drivers that could not be built out of the cases.
func (s *session) leaveOut(b *build.Builder, programs map[string]runner.Program, failed map[string]error) error {
	known, err := b.Source.Drivers()
	if err != nil {
		return err
	}
	for key, reason := range failed {
		spec, err := build.ParseSpec(key)
		if err != nil || !hasDriver(known, spec.Name) {
			return usage(reason, "assay drivers lists the drivers")
		}
		if len(programs) == 0 {
			return reason
		}
	}
	kept := s.cases[:0:0]
	for _, c := range s.cases {
		reason := failed[runner.Driver(c.Cell)]
		if reason == nil {
			kept = append(kept, c)
			continue
		}
		outcome := assay.Unsupported
		if errors.Is(reason, build.ErrNotCompiled) {
			outcome = assay.Failed
		}
		s.done = append(s.done, assay.Trial{Cell: c.Cell, Outcome: outcome,
			Reason: "its worker could not be built: " + reason.Error(), Started: time.Now().UTC()})
	}
	s.cases = kept
	return nil
}

func hasDriver(known []build.Driver, name string) bool {
	for _, d := range known {
		if d.Name == name {
			return true
		}
	}
	return false
}
