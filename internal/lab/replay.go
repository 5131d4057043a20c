package lab

import (
	"context"
	"errors"

	"assay"
	"assay/internal/dataset/recording"
)

// replays are the cases in which what was recorded is done again: one of each target and profile.
func (l *Lab) replays(ctx context.Context, all []assay.Case) (found []assay.Case, err error) {
	known, seen := map[string]recording.Replay{}, map[string]bool{}
	for _, c := range all {
		path := c.Dataset.Recorded
		if path == "" {
			continue
		}
		r, read := known[path]
		if !read {
			if r, err = recording.Read(ctx, l.Bundle.DataFile(path)); err != nil {
				return nil, err
			}
			known[path] = r
		}
		cell := assay.Cell{Plan: c.Cell.Plan, Workload: c.Cell.Workload, Operation: r.Operation.Name, Clients: r.Clients, Pool: r.Clients, Idle: r.Clients, Processes: 1, Statement: r.Operation.Statement,
			Profile: c.Cell.Profile, AsPublished: c.Cell.AsPublished, Driver: c.Cell.Driver, DriverVersion: c.Cell.DriverVersion, Options: c.Cell.Options}
		if seen[cell.Key()] {
			continue
		}
		seen[cell.Key()] = true
		c.Cell, c.Unscaled, c.Operation = cell, assay.Cell{}, r.Operation
		found = append(found, c)
	}
	if found == nil {
		return nil, errors.New("the plan has nothing recorded: assay init --log drafts one from a log of your program")
	}
	return found, nil
}
