package lab

import (
	"context"
	"errors"
	"path/filepath"

	"assay/internal/facts"
)

// Facts builds a driver of SQLite, and finds out by experiment what its settings do.
func (l *Lab) Facts(ctx context.Context, spec string) (facts.Facts, error) {
	worker, err := l.Build(ctx, spec)
	if err != nil {
		return facts.Facts{}, err
	}
	f, err := facts.Measure(ctx, facts.Worker{Program: worker.Program, Driver: worker.Name, Module: worker.Module, Version: worker.Version}, filepath.Join(l.Cache, "experiments"))
	var other *facts.NoSQLiteError
	if errors.As(err, &other) {
		return f, AsInputError(err, "assay drivers lists the drivers with their engines")
	}
	return f, err
}
