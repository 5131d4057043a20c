package main

import (
	"context"
	"io"
	"time"

	"assay/internal/analysis"
	"assay/internal/report"

	"github.com/spf13/cobra"
)

func (a *app) nullCommand() *cobra.Command {
	var budget time.Duration
	var driver string
	cmd := &cobra.Command{
		Use:   "null",
		Short: "Compare this machine with itself: its noise, false alarms, and the smallest difference that it can show",
		Args:  arguments(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.null(cmd.Context(), driver, budget) },
	}
	cmd.Flags().DurationVar(&budget, "budget", 0, "time to measure, builds excluded (default the plan's)")
	cmd.Flags().StringVar(&driver, "driver", "", "driver to measure with (default the plan's)")
	return cmd
}

// null runs the plan alike, whose own report says little, and reads the result.
func (a *app) null(ctx context.Context, driver string, budget time.Duration) error {
	flags := runFlags{budget: budget}
	if driver != "" {
		flags.drivers = []string{driver}
	}
	quiet := *a
	quiet.stdout = io.Discard
	if err := quiet.run(ctx, "alike", flags); err != nil {
		return err
	}
	s, err := a.readStore(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	r, err := loadReport(ctx, s, "")
	if err != nil {
		return err
	}
	return report.WriteNull(analysis.NewNull(r), a.stdout)
}
