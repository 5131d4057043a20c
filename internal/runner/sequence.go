//go:build unix

package runner

import (
	"fmt"

	"assay"
)

// sequenceWarning is about an operation whose sequence cannot reach all that it
// draws from.
func (j *job) sequenceWarning() []assay.Warning {
	if j.unreached == 0 {
		return nil
	}
	all := j.unreached + int64(j.trace.Length)
	return []assay.Warning{{Code: "short-sequence",
		Evidence: fmt.Sprintf("the sequence of arguments has %d positions and draws from %d values: at least %.0f %% of them are never used",
			j.trace.Length, all, 100*float64(j.unreached)/float64(all)),
		Advice: "read the figure as one of a working set of that size, or measure a mix, whose sequence is as long as its count"}}
}
