package main

import (
	"context"
	"errors"

	"assay/internal/analysis"
	"assay/internal/lab"
	"assay/internal/report"

	"github.com/spf13/cobra"
)

func (a *app) noiseCommand() *cobra.Command {
	var flags runFlags
	var driver string
	cmd := &cobra.Command{
		Use:   "noise",
		Short: "Run A/A tests on this machine: its noise, its false-positive rate, and the smallest difference that it can show",
		Long: `Measures a driver against itself: how much the figures of equal things spread,
how often a difference is found that is none, and the smallest difference that one and ten minutes
can show.`,
		Args:       arguments(0, 0),
		SuggestFor: []string{"null"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkBudget(cmd, flags.budget); err != nil {
				return err
			}
			if driver != "" {
				flags.drivers = []string{driver}
			}
			return a.noise(cmd.Context(), flags)
		},
	}
	cmd.Flags().DurationVar(&flags.budget, "budget", 0, budgetHelp)
	cmd.Flags().StringVar(&driver, "driver", "", "driver to measure with (default the plan's)")
	cmd.Flags().BoolVar(&flags.resume, "resume", false, "resume the latest unfinished run of assay noise")
	return cmd
}

const noisePlan = "alike"

// noise runs the A/A tests and shows what they say about the machine.
func (a *app) noise(ctx context.Context, flags runFlags) error {
	request, err := flags.request(noisePlan)
	if err != nil {
		return err
	}
	s, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	result, err := a.measure(ctx, s, a.commandLine("noise", "--resume"), request, false)
	if err != nil {
		return err
	}
	r, err := lab.Analyze(ctx, s, result.ID)
	if err != nil {
		return err
	}
	if err := report.WriteNoise(analysis.NewNoise(r), a.stdout); err != nil {
		return err
	}
	return a.checkCells(r)
}

// checkCells fails where cells of a run ended badly.
func (a *app) checkCells(r *analysis.Result) error {
	if !r.Failed() {
		return nil
	}
	return &exitError{status: statusFailed, err: errors.New("some cells failed: see which and why with: " + a.commandLine("report", r.Run.ID))}
}
