//go:build unix

package runner

import (
	"context"
	"errors"

	"assay/internal/dataset"
)

// MistakeError is a mistake of the plan that its data show: SQL that they refuse, other
// rows or types than the plan declares.
type MistakeError struct{ err error }

func (e *MistakeError) Error() string { return e.err.Error() }
func (e *MistakeError) Unwrap() error { return e.err }

// asMistake makes an error a mistake of the plan where the data refuse what it asks for.
func asMistake(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.As(err, new(*failure)) || errors.Is(err, context.DeadlineExceeded) || !dataset.IsRefusal(err) {
		return err
	}
	return &MistakeError{err}
}
