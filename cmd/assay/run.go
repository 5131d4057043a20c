package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay"
	"assay/internal/build"
	"assay/internal/dataset"
	"assay/internal/host"
	"assay/internal/plan"
	"assay/internal/runner"
	"assay/internal/store"
	"assay/internal/syncs"
	"assay/plans"

	"github.com/spf13/cobra"
)

// runFlags are what the run subcommand was asked for.
type runFlags struct {
	drivers   []string
	only      []string
	budget    time.Duration
	precision string
	resume    bool
	quiet     bool
	capacity  string
}

func (a *app) runCommand() *cobra.Command {
	var flags runFlags
	cmd := &cobra.Command{
		Use:   "run [PLAN]",
		Short: "Measure a plan, quick by default, and show the result",
		Args:  arguments(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := "quick"
			if len(args) > 0 {
				name = args[0]
			}
			return a.run(cmd.Context(), name, flags)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&flags.drivers, "drivers", nil, "drivers instead of the plan's: NAME[@VERSION],... or * for all")
	f.StringArrayVar(&flags.only, "only", nil, "measure only cells with KEY=VALUE[,VALUE]; may be repeated")
	f.DurationVar(&flags.budget, "budget", 0, "time to measure, builds excluded (default the plan's)")
	f.StringVar(&flags.precision, "precision", "", "wished half-width of intervals, such as 2% (default the plan's)")
	f.StringVar(&flags.capacity, "find-capacity", "", "of operations with serve that change nothing, find the highest rate at which a latency is kept, such as p99=5ms")
	f.BoolVar(&flags.resume, "resume", false, "go on with the plan's newest unfinished run")
	f.BoolVar(&flags.quiet, "quiet", false, "show no progress")
	return cmd
}

// session is a run with everything that it needs.
type session struct {
	*app
	name     string // of the plan, as the user gave it
	flags    runFlags
	plan     *plan.Plan
	run      assay.Run
	cases    []assay.Case
	store    *store.Store
	location string // of the store
	done     []assay.Trial
	progress *progress
	wish     *runner.Wish  // nil: no capacity is searched
	took     time.Duration // wall time of measuring
	measured time.Duration // of that inside of windows and blocks
}

// run is the whole way from a plan to a report.
func (a *app) run(ctx context.Context, name string, flags runFlags) error {
	s := &session{app: a, name: name, flags: flags, progress: newProgress(a.stderr, flags.quiet)}
	defer s.progress.close()
	if err := s.choose(ctx, name); err != nil {
		return err
	}
	defer s.store.Close()
	programs, err := s.build(ctx)
	if err != nil {
		return s.interrupted(ctx, err)
	}
	if err := s.measure(ctx, programs); err != nil {
		return s.interrupted(ctx, err)
	}
	return s.report(ctx)
}

// choose reads the plan, new or of the run to resume, and selects its cells.
func (s *session) choose(ctx context.Context, name string) error {
	var err error
	if s.plan, err = readPlan(name); err != nil {
		return err
	}
	options, err := s.options()
	if err != nil {
		return err
	}
	s.run = assay.Run{ID: newRunID(), Plan: s.plan.Name, PlanText: s.plan.Text, PlanFile: planFile(name), Seed: s.plan.Seed, Options: options,
		Started: time.Now().UTC(), Status: assay.Running, Version: version}
	if !s.flags.resume {
		if err := s.selectCases(ctx); err != nil {
			return err
		}
	}
	if s.store, s.location, err = s.openStore(ctx); err != nil {
		return err
	}
	if !s.flags.resume {
		return nil
	}
	if err := s.recall(ctx); err != nil {
		return err
	}
	return s.selectCases(ctx)
}

// planFile is where a run's plan lies, so that it is found again from another
// folder.
func planFile(name string) string {
	if _, builtIn := plans.Read(name); builtIn {
		return name + ".yaml"
	}
	path, err := filepath.Abs(name)
	if err != nil {
		return name // the working folder is gone
	}
	return path
}

// options combines the flags with the plan.
func (s *session) options() (assay.Options, error) {
	o := assay.Options{Budget: s.plan.Budget, Precision: s.plan.Precision, Margin: s.plan.Margin, Launches: s.plan.Launches}
	if s.flags.budget < 0 {
		return o, usage(fmt.Errorf("--budget %s is not a time to measure", s.flags.budget))
	}
	if s.flags.budget > 0 {
		o.Budget = s.flags.budget
	}
	var err error
	if s.flags.precision != "" {
		if o.Precision, err = fraction(s.flags.precision); err != nil {
			return o, usage(fmt.Errorf("--precision %w", err))
		}
	}
	if o.Only, err = parseOnly(s.flags.only); err != nil {
		return o, err
	}
	o.Drivers, o.Capacity = s.flags.drivers, s.flags.capacity
	if _, err := wish(o.Capacity); err != nil {
		return o, usage(err)
	}
	return o, nil
}

// parseOnly reads the values of --only: the coordinates to keep, by name.
func parseOnly(texts []string) (map[string][]string, error) {
	all := map[string][]string{}
	for _, text := range texts {
		key, values, found := strings.Cut(text, "=")
		if !found || key == "" || values == "" {
			return nil, usage(fmt.Errorf("--only %q: want KEY=VALUE[,VALUE]", text))
		}
		all[key] = append(all[key], strings.Split(values, ",")...)
	}
	return all, nil
}

// fraction reads a share as plans write it: 2% or 0.02.
func fraction(text string) (float64, error) {
	digits, percent := strings.CutSuffix(text, "%")
	value, err := strconv.ParseFloat(digits, 64)
	if percent {
		value /= 100
	}
	if err != nil || !(value > 0 && value < 1) {
		return 0, fmt.Errorf("%q: want a share such as 2%% or 0.02", text)
	}
	return value, nil
}

// selectCases fills in the cases. The run keeps the names that * stood for:
// another day there may be other drivers.
func (s *session) selectCases(ctx context.Context) error {
	drivers, err := s.expandDrivers(ctx, s.run.Options.Drivers)
	if err != nil {
		return err
	}
	s.run.Options.Drivers = drivers
	all, err := s.plan.Expand(drivers)
	if err != nil {
		return usage(err)
	}
	if s.wish, err = wish(s.run.Options.Capacity); err != nil {
		return err
	}
	if s.wish != nil {
		if all, err = searchable(all); err != nil {
			return usage(err)
		}
	}
	s.cases, err = plan.Select(all, s.run.Options.Only)
	return usage(err)
}

// expandDrivers replaces * by every driver that can run the plan, the plan's
// first, so that its reference stays the reference.
func (s *session) expandDrivers(ctx context.Context, names []string) ([]string, error) {
	var all []string
	for _, name := range names {
		if name != "*" {
			if _, err := build.ParseSpec(name); err != nil {
				return nil, usage(err, "assay drivers lists the drivers")
			}
			all = append(all, name)
			continue
		}
		b, err := s.builder(true)
		if err != nil {
			return nil, err
		}
		found, err := b.Source.Drivers()
		if err != nil {
			return nil, err
		}
		for _, name := range s.plan.Drivers {
			if hasDriver(found, name) {
				all = append(all, name)
			}
		}
		for _, d := range found {
			fits := (!d.Store || s.plan.KV()) && calls(ctx, b, d) == s.plan.Calls()
			if fits && (d.Module != "" || d.Prebuilt) && !slices.Contains(all, d.Name) {
				all = append(all, d.Name)
			}
		}
	}
	return all, nil
}

func newRunID() string {
	random := make([]byte, 2)
	_, _ = rand.Read(random) // never fails
	return time.Now().UTC().Format("20060102-150405") + "-" + hex.EncodeToString(random)
}

// measure runs the cases and keeps every trial as it comes.
func (s *session) measure(ctx context.Context, programs map[string]runner.Program) error {
	cache, err := cacheDir()
	if err != nil {
		return err
	}
	work, err := runner.NewWorkspace(filepath.Join(cache, "runs"), s.run.ID)
	if err != nil {
		return err
	}
	defer work.Close()
	config := s.config(ctx, cache, work, programs)
	r, err := runner.New(ctx, config)
	if err != nil {
		return err
	}
	if err := s.begin(ctx, r, config.Files, work.Dir); err != nil {
		return err
	}
	if err := s.launch(ctx, r); err != nil {
		return err
	}
	if err := s.factors(ctx, config); err != nil {
		return err
	}
	s.run.Status, s.run.Finished, s.run.Least = assay.Finished, time.Now().UTC(), r.Least()
	return s.store.Update(ctx, s.run)
}

func (s *session) config(ctx context.Context, cache string, work *runner.Workspace, programs map[string]runner.Program) runner.Config {
	return runner.Config{
		Cases: s.cases, Programs: programs, Reference: s.reference(), ReferenceProfile: s.referenceProfile(),
		Data: dataset.Cache{Dir: filepath.Join(cache, "data"), Progress: s.progress.data},
		Work: work, Seed: s.run.Seed, Launches: s.plan.Launches, Budget: s.mainBudget(),
		Precision: s.run.Options.Precision, Timeout: s.plan.Timeout, Done: s.done,
		Emit:     func(t assay.Trial) error { return s.store.Append(context.WithoutCancel(ctx), s.run.ID, t) },
		Progress: s.progress.event, Wire: s.wireTrace(),
		Strace: strace(), Assay: self(), Wish: s.wish,
		Files: runner.Files{}, // shared with the factors, which are to have the same data
	}
}

// self is the path of this program.
func self() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

// strace is the path of the program that traces commits, or nothing.
func strace() string {
	path, err := exec.LookPath("strace")
	if err != nil {
		return ""
	}
	return path
}

// launch runs a runner and adds up what it took.
func (s *session) launch(ctx context.Context, r *runner.Runner) error {
	began := time.Now()
	err := r.Run(ctx)
	s.took += time.Since(began)
	s.measured += r.Measured()
	return err
}

// reference is the plan's, or its first driver; where that is not measured, the
// first that is.
func (s *session) reference() string {
	wanted := append([]string{s.plan.Reference}, s.plan.Drivers...)
	wanted = slices.DeleteFunc(wanted, func(name string) bool { return name == "" })
	for _, c := range s.cases {
		if len(wanted) > 0 && (runner.Driver(c.Cell) == wanted[0] || c.Cell.Driver == wanted[0]) {
			return wanted[0]
		}
	}
	if len(s.cases) == 0 {
		return ""
	}
	return runner.Driver(s.cases[0].Cell)
}

// referenceProfile is the plan's, where it is measured.
func (s *session) referenceProfile() string {
	for _, c := range s.cases {
		if c.Cell.Profile == s.plan.ReferenceProfile {
			return s.plan.ReferenceProfile
		}
	}
	return ""
}

// begin writes the run down before anything is measured.
func (s *session) begin(ctx context.Context, r *runner.Runner, files runner.Files, workDir string) error {
	if s.flags.resume {
		if err := errors.Join(sameTargets(s.run.Targets, r.Targets()), sameFiles(s.run.Files, files)); err != nil {
			return err
		}
		return s.store.Update(ctx, s.run)
	}
	s.run.Host = host.Facts(workDir)
	if rate, err := syncs.Rate(workDir); err == nil { // unknown is no fact
		s.run.Host["syncs-per-second"] = strconv.FormatFloat(rate, 'f', 0, 64)
	}
	s.run.Targets, s.run.Files = r.Targets(), files.Digests()
	s.run.Reference = r.Reference()
	if profile := s.referenceProfile(); profile != "" {
		s.run.Reference += "/" + profile
	}
	if err := s.store.Begin(ctx, s.run); err != nil {
		return err
	}
	for _, t := range s.done { // cells whose worker could not be built
		if err := s.store.Append(ctx, s.run.ID, t); err != nil {
			return err
		}
	}
	return nil
}
