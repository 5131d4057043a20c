package oracle

import (
	"context"
	"slices"

	"assay/internal/dataset"
)

// Ordered reports whether the answer to the operation's check depends on the order in
// which clients commit: in the opposite order it is another one, or the SQL fails. State is
// the digest of the answer in the order of the sequence. It is false with the error of the
// context where there is no time to find out: the check holds until it is known not to.
func (p Played) Ordered(ctx context.Context, state string) (bool, error) {
	warm := dataset.Span(0, p.Done.Warm)
	measured := dataset.Span(p.Done.Warm, p.Done.Warm+p.Done.Measured)
	slices.Reverse(warm)
	slices.Reverse(measured)
	// Both in one phase: the check is asked once, at the end.
	found, err := p.Data.ReplayedState(ctx, p.Operation, p.Trace, [][]int{append(warm, measured...)})
	if err != nil {
		err = SystemError(ctx, err)
		return err == nil, err
	}
	return found != state, nil
}
