package lab

import (
	"context"
	"errors"

	"assay/internal/runner"
)

// prepare prepares a measurement. What the data refuse is a mistake of the plan.
func prepare(ctx context.Context, config runner.Config) (*runner.Runner, error) {
	prepared, err := runner.Prepare(ctx, config)
	var mistake *runner.MistakeError
	if errors.As(err, &mistake) {
		return nil, AsInputError(err, "correct the plan; assay plan check finds its mistakes without a run")
	}
	return prepared, err
}
