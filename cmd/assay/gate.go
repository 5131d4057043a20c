package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"assay/internal/gate"
	"assay/internal/lab"

	"github.com/spf13/cobra"
)

// slowdown is a share that may be 1 and more.
type slowdown struct{ share }

func (s *slowdown) Set(text string) error { return s.below(100, text) }

// gateFlags holds what the gate subcommand was asked for.
type gateFlags struct {
	driver, base, head string
	baseRef, dir       string
	maxSlowdown        slowdown
	undecided          string
	budget             time.Duration
	bisect             bool
	good, bad          string
	outputs[*gate.Report]
	quiet bool
}

// defaultGateBudget is the time to measure of each driver.
const defaultGateBudget = 10 * time.Minute

// defaultBisectBudget is the time to measure of each version.
const defaultBisectBudget = time.Minute

func (a *app) gateCommand() *cobra.Command {
	var flags gateFlags
	cmd := &cobra.Command{
		Use:   "gate [PLAN]",
		Short: "Decide whether a driver's new version is slower, uses worse query plans or ignores settings",
		Long: `Builds the base and the head of a driver, measures a plan (default quick) with both in one run,
interleaved and with an A/A test of the base, and compares their query plans and what settings
do. It measures suspected regressions again in fresh launches, and only those decide.
  assay gate --driver modernc --base v1.60.0 --head v1.61.1
  assay gate --driver modernc --base v1.61.1 --head ../my-checkout
  assay gate --driver apsw --base 3.46.0 --head 3.50.0
  assay gate --base-ref origin/main
  assay gate --bisect --driver better-sqlite3 --good 11.5.0 --bad 12.4.1
--bisect names the first published version that is slower or plans worse than --good: it compares
query plans first, and measures only where those of --bad are no worse. It exits with 0 where
nothing is worse, 1 where a version is named and 2 after an error; another call goes on.
If you omit --driver, --base and --head are whole names of drivers: NAME[@VERSION][:OPTION...].
Exit status 1: a regression was confirmed, or gate could not do its work.`,
		Args: arguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(checkBudget(cmd, flags.budget), flags.check()); err != nil {
				return err
			}
			if flags.bisect {
				if !cmd.Flags().Changed("budget") {
					flags.budget = defaultBisectBudget
				}
				return a.bisect(cmd.Context(), planArgument(args), flags)
			}
			return a.gate(cmd.Context(), planArgument(args), flags)
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.driver, "driver", "", "driver whose versions are compared; with --base-ref: the only one")
	f.StringVar(&flags.base, "base", "", "version in use")
	f.StringVar(&flags.head, "head", "", "version that is to replace it, or the folder of a checkout")
	f.StringVar(&flags.baseRef, "base-ref", "", "compare the versions that go.mod, requirements.txt, package-lock.json, Cargo.lock and their like pin with those at this revision of git")
	f.StringVar(&flags.dir, "dir", ".", "folder of go.mod, or another lock file")
	f.BoolVar(&flags.bisect, "bisect", false, "name the first version of --driver after --good, up to --bad, that is worse")
	f.StringVar(&flags.good, "good", "", "with --bisect: a version that is not worse")
	f.StringVar(&flags.bad, "bad", "", "with --bisect: a later version that may be")
	flags.maxSlowdown.share = 0.02
	f.Var(&flags.maxSlowdown, "max-slowdown", "how much slower an operation may become, such as 5%; 100% is twice the time")
	f.StringVar(&flags.undecided, "undecided", "pass", "pass or fail: how to treat undecided comparisons, and changed drivers that cannot be measured")
	f.DurationVar(&flags.budget, "budget", defaultGateBudget, "time to measure each driver, with --bisect each version (default 1m), builds excluded; a third is kept to measure suspected regressions again")
	flags.addOutputs(cmd, gate.Formats(version))
	f.BoolVar(&flags.quiet, "quiet", false, "show no progress")
	return cmd
}

// check refuses flags that do not fit together.
func (f gateFlags) check() error {
	named := f.base != "" && f.head != ""
	switch {
	case f.bisect && (f.driver == "" || f.good == "" || f.bad == ""):
		return usage(errors.New("--bisect needs --driver, --good and --bad"), "assay help gate")
	case f.bisect && (f.base+f.head+f.baseRef != "" || f.undecided != "pass" || f.format.Name != "text" || len(f.also) > 0):
		return usage(errors.New("--bisect takes --good and --bad, and tells each step in text: leave --base, --head, --base-ref, --undecided, --format and --output out"))
	case !f.bisect && (f.good != "" || f.bad != ""):
		return usage(errors.New("--good and --bad belong to --bisect"))
	case f.bisect:
		return nil
	case f.baseRef == "" && !named:
		return usage(errors.New("name both versions with --base and --head, or a revision with --base-ref"), "assay help gate")
	case f.baseRef != "" && (f.base != "" || f.head != ""):
		return usage(errors.New("--base-ref finds the versions by itself: leave --base and --head out"))
	case f.undecided != "pass" && f.undecided != "fail":
		return usage(fmt.Errorf("--undecided %q: want pass or fail", f.undecided))
	}
	return nil
}

// gateRequest returns what the flags ask for, of a plan.
func (a *app) gateRequest(name string, flags gateFlags) (*lab.Lab, gate.Request, error) {
	r := gate.Request{PlanFile: planFile(name), Driver: flags.driver, Base: cmp.Or(flags.base, flags.good), Head: cmp.Or(flags.head, flags.bad),
		Revision: flags.baseRef, Dir: flags.dir, Budget: flags.budget,
		Rules: gate.Rules{MaxSlowdown: float64(flags.maxSlowdown.share), FailUndecided: flags.undecided == "fail"}}
	var err error
	if r.Plan, err = readPlan(name); err != nil {
		return nil, r, err
	}
	l, err := a.lab(flags.quiet)
	return l, r, err
}

// gate compares each driver that is asked for, and shows what it says.
func (a *app) gate(ctx context.Context, name string, flags gateFlags) error {
	l, request, err := a.gateRequest(name, flags)
	if err != nil {
		return err
	}
	m, err := gate.New(ctx, l, request)
	if err != nil {
		return err
	}
	s, err := a.localStore(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	upgrades, failure := m.Run(ctx, s)
	failure = a.stoppedGate(ctx, failure)
	report := &gate.Report{Upgrades: upgrades, Rules: request.Rules, Driver: flags.driver, Store: a.storeToShow(), Width: a.columns()}
	a.progress.close()
	if failure != nil && !report.Measured() {
		return failure
	}
	written := flags.write(a.stdout, report)
	switch {
	case failure != nil && written != nil:
		a.say("assay: note: " + written.Error())
		return failure
	case failure != nil || written != nil:
		return cmp.Or(failure, written)
	case !report.Passed():
		return &exitError{status: statusFailed}
	}
	return nil
}

// bisect names the first version that is worse. Each step is shown as it is found.
func (a *app) bisect(ctx context.Context, name string, flags gateFlags) error {
	a.failed = statusUsage
	found, err := a.bisection(ctx, name, flags)
	a.progress.close()
	switch {
	case ctx.Err() != nil:
		return &exitError{statusInterrupted, errors.New("interrupted"), []string{"what was found of versions is kept: the same command goes on"}}
	case err != nil:
		return err
	}
	fmt.Fprintln(a.stdout, found)
	if found.First != "" {
		return &exitError{status: statusFailed}
	}
	return nil
}

func (a *app) bisection(ctx context.Context, name string, flags gateFlags) (*gate.Bisection, error) {
	l, request, err := a.gateRequest(name, flags)
	if err != nil {
		return nil, err
	}
	location, err := a.localLocation()
	if err != nil {
		return nil, err
	}
	s, err := a.localStore(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return gate.Bisect(ctx, l, s, request, filepath.Join(filepath.Dir(location), "bisect"), func(step gate.Step) { fmt.Fprintln(a.stdout, step) })
}

// stoppedGate says what was kept when a gate was interrupted.
func (a *app) stoppedGate(ctx context.Context, err error) error {
	stopped, is := errors.AsType[*gate.StoppedError](err)
	if !is {
		return err
	}
	hint := notBegun
	if stopped.Run != "" {
		hint = "what was finished is kept: " + a.commandLine("report", stopped.Run) + "; a gate begins anew"
	}
	return interrupted(ctx, err, hint)
}
