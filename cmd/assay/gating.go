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
	driver      string // empty: they are builds of different drivers
	base, head  string // as the plan's drivers are named
	file        string // go.mod that requires it; empty: none does
	line        int
	notMeasured string // why they cannot be; then base and head are what go.mod requires
}

// pairs are what the flags ask for.
func (g *gating) pairs(ctx context.Context) ([]pair, error) {
	drivers, err := g.lab.Source.Drivers()
	if err != nil {
		return nil, err
	}
	if g.flags.driver != "" {
		i := slices.IndexFunc(drivers, func(d build.Driver) bool { return d.Name == g.flags.driver })
		if i < 0 {
			return nil, usage(fmt.Errorf("there is no driver %q", g.flags.driver), "assay drivers lists the drivers")
		}
		drivers = drivers[i : i+1]
	}
	switch {
	case g.flags.baseRef != "":
		return g.moved(ctx, drivers)
	case g.flags.driver == "" && isFolder(g.flags.head):
		return nil, usage(fmt.Errorf("--head %s is a folder: name its driver with --driver", g.flags.head))
	case g.flags.driver == "":
		return []pair{{base: g.flags.base, head: g.flags.head}}, nil
	}
	one := pair{driver: g.flags.driver}
	if one.base, err = g.side(ctx, drivers[0], g.flags.base); err != nil {
		return nil, err
	}
	if one.head, err = g.side(ctx, drivers[0], g.flags.head); err != nil {
		return nil, err
	}
	one.place(g.flags.dir, drivers[0].Module)
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

// required tells whether a driver is a module that an application's go.mod may
// require. Workers in C and scripts take only the SQLite out of such a module.
func required(d build.Driver) bool { return d.Module != "" && !d.C && !d.Script }

// moved are those of the drivers whose version in go.mod is another than at a
// revision.
func (g *gating) moved(ctx context.Context, drivers []build.Driver) ([]pair, error) {
	if g.flags.driver != "" && !required(drivers[0]) {
		return nil, usage(fmt.Errorf("driver %s is no Go module, so no go.mod requires it", g.flags.driver), "name both versions with --base and --head")
	}
	drivers = slices.DeleteFunc(slices.Clone(drivers), func(d build.Driver) bool { return !required(d) })
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
			if d.Module != move.Head.Module {
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
	one := pair{driver: d.Name, line: move.Head.Line, file: filepath.ToSlash(filepath.Join(g.flags.dir, "go.mod"))}
	if one.notMeasured = g.hindrance(d, move); one.notMeasured != "" {
		one.base, one.head = move.Base.String(), move.Head.String()
		return one, nil
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
	var err error
	if one.base, err = g.side(ctx, d, move.Base.Version); err != nil {
		return one, err
	}
	one.head, err = g.side(ctx, d, head)
	return one, err
}

// hindrance is why a move cannot be measured; empty where it can.
func (g *gating) hindrance(d build.Driver, move gate.Move) string {
	switch byHand := "measure it with assay gate --driver " + d.Name + " --base VERSION --head FOLDER"; {
	case d.Store && !g.plan.KV():
		return "it is a key-value store, which plan " + g.plan.Name + " cannot run: assay gate kv can"
	case move.Head.Fork != "":
		return "go.mod replaces it with " + move.Head.Fork + ", and assay builds versions and checkouts of " + d.Module + " only: " + byHand
	case move.Base.Fork != "":
		return "go.mod replaced it with " + move.Base.Fork + ", and assay builds versions and checkouts of " + d.Module + " only"
	case move.Base.Folder != "":
		return "go.mod replaced it with the folder " + move.Base.Folder + ", of which only the files of now are there: " + byHand
	}
	return ""
}

// upgrades has the pairs measured, one after the other. Where that ends with an error, the pairs that are
// left say that they were not measured.
func (g *gating) upgrades(ctx context.Context, pairs []pair, measure func(context.Context, pair, *gate.Upgrade) error) ([]*gate.Upgrade, error) {
	var all []*gate.Upgrade
	for i, p := range pairs {
		u := g.newUpgrade(p)
		all = append(all, u)
		if u.NotMeasured != "" {
			continue
		}
		err := measure(ctx, p, u)
		if err == nil {
			continue
		}
		if u.First == nil {
			u.NotMeasured = err.Error()
		}
		if u.First == nil && ctx.Err() != nil {
			u.NotMeasured = "it was interrupted"
		}
		for _, p := range pairs[i+1:] {
			u := g.newUpgrade(p)
			u.NotMeasured = cmp.Or(u.NotMeasured, "gate ended before it")
			all = append(all, u)
		}
		return all, err
	}
	return all, nil
}

func (g *gating) newUpgrade(p pair) *gate.Upgrade {
	prefix := p.driver + "@"
	if p.driver == "" {
		prefix = ""
	}
	return &gate.Upgrade{Driver: p.driver, Base: strings.TrimPrefix(p.base, prefix), Head: strings.TrimPrefix(p.head, prefix),
		Plan: g.plan.Name, File: p.file, Line: p.line, NotMeasured: p.notMeasured}
}

// upgrade measures one pair.
func (g *gating) upgrade(ctx context.Context, p pair, u *gate.Upgrade) error {
	oneDriver, compile := driverOf(p.base) == driverOf(p.head), g.lab.Build
	if oneDriver {
		compile = g.lab.BuildCompared
	}
	base, err := compile(ctx, p.base)
	if err != nil {
		return err
	}
	head, err := compile(ctx, p.head)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, build.ErrNotCompiled):
		u.NotBuilt = err.Error()
		return nil
	case err != nil:
		return err
	case base.Digest == head.Digest:
		return usage(fmt.Errorf("%s and %s are the same program", p.base, p.head), "assay noise measures equal things")
	}
	if oneDriver { // another driver spells its settings otherwise
		u.Effects = gate.FindEffects(g.experiments(ctx, p.base), g.experiments(ctx, p.head))
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return g.measure(ctx, p, u)
}

// driverOf is the name in NAME[@VERSION][:OPTION...].
func driverOf(spec string) string {
	name, _, _ := strings.Cut(spec, ":")
	name, _, _ = strings.Cut(name, "@")
	return name
}

// experiments finds out what a build does with the parameters of a DSN.
func (g *gating) experiments(ctx context.Context, spec string) func() (facts.Facts, error) {
	return func() (facts.Facts, error) { return measureFacts(ctx, g.lab, spec) }
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
