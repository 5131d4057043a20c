package main

import (
	"cmp"
	"fmt"
	"slices"

	"assay"
)

// timeShares says what the time of a run's launches went into: the measured
// part first, and then the largest others.
func timeShares(spent assay.Spent) string {
	if spent.Total() == 0 {
		return ""
	}
	text := fmt.Sprintf(", %.0f %% of it inside measured windows and blocks", 100*spent.Share(assay.StageMeasured))
	var others []assay.Stage
	for stage := range spent {
		if stage != assay.StageMeasured && spent.Share(stage) >= 0.02 {
			others = append(others, stage)
		}
	}
	slices.SortFunc(others, func(a, b assay.Stage) int {
		return cmp.Or(cmp.Compare(spent[b], spent[a]), cmp.Compare(a, b))
	})
	for i, stage := range others {
		text += fmt.Sprintf("%s%s %.0f %%", []string{" (", ", "}[min(i, 1)], stage, 100*spent.Share(stage))
	}
	if len(others) > 0 {
		text += ")"
	}
	return text
}
