package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"assay/internal/lab"
	"assay/internal/lint"
	"assay/internal/lint/facts"

	"github.com/spf13/cobra"
)

// lintFlags holds what the lint subcommand was asked for.
type lintFlags struct {
	outputs[lint.Result]
	dir     string
	measure bool
}

func (a *app) lintCommand() *cobra.Command {
	var flags lintFlags
	cmd := &cobra.Command{
		Use:   "lint [PACKAGES]",
		Short: "Find settings of SQLite that never take effect at the version in use, in Go source, Rails, Django and SQLAlchemy",
		Long: `Reads Go packages (default ./...), finds where they open SQLite, and compares each setting with
what the driver does at the version that go.mod chooses. assay determined this by experiment: see
assay facts. Where no packages are named, it also reads each config/database.yml of Rails, DATABASES
of Django and calls of SQLAlchemy's create_engine, with the versions in lock files. A comment
switches a rule off for its line and the next one:
  //assay:ignore RULE reason
Exit status 1: there are findings.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.lint(cmd.Context(), args, flags)
		},
	}
	flags.addFormat(cmd, lint.Formats(version))
	cmd.Flags().StringVar(&flags.dir, "dir", ".", "folder of the module")
	cmd.Flags().BoolVar(&flags.measure, "measure", false, "first measure the driver versions that have no facts, and misspelled parameters: builds each driver, which takes minutes")
	return cmd
}

func (a *app) lint(ctx context.Context, patterns []string, flags lintFlags) error {
	a.failed = statusUsage
	result, err := a.lintResult(ctx, patterns, flags)
	if err != nil {
		return lintError(ctx, err)
	}
	a.progress.close()
	if err := flags.write(a.stdout, result); err != nil {
		return err
	}
	a.lintNotes(result)
	if len(result.Findings) > 0 {
		return &exitError{status: statusFailed}
	}
	if !result.Checked() {
		return usage(errors.New("nothing was judged that uses SQLite, or not all of the source is there: the notes name what was seen"))
	}
	return nil
}

// lintResult checks packages, and, where none are named, files that configure
// other languages' libraries. Without a module of Go those are all there is.
func (a *app) lintResult(ctx context.Context, patterns []string, flags lintFlags) (lint.Result, error) {
	var result lint.Result
	table, err := a.factsTable()
	if err != nil {
		return result, err
	}
	if len(patterns) == 0 {
		if result, err = a.measured(ctx, flags, table, func() (lint.Result, error) { return lint.Configurations(ctx, flags.dir, table) }); err != nil {
			return result, err
		}
		bugs, err := lint.KnownBugs(ctx, flags.dir)
		if err != nil {
			return result, err
		}
		result.Add(bugs)
		if !lint.HasModule(flags.dir) {
			if result.Configurations == 0 {
				result.Seen++ // a lock file names a library, and what opens SQLite is not read
			}
			if result.Configurations+len(result.Findings)+len(result.NotJudged) == 0 {
				err = errors.New("nothing to check: there is no Go, and nothing by which Rails, Django or SQLAlchemy open SQLite; assay inspect DRIVER shows what settings become in any driver")
			}
			return result, err
		}
		patterns = []string{"./..."}
	}
	packages, err := a.measured(ctx, flags, table, func() (lint.Result, error) { return lint.Run(ctx, flags.dir, patterns, table) })
	if err != nil {
		return result, err
	}
	packages.Add(result)
	return packages, nil
}

// measured checks, and again with what was lacking, where that is to be measured.
func (a *app) measured(ctx context.Context, flags lintFlags, table *facts.Table, check func() (lint.Result, error)) (lint.Result, error) {
	result, err := check()
	again := func(lacks bool, measure func() error) {
		if err == nil && flags.measure && lacks {
			if err = measure(); err == nil {
				result, err = check()
			}
		}
	}
	again(len(result.Unmeasured) > 0, func() error { return a.measureUnmeasured(ctx, result.Unmeasured, table) })
	again(len(result.Untried) > 0, func() error { return a.tryUntried(ctx, result.Untried, table) })
	return result, err
}

// lintNotes says on stderr what the findings do not cover.
func (a *app) lintNotes(result lint.Result) {
	for _, name := range result.Unmeasured {
		if driver, unknown := strings.CutSuffix(name, "@"); unknown {
			fmt.Fprintf(a.stderr, "assay: note: go.mod replaces the module of %s: its version is not known, and settings in its DSNs were not judged\n", driver)
			continue
		}
		fmt.Fprintf(a.stderr, "assay: note: there are no facts about %s, and those about other versions do not tell what it does with what is written here; --measure measures it\n", name)
	}
	for _, problem := range result.Broken {
		fmt.Fprintf(a.stderr, "assay: note: not read in full: %s\n", problem)
	}
	configurations := ""
	if result.Configurations > 0 {
		configurations = fmt.Sprintf("; configurations of SQLite: %d", result.Configurations)
	}
	if len(result.Untried) > 0 {
		fmt.Fprintln(a.stderr, "assay: note: no experiment was made with misspelled parameters; --measure makes it")
	}
	fmt.Fprintf(a.stderr, "assay: findings: %d; not judged: %d; calls that open SQLite: %d; packages: %d%s; docs/reference.md explains each rule\n",
		len(result.Findings), len(result.NotJudged), result.Opens, result.Packages, configurations)
}

// lintError is the error of source that was not checked.
func lintError(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil || errors.As(err, new(*measuringError)):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return usage(err, "name the folder of the program with --dir")
	}
	return usage(err, "run it in the folder of a Go module that go list ./... can read, or of a program of Rails, Django or SQLAlchemy that configures SQLite, or name one with --dir")
}

// measuringError says why lint --measure could not measure something.
type measuringError struct{ error }

func (e *measuringError) Unwrap() error { return e.error }

// factsKeeper keeps what is measured for lint.
type factsKeeper struct {
	lab   *lab.Lab
	dir   string
	table *facts.Table
}

func (a *app) factsKeeper(table *facts.Table) (factsKeeper, error) {
	l, err := a.lab(false)
	if err != nil {
		return factsKeeper{}, err
	}
	dir, err := factsDir()
	return factsKeeper{l, dir, table}, err
}

// keep takes facts, or why there are none.
func (k factsKeeper) keep(f facts.Facts, err error) error {
	if err == nil {
		_, err = facts.Save(k.dir, f)
	}
	if err != nil {
		return &measuringError{err}
	}
	k.table.Add(f)
	return nil
}

// measureUnmeasured measures releases that have no facts. What go.mod replaces by a folder has
// no version.
func (a *app) measureUnmeasured(ctx context.Context, specs []string, table *facts.Table) error {
	k, err := a.factsKeeper(table)
	for _, spec := range specs {
		if err == nil && !strings.HasSuffix(spec, "@") {
			err = k.keep(factsOf(ctx, k.lab, spec))
		}
	}
	return err
}

// tryUntried makes experiments with parameters that are nearly known ones, and keeps
// their effects.
func (a *app) tryUntried(ctx context.Context, untried []lint.Untried, table *facts.Table) error {
	k, err := a.factsKeeper(table)
	if err != nil {
		return err
	}
	slips := map[lint.Driver][]facts.Slip{}
	for _, u := range untried {
		if !slices.ContainsFunc(slips[u.Driver], func(s facts.Slip) bool { return s.Written.String() == u.Written.String() }) {
			slips[u.Driver] = append(slips[u.Driver], u.Slip)
		}
	}
	for d, all := range slips {
		f, _ := table.Find(d.Name, d.Version)
		if err := k.keep(k.lab.TryInDSN(ctx, f, all)); err != nil {
			return err
		}
	}
	return nil
}
