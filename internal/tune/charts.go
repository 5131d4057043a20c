package tune

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"assay"
	"assay/internal/analysis/wording"
	"assay/internal/doc"
	"assay/internal/doc/chart"
)

func tickRatio(v float64) string { return wording.Digits(v) + "x" }

// raceChart draws the candidates over the blocks of the race, those first that were in
// it longest.
func (r *Report) raceChart() *chart.Chart {
	candidates := r.candidates()
	if len(candidates) == 0 {
		return nil
	}
	rows := &chart.Rows{Dots: "a block", Panels: []chart.Panel{{Line: 1, BandLow: 1 / (1 + r.Margin), BandHigh: 1 + r.Margin,
		Axis: chart.Axis{Label: "how many times as fast as the current settings, log scale", Log: true, Tick: tickRatio}}}}
	for _, c := range candidates {
		row := chart.Row{Section: "in " + wording.Plural(c.blocks, "block"), Name: wording.Clean(c.name)}
		if c.gain.N == 0 {
			row.Text = "not measured"
		} else {
			cell := chart.Cell{Marks: []chart.Interval{doc.Drawable(c.gain)}, Text: ratio(c.gain)}
			for _, g := range c.gains {
				if !math.IsNaN(g) {
					cell.Dots = append(cell.Dots, math.Exp(g))
				}
			}
			row.Cells = []chart.Cell{cell}
		}
		rows.Rows = append(rows.Rows, row)
	}
	return &chart.Chart{Title: "The race", Description: fmt.Sprintf("%s over %s: %s was in it longest and has %s.", wording.Plural(len(candidates), "candidate"),
		wording.Plural(len(r.Outcome.Blocks), "block"), wording.Clean(candidates[0].name), ratio(candidates[0].gain)), Body: rows}
}

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
			Y:      chart.Axis{Label: "how many times as fast", Tick: tickRatio},
			Series: []chart.Curve{{Name: "the best combination", Points: points}}}}
}
