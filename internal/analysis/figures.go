package analysis

import (
	"slices"
	"strconv"
	"strings"

	"assay"
)

// Phase holds what a row spends in one phase of an execution.
type Phase struct {
	Name   string // query, next, ...
	Figure Figure
	Share  float64 // of the sum of all phases
}

// Phases returns the phases of a row, in their order: those that its driver
// has. Empty where they were not timed.
func (r *Row) Phases() []Phase {
	var phases []Phase
	total := 0.0
	for _, name := range assay.PhaseMetrics {
		if f, ok := r.Figure(name); ok && f.Interval.N > 0 {
			phases = append(phases, Phase{Name: strings.TrimSuffix(name, assay.PhaseSuffix), Figure: f})
			total += f.Interval.Center
		}
	}
	for i := range phases {
		phases[i].Share = phases[i].Figure.Interval.Center / total
	}
	return phases
}

// Have returns those of the metrics that some row of the table has.
func (t *Table) Have(metrics []string) []string {
	return slices.DeleteFunc(slices.Clone(metrics), func(name string) bool {
		return !slices.ContainsFunc(t.Rows, func(r *Row) bool { _, has := r.Figure(name); return has })
	})
}

// Served reports whether the row was asked for over HTTP: only then it has figures of
// requests.
func (r *Row) Served() bool {
	return slices.ContainsFunc(r.Figures, func(f Figure) bool { return f.Metric.Of == assay.OfRequest })
}

// Any reports whether a figure of some row is above 0.
func (t *Table) Any(metric string) bool {
	return slices.ContainsFunc(t.WithTwins(), func(r *Row) bool { f, has := r.Figure(metric); return has && f.Interval.Center > 0 })
}

// saturates reports whether the row's clients keep all processors busy without a pause, and not
// over HTTP: how long an operation takes is then up to who runs next.
func (r *Row) saturates(run assay.Run) bool {
	processors, err := strconv.Atoi(run.Host["cores"])
	return err == nil && r.Cell.AllClients() > processors && r.Cell.Rate == 0 && !r.Served()
}
