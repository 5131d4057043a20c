package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"assay/internal/gate"
	"assay/internal/sys/guard"

	"github.com/spf13/cobra"
)

// gateFlags are what the gate subcommand was asked for.
type gateFlags struct {
	driver, base, head string
	baseRef, dir       string
	maxSlowdown        string
	undecided          string
	budget             time.Duration
	outputs[*gate.Report]
	quiet bool
}

// defaultGateBudget is the time to measure of each driver.
const defaultGateBudget = 10 * time.Minute

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
If you omit --driver, --base and --head are whole names of drivers: NAME[@VERSION][:OPTION...].
Exit status 1: a regression was confirmed, or gate could not do its work.`,
		Args: arguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(checkBudget(cmd, flags.budget), flags.check()); err != nil {
				return err
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
	f.StringVar(&flags.maxSlowdown, "max-slowdown", "2%", "how much slower an operation may become")
	f.StringVar(&flags.undecided, "undecided", "pass", "pass or fail: how to treat undecided comparisons, and changed drivers that cannot be measured")
	f.DurationVar(&flags.budget, "budget", defaultGateBudget, "time to measure each driver, builds excluded; a third is kept to measure suspected regressions again")
	flags.addOutputs(cmd, gate.Formats(version))
	f.BoolVar(&flags.quiet, "quiet", false, "show no progress")
	return cmd
}

// check refuses flags that do not fit together.
func (f gateFlags) check() error {
	named := f.base != "" && f.head != ""
	switch {
	case f.baseRef == "" && !named:
		return usage(errors.New("name both versions with --base and --head, or a revision with --base-ref"), "assay help gate")
	case f.baseRef != "" && (f.base != "" || f.head != ""):
		return usage(errors.New("--base-ref finds the versions by itself: leave --base and --head out"))
	case f.undecided != "pass" && f.undecided != "fail":
		return usage(fmt.Errorf("--undecided %q: want pass or fail", f.undecided))
	}
	return nil
}

func (f gateFlags) rules() (gate.Rules, error) {
	slowdown, err := fraction(f.maxSlowdown)
	if err != nil {
		return gate.Rules{}, usage(fmt.Errorf("--max-slowdown %w", err))
	}
	return gate.Rules{MaxSlowdown: slowdown, FailUndecided: f.undecided == "fail"}, nil
}

// gate compares each driver that is asked for, and shows what it says.
func (a *app) gate(ctx context.Context, name string, flags gateFlags) error {
	rules, err := flags.rules()
	if err != nil {
		return err
	}
	p, err := readPlan(name)
	if err != nil {
		return err
	}
	l, err := a.lab(flags.quiet)
	if err != nil {
		return err
	}
	m, err := gate.New(ctx, l, gate.Request{Plan: p, PlanFile: planFile(name), Driver: flags.driver, Base: flags.base, Head: flags.head,
		Revision: flags.baseRef, Dir: flags.dir, Budget: flags.budget, Rules: rules})
	if err != nil {
		return err
	}
	s, err := a.localStore(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	report := &gate.Report{Rules: rules, Driver: flags.driver, Width: a.columns()}
	var failure error
	report.Upgrades, failure = m.Run(ctx, s)
	failure = a.stoppedGate(ctx, failure)
	a.progress.close()
	if failure != nil && !report.Measured() {
		return failure
	}
	written := flags.write(a.stdout, report)
	switch {
	case failure != nil && written != nil:
		fmt.Fprintln(a.stderr, "assay: note:", written)
		return failure
	case failure != nil || written != nil:
		return cmp.Or(failure, written)
	case !report.Passed():
		return &exitError{status: statusFailed}
	}
	return nil
}

// stoppedGate says what was kept when a gate was interrupted.
func (a *app) stoppedGate(ctx context.Context, err error) error {
	var stopped *gate.StoppedError
	if ctx.Err() == nil || !errors.As(err, &stopped) || errors.As(err, new(*guard.Panic)) {
		return err
	}
	hint := "nothing was measured yet"
	if stopped.Run != "" {
		hint = "what was finished is kept: " + a.commandLine("report", stopped.Run) + "; a gate begins anew"
	}
	return &exitError{statusInterrupted, errors.New("interrupted"), []string{hint}}
}
