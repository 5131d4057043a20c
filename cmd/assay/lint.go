package main

import (
	"context"
	"fmt"
	"strings"

	"assay/internal/facts"
	"assay/internal/lint"

	"github.com/spf13/cobra"
)

// lintFlags are what the lint subcommand was asked for.
type lintFlags struct {
	format  string
	dir     string
	measure bool
}

func (a *app) lintCommand() *cobra.Command {
	var flags lintFlags
	cmd := &cobra.Command{
		Use:   "lint [PACKAGES]",
		Short: "Find settings of SQLite in Go source that never take effect at the driver version in go.mod",
		Long: `Reads Go packages (default ./...), finds where they open SQLite, and compares each setting with
what the driver does at the version that go.mod chooses. assay found that out by experiment: see
assay facts. A comment switches a rule off for its line and the next one:
  //assay:ignore RULE reason
Exit status 1: there are findings.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"./..."}
			}
			return a.lint(cmd.Context(), args, flags)
		},
	}
	cmd.Flags().StringVar(&flags.format, "format", "text", lint.Formats(version).Names())
	cmd.Flags().StringVar(&flags.dir, "dir", ".", "folder of the module")
	cmd.Flags().BoolVar(&flags.measure, "measure", false, "first find out about the drivers' versions that were not measured: builds each and takes minutes")
	return cmd
}

func (a *app) lint(ctx context.Context, patterns []string, flags lintFlags) error {
	format, err := lint.Formats(version).Named(flags.format)
	if err != nil {
		return usage(err)
	}
	table, err := factsTable()
	if err != nil {
		return err
	}
	if flags.measure {
		if err := a.measureUnmeasured(ctx, patterns, flags, table); err != nil {
			return lintError(ctx, err)
		}
	}
	result, err := lint.Run(ctx, flags.dir, patterns, table)
	if err != nil {
		return lintError(ctx, err)
	}
	if err := format.Write(a.stdout, result); err != nil {
		return err
	}
	a.lintNotes(result)
	if len(result.Findings) > 0 {
		return &exitError{status: statusFailed}
	}
	return nil
}

// lintNotes says on stderr what the findings do not cover.
func (a *app) lintNotes(result lint.Result) {
	for _, name := range result.Unmeasured {
		if driver, unknown := strings.CutSuffix(name, "@"); unknown {
			fmt.Fprintf(a.stderr, "assay: note: go.mod replaces the module of %s: its version is not known, and settings in its DSNs were not judged\n", driver)
			continue
		}
		fmt.Fprintf(a.stderr, "assay: note: %s was not measured: rules that need its facts have judged by measured versions on both sides, or not at all; assay lint --measure measures it\n", name)
	}
	for _, problem := range result.Broken {
		fmt.Fprintf(a.stderr, "assay: note: not read in full: %s\n", problem)
	}
	fmt.Fprintf(a.stderr, "assay: findings: %d; calls that open SQLite: %d; packages: %d; docs/lint.md explains each rule\n",
		len(result.Findings), result.Opens, result.Packages)
}

// lintError is the error of source that was not checked: status 1 would be
// taken for findings.
func lintError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return usage(err, "run it in the folder of a Go module that go list ./... can read, or name one with --dir")
}

// measureUnmeasured measures the drivers of the packages that have no facts.
func (a *app) measureUnmeasured(ctx context.Context, patterns []string, flags lintFlags, table *facts.Table) error {
	drivers, err := lint.Unmeasured(ctx, flags.dir, patterns, table)
	if err != nil || len(drivers) == 0 {
		return err
	}
	progress := newProgress(a, false)
	defer progress.close()
	l, err := a.lab(progress)
	if err != nil {
		return err
	}
	dir, err := factsDir()
	if err != nil {
		return err
	}
	for _, d := range drivers {
		f, err := measureFacts(ctx, l, d.Name+"@"+d.Version)
		if err == nil {
			_, err = f.Save(dir)
		}
		if err != nil {
			return err
		}
		table.Add(f)
	}
	return nil
}
