package lab

import (
	"context"
	"errors"
	"path/filepath"

	"assay/internal/build"
	"assay/internal/lint/facts"
)

// TryInDSN builds a driver, and tries spellings that no experiment was made about.
func (l *Lab) TryInDSN(ctx context.Context, f facts.Facts, slips []facts.Slip) (facts.Facts, error) {
	worker, err := l.Build(ctx, f.At().String())
	if err != nil {
		return f, err
	}
	return facts.Try(ctx, asWorker(worker), f, slips, filepath.Join(l.Cache, "experiments"))
}

// Facts builds a driver of SQLite, and finds out by experiment what its settings do. Of one that
// takes no DSN it returns what else is known, with the error.
func (l *Lab) Facts(ctx context.Context, spec string) (facts.Facts, error) {
	worker, err := l.Build(ctx, spec)
	if err != nil {
		return facts.Facts{}, err
	}
	f, err := facts.Measure(ctx, asWorker(worker), filepath.Join(l.Cache, "experiments"))
	if errors.As(err, new(*facts.NoDSNError)) {
		return f, AsInputError(err, "assay drivers lists the drivers with their engines")
	}
	return f, err
}

func asWorker(w build.Worker) facts.Worker {
	return facts.Worker{Program: w.Program, Driver: w.Name, Module: w.Module, Version: w.Version}
}
