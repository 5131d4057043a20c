//go:build unix

package runner

import (
	"context"
	"fmt"

	"assay"
	"assay/internal/runner/load"
	"assay/internal/stat"
	"assay/kit/process"
	"assay/kit/wire"
)

const (
	// nearLimit is the part of the generator's own limit beyond which a figure
	// may be the generator's.
	nearLimit = 0.8
	// kept is the part of the offered rate that a server has to answer to keep up.
	kept = 0.99
)

// recordLoad writes what is known of the load into a trial, with the doubts that
// it raises.
func (in *instance) recordLoad(t *assay.Trial, j *job, result load.Result) {
	all, figures := float64(result.Offered), t.Figures
	figures[assay.FailedOp] = float64(result.Failed) / (all + float64(j.warm))
	limit := in.r.observed.limits[j.Cell.Clients]
	figures[assay.LimitPerS] = limit
	if j.Cell.Rate > 0 {
		figures[assay.OfferedPerS] = all / (float64(result.Nanos) / 1e9)
		figures[assay.LateOp] = float64(result.Late) / all
		figures[assay.DroppedOp] = float64(result.Dropped) / all
		if lag, ok := stat.PercentileOf(result.Lag, 0.99); ok {
			figures[assay.Lag] = lag
		}
	}
	t.Warnings = append(t.Warnings, loadWarnings(result, j, limit)...)
}

// loadWarnings are the doubts that a load raises.
func loadWarnings(result load.Result, j *job, limit float64) []assay.Warning {
	var all []assay.Warning
	if rate := result.PerSecond(); rate > nearLimit*limit {
		all = append(all, assay.Warning{Code: "generator-bound",
			Evidence: fmt.Sprintf("%.0f requests a second, and the load generator reaches %.0f without a database", rate, limit),
			Advice:   "the figure may be the load generator's: give it more processors, or compare at a rate below"})
	}
	if j.Cell.Rate > 0 && (result.Dropped > 0 || result.PerSecond() < kept*j.Cell.Rate) {
		all = append(all, assay.Warning{Code: "overloaded",
			Evidence: fmt.Sprintf("%.0f of %g requests a second were answered, %d of %d were never sent", result.PerSecond(), j.Cell.Rate, result.Dropped, result.Offered),
			Advice:   "the server does not keep up, and latency grows for as long as that lasts: compare at a lower rate"})
	}
	if server, _ := splitCPUs(process.CPUs()); server == nil {
		all = append(all, assay.Warning{Code: "shared-cpus",
			Evidence: "load and server run on the same processors",
			Advice:   "the load takes time from the server: measure under Linux, with four processors or more"})
	}
	return all
}

// pool asks what the pool did so far, where it closes connections that are idle.
func (in *instance) pool(ctx context.Context, j *job, stats *wire.Stats) error {
	if j.Cell.Idle >= j.Cell.Pool {
		return nil
	}
	return in.call(ctx, wire.TypeStats, nil, stats)
}

// measurePooled measures, and returns what the pool did meanwhile; nil where it closes
// nothing.
func (in *instance) measurePooled(ctx context.Context, j *job, request wire.Measure, m *wire.Measured) (*wire.Pool, error) {
	return in.pooled(ctx, j, func() error { return in.measure(ctx, request, m) })
}

// pooled measures something, and returns what the pool did meanwhile; nil where there is none.
func (in *instance) pooled(ctx context.Context, j *job, measure func() error) (*wire.Pool, error) {
	var before, after wire.Stats
	if err := in.pool(ctx, j, &before); err != nil {
		return nil, err
	}
	if err := measure(); err != nil {
		return nil, err
	}
	if err := in.pool(ctx, j, &after); err != nil {
		return nil, err
	}
	return poolDid(before.Pool, after.Pool), nil
}

// poolDid is what a pool did between two counts; nil where there is none.
func poolDid(before, after *wire.Pool) *wire.Pool {
	if before == nil || after == nil {
		return nil
	}
	return &wire.Pool{Closed: after.Closed - before.Closed, Waited: after.Waited - before.Waited}
}

// recordPool writes down what the pool did during some operations; nil: nothing.
func recordPool(t *assay.Trial, j *job, operations int64, did *wire.Pool) {
	if did == nil {
		return
	}
	done := float64(max(1, operations))
	closed := did.Closed // opened anew as soon as it is needed
	t.Figures[assay.ReopensOp] = float64(closed) / done
	t.Figures[assay.PoolWaitPerOp] = float64(did.Waited) / done
	if closed > 0 {
		t.Warnings = append(t.Warnings, assay.Warning{Code: "reopens",
			Evidence: fmt.Sprintf("the pool closed %d connections during %d operations, and opened others for them: it keeps %d of %d when they are idle", closed, operations, j.Cell.Idle, j.Cell.Pool),
			Advice:   "set SetMaxIdleConns to the number of open connections; otherwise you measure connection setup"})
	}
}
