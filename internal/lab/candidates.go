package lab

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"assay"
	"assay/internal/build"
	"assay/internal/runner"
	"assay/kit/kv"
)

// Candidate is a built driver with a profile of a plan.
type Candidate struct {
	Name    string // of the driver
	Driver  string // NAME[@VERSION][:OPTION...]
	Profile assay.Profile
	Program runner.Program
	KV      bool // the plan uses it as a key-value store
	// Empty is a database without any table but that of key-value stores, and with
	// the settings that are fixed in a file; empty where the profile has none.
	Empty string
}

// Candidates builds the drivers of a request and pairs each with the plan's
// profiles. Drivers that could not be built are returned as trials that say why: of one
// that does not compile, the first error.
func (l *Lab) Candidates(ctx context.Context, request Request) ([]Candidate, []assay.Trial, error) {
	chosen, err := l.selectCases(ctx, request.Plan, request.options(), request.Sides)
	if err != nil {
		return nil, nil, err
	}
	workers, err := l.build(ctx, chosen.cases, 0)
	if err != nil {
		return nil, nil, err
	}
	var all []Candidate
	for _, c := range firstOf(workers.cases, func(c assay.Case) string { return c.Cell.Target() + " " + c.Profile.Name }) {
		driver := c.Cell.Target()
		empty, err := l.empty(ctx, c)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, Candidate{c.Cell.Driver, driver, c.Profile, workers.programs[driver], c.Operation.KV(), empty})
	}
	for i := range workers.unbuilt {
		if err := workers.failed[workers.unbuilt[i].Cell.Target()]; errors.Is(err, build.ErrNotCompiled) {
			workers.unbuilt[i].Reason = build.ErrNotCompiled.Error() + ": " + build.FirstError(err)
		}
	}
	return all, workers.unbuilt, nil
}

// empty makes a case's file with its settings and the table of stores.
func (l *Lab) empty(ctx context.Context, c assay.Case) (string, error) {
	settings := maps.Clone(c.Dataset.FileSettings)
	delete(settings, "journal_mode") // a connection sets it as well
	if len(settings) == 0 || c.Operation.KV() {
		return "", nil
	}
	made, err := l.Datasets().Prepare(ctx, assay.Dataset{Workload: "crash", Schema: kv.Schema, FileSettings: c.Dataset.FileSettings})
	if err != nil {
		return "", fmt.Errorf("prepare an empty database: %w", err)
	}
	return made.Path, nil
}
