package oracle

import (
	"context"
	"slices"

	"assay/internal/dataset"
)

// AnyOrder reports whether the answer to the operation's check is known to be the same in every
// order in which clients commit: it is in the opposite one. State is the digest of the answer in
// the order of the sequence.
func (p Played) AnyOrder(ctx context.Context, state string) (bool, error) {
	warm := dataset.Span(0, p.Done.Warm)
	measured := dataset.Span(p.Done.Warm, p.Done.Warm+p.Done.Measured)
	slices.Reverse(warm)
	slices.Reverse(measured)
	// Both in one phase: the check is asked once, at the end.
	found, err := p.Data.ReplayedState(ctx, p.Operation, p.Trace, [][]int{append(warm, measured...)})
	if err != nil {
		return false, SystemError(ctx, err) // where the SQL fails, it depends on the order
	}
	return found == state, nil
}
