package report

import (
	"fmt"
	"io"
	"time"

	"assay/internal/analysis"
	"assay/internal/analysis/wording"
	"assay/internal/doc"
	"assay/internal/stat"
)

// WriteNoise prints what A/A tests say about a machine.
func WriteNoise(n analysis.Noise, w io.Writer) error {
	var d doc.Document
	d.Add(doc.Heading, "A/A tests of this machine")
	g := &doc.Grid{Header: []string{"operation", "comparisons", "false positives", "spread between launches", "shown in 1 minute", "shown in 10 minutes"},
		Right: []bool{false, true, true, true, true, true}}
	pairs, alarms := 0, 0
	for _, k := range n.Kinds {
		pairs, alarms = pairs+k.Pairs, alarms+k.Alarms
		g.Rows = append(g.Rows, []string{wording.Clean(k.Operation), fmt.Sprint(k.Pairs), fmt.Sprint(k.Alarms), percent(k.Spread),
			shown(k, time.Minute), shown(k, 10*time.Minute)})
	}
	rate := stat.Share(alarms, pairs)
	d.Add(doc.Paragraph, "%d A/A comparisons; %d reported a difference: false-positive rate %s [%s, %s]. With 95 %% confidence intervals it should be about 5 %%.",
		pairs, alarms, percent(rate.Center), percent(rate.Low), percent(rate.High))
	d = append(d, doc.Block{Kind: doc.Table, Grid: g})
	d.Add(doc.Footnote, "%s", "Shown: the smallest difference between two targets that 80 % of runs of that length find, if a launch takes as long as here.")
	return doc.WriteText(w, d, 0)
}

func shown(k analysis.NoiseKind, within time.Duration) string {
	difference, launches, ok := k.Smallest(within)
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%s (%s)", percent(difference), wording.Plural(launches, "launch"))
}

func percent(share float64) string {
	if !analysis.Finite(share) {
		return "-"
	}
	return fmt.Sprintf("%.2g %%", 100*share)
}
