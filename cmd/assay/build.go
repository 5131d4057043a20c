package main

import (
	"context"
	"fmt"

	"assay/internal/build"

	"github.com/spf13/cobra"
)

func (a *app) buildCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "build DRIVER[@VERSION][:OPTION[=VALUE]]...",
		Short: "Build worker programs and print their paths",
		Args:  arguments(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := a.builder(false)
			if err != nil {
				return err
			}
			for _, arg := range args {
				worker, err := buildNamed(cmd.Context(), b, arg)
				if err != nil {
					return err
				}
				fmt.Fprintln(a.stdout, worker.Program)
			}
			return nil
		},
	}
}

// buildNamed builds the worker that a user names; a name that there is not is
// the user's to mend.
func buildNamed(ctx context.Context, b *build.Builder, name string) (build.Worker, error) {
	spec, err := build.ParseSpec(name)
	if err != nil {
		return build.Worker{}, usage(err, "assay drivers lists the drivers")
	}
	worker, err := b.Build(ctx, spec)
	if err != nil {
		if known, _ := b.Source.Drivers(); !hasDriver(known, spec.Name) {
			return build.Worker{}, usage(err, "assay drivers lists the drivers")
		}
	}
	return worker, err
}
