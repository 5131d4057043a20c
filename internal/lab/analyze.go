package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"assay/internal/analysis"
	"assay/internal/store"
)

// Analyze reads a run from the store: the one of that ID, or the newest.
func Analyze(ctx context.Context, s *store.Store, id string) (*analysis.Result, error) {
	return AnalyzeWithin(ctx, s, id, 0)
}

// AnalyzeWithin is Analyze with another margin than the run's; 0: with the run's.
func AnalyzeWithin(ctx context.Context, s *store.Store, id string, margin float64) (*analysis.Result, error) {
	found, err := s.Run(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, AsInputError(err, "assay runs lists the runs", "assay run quick makes one")
	}
	if err != nil {
		return nil, err
	}
	found.Options.Margin = cmp.Or(margin, found.Options.Margin)
	return analysis.New(found, s.Trials(ctx, found.ID))
}

// Sides reads both names as runs, or else as what one run has; the newest,
// where runID is empty.
func Sides(ctx context.Context, s *store.Store, names [2]string, runID string) (sides [2]analysis.Side, err error) {
	if runID == "" {
		if sides, both := twoRuns(ctx, s, names); both {
			return sides, nil
		}
	}
	r, err := Analyze(ctx, s, runID)
	if err != nil {
		return sides, err
	}
	for i, name := range names {
		if sides[i], err = analysis.NewSide(r, name); err != nil {
			return sides, AsInputError(fmt.Errorf("run %s: %w", r.Run.ID, err), "name two runs, or two drivers, versions or profiles of one; "+
				strings.Join(analysis.SideNames(r), ", "))
		}
	}
	return sides, nil
}

// twoRuns reads both names as runs.
func twoRuns(ctx context.Context, s *store.Store, names [2]string) (sides [2]analysis.Side, both bool) {
	for i, name := range names {
		r, err := Analyze(ctx, s, name)
		if err != nil {
			return sides, false
		}
		if i == 1 && r.Run.ID == sides[0].Result.Run.ID {
			r = sides[0].Result
		}
		sides[i] = analysis.Side{Result: r, Name: name}
	}
	return sides, true
}
