package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) buildCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "build DRIVER[@VERSION][:OPTION[=VALUE]]...",
		Short: "Build worker programs and print their paths",
		Args:  arguments(1, anyNumber),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := a.lab(false)
			if err != nil {
				return err
			}
			for _, arg := range args {
				worker, err := l.Build(cmd.Context(), arg)
				if err != nil {
					return err
				}
				fmt.Fprintln(a.stdout, worker.Program)
			}
			return nil
		},
	}
}
