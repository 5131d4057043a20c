package main

import (
	"fmt"

	"assay/build"

	"github.com/spf13/cobra"
)

func (a *app) buildCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "build DRIVER[@VERSION]...",
		Short: "Build worker programs and print their paths",
		Args:  arguments(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := a.builder(false)
			if err != nil {
				return err
			}
			for _, arg := range args {
				spec, err := build.ParseSpec(arg)
				if err != nil {
					return usage(err, "assay drivers lists the drivers")
				}
				worker, err := b.Build(cmd.Context(), spec)
				if err != nil {
					if known, _ := b.Source.Drivers(); !hasDriver(known, spec.Name) {
						return usage(err, "assay drivers lists the drivers")
					}
					return err
				}
				fmt.Fprintln(a.stdout, worker.Program)
			}
			return nil
		},
	}
}
