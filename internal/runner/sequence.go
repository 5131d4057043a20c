//go:build unix

package runner

import (
	"context"
	"fmt"

	"assay"
)

// sequenceLength is how many positions the sequence of arguments has that an
// operation's windows use up. One that were shorter than what it draws from
// would have windows and launches read the same few rows again and again.
func sequenceLength(ctx context.Context, j *job) (int, error) {
	if j.mode != assay.Windows {
		return minSequence, nil
	}
	choices, err := j.data.Choices(ctx, j.Operation, maxSequence)
	if err != nil {
		return 0, err
	}
	length := int(min(max(choices, minSequence), maxSequence))
	j.unreached = max(0, choices-int64(length))
	return length, nil
}

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
