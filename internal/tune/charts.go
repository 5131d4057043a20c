package tune

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay"
	"assay/internal/analysis/wording"
	"assay/internal/doc"
	"assay/internal/doc/chart"
)

// curves draw what the search saw of each setting with more than two values.
func (r *Report) curves() *chart.Chart {
	facets := &chart.Facets{Alike: true}
	var words []string
	for j := range r.Space.Factors {
		points, tick := r.curve(j)
		if len(points) < 3 {
			continue
		}
		lines := &chart.Lines{X: chart.Axis{Label: "value of the setting", Tick: tick, Log: points[0].X > 0 && points[len(points)-1].X >= 10*points[0].X},
			Y:      chart.Axis{Label: "time per operation, relative to the value that the search began with: less is better", Log: true, Tick: func(v float64) string { return wording.Significant(v, 2) + "x" }},
			Series: []chart.Curve{{Name: "with the other settings of the best combination", Points: points}}}
		title := r.Space.Factors[j].Name + ": " + doc.Bend(lines, false)
		facets.Panels, words = append(facets.Panels, chart.Facet{Title: title, Lines: lines}), append(words, title)
	}
	if len(words) == 0 {
		return nil
	}
	return &chart.Chart{Title: "What each value does, as the search saw it: these figures are not confirmed", Description: strings.Join(words, "; ") + ". The table of the settings has all figures.", Body: facets}
}

// curve returns how the time depends on a factor, with the words of its values; values that are not
// numbers stand in the order in which they were tried.
func (r *Report) curve(factor int) ([]chart.Point, func(float64) string) {
	points, names := []chart.Point{{Y: chart.Interval{Low: 1, Center: 1, High: 1}}}, []string{r.valueOf(factor, 0)}
	for _, e := range r.Outcome.Effects {
		if e.Factor == factor && e.Gain.Center > 0 {
			points, names = append(points, chart.Point{Y: doc.Drawable(e.Gain.Inverse())}), append(names, r.valueOf(factor, e.Level))
		}
	}
	at, numbers := make([]float64, len(names)), true
	for i, name := range names {
		v, err := strconv.ParseFloat(name, 64)
		first, _ := strconv.ParseFloat(names[0], 64)
		at[i], numbers = math.Abs(v), numbers && err == nil && v*first >= 0 // cache_size counts KiB below 0
	}
	words := map[float64]string{}
	for i, name := range names {
		if !numbers {
			at[i] = float64(i)
		}
		points[i].X, words[at[i]] = at[i], name
	}
	slices.SortFunc(points, func(a, b chart.Point) int { return cmp.Compare(a.X, b.X) })
	return points, func(v float64) string { return words[v] }
}

// valueOf returns what a level of a factor sets, in words.
func (r *Report) valueOf(factor, level int) string {
	levels := r.Space.Factors[factor].Levels
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(levels[len(levels)-1].Settings)) {
		parts = append(parts, wording.Setting(name, cmp.Or(levels[level].Settings[name], r.Effective[name], "current")))
	}
	return wording.Clean(strings.Join(parts, " "))
}

// priceChart draws what other classes of durability cost or give.
func (r *Report) priceChart() *chart.Chart {
	points := map[string]chart.Point{string(r.Class): {Y: chart.Interval{Low: 1, Center: 1, High: 1}}}
	for _, p := range r.Outcome.Prices {
		if p.Gain.Center > 0 {
			points[p.Class] = chart.Point{Y: doc.Drawable(p.Gain)}
		}
	}
	curve, words := chart.Curve{Name: "the best combination"}, map[float64]string{}
	for at, class := range assay.Durabilities[1:] {
		if p, has := points[string(class)]; has {
			p.X, words[float64(at)] = float64(at), string(class)
			curve.Points = append(curve.Points, p)
		}
	}
	if r.Class == assay.DurabilityUnknown || len(curve.Points) < 2 {
		return nil
	}
	return &chart.Chart{Title: "The price of durability", Description: strings.Join(r.prices(), ", ") + ", relative to " + string(r.Class) + ", the class that was asked for.",
		Body: &chart.Lines{X: chart.Axis{Label: "class of durability, stronger to the right", Tick: func(v float64) string { return words[v] }},
			Y:      chart.Axis{Label: "how many times as fast", Tick: func(v float64) string { return wording.Digits(v) + "x" }},
			Series: []chart.Curve{curve}}}
}
