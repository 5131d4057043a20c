package store

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"assay"
)

// check refuses what no run or no trial can have: reports count on it.
type check[T any] func(*T) error

// runChecks holds the checks of a run, and trialChecks those of a trial. They hold for all that
// assay ever wrote.
var (
	runChecks = []check[assay.Run]{
		func(r *assay.Run) error { return checkID(r.ID) },
		oneOf("the run's status", []assay.Status{assay.Running, assay.Interrupted, assay.Finished}, func(r *assay.Run) assay.Status { return r.Status }),
		atLeast("least_ns", 0, func(r *assay.Run) int64 { return int64(r.MinTime) }),
		checkReference,
	}
	trialChecks = []check[assay.Trial]{
		atLeast("clients", 1, func(t *assay.Trial) int { return t.Cell.Clients }),
		atLeast("processes", 0, func(t *assay.Trial) int { return t.Cell.Processes }),
		atLeast("pool", 0, func(t *assay.Trial) int { return t.Cell.Pool }),
		atLeast("idle", 0, func(t *assay.Trial) int { return t.Cell.Idle }),
		atLeast("transaction_size", 0, func(t *assay.Trial) int { return t.Cell.Transaction }),
		oneOf("begin_mode", append([]assay.Begin{""}, assay.Begins...), func(t *assay.Trial) assay.Begin { return t.Cell.Begin }),
		within("rate", 0, math.MaxFloat64, func(t *assay.Trial) float64 { return t.Cell.Rate }),
		atLeast("launch", 0, func(t *assay.Trial) int { return t.Launch }),
		atLeast("layout", 0, func(t *assay.Trial) int { return t.Layout }),
		oneOf("mode", []assay.Mode{"", assay.Windows, assay.Blocks}, func(t *assay.Trial) assay.Mode { return t.Mode }), // none without a worker
		oneOf("outcome", assay.Outcomes(), func(t *assay.Trial) assay.Outcome { return t.Outcome }),
		oneOf("durability", assay.Durabilities, func(t *assay.Trial) assay.Durability { return t.Durability }),
		atLeast("took_ns", 0, func(t *assay.Trial) int64 { return int64(t.Took) }),
		within("steal", 0, 1, func(t *assay.Trial) float64 { return t.Noise.Steal }),
		within("foreign_cpu", 0, 1, func(t *assay.Trial) float64 { return t.Noise.Foreign }),
		checkCounts("samples", func(t *assay.Trial) [][2]int64 { return convert(t.Samples, fromSample) }),
		checkCounts("histogram", func(t *assay.Trial) [][2]int64 { return convert(t.Histogram, fromBucket) }),
		checkFigures,
	}
)

// checkAll makes checks in turn, and returns the first error.
func checkAll[T any](of *T, checks []check[T]) error {
	for _, check := range checks {
		if err := check(of); err != nil {
			return err
		}
	}
	return nil
}

func atLeast[T any, N cmp.Ordered](field string, least N, of func(*T) N) check[T] {
	return func(t *T) error {
		if value := of(t); value < least {
			return fmt.Errorf("%s is %v: want at least %v", field, value, least)
		}
		return nil
	}
}

func within[T any](field string, low, high float64, of func(*T) float64) check[T] {
	return func(t *T) error {
		if value := of(t); !(value >= low && value <= high) {
			return fmt.Errorf("%s is %g: want %g to %g", field, value, low, high)
		}
		return nil
	}
}

func oneOf[T any, S ~string](field string, values []S, of func(*T) S) check[T] {
	return func(t *T) error {
		if value := of(t); !slices.Contains(values, value) {
			return fmt.Errorf("%s is %q: want one of %q", field, value, values)
		}
		return nil
	}
}

// checkCounts refuses pairs of counts of which one is below zero.
func checkCounts(field string, of func(*assay.Trial) [][2]int64) check[assay.Trial] {
	return func(t *assay.Trial) error {
		for _, pair := range of(t) {
			if min(pair[0], pair[1]) < 0 {
				return fmt.Errorf("%s has %d: want counts of at least 0", field, pair)
			}
		}
		return nil
	}
}

func checkID(id string) error {
	if !assay.ValidRunID(id) {
		return invalidID(id)
	}
	return nil
}

// checkReference refuses a baseline whose driver did not take part.
func checkReference(r *assay.Run) error {
	driver := r.Baseline.Driver.Name
	if r.Baseline == (assay.Baseline{}) || slices.ContainsFunc(r.Targets, func(t assay.Target) bool { return t.Driver == driver }) {
		return nil
	}
	return fmt.Errorf("reference is %q: want DRIVER@VERSION or DRIVER@VERSION/PROFILE, with the driver of a target", r.Baseline)
}

// positive are the figures that what was measured cannot have as zero: whatever is compared
// divides by them. Others can be zero in fact.
var positive = []string{assay.NsPerOp, assay.OpPerS, assay.CapacityPerS}

func checkFigures(t *assay.Trial) error {
	for _, metric := range slices.Sorted(maps.Keys(t.Figures)) {
		value := t.Figures[metric]
		_, known := assay.MetricByName(metric)
		switch {
		case !known && !strings.HasSuffix(metric, assay.PhaseSuffix): // workers name phases
			return fmt.Errorf("figure %q is of no metric", metric)
		case !(value >= 0):
			return fmt.Errorf("figure %q is %g: want at least 0", metric, value)
		case value == 0 && slices.Contains(positive, metric):
			return fmt.Errorf("figure %q is 0: want more", metric)
		}
	}
	return nil
}
