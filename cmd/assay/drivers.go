package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"assay/build"
	"assay/kit/process"
	"assay/kit/wire"

	"github.com/spf13/cobra"
)

func (a *app) driversCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "drivers",
		Short: "List the drivers with their versions; with --build also what each worker says of itself",
		Args:  arguments(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.listDrivers(cmd.Context(), all) },
	}
	cmd.Flags().BoolVar(&all, "build", false, "build and start every worker")
	return cmd
}

func (a *app) listDrivers(ctx context.Context, all bool) error {
	b, err := a.builder(false)
	if err != nil {
		return err
	}
	drivers, err := b.Source.Drivers()
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "DRIVER\tVERSION\tENGINE\tABOUT")
	var problems []string
	for _, d := range drivers {
		engine := "-"
		if all {
			target, err := a.identify(ctx, b, d.Name)
			switch {
			case err == nil:
				engine = target.Engine + " " + target.EngineVersion
			case ctx.Err() != nil:
				return &exitError{status: statusInterrupted, err: errors.New("interrupted")}
			default:
				engine = "not available"
				problems = append(problems, d.Name+": "+err.Error())
			}
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", d.Name, orDash(d.Version), engine, d.About)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(problems) > 0 {
		fmt.Fprintln(a.stdout, "\n"+strings.Join(problems, "\n"))
	}
	return nil
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// identify builds a worker and asks what it is.
func (a *app) identify(ctx context.Context, b *build.Builder, name string) (wire.Target, error) {
	built, err := b.Build(ctx, build.Spec{Name: name})
	if err != nil {
		return wire.Target{}, err
	}
	worker, err := process.Start(ctx, built.Program, processOptions(a, ""))
	if err != nil {
		return wire.Target{}, err
	}
	_, err = worker.Stop(ctx)
	return worker.Hello().Target, err
}
