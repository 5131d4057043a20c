package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"assay"
	"assay/internal/runner"
	"assay/kit/kv"
	"assay/kit/postgres"
)

// factorShare is the part of the budget that is kept for leaving settings out.
const factorShare = 0.3

// mainBudget is the budget of the plan's own cells.
func (s *session) mainBudget() time.Duration {
	budget := s.run.Options.Budget
	if s.plan.Factors {
		return budget - time.Duration(factorShare*float64(budget))
	}
	return budget
}

// factors measures the best driver and profile again, as it is and without
// each of its settings: one factor at a time.
func (s *session) factors(ctx context.Context, config runner.Config) error {
	if !s.plan.Factors {
		return nil
	}
	r, err := loadReport(ctx, s.store, s.run.ID)
	if err != nil {
		return err
	}
	best, found := r.Best()
	if !found {
		fmt.Fprintln(s.stderr, "no profile is ahead: there are no settings to leave out one at a time")
		return nil
	}
	config.Cases = withoutEach(s.cases, best)
	if len(config.Cases) == 0 {
		return nil
	}
	config.Prefix, config.Reference = assay.FactorGroups, best.Target()
	if config.Budget > 0 {
		config.Budget = s.run.Options.Budget - config.Budget
	}
	second, err := runner.New(ctx, config)
	if err != nil {
		return err
	}
	return s.launch(ctx, second)
}

// counts tells whether a setting is one of an engine's.
func counts(name, value, engine string) bool {
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
	for _, c := range cases {
		named := c.Cell.Driver == best.Driver && (c.Cell.DriverVersion == "" || c.Cell.DriverVersion == best.DriverVersion)
		if !named || c.Cell.Profile != best.Profile || len(c.Profile.Settings) == 0 {
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
