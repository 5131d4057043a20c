package gate

import (
	"cmp"
	"context"
	"strings"
	"time"

	"assay"
	"assay/internal/build"
	"assay/internal/lab"
	"assay/internal/lint/facts"
	"assay/internal/plan"
	"assay/internal/store"
)

// Request says which builds to compare, and by which rules.
type Request struct {
	Plan       *plan.Plan
	PlanFile   string        // where the plan lies
	Driver     string        // whose versions are compared; empty: Base and Head name drivers, or Revision finds all that moved
	Base, Head string        // versions, a folder of a checkout, or drivers
	Revision   string        // of git, whose lock files are the base; empty: Base and Head are given
	Dir        string        // folder of go.mod, or another lock file
	Budget     time.Duration // of measuring each pair
	Rules      Rules
}

// Measuring is the measuring of upgrades under way.
type Measuring struct {
	lab     *lab.Lab
	request Request
	pairs   []pair
}

// StoppedError says which run was kept when measuring ended early; empty: none.
type StoppedError struct {
	Run string
	Err error
}

func (e *StoppedError) Error() string { return e.Err.Error() }
func (e *StoppedError) Unwrap() error { return e.Err }

// New finds the pairs of builds that are asked for.
func New(ctx context.Context, l *lab.Lab, request Request) (*Measuring, error) {
	m := &Measuring{lab: l, request: request}
	var err error
	m.pairs, err = m.find(ctx)
	return m, err
}

// Run measures the pairs, one after the other, and keeps their runs in the store. Where
// it fails, the upgrades that are left say that they were not measured.
func (m *Measuring) Run(ctx context.Context, s *store.Store) ([]*Upgrade, error) {
	return m.each(ctx, func(ctx context.Context, p pair, u *Upgrade) error { return m.upgrade(ctx, s, p, u) })
}

func (m *Measuring) each(ctx context.Context, measure func(context.Context, pair, *Upgrade) error) ([]*Upgrade, error) {
	var all []*Upgrade
	for i, p := range m.pairs {
		u := m.newUpgrade(p)
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
		for _, p := range m.pairs[i+1:] {
			u := m.newUpgrade(p)
			u.NotMeasured = cmp.Or(u.NotMeasured, "gate ended before it")
			all = append(all, u)
		}
		return all, err
	}
	return all, nil
}

func (m *Measuring) newUpgrade(p pair) *Upgrade {
	prefix := p.driver + "@"
	if p.driver == "" {
		prefix = ""
	}
	return &Upgrade{Driver: p.driver, Base: strings.TrimPrefix(p.base, prefix), Head: strings.TrimPrefix(p.head, prefix),
		Plan: m.request.Plan.Name, File: p.file, Line: p.line, NotMeasured: p.notMeasured}
}

// upgrade measures a pair. Whatever may be wrong with it is looked for first where that
// is cheap: the link layouts of a driver take minutes.
func (m *Measuring) upgrade(ctx context.Context, s *store.Store, p pair, u *Upgrade) error {
	for _, name := range []string{p.base, p.head} {
		if err := m.lab.CheckBuild(ctx, name); err != nil {
			return err
		}
	}
	base, err := m.lab.Build(ctx, p.base)
	if err != nil {
		return err
	}
	head, err := m.lab.Build(ctx, p.head)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case build.Broken(err):
		u.NotBuilt = err.Error()
		return nil
	case err != nil:
		return err
	case base.Digest == head.Digest:
		return sameProgram(p.base, p.head)
	}
	if assay.ParseDriverName(p.base).Name == assay.ParseDriverName(p.head).Name { // another driver spells its settings otherwise
		for _, name := range []string{p.base, p.head} {
			if _, err := m.lab.BuildCompared(ctx, name); err != nil {
				return err
			}
		}
		m.lab.Watcher.Note("finding out what parameters of a DSN do, where the driver has any")
		effects := FindEffects(m.experiments(ctx, p.base), m.experiments(ctx, p.head))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		u.Effects = effects
	}
	return m.measure(ctx, s, p, nil, u)
}

// experiments finds out what a build does with the parameters of a DSN.
func (m *Measuring) experiments(ctx context.Context, spec string) func() (facts.Facts, error) {
	return func() (facts.Facts, error) { return m.lab.Facts(ctx, spec) }
}

// measure runs the plan, or only some cells of it, and what is suspected once more.
func (m *Measuring) measure(ctx context.Context, s *store.Store, p pair, only map[string][]string, u *Upgrade) error {
	began := time.Now()
	var err error
	if u.First, err = m.run(ctx, s, p, only, m.request.Budget*2/3); err != nil {
		return err
	}
	suspects := u.First.Suspects()
	if suspects == nil {
		return nil
	}
	left := max(m.request.Budget/3, m.request.Budget-time.Since(began))
	u.Second, err = m.run(ctx, s, p, suspects, left)
	return err
}

// run measures base and head, interleaved, and keeps the run in the store.
func (m *Measuring) run(ctx context.Context, s *store.Store, p pair, only map[string][]string, budget time.Duration) (*Measurement, error) {
	measured := *m.request.Plan
	measured.Factors = false // there is nothing to leave out of settings here
	target := m.request.Rules.MaxSlowdown
	if measured.Precision > 0 {
		target = min(target, measured.Precision)
	}
	result, err := m.lab.Run(ctx, s, lab.Request{Plan: &measured, PlanFile: m.request.PlanFile, Drivers: []string{p.base, p.head}, Baseline: assay.ParseBaseline(p.base),
		Only: only, Budget: budget, Target: target})
	if err != nil {
		return nil, &StoppedError{result.ID, err}
	}
	analyzed, err := lab.Analyze(ctx, s, result.ID)
	if err != nil {
		return nil, err
	}
	return Judge(analyzed, p.base, p.head, m.request.Rules)
}
