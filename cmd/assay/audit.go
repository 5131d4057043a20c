package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/wording"
	"assay/internal/audit"
	"assay/internal/build"
	"assay/internal/lab"
	"assay/internal/runner/host"
	"assay/internal/store"
	"assay/published"

	"github.com/spf13/cobra"
)

// auditFlags holds what the audit subcommand was asked for.
type auditFlags struct {
	outputs[[]audit.Finding]
	measure bool
	budget  time.Duration
	quiet   bool
	brief   bool   // on a terminal, unless a format is asked for
	claims  string // file of a source of one's own; empty: the built-in sources
	sources []published.Source
}

func (a *app) auditCommand() *cobra.Command {
	var flags auditFlags
	cmd := &cobra.Command{
		Use:   "audit [RUN]",
		Short: "Check published claims against your measurements",
		Long: `Checks each published claim against your runs. The verdict is: holds here, does not hold here, not
reproduced (under another condition than the source's own, or not beyond the margin where the source
states no size), condition had no effect, its operations fail here, cannot be told, or not tested.
Each comparison is judged by the newest of the runs that differ least from the source's condition.
--measure first measures what open comparisons need, with drivers of the source's time, a claim at
most three times.

--claims FILE checks a source of your own instead of the built-in ones: its claims as YAML, which
name the file of its figures (a table as CSV, the output of go test -bench, or a table of benchstat)
and that of their cells. A claim without a plan is held against the source's own figures alone: its
own figures say so, or its own figures contradict it.`,
		Args: arguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkBudget(cmd, flags.budget); err != nil {
				return err
			}
			if flags.measure && flags.budget < audit.MinSlice {
				return usage(fmt.Errorf("--budget %s is too short to measure a claim", flags.budget), "--budget is at least "+audit.MinSlice.String())
			}
			if cmd.Flags().Changed("budget") && !flags.measure {
				return usage(errors.New("--budget needs --measure"), "add --measure, or leave --budget out")
			}
			var err error
			if flags.sources, err = readSources(flags.claims); err != nil {
				return err
			}
			flags.brief = a.screen != nil && !cmd.Flags().Changed("format")
			if !flags.measure {
				return a.audit(cmd.Context(), strings.Join(args, ""), flags)
			}
			if len(args) > 0 {
				return usage(errors.New("--measure makes new runs and cannot take the run that you named"), "leave out "+args[0])
			}
			return a.auditMeasuring(cmd.Context(), flags)
		},
	}
	f := cmd.Flags()
	flags.addFormat(cmd, audit.Formats)
	f.BoolVar(&flags.measure, "measure", false, "first measure the cells that open comparisons need, the quickest first")
	f.DurationVar(&flags.budget, "budget", 30*time.Minute, "with --measure: time to measure, builds and estimates excluded")
	f.StringVar(&flags.claims, "claims", "", "file of the claims of a source of your own, instead of the built-in sources")
	f.BoolVar(&flags.quiet, "quiet", false, "with --measure: show no progress")
	return cmd
}

// readSources reads a source of one's own, or without a file the built-in ones.
func readSources(file string) ([]published.Source, error) {
	if file == "" {
		return published.Claims()
	}
	source, err := published.Open(file)
	if errors.As(err, new(*published.InputError)) {
		return nil, usage(err, "the format of claims and figures is in docs/guide.md, \"Claims of your own\"")
	}
	return []published.Source{source}, err
}

// words are the command line of an audit of the same sources.
func (flags auditFlags) words(more ...string) []string {
	words := []string{"audit"}
	if flags.claims != "" {
		words = append(words, "--claims", flags.claims)
	}
	return append(words, more...)
}

func (a *app) audit(ctx context.Context, id string, flags auditFlags) error {
	s, err := a.readStore(ctx)
	switch {
	case errors.Is(err, store.ErrNotFound) && id == "" && a.store == "" && a.environmentStore == "":
		s = nil // assay has not measured anything yet: every claim says how to measure it
	case err != nil:
		return err
	default:
		defer s.Close()
	}
	findings, err := judge(ctx, s, id, flags.sources, new(lab.Kept))
	if err != nil {
		return err
	}
	return a.showFindings(findings, id, flags)
}

// showFindings prints the verdicts, by the run of that id where there is one: briefly on a
// terminal, and else with all evidence.
func (a *app) showFindings(findings []audit.Finding, id string, flags auditFlags) error {
	if flags.brief {
		words := slices.DeleteFunc(flags.words(id, "--format", "markdown"), func(word string) bool { return word == "" })
		return audit.WriteScreen(a.screen, findings, a.columns(), a.commandLine(flags.words("--measure", "--budget", "1h")...), a.commandLine(words...))
	}
	return flags.write(a.stdout, findings)
}

// auditMeasuring measures what open comparisons need, and prints all verdicts.
func (a *app) auditMeasuring(ctx context.Context, flags auditFlags) error {
	s, err := a.localStore(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	var kept lab.Kept
	findings, err := audit.Measure(ctx, flags.budget, func() ([]audit.Finding, error) { return judge(ctx, s, "", flags.sources, &kept) },
		&claimMeter{app: a, store: s, quiet: flags.quiet})
	if err != nil {
		return a.unaudited(ctx, flags, err)
	}
	return a.showFindings(findings, "", flags)
}

// unaudited says how to see what was measured before audit was interrupted.
func (a *app) unaudited(ctx context.Context, flags auditFlags, err error) error {
	hint := "the runs that finished before are kept; the verdicts by them: " + a.commandLine(flags.words()...) + "; to measure the open claims, give the same command again"
	if exit := (*exitError)(nil); errors.As(err, &exit) && exit.status == statusInterrupted {
		return &exitError{exit.status, exit.err, append(exit.hints, hint)}
	}
	return interrupted(ctx, err, hint)
}

// claimMeter measures the cells of claims, each work as a run of its own.
type claimMeter struct {
	app   *app
	store *store.Store
	quiet bool
}

// Launch asks the data, as plan check does.
func (m *claimMeter) Launch(ctx context.Context, w audit.Work) (time.Duration, error) {
	request, err := m.request(w, 0)
	if err != nil {
		return 0, err
	}
	l, err := m.app.lab(m.quiet)
	if err != nil {
		return 0, err
	}
	checked, err := l.Check(ctx, request, checkPatience)
	m.app.progress.close()
	if cannotMeasure(err) {
		return 0, nil // Measure will say why
	}
	return checked.Least.Total() / time.Duration(max(1, request.Plan.Launches)), err
}

// Measure makes a run. One that cannot be made here, where a worker lacks what it needs,
// is told and measures nothing.
func (m *claimMeter) Measure(ctx context.Context, w audit.Work, budget time.Duration) (time.Duration, error) {
	fmt.Fprintf(m.app.stderr, "%s (up to %s), for these claims:\n  %s\n", w.Plan, wording.Brief(budget.Round(time.Second)), strings.ReplaceAll(w.Says(), "\n", "\n  "))
	request, err := m.request(w, budget)
	if err != nil {
		return 0, err
	}
	result, err := m.app.measure(ctx, m.store, m.app.commandLine("run", w.Plan, "--resume"), request, m.quiet)
	if cannotMeasure(err) {
		fmt.Fprintf(m.app.stderr, "not measured: %v\n", err)
		return 0, nil
	}
	return result.Took, err
}

// cannotMeasure reports whether an error is about what was asked, or about what this
// machine lacks for it: other claims can still be measured.
func cannotMeasure(err error) bool {
	return errors.As(err, new(*lab.InputError)) || errors.As(err, new(*build.NotInstalledError))
}

// request asks for the cells of claims, and for all of the budget for them: no
// claim is about what single settings do.
func (m *claimMeter) request(w audit.Work, budget time.Duration) (lab.Request, error) {
	p, err := readPlan(w.Plan)
	if err != nil {
		return lab.Request{}, err
	}
	p.Factors = false
	return lab.Request{Plan: p, PlanFile: planFile(w.Plan), Drivers: w.Drivers(), Only: w.Only(), Sides: w.Sides(), Budget: budget, Target: w.Precision()}, nil
}

// judge judges the claims of sources by the run of that id, or by all runs of a store; nil
// is one without runs.
func judge(ctx context.Context, s *store.Store, id string, sources []published.Source, kept *lab.Kept) ([]audit.Finding, error) {
	if s == nil {
		return audit.Judge(sources, func(string, int) (*analysis.Result, error) { return nil, nil })
	}
	runs, err := readRuns(ctx, s, id, kept)
	if err != nil {
		return nil, err
	}
	return audit.Judge(sources, runs)
}

// readRuns reads the run of that id, or else pools the finished runs of each plan
// that is asked for, once. Runs of others say nothing about this machine.
func readRuns(ctx context.Context, s *store.Store, id string, kept *lab.Kept) (audit.Runs, error) {
	runs, err := s.Runs(ctx)
	if id != "" {
		var run assay.Run
		if run, err = s.Run(ctx, id); errors.Is(err, store.ErrNotFound) {
			return nil, usage(err, "assay runs lists the runs", "assay run quick makes one")
		}
		runs = []assay.Run{run}
	}
	if err != nil {
		return nil, err
	}
	cache, err := cacheDir()
	if err != nil {
		return nil, err
	}
	here := host.Facts(cache)
	runs = slices.DeleteFunc(runs, func(r assay.Run) bool {
		return id == "" && (r.Status != assay.Finished || r.Imported || !r.OnMachine(here))
	})
	return lab.Pools(ctx, s, runs, kept), nil
}
