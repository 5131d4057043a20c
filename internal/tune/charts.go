package tune

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"assay"
	"assay/internal/analysis/wording"
	"assay/internal/doc"
	"assay/internal/doc/chart"
)

// priceChart draws what other classes of durability cost or give.
func (r *Report) priceChart() *chart.Chart {
	own := slices.Index(assay.Durabilities, r.Class)
	points := []chart.Point{{X: float64(own), Y: chart.Interval{Low: 1, Center: 1, High: 1}}}
	words := []string{string(r.Class) + " 1x"}
	for _, p := range r.Outcome.Prices {
		if at := slices.Index(assay.Durabilities, assay.Durability(p.Class)); at >= 0 && p.Gain.Center > 0 {
			points = append(points, chart.Point{X: float64(at), Y: doc.Drawable(p.Gain)})
			words = append(words, p.Class+" "+ratio(p.Gain))
		}
	}
	if own < 1 || len(points) < 2 {
		return nil
	}
	slices.SortFunc(points, func(a, b chart.Point) int { return cmp.Compare(a.X, b.X) })
	tick := func(v float64) string {
		if at := int(math.Round(v)); math.Abs(v-float64(at)) < 1e-9 && at > 0 && at < len(assay.Durabilities) {
			return string(assay.Durabilities[at])
		}
		return ""
	}
	return &chart.Chart{Title: "The price of durability", Description: strings.Join(words, ", ") + ", relative to the class that was asked for.",
		Body: &chart.Lines{X: chart.Axis{Label: "class of durability, stronger to the right", Tick: tick},
			Y:      chart.Axis{Label: "how many times as fast", Tick: func(v float64) string { return wording.Digits(v) + "x" }},
			Series: []chart.Curve{{Name: "the best combination", Points: points}}}}
}
