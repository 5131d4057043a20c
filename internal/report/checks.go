package report

import (
	"slices"
	"strings"

	"assay"
)

// extents are the extents of checks, the smallest first, with what each
// compared with the expected answers.
var extents = []struct {
	check assay.Check
	words string
}{
	{assay.CheckRows, "only the number of rows of each operation"},
	{assay.CheckAnswers, "the number of rows of each operation, and the answers of reading operations at some positions before and after measuring; answers inside the measured part were counted, not compared, except over HTTP"},
	{assay.CheckKeys, "the number of rows of each operation; in a mix, the answers of its reading operations at some positions; after the block a sample of the keys, of tables the keys of rows: each held a value that was written to it; the newest where one client wrote last, and of several that clients wrote at the same time any"},
	{assay.CheckState, "the number of rows of each operation; in a mix, the answers of its reading operations at some positions; after the block all that the plan's check reads, or the whole store"},
}

// addChecks says once how much of the answers was checked. Runs of earlier
// versions did not record it.
func (r *Report) addChecks(d *document) {
	operations := map[assay.Check][]string{}
	for _, t := range r.Tables {
		for _, row := range t.Rows {
			for _, trial := range row.Trials {
				name := row.Cell.Operation
				if trial.Outcome == assay.OK && !slices.Contains(operations[trial.Checked], name) {
					operations[trial.Checked] = append(operations[trial.Checked], name)
				}
			}
		}
	}
	delete(operations, assay.CheckUnknown)
	if len(operations) == 0 {
		return
	}
	d.add(paragraph, "Answers checked:")
	for _, e := range extents {
		if names := operations[e.check]; len(names) > 0 {
			d.add(item, "%s: %s", strings.Join(names, ", "), e.words)
		}
	}
}
