package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay"
	"assay/internal/emit"
	"assay/internal/file"
	"assay/internal/plan"
	"assay/internal/tune"

	"github.com/spf13/cobra"
)

// tuneFlags are what the tune subcommand was asked for.
type tuneFlags struct {
	durability    string
	memory        string
	budget        time.Duration
	current       string
	drivers       []string
	only          []string
	singleProcess bool
	emit          string
	format        string
	outputs       []string
	resume        bool
	quiet         bool
}

// defaultTuneBudget is the time to measure.
const defaultTuneBudget = 20 * time.Minute

func (a *app) tuneCommand() *cobra.Command {
	var flags tuneFlags
	cmd := &cobra.Command{
		Use:   "tune PLAN",
		Short: "Find the settings for a plan's schema and queries, under a durability and a memory constraint",
		Long: `Measures what indexes and ANALYZE would do. Then searches the settings of SQLite, Badger or
Pebble for those that make the plan's operations faster, without promising less about the data
and without taking more memory than it may. It screens all settings, lets the best combinations
compete, drops each setting that does not matter, and measures what is left in fresh launches on
new data: only these figures are reported. "Nothing beats yours" is an answer, too.
  assay tune app.yaml --durability power --memory 256M --budget 20m --emit go-modernc
The settings in use are those of a profile of the plan, the first or --current.
Exit status 1: tune could not do its work.`,
		Args: arguments(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(checkBudget(cmd, flags.budget), flags.check()); err != nil {
				return err
			}
			return a.tune(cmd.Context(), args[0], flags)
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.durability, "durability", "", "class that every candidate keeps: "+strings.Join(tune.Classes(), ", ")+" (default that of the current settings)")
	f.StringVar(&flags.memory, "memory", "256M", "memory that the caches of all connections may take, with what is mapped")
	f.DurationVar(&flags.budget, "budget", defaultTuneBudget, "time to measure, builds excluded")
	f.StringVar(&flags.current, "current", "", "profile of the plan with the settings in use (default the first)")
	f.StringSliceVar(&flags.drivers, "drivers", nil, "driver in use, and others that may replace it (default the plan's first)")
	f.StringArrayVar(&flags.only, "only", nil, "measure only cells with KEY=VALUE[,VALUE]; may be repeated")
	f.BoolVar(&flags.singleProcess, "single-process", false, "no other process has the file: locks that shut it out are candidates")
	f.StringVar(&flags.emit, "emit", "", "print the proposal as configuration, too: "+strings.Join(emit.Ecosystems(), ", "))
	f.StringVar(&flags.format, "format", "text", tune.Formats().Names())
	f.StringArrayVarP(&flags.outputs, "output", "o", nil, "also write FORMAT=FILE; may be repeated")
	f.BoolVar(&flags.resume, "resume", false, "resume the latest tuning of this plan with these flags")
	f.BoolVar(&flags.quiet, "quiet", false, "show no progress")
	return cmd
}

// words are the flags that decide what is measured, as one writes them.
func (f tuneFlags) words() []string {
	words := []string{"--memory", f.memory, "--budget", f.budget.String()}
	for _, one := range []struct{ name, value string }{{"durability", f.durability}, {"current", f.current}, {"drivers", strings.Join(f.drivers, ",")}, {"emit", f.emit}} {
		if one.value != "" {
			words = append(words, "--"+one.name, one.value)
		}
	}
	for _, only := range f.only {
		words = append(words, "--only", only)
	}
	if f.singleProcess {
		words = append(words, "--single-process")
	}
	return words
}

// check refuses flags that have no meaning.
func (f tuneFlags) check() error {
	if f.durability != "" && !slices.Contains(tune.Classes(), f.durability) {
		return usage(plan.Unknown("class of durability", f.durability, tune.Classes()))
	}
	if _, err := bytesOf(f.memory); err != nil {
		return usage(fmt.Errorf("--memory %w", err))
	}
	if f.emit != "" && !slices.Contains(emit.Ecosystems(), f.emit) {
		return usage(plan.Unknown("ecosystem", f.emit, emit.Ecosystems()))
	}
	if _, err := tune.Formats().Named(f.format); err != nil {
		return usage(err)
	}
	for _, output := range f.outputs {
		name, path, _ := strings.Cut(output, "=")
		if _, err := tune.Formats().Named(name); err != nil || path == "" {
			return usage(fmt.Errorf("--output %q: want FORMAT=FILE, with one of the formats %s", output, tune.Formats().Names()))
		}
		if _, err := os.Stat(filepath.Dir(path)); err != nil {
			return usage(fmt.Errorf("--output %q: %w", output, err))
		}
	}
	return nil
}

// bytesOf reads an amount of memory, such as 256M, 1GiB or 1000000.
func bytesOf(text string) (int64, error) {
	digits := strings.TrimRight(strings.ToUpper(text), "IB")
	factor := int64(1)
	for i, unit := range []string{"K", "M", "G"} {
		if rest, ok := strings.CutSuffix(digits, unit); ok {
			digits, factor = rest, 1<<(10*(i+1))
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n <= 0 || n > 1<<40/factor {
		return 0, fmt.Errorf("%q: want an amount of memory such as 256M", text)
	}
	return n * factor, nil
}

// tune searches, confirms and shows what was found.
func (a *app) tune(ctx context.Context, name string, flags tuneFlags) error {
	only, err := parseOnly(flags.only)
	if err != nil {
		return err
	}
	p, err := readPlan(name)
	if err != nil {
		return err
	}
	progress := newProgress(a, flags.quiet)
	defer progress.close()
	l, err := a.lab(tuneWatcher{progress})
	if err != nil {
		return err
	}
	s, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	t := &tuning{app: a, lab: l, progress: progress, store: s, plan: p, planName: name, planFile: planFile(name), flags: flags, only: only}
	defer t.close(ctx)
	report, err := t.run(ctx)
	if err != nil {
		return t.unfinished(ctx, err)
	}
	progress.close()
	if err := a.writeTune(report, flags); err != nil {
		return err
	}
	if report.Outcome.Unconfirmed || len(report.Outcome.Finalists) == 0 {
		return &exitError{status: statusFailed}
	}
	return nil
}

// writeTune prints the report, and writes it into files.
func (a *app) writeTune(report *tune.Report, flags tuneFlags) error {
	format, err := tune.Formats().Named(flags.format)
	if err == nil {
		err = format.Write(a.stdout, report) // first: a file may be refused
	}
	if err != nil {
		return err
	}
	for _, output := range flags.outputs {
		name, path, _ := strings.Cut(output, "=")
		format, err := tune.Formats().Named(name)
		if err != nil {
			return err
		}
		var text bytes.Buffer
		if err := format.Write(&text, report); err != nil {
			return err
		}
		if err := file.Write(path, text.Bytes()); err != nil {
			return fmt.Errorf("write the report: %w", err)
		}
	}
	return nil
}

// currentProfile is the profile with the settings in use.
func (t *tuning) currentProfile() (assay.Profile, error) {
	name := t.flags.current
	if name == "" {
		name = t.plan.Profiles[0].Name
	}
	p, _, err := t.plan.Profile(name)
	if err != nil {
		return p, usage(err)
	}
	if len(p.Raw) > 0 {
		return p, usage(fmt.Errorf("profile %s gives its DSN literally: tune changes settings that a profile names", name), "write what it requests as settings, or name another with --current")
	}
	return p, nil
}
