package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"assay"
	"assay/internal/lab"
	"assay/internal/plan"
	"assay/internal/store"
	"assay/internal/tune"
	"assay/kit/kv"
)

// tuning is one call of the tune subcommand.
type tuning struct {
	app      *app
	lab      *lab.Lab
	store    *store.Store
	plan     *plan.Plan
	planName string
	planFile string
	flags    tuneFlags
	only     map[string][]string

	drivers    []string
	engine     string
	synced     map[string]assay.Durability // of a key-value store, by its setting sync
	current    assay.Profile
	base       map[string]string // settings that all candidates have
	effective  map[string]string // the current settings as they are read back
	class      assay.Durability
	proofs     []assay.Proof
	memory     int64
	space      tune.Space
	operations []assay.Case     // of the current settings
	settled    bool             // they are known to be measurable
	unindexed  []string         // operations that read whole tables
	grows      map[string]int64 // by how much each state of the data is larger, by its point
	notes      []string

	progress  *progress
	spent     time.Duration // of the budget
	launches  int
	disturbed int // of them, from outside

	series  *lab.Series
	stage   tune.Stage
	runs    []tune.StageRun
	started time.Time     // of the last series
	figures []assay.Trial // of the confirmation
}

// run tunes and says what was found.
func (t *tuning) run(ctx context.Context) (*tune.Report, error) {
	if err := t.prepare(ctx); err != nil {
		return nil, err
	}
	outcome, err := tune.Run(ctx, tune.Config{Space: t.space, Margin: t.plan.Margin, Budget: t.flags.budget, Seed: t.plan.Seed}, t.measure)
	if err != nil {
		return nil, err
	}
	if err := t.endSeries(ctx); err != nil {
		return nil, err
	}
	return t.report(outcome)
}

// prepare finds the current settings, and the space that keeps the constraints.
func (t *tuning) prepare(ctx context.Context) error {
	var err error
	if t.current, err = t.currentProfile(); err != nil {
		return err
	}
	if t.drivers = t.flags.drivers; len(t.drivers) == 0 {
		t.drivers = t.plan.Drivers[:1]
	}
	if t.memory, err = bytesOf(t.flags.memory); err != nil {
		return err
	}
	cases, err := t.plan.Expand(t.drivers[:1])
	if err != nil {
		return usage(err)
	}
	only := maps.Clone(t.only)
	if only == nil {
		only = map[string][]string{}
	}
	only["profile"] = []string{t.current.Name}
	if t.operations, err = plan.SelectToMeasure(cases, only); err != nil {
		return usage(err)
	}
	t.operations = slices.DeleteFunc(t.operations, func(c assay.Case) bool { return len(c.Operation.Terms) > 0 }) // of others
	if t.proofs, err = t.store.Proofs(ctx, t.plan.Text); err != nil {
		return err
	}
	if err := t.readBack(ctx); err != nil {
		return err
	}
	t.space, err = tune.For(t.engine, t.effective, t.constraints())
	if err != nil {
		return usage(err)
	}
	if err := t.tryLevels(ctx); err != nil {
		return err
	}
	return t.tryIndexes(ctx)
}

// readBack opens the database with the current settings and reads them back.
func (t *tuning) readBack(ctx context.Context) error {
	found, err := t.lab.Inspect(ctx, t.plan, t.drivers[0], t.current.Name)
	if err != nil {
		return err
	}
	if t.engine = found.Target.Engine; !slices.Contains(tune.Engines(), t.engine) {
		return usage(fmt.Errorf("driver %s is of the engine %s: tune knows the settings of %s", t.drivers[0], t.engine, strings.Join(tune.Engines(), ", ")))
	}
	if found.Trial.Outcome != assay.OK {
		return fmt.Errorf("the current settings cannot be measured: %s: %s", found.Trial.Outcome, found.Trial.Reason)
	}
	t.effective = effectiveSettings(found.Trial)
	t.base = kv.InSQLite(t.current.Settings)
	class := tune.ClassOf(t.effective)
	if tune.IsStore(t.engine) {
		if class, err = t.readStore(ctx); err != nil {
			return err
		}
	}
	t.class = assay.Durability(t.flags.durability)
	if t.class == "" {
		t.class = class
	}
	silent := tune.IsStore(t.engine) && t.synced == nil
	if !silent && (t.class == assay.DurabilityUnknown || t.class == assay.None) {
		return usage(fmt.Errorf("the current settings have durability %q, which tune does not search within", class), "say with --durability which every candidate has to keep")
	}
	return nil
}

// effectiveSettings are those of the connections, the writers' where they differ.
func effectiveSettings(trial assay.Trial) map[string]string {
	all := map[string]string{}
	for _, s := range trial.Settings {
		if _, known := all[s.Name]; !known || strings.HasPrefix(s.Connection, "writer") {
			all[s.Name] = s.Effective
		}
	}
	return all
}

func (t *tuning) constraints() tune.Constraints {
	c := tune.Constraints{Class: t.class, Memory: t.memory, SingleProcess: t.flags.singleProcess, Drivers: t.drivers, Proven: t.proven, Synced: t.synced}
	readers, writers := 0, 0 // of the application, which does all operations
	for _, o := range t.operations {
		c.OwnFile = c.OwnFile || o.Dataset.File != ""
		switch op := o.Operation; {
		case len(op.Parts) > 0:
			readers = max(readers, o.Cell.Pool)
			if op.Changes {
				writers = max(writers, 1, op.Writers)
			}
		case op.Changes:
			writers = max(writers, 1, o.Cell.Pool)
		default:
			readers = max(readers, o.Cell.Pool)
		}
	}
	c.Connections = readers + writers
	return c
}

// proven is what assay crash left of a class that settings claim, of any of the
// drivers.
func (t *tuning) proven(journal, synchronous string, claimed assay.Durability) assay.Durability {
	for _, p := range t.proofs {
		profile, _, err := t.plan.Profile(p.Profile)
		if err != nil || p.Refuted == 0 || !t.isOurs(p.Target) {
			continue
		}
		settings := kv.InSQLite(profile.Settings)
		if p.Profile == t.current.Name {
			t.explicit(settings)
		}
		if settings["journal_mode"] == journal && settings["synchronous"] == synchronous && !tune.AtLeast(p.Proven(claimed), claimed) {
			claimed = p.Proven(claimed)
		}
	}
	return claimed
}

// isOurs tells whether a target, NAME@VERSION[:OPTION...], is of one of the drivers.
func (t *tuning) isOurs(target string) bool {
	name, _, _ := strings.Cut(target, "@")
	return slices.ContainsFunc(t.drivers, func(driver string) bool {
		driver, _, _ = strings.Cut(driver, ":")
		driver, _, _ = strings.Cut(driver, "@")
		return driver == name
	})
}

// tryLevels opens the database once with each level, and takes out of the space what
// the driver does not apply here.
func (t *tuning) tryLevels(ctx context.Context) error {
	for j := len(t.space.Factors) - 1; j >= 0; j-- {
		for level := len(t.space.Factors[j].Levels) - 1; level > 0; level-- {
			p := make(tune.Point, len(t.space.Factors))
			p[j] = level
			settings := t.space.Factors[j].Levels[level].Settings
			if settings["driver"] != "" {
				continue
			}
			tried := t.plan.WithProfiles(t.plan.Name, t.current.Name, []assay.Profile{t.profile(p)}, t.plan.Seed)
			found, err := t.lab.Inspect(ctx, tried, t.drivers[0], t.profile(p).Name)
			if err != nil {
				return err
			}
			if found.Trial.Outcome == assay.OK {
				continue
			}
			t.notes = append(t.notes, fmt.Sprintf("%s cannot be had: %s", t.space.Factors[j].Levels[level].Text(), found.Trial.Reason))
			t.space = t.space.Without(j, level)
			if len(t.space.Factors) < len(p) {
				break
			}
		}
	}
	return nil
}
