package main

import (
	"fmt"

	"assay/internal/plan"
	"assay/internal/runner"

	"github.com/spf13/cobra"
)

func (a *app) planCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Check a plan, or print the format's schema",
		Args:  noSubcommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.planCheckCommand(), a.planSchemaCommand())
	return cmd
}

func (a *app) planCheckCommand() *cobra.Command {
	var drivers, only []string
	cmd := &cobra.Command{
		Use:   "check FILE|NAME",
		Short: "Report all mistakes of a plan, or what it measures and the minimum time for that",
		Args:  arguments(cobra.ExactArgs(1)),
		RunE:  func(_ *cobra.Command, args []string) error { return a.checkPlan(args[0], drivers, only) },
	}
	cmd.Flags().StringSliceVar(&drivers, "drivers", nil, "instead of the plan's: NAME[@VERSION],...")
	cmd.Flags().StringArrayVar(&only, "only", nil, "only cells with KEY=VALUE[,VALUE]; may be repeated")
	return cmd
}

func (a *app) checkPlan(name string, drivers, only []string) error {
	p, err := readPlan(name)
	if err != nil {
		return err
	}
	wanted, err := parseOnly(only)
	if err != nil {
		return err
	}
	cases, err := p.Expand(drivers)
	if err == nil {
		cases, err = plan.SelectToMeasure(cases, wanted)
	}
	if err != nil {
		return usage(err)
	}
	fmt.Fprintf(a.stdout, "plan %s is valid: %d cells, budget %s, %d launches of each cell at least\n",
		p.Name, len(cases), brief(p.Budget), p.Launches)
	_, err = fmt.Fprintf(a.stdout, "estimated minimum time to measure: %s\n", brief(runner.Estimate(cases, p.Launches)))
	return err
}

func (a *app) planSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of the plan format, for editors",
		Args:  arguments(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			schema, err := plan.Schema()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(a.stdout, string(schema))
			return err
		},
	}
}
