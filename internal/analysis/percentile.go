package analysis

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"assay"
	"assay/internal/stat"
)

// pool adds a trial's latencies to those of the cell.
func (c *cell) pool(t assay.Trial) {
	if !t.Measured() {
		return
	}
	if c.latencies == nil {
		c.latencies = map[bool]map[int64]int64{false: {}, true: {}}
	}
	for _, b := range t.Histogram {
		c.latencies[t.Disqualified][b.Upper] += b.Count
	}
}

// pooled are the latencies of the trials that count.
func (c *cell) pooled(keepsDisturbed bool) map[int64]int64 {
	all := maps.Clone(c.latencies[false])
	if keepsDisturbed {
		for upper, count := range c.latencies[true] {
			all[upper] += count
		}
	}
	return all
}

// addPooledPercentiles adds the percentiles that no launch has enough
// operations for, but all of them together have. They have no interval: there
// is one figure, not one a launch.
func (r *Row) addPooledPercentiles(latencies map[int64]int64) {
	uppers := slices.Sorted(maps.Keys(latencies))
	counts := make([]int64, len(uppers))
	for i, upper := range uppers {
		counts[i] = latencies[upper]
	}
	for name, p := range assay.Percentiles {
		if _, has := r.Figure(name); has {
			continue
		}
		if value, ok := stat.Percentile(uppers, counts, p); ok {
			metric, _ := assay.MetricByName(name)
			one := stat.MeanInterval([]float64{value}) // without an interval
			one.N = len(r.Counted())
			r.Figures = append(r.Figures, Figure{Metric: metric, Interval: one})
		}
	}
	slices.SortFunc(r.Figures, byMetric)
}

// byMetric orders figures as tables show them.
func byMetric(a, b Figure) int {
	return cmp.Or(MetricOrder(a.Metric.Name)-MetricOrder(b.Metric.Name), strings.Compare(a.Metric.Name, b.Metric.Name))
}
