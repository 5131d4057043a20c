package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"assay/internal/build"
	"assay/internal/build/scaffold"

	"github.com/spf13/cobra"
)

func (a *app) newWorkerCommand() *cobra.Command {
	var language string
	cmd := &cobra.Command{
		Use:   "new-worker NAME",
		Short: "Write a worker for a new driver, which passes its tests, into the checkout of assay that you are in",
		Long: "Write a worker for a new driver into the checkout of assay that you are in.\n\n" +
			"It is a copy of a worker that passes its tests, under the new name: change the parts that depend on the driver.\n" +
			"CONTRIBUTING.md says how.",
		Args: arguments(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			if spec, err := build.ParseSpec(args[0]); err != nil || spec.String() != spec.Name {
				return usage(fmt.Errorf("%q is not a name for a worker: want letters, digits, - and _", args[0]))
			}
			if scaffold.Example(language) == "" {
				return usage(fmt.Errorf("--language %q: want one of %s", language, strings.Join(scaffold.Languages(), ", ")))
			}
			here, err := os.Getwd()
			if err != nil {
				return err
			}
			checkout, err := scaffold.Checkout(here)
			if err != nil {
				return err
			}
			dir, err := scaffold.Write(checkout, args[0], language)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.stdout, "%s: a copy of workers/%s under its name; change the parts that depend on the driver.\n%sTry it: %s\n",
				dir, scaffold.Example(language), sourceAdvice(checkout), howToCheck(os.Args[0], filepath.Base(dir)))
			return nil
		},
	}
	cmd.Flags().StringVar(&language, "language", "", "what to write it in: "+strings.Join(scaffold.Languages(), ", "))
	return cmd
}

// howToCheck is the command that checks a worker, for a shell, by the program as the user called it: in a
// checkout it is bin/assay, which no PATH has.
func howToCheck(program, worker string) string {
	if strings.ContainsAny(program, " '\"$`\\") {
		program = "assay"
	}
	return fmt.Sprintf(`%[1]s check "$(%[1]s build %[2]s)"`, program, worker)
}

// sourceAdvice tells how this program builds workers of a checkout, where it takes
// another.
func sourceAdvice(checkout string) string {
	cache, err := cacheDir()
	if err == nil {
		if source, err := build.FindSource(cache); err == nil && resolved(source.Dir) == resolved(checkout) {
			return ""
		}
	}
	return "This program takes workers from elsewhere: export ASSAY_SOURCE=" + checkout + "\n"
}

func resolved(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}
