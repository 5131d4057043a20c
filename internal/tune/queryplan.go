package tune

import (
	"slices"

	"assay/internal/dataset/queryplan"
)

// Unindexed says of a query plan, as EXPLAIN QUERY PLAN prints it, which tables it
// reads from end to end without an index, and of which it makes an index for each
// query. An index of these may be worth more than any setting.
func Unindexed(plan string) []string {
	var all []string
	for _, step := range queryplan.Parse(plan) {
		text := ""
		switch {
		case step.Automatic:
			text = "makes an index of " + step.Table + " for each query"
		case step.Unindexed():
			text = "reads all of " + step.Table
		}
		if text != "" && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}
