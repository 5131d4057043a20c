package main

import (
	"context"
	"errors"
	"fmt"

	"assay/internal/analysis"
	"assay/internal/lab"
	"assay/internal/report"

	"github.com/spf13/cobra"
)

func (a *app) compareCommand() *cobra.Command {
	var run string
	var out outputs[*analysis.Versus]
	cmd := &cobra.Command{
		Use:   "compare A B",
		Short: "Compare two runs, or two drivers, versions or profiles of one run",
		Long: `Compare two runs, or two drivers, versions or profiles of one run.

A and B are two runs, as assay runs lists them, or what a run has: a driver
(mattn), a driver's version (mattn@v1.14.37), compile options (mattn:DQS=0), a
profile (web), or any coordinate (clients=8). Cells that are alike in all else
are compared: by launch within a run. Launches of two runs are not paired.`,
		Args: arguments(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.compare(cmd.Context(), args[0], args[1], run, out)
		},
	}
	cmd.Flags().StringVar(&run, "run", "", "the run that has both; the newest by default")
	out.addFormat(cmd, report.VersusFormats)
	return cmd
}

func (a *app) compare(ctx context.Context, first, second, run string, out outputs[*analysis.Versus]) error {
	s, err := a.readStore(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	sides, err := lab.Sides(ctx, s, [2]string{first, second}, run)
	if err != nil {
		return err
	}
	versus, err := analysis.NewVersus(sides[0], sides[1])
	if errors.Is(err, analysis.ErrUnlikeSides) || errors.Is(err, analysis.ErrSeveralBuilds) || errors.Is(err, analysis.ErrSameSide) {
		return usage(err, "name two drivers, two versions, two profiles, or two values of one coordinate")
	}
	if err != nil {
		return err
	}
	if len(versus.Lines) == 0 {
		return usage(fmt.Errorf("no cell of %s matches one of %s in all other coordinates", first, second), "assay report shows the cells of a run")
	}
	return out.write(a.stdout, versus)
}
