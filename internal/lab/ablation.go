package lab

import (
	"context"
	"maps"
	"slices"
	"time"

	"assay"
	"assay/internal/runner"
	"assay/kit/duckdb"
	"assay/kit/kv"
	"assay/kit/postgres"
)

// ablationShare is the part of the budget that is kept for the ablation.
const ablationShare = 0.3

// mainBudget is the budget of the plan's own cells.
func (r *run) mainBudget() time.Duration {
	budget := r.now.Options.Budget
	if r.plan.Factors {
		return budget - time.Duration(ablationShare*float64(budget))
	}
	return budget
}

// ablation measures the best driver and profile again, or one that may be the best, as it
// is and without each of its settings: one factor at a time.
func (r *run) ablation(ctx context.Context, config runner.Config) error {
	if !r.plan.Factors {
		return nil
	}
	result, err := Analyze(ctx, r.store, r.now.ID)
	if err != nil {
		return err
	}
	best, clear, found := result.Best()
	if found {
		config.Cases = withoutEach(r.chosen.cases, best)
	}
	if !found || len(config.Cases) == 0 {
		r.lab.Watcher.Note("There is nothing to leave settings out of: skipping the ablation.")
		return nil
	}
	if !clear {
		r.lab.Watcher.Note("No clear winner has settings to leave out: leaving out those of " + best.Target() + " with profile " + best.Profile + ", which may turn out to be the best.")
	}
	config.Ablation, config.LeaveOut, config.Baseline = true, false, assay.Baseline{Driver: best.DriverName()}
	if config.Budget > 0 {
		config.Budget, config.Kept = config.Kept, 0
	}
	second, err := prepare(ctx, config)
	if err != nil {
		return err
	}
	return r.launch(second, func() error { return second.Run(ctx) })
}

// counts reports whether a setting is one of an engine's.
func counts(name, value, engine string) bool {
	if _, ofStores := kv.Settings.Lookup(name); ofStores && engine != "sqlite" && engine != postgres.Engine {
		return true
	}
	if engine == duckdb.Engine {
		_, own := duckdb.Settings.Lookup(name)
		return own
	}
	setting := map[string]string{name: value}
	if engine != postgres.Engine {
		return len(kv.InSQLite(setting)) > 0
	}
	own, _ := postgres.Settings.Own(kv.InPostgres(setting))
	return len(own) > 0
}

// withoutEach returns the cases of one target with one profile, each as it is
// and without one setting; none where no setting can be left out.
func withoutEach(cases []assay.Case, best assay.Cell) []assay.Case {
	var all []assay.Case
	name := assay.NamesOf(cases).Of(best)
	for _, c := range cases {
		if c.Cell.DriverName() != name || c.Cell.Profile != best.Profile || len(c.Profile.Settings) == 0 {
			continue
		}
		var fewer []assay.Case
		for _, name := range slices.Sorted(maps.Keys(c.Profile.Settings)) {
			if _, ofFile := c.Dataset.FileSettings[name]; ofFile {
				continue // it would be another file
			}
			if !counts(name, c.Profile.Settings[name], best.Engine) {
				continue
			}
			less := c
			less.Cell.Without = name
			less.Profile.Settings = maps.Clone(c.Profile.Settings)
			delete(less.Profile.Settings, name)
			fewer = append(fewer, less)
		}
		if len(fewer) > 0 { // else there is nothing to compare it with
			all = append(append(all, c), fewer...)
		}
	}
	return all
}
