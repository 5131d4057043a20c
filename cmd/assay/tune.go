package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"assay"
	"assay/internal/plan"
	"assay/internal/runner"
	"assay/internal/tune"

	"github.com/spf13/cobra"
)

// tuneFlags holds what the tune subcommand was asked for.
type tuneFlags struct {
	durability    string
	memory        string
	budget        time.Duration
	current       string
	drivers       []string
	only          []string
	singleProcess bool
	emit          string
	outputs[*tune.Report]
	resume bool
	quiet  bool
}

const defaultTuneBudget = 20 * time.Minute

// tuneClock tells what a launch took of a tuning's budget; nil: as its trials say. Only
// tests set it.
var tuneClock func([]assay.Trial) time.Duration

func (a *app) tuneCommand() *cobra.Command {
	var flags tuneFlags
	cmd := &cobra.Command{
		Use:   "tune PLAN",
		Short: "Find the settings for a plan's schema and queries, under a durability and a memory constraint",
		Long: `Measures what indexes and ANALYZE would do. Then searches the settings of SQLite, Badger, bbolt,
LMDB or Pebble for those that make the plan's operations faster, without promising less about the
data and without taking more memory than it may. It measures random combinations of all settings,
drops what is shown not to matter, and measures what is left in fresh launches on new data: only
these figures are reported. Last, it compares the proposal with yours on other amounts of data and
with other numbers of clients. "Nothing beats yours" is an answer, too.
  assay tune app.yaml --durability power --memory 256M --budget 20m --emit go-modernc
The settings in use are those of a profile of the plan, the first or --current.
Exit status 1: nothing could be confirmed, or tune could not do its work.`,
		Args: arguments(1, 1),
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
	f.BoolVar(&flags.singleProcess, "single-process", false, "no other process opens the file, so exclusive locking may be tried")
	f.StringVar(&flags.emit, "emit", "", "print the proposal as configuration of an ecosystem, too, "+forms)
	flags.addOutputs(cmd, tune.Formats())
	f.BoolVar(&flags.resume, "resume", false, "resume the latest tuning of this plan with these flags")
	f.BoolVar(&flags.quiet, "quiet", false, "show no progress")
	return cmd
}

// chosen are the coordinates that are not for --only, as a tuning makes its own.
var chosen = []struct{ name, hint string }{
	{"profile", "name the profile with the settings in use with --current"},
	{"driver", "name the driver in use, and those that may replace it, with --drivers"},
	{"options", "name the driver with its options with --drivers"},
	{"plan", "choose operations with --only operation=NAME"},
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

func (f tuneFlags) check() error {
	if f.durability != "" && !slices.Contains(tune.Classes(), f.durability) {
		return usage(plan.Unknown("class of durability", f.durability, tune.Classes()))
	}
	if _, err := tune.ParseBytes(f.memory); err != nil {
		return usage(fmt.Errorf("--memory %w", err))
	}
	return nil
}

func (f tuneFlags) request(a *app, name string) (tune.Request, error) {
	only, err := parseOnly(f.only)
	if err != nil {
		return tune.Request{}, err
	}
	for _, key := range chosen {
		if value, ok := only[key.name]; ok {
			return tune.Request{}, usage(fmt.Errorf("--only %s=%s: tune chooses among them itself", key.name, strings.Join(value, ",")), key.hint)
		}
	}
	p, err := readPlan(name)
	if err != nil {
		return tune.Request{}, err
	}
	ecosystems, err := emitsFor(f.emit)
	if err != nil {
		return tune.Request{}, err
	}
	memory, err := tune.ParseBytes(f.memory)
	again := a.commandLine(slices.Concat([]string{"tune", name}, f.words(), []string{"--resume"})...)
	return tune.Request{Plan: p, PlanFile: planFile(name), Durability: assay.Durability(f.durability), Memory: memory, Budget: f.budget, Current: f.current,
		Drivers: f.drivers, Only: only, SingleProcess: f.singleProcess, Emit: f.emit, Ecosystems: ecosystems, Again: again, Show: a.commandLine("report", "RUN"), Resume: f.resume, Took: tuneClock}, err
}

// tune searches, confirms and shows what was found.
func (a *app) tune(ctx context.Context, name string, flags tuneFlags) error {
	request, err := flags.request(a, name)
	if err != nil {
		return err
	}
	l, err := a.lab(flags.quiet)
	if err != nil {
		return err
	}
	request.Step, l.Watcher = a.progress.Step, tuneWatcher{a.progress}
	s, err := a.localStore(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	t := tune.New(l, s, request)
	report, err := t.Run(ctx)
	if err != nil {
		hint := notBegun
		if t.Begun() || flags.resume {
			hint = resumable(request.Again)
		}
		return stopped(ctx, err, request.Again, hint)
	}
	a.progress.close()
	if err := a.showTuning(report, flags); err != nil {
		return err
	}
	if len(report.Outcome.Finalists) == 0 && !report.Outcome.Unsearched {
		return &exitError{status: statusFailed}
	}
	return nil
}

// showTuning prints a tuning, as text as wide as the terminal, and writes its files.
func (a *app) showTuning(report *tune.Report, flags tuneFlags) error {
	if flags.format.Name != "text" {
		return flags.write(a.stdout, report)
	}
	return errors.Join(report.WriteScreen(a.stdout, a.columns()), flags.writeFiles(report))
}

// tuneWatcher shows of runs what is done within a step of the tuning.
type tuneWatcher struct{ *progress }

func (w tuneWatcher) Trial(assay.Run, assay.Trial) {}

func (w tuneWatcher) Measure(e runner.Event) {
	switch e.Phase {
	case runner.Waiting, runner.BudgetTooSmall, runner.LeftOut, runner.MachineBusy, runner.LeftForLast:
		w.progress.Measure(e)
	case runner.Measuring:
		w.progress.Within(e.What)
	case runner.Preparing:
		w.progress.Within(doing(e))
	}
}
