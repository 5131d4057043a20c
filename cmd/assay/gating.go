package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"assay/internal/build"
	"assay/internal/facts"
	"assay/internal/gate"
	"assay/internal/guard"
	"assay/internal/lab"
	"assay/internal/plan"
	"assay/internal/store"
)

// gating is one call of the gate subcommand.
type gating struct {
	app      *app
	lab      *lab.Lab
	store    *store.Store
	plan     *plan.Plan
	planFile string
	flags    gateFlags
	rules    gate.Rules
}

// pair is a base and a head that are to be compared.
type pair struct {
	driver     string // empty: they are builds of different drivers
	base, head string // as the plan's drivers are named
	file       string // go.mod that requires it; empty: none does
	line       int
}

// pairs are what the flags ask for.
func (g *gating) pairs(ctx context.Context) ([]pair, error) {
	drivers, err := g.lab.Source.Drivers()
	if err != nil {
		return nil, err
	}
	if g.flags.baseRef != "" {
		return g.moved(ctx, drivers)
	}
	if g.flags.driver == "" {
		if isFolder(g.flags.head) {
			return nil, usage(fmt.Errorf("--head %s is a folder: name its driver with --driver", g.flags.head))
		}
		return []pair{{base: g.flags.base, head: g.flags.head}}, nil
	}
	i := slices.IndexFunc(drivers, func(d build.Driver) bool { return d.Name == g.flags.driver })
	if i < 0 {
		return nil, usage(fmt.Errorf("there is no driver %q", g.flags.driver), "assay drivers lists the drivers")
	}
	one := pair{driver: g.flags.driver}
	if one.base, err = g.side(ctx, drivers[i], g.flags.base); err != nil {
		return nil, err
	}
	if one.head, err = g.side(ctx, drivers[i], g.flags.head); err != nil {
		return nil, err
	}
	one.place(g.flags.dir, drivers[i].Module)
	return []pair{one}, nil
}

// place notes where go.mod requires a driver.
func (p *pair) place(dir, module string) {
	if p.line = gate.Line(dir, module); p.line > 0 {
		p.file = filepath.ToSlash(filepath.Join(dir, "go.mod"))
	}
}

func isFolder(name string) bool {
	return name == "." || name == ".." || strings.ContainsAny(name, `/\`)
}

// side is the build of a driver that a version or the folder of a checkout names.
func (g *gating) side(ctx context.Context, d build.Driver, name string) (string, error) {
	if !isFolder(name) {
		spec := d.Name + "@" + name
		_, err := build.ParseSpec(spec)
		return spec, usage(err, "a folder has a slash in its name: ./"+name)
	}
	c, err := build.NewCheckout(ctx, name)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "", usage(err)
	case d.C || d.Script || d.Module != c.Module:
		return "", usage(fmt.Errorf("%s holds the module %s, and driver %s is built of %s", name, c.Module, d.Name, cmp.Or(d.Module, "none")))
	}
	g.lab.Checkouts = append(g.lab.Checkouts, c)
	return d.Name + "@" + c.Version, nil
}

// moved are the drivers whose version in go.mod is another than at a revision.
func (g *gating) moved(ctx context.Context, drivers []build.Driver) ([]pair, error) {
	var modules []string
	for _, d := range drivers {
		modules = append(modules, d.Module)
	}
	moves, err := gate.Moves(ctx, g.flags.dir, g.flags.baseRef, slices.Compact(slices.Sorted(slices.Values(modules))))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, usage(err, "run it in the folder of the go.mod of a git repository, or name one with --dir; a shallow clone has no other revisions")
	}
	var all []pair
	for _, move := range moves {
		for _, d := range drivers {
			if d.Module != move.Head.Module || d.C || d.Script || g.flags.driver != "" && d.Name != g.flags.driver {
				continue
			}
			if d.Store && !g.plan.KV() {
				fmt.Fprintf(g.app.stderr, "assay: note: %s moved from %s to %s: plan %s cannot run it, assay gate kv can\n", d.Name, move.Base.Version, move.Head.Version, g.plan.Name)
				continue
			}
			one, err := g.movedPair(ctx, d, move)
			if err != nil {
				return nil, err
			}
			all = append(all, one)
		}
	}
	return all, nil
}

func (g *gating) movedPair(ctx context.Context, d build.Driver, move gate.Move) (pair, error) {
	if move.Base.Folder != "" || move.Base.Fork != "" || move.Head.Fork != "" {
		return pair{}, usage(fmt.Errorf("go.mod replaces %s with %s: gate cannot build that", move.Head.Module,
			cmp.Or(move.Head.Fork, move.Base.Folder, move.Base.Fork)), "name the versions with --base and --head")
	}
	head := move.Head.Version
	if folder := move.Head.Folder; folder != "" {
		if head = folder; !filepath.IsAbs(folder) {
			head = filepath.Join(g.flags.dir, folder)
		}
		if !isFolder(head) {
			head = "./" + head
		}
	}
	one := pair{driver: d.Name, line: move.Head.Line, file: filepath.ToSlash(filepath.Join(g.flags.dir, "go.mod"))}
	var err error
	if one.base, err = g.side(ctx, d, move.Base.Version); err != nil {
		return one, err
	}
	one.head, err = g.side(ctx, d, head)
	return one, err
}

// upgrade measures one pair.
func (g *gating) upgrade(ctx context.Context, p pair) (*gate.Upgrade, error) {
	prefix := p.driver + "@"
	if p.driver == "" {
		prefix = ""
	}
	u := &gate.Upgrade{Driver: p.driver, Base: strings.TrimPrefix(p.base, prefix), Head: strings.TrimPrefix(p.head, prefix),
		Plan: g.plan.Name, File: p.file, Line: p.line}
	base, err := g.build(ctx, p.base)
	if err != nil {
		return nil, err
	}
	head, err := g.build(ctx, p.head)
	if errors.Is(err, build.ErrNotCompiled) && ctx.Err() == nil {
		u.NotBuilt = err.Error()
		return u, nil
	}
	if err != nil {
		return nil, err
	}
	if base.Digest == head.Digest {
		return nil, usage(fmt.Errorf("%s and %s are the same program", p.base, p.head), "assay noise measures equal things")
	}
	if u.Effects, err = g.effects(ctx, p, base.Name == head.Name); err != nil {
		return nil, err
	}
	return u, g.measure(ctx, p, u)
}

// build makes a worker. What cannot be built is the user's to change.
func (g *gating) build(ctx context.Context, spec string) (build.Worker, error) {
	worker, err := g.lab.Build(ctx, spec)
	var input *lab.InputError
	if err != nil && ctx.Err() == nil && !errors.As(err, &input) {
		err = usage(err)
	}
	return worker, err
}

// effects compares by experiment what two versions of a driver of SQLite do with a
// DSN. A loss has to show twice.
func (g *gating) effects(ctx context.Context, p pair, oneDriver bool) (gate.Effects, error) {
	if !oneDriver {
		return gate.Effects{}, nil // another driver spells its settings otherwise
	}
	once := func() (gate.Effects, error) {
		base, err := measureFacts(ctx, g.lab, p.base)
		if err != nil {
			return gate.Effects{}, err
		}
		head, err := measureFacts(ctx, g.lab, p.head)
		if err != nil {
			return gate.Effects{}, err
		}
		return gate.Compare(base, head), nil
	}
	effects, err := once()
	var other *facts.NoSQLiteError
	if errors.As(err, &other) {
		return gate.Effects{}, nil
	}
	if err == nil && len(effects.Lost) > 0 {
		var again gate.Effects
		again, err = once()
		effects = effects.Confirmed(again)
	}
	if err != nil && ctx.Err() == nil { // the plan's own settings are compared all the same
		return gate.Effects{Notes: []string{"the parameters of a DSN were not compared: " + err.Error()}}, nil
	}
	return effects, err
}

// measure runs the plan, and what is suspected once more.
func (g *gating) measure(ctx context.Context, p pair, u *gate.Upgrade) error {
	began := time.Now()
	var err error
	if u.First, err = g.run(ctx, p, nil, g.flags.budget*2/3); err != nil {
		return err
	}
	suspects := u.First.Suspects()
	if suspects == nil {
		return nil
	}
	left := max(g.flags.budget/3, g.flags.budget-time.Since(began))
	u.Second, err = g.run(ctx, p, suspects, left)
	return err
}

// run measures base and head, interleaved, and keeps the run in the store.
func (g *gating) run(ctx context.Context, p pair, only map[string][]string, budget time.Duration) (*gate.Measurement, error) {
	measured := *g.plan
	measured.Factors = false // there is nothing to leave out of settings here
	target := g.rules.MaxSlowdown
	if measured.Precision > 0 {
		target = min(target, measured.Precision)
	}
	result, err := g.lab.Run(ctx, g.store, lab.Request{Plan: &measured, PlanFile: g.planFile, Drivers: []string{p.base, p.head}, Reference: p.base,
		Only: only, Budget: budget, Target: target})
	if err != nil {
		return nil, g.unfinished(ctx, result, err)
	}
	analyzed, err := lab.Analyze(ctx, g.store, result.ID)
	if err != nil {
		return nil, err
	}
	return gate.Judge(analyzed, p.base, p.head, g.rules)
}

// unfinished says what was kept when a run was stopped.
func (g *gating) unfinished(ctx context.Context, result lab.Result, err error) error {
	var p *guard.Panic
	if ctx.Err() == nil || errors.As(err, &p) {
		return err
	}
	hint := "nothing was measured yet"
	if result.ID != "" {
		hint = "what was finished is kept: " + g.app.commandLine("report", result.ID) + "; a gate begins anew"
	}
	return &exitError{statusInterrupted, errors.New("interrupted"), []string{hint}}
}
