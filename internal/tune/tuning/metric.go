package tuning

import (
	"fmt"
	"math"

	"assay"
)

// metric is what an operation is compared by, in the plan or in a condition: it is chosen once,
// by all trials of the current settings in the first launch, so that no mean is of two metrics.
func (t *Tuning) metric(where string, o assay.Case, trials []assay.Trial) string {
	key := where + "|" + o.Cell.Peer()
	if t.metrics[key] == "" {
		var current []*assay.Trial
		for _, trial := range trials {
			if t.isOf(trial, t.baseline(), o) {
				current = append(current, &trial)
			}
		}
		if t.metrics == nil {
			t.metrics = map[string]string{}
		}
		t.metrics[key] = assay.Primary(o.Cell, [][]*assay.Trial{current})
	}
	return t.metrics[key]
}

// gain is the natural logarithm of how much better a trial of an operation is; NaN where one of
// both has no such figure.
func (t *Tuning) gain(metric string, o assay.Case, now, then assay.Trial) float64 {
	before, known := now.Figures[metric]
	after, both := then.Figures[metric]
	if metric == assay.P99 && now.Outcome == assay.OK && then.Outcome == assay.OK && !(known && both) {
		t.noteOnce(fmt.Sprintf("launches of %s with too few requests for %s are not compared", operationName(o), metric))
	}
	m, _ := assay.MetricByName(metric)
	g := math.Log(before) - math.Log(after)
	if m.HigherBetter {
		g = -g
	}
	if math.IsInf(g, 0) {
		return math.NaN()
	}
	return g
}
