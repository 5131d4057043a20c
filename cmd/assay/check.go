package main

import (
	"fmt"
	"strings"

	"assay/internal/analysis/wording"
	"assay/kit/process"
	"assay/kit/workertest"

	"github.com/spf13/cobra"
)

func (a *app) checkCommand() *cobra.Command {
	options := workertest.Options{}
	cmd := &cobra.Command{
		Use:   "check WORKER",
		Short: "Run the conformance suite against a worker program, in any language",
		Long: "Run the conformance suite against a worker program, in any language.\n\n" +
			"Each check that applies starts the program anew, in a fresh folder. docs/protocol.md has the rules that they hold.\n" +
			"ASSAY_TRACE=wire copies the messages to and from the worker to stderr.",
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			program, err := process.Find(args[0])
			if err != nil {
				return usage(err, "assay build DRIVER prints the path of a built worker")
			}
			options.Trace = a.wireTrace()
			if len(workertest.Names(options)) == 0 {
				return usage(fmt.Errorf("--only %s matches no check", strings.Join(options.Only, ",")), "docs/protocol.md has parts of their names")
			}
			a.cleansUp.Store(true)
			var passed, failed, skipped int
			for result := range workertest.Run(cmd.Context(), program, options) {
				fmt.Fprintln(a.stdout, result)
				switch {
				case result.Skipped:
					skipped++
				case result.OK:
					passed++
				default:
					failed++
				}
			}
			if cmd.Context().Err() != nil {
				return cmd.Context().Err()
			}
			fmt.Fprintf(a.stdout, "%d passed, %d failed, %d skipped\n", passed, failed, skipped)
			if failed > 0 {
				return &exitError{status: statusFailed, err: fmt.Errorf("%s failed", wording.Plural(failed, "check"))}
			}
			return nil
		},
	}
	cmd.Flags().StringSliceVar(&options.Only, "only", nil, "run only the checks whose names contain this; may be repeated")
	return cmd
}
