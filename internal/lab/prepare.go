package lab

import (
	"context"
	"errors"
	"fmt"

	"assay"
	"assay/internal/runner"
)

// prepare prepares a measurement. What the data refuse is a mistake of the plan, and so are
// two names of one build.
func prepare(ctx context.Context, config runner.Config) (*runner.Runner, error) {
	prepared, err := runner.Prepare(ctx, config)
	switch {
	case errors.As(err, new(*runner.MistakeError)):
		return nil, AsInputError(err, "correct the plan; assay plan check finds its mistakes without a run")
	case err != nil:
		return nil, err
	}
	return prepared, distinct(prepared.Targets())
}

// distinct refuses targets of which two are the same: their trials could not be told apart.
func distinct(targets []assay.Target) error {
	for i, t := range targets {
		for _, before := range targets[:i] {
			if sameBuild(before, t) {
				return AsInputError(fmt.Errorf("two names of drivers mean %s", t.Name()), "name it once, with its version or without")
			}
		}
	}
	return nil
}
