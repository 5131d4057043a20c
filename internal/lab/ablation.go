package lab

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"assay"
	"assay/internal/runner"
	"assay/internal/store"
	"assay/kit/kv"
	"assay/kit/postgres"
)

// ablationShare is the part of the budget that is kept for the ablation.
const ablationShare = 0.3

// keepForAblation divides the budget: what it returns is that of the plan's own cells.
func (r *run) keepForAblation() (budget time.Duration) {
	budget = r.now.Options.Budget
	if r.plan.Factors {
		r.kept = time.Duration(ablationShare * float64(budget))
	}
	return budget - r.kept
}

// more is how much longer the plan's own cells are measured when their part of the budget
// has ended: as long as the ablation was to be, where there is nothing to leave settings out of.
func (r *run) more(ctx context.Context) (time.Duration, error) {
	_, why, err := r.winner(ctx)
	if err != nil || why == "" || r.kept == 0 {
		return 0, err
	}
	r.lab.Watcher.Note(why + ": what was kept of the budget for the ablation goes to the other cells.")
	more := r.kept
	r.kept = 0
	return more, nil
}

// winner is the cell of which the ablation leaves settings out, or why there is none.
func (r *run) winner(ctx context.Context) (best assay.Cell, why string, err error) {
	err = r.whenUnlocked(ctx, r.store.Deliver)
	if errors.As(err, new(*store.UndeliveredError)) {
		return best, "The store cannot be reached", nil
	}
	if err != nil {
		return best, "", err
	}
	result, err := Analyze(ctx, r.store, r.now.ID)
	if err != nil {
		return best, "", err
	}
	best, found := result.Best()
	if !found {
		why = "No clear winner"
	}
	return best, why, nil
}

// ablation measures the best driver and profile again, as it is and without
// each of its settings: one factor at a time.
func (r *run) ablation(ctx context.Context, config runner.Config) error {
	if !r.plan.Factors || r.now.Options.Budget > 0 && r.kept == 0 {
		return nil
	}
	best, why, err := r.winner(ctx)
	if err != nil {
		return err
	}
	if why != "" {
		r.lab.Watcher.Note(why + ": skipping the ablation.")
		return nil
	}
	config.Cases = withoutEach(r.chosen.cases, best)
	if len(config.Cases) == 0 {
		return nil
	}
	config.Ablation, config.Baseline = true, assay.Baseline{Driver: best.DriverName()}
	config.Budget, config.More = r.kept, nil
	second, err := runner.Prepare(ctx, config)
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
	setting := map[string]string{name: value}
	if engine != postgres.Engine {
		return len(kv.InSQLite(setting)) > 0
	}
	own, _ := postgres.Own(kv.InPostgres(setting))
	return len(own) > 0
}

// withoutEach returns the cases of one target with one profile, each as it is
// and without one setting.
func withoutEach(cases []assay.Case, best assay.Cell) []assay.Case {
	var all []assay.Case
	name := assay.NamesOf(cases).Of(best)
	for _, c := range cases {
		if c.Cell.DriverName() != name || c.Cell.Profile != best.Profile || len(c.Profile.Settings) == 0 {
			continue
		}
		all = append(all, c)
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
			all = append(all, less)
		}
	}
	return all
}
