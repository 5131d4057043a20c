package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"assay/internal/build"
	"assay/internal/scaffold"

	"github.com/spf13/cobra"
)

func (a *app) newWorkerCommand() *cobra.Command {
	var language string
	cmd := &cobra.Command{
		Use:   "new-worker NAME",
		Short: "Write a worker for a new driver, which passes its tests, into this checkout of assay",
		Long: "Write a worker for a new driver into this checkout of assay.\n\n" +
			"It is a copy of a worker that passes its tests, under the new name: change what is the driver's.\n" +
			"CONTRIBUTING.md says how.",
		Args: arguments(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			if spec, err := build.ParseSpec(args[0]); err != nil || spec.String() != spec.Name {
				return usage(fmt.Errorf("%q is no name of a worker: want letters, digits, - and _", args[0]))
			}
			if scaffold.Example(language) == "" {
				return usage(fmt.Errorf("--language %q: want one of %s", language, strings.Join(scaffold.Languages(), ", ")))
			}
			cache, err := cacheDir()
			if err != nil {
				return err
			}
			source, err := build.FindSource(cache)
			if err != nil {
				return err
			}
			dir, err := scaffold.Write(source.Dir, args[0], language)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.stdout, "%s: a copy of workers/%s under its name; change what is the driver's.\nTry it: assay check \"$(assay build %s)\"\n",
				dir, scaffold.Example(language), filepath.Base(dir))
			return nil
		},
	}
	cmd.Flags().StringVar(&language, "language", "", "what to write it in: "+strings.Join(scaffold.Languages(), ", "))
	return cmd
}
