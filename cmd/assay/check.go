package main

import (
	"fmt"

	"assay/kit/process"
	"assay/kit/workertest"

	"github.com/spf13/cobra"
)

func (a *app) checkCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check WORKER",
		Short: "Run the conformance suite against a worker program, in any language",
		Args:  arguments(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			program, err := process.Find(args[0])
			if err != nil {
				return usage(err, "assay build DRIVER prints the path of a built worker")
			}
			failed := 0
			for result := range workertest.Run(cmd.Context(), program) {
				fmt.Fprintln(a.stdout, result)
				if !result.OK {
					failed++
				}
			}
			if cmd.Context().Err() != nil {
				return cmd.Context().Err()
			}
			if failed > 0 {
				return &exitError{status: statusFailed, err: fmt.Errorf("%d checks failed", failed)}
			}
			return nil
		},
	}
}
