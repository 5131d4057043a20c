package oracle

import (
	"context"
	"slices"

	"assay/internal/dataset"
)

// AnyOrder reports whether the answer to the operation's check is known to be the same in every
// order in which clients commit: it is in the opposite one and in shuffled ones. State is the
// digest of the answer in the order of the sequence.
func (p Played) AnyOrder(ctx context.Context, state string) (bool, error) {
	measured := p.Done.Warm + p.Done.Measured
	for _, order := range otherOrders(p.random(), [][]int{dataset.Span(0, p.Done.Warm), dataset.Span(p.Done.Warm, measured)}) {
		// Both in one phase: the check is asked once, at the end.
		found, err := p.Data.ReplayedState(ctx, p.Operation, p.Trace, [][]int{slices.Concat(order...)})
		if err != nil || found != state {
			return false, SystemError(ctx, err) // where the SQL fails, it depends on the order
		}
	}
	return true, nil
}
