package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"assay/internal/analysis/wording"
	"assay/internal/build"
	"assay/internal/lab"
	"assay/internal/plan"
	"assay/internal/report"
	"assay/internal/runner/host"
	"assay/internal/store"
	"assay/internal/sys/guard"
	"assay/plans"
)

// runFlags holds what the run subcommand was asked for.
type runFlags struct {
	drivers   []string
	only      []string
	budget    time.Duration
	precision share
	margin    share
	resume    bool
	quiet     bool
	full      bool
	capacity  string
	replay    bool
}

func (a *app) runCommand() *cobra.Command {
	var flags runFlags
	cmd := &cobra.Command{
		Use:   "run [PLAN]",
		Short: "Measure a plan, quick or a bundle's by default, and show the result",
		Args:  arguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkBudget(cmd, flags.budget); err != nil {
				return err
			}
			name, err := flags.fromBundle(args)
			if err != nil {
				return err
			}
			return a.run(cmd.Context(), name, flags)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&flags.drivers, "drivers", nil, "drivers instead of the plan's: NAME[@VERSION],..., * for the maintained Go drivers of its engine, or all")
	f.StringArrayVar(&flags.only, "only", nil, "measure only cells with KEY=VALUE[,VALUE]; may be repeated")
	f.DurationVar(&flags.budget, "budget", 0, budgetHelp)
	f.Var(&flags.precision, "precision", "target half-width of every confidence interval, such as 2% (default the plan's, or a third of the measured difference)")
	f.Var(&flags.margin, "margin", marginHelp+" (default the plan's)")
	f.StringVar(&flags.capacity, "find-capacity", "", "find the highest request rate that meets a latency target, such as p99=5ms (read-only HTTP operations)")
	f.BoolVar(&flags.replay, "replay", false, "instead of the plan's operations, do what its log recorded, transaction by transaction, with its clients")
	f.BoolVar(&flags.resume, "resume", false, "resume the latest unfinished run of this plan")
	f.BoolVar(&flags.full, "full", false, "show the whole report, as assay report does, instead of one screen")
	f.BoolVar(&flags.quiet, "quiet", false, "show no progress")
	return cmd
}

const marginHelp = "differences within the margin count as equal, such as 5%"

// share is a flag's value such as 5% or 0.05.
type share float64

func (s *share) String() string {
	if *s == 0 {
		return ""
	}
	return fmt.Sprint(float64(*s))
}

func (s *share) Set(text string) error { return s.below(1, text) }

// below reads a share as plans write it, 2% or 0.02, below a limit. From 1 on it needs the %:
// 5 alone may be meant to be 5 %.
func (s *share) below(limit float64, text string) error {
	digits, percent := strings.CutSuffix(text, "%")
	value, err := strconv.ParseFloat(digits, 64)
	if percent {
		value /= 100
	} else {
		limit = 1
	}
	if err != nil || !(value > 0 && value < limit) {
		return fmt.Errorf("%q: want a share such as 2%% or 0.02", text)
	}
	*s = share(value)
	return nil
}

func (s *share) Type() string { return "string" }

// fromBundle returns the plan to run: in a bundle, if none is named, the bundle's own plan with
// its drivers.
func (f *runFlags) fromBundle(args []string) (string, error) {
	bundle, err := build.FindBundle()
	if err != nil || bundle == nil {
		return planArgument(args), err
	}
	name := bundle.PlanFile()
	if len(args) > 0 {
		name = args[0]
	}
	if name == bundle.PlanFile() && len(f.drivers) == 0 && !f.resume {
		f.drivers = bundle.Drivers
	}
	return name, nil
}

const budgetHelp = "time to measure, builds excluded (default the plan's)"

// planArgument returns the plan named in the arguments, or quick.
func planArgument(args []string) string {
	if len(args) == 0 {
		return "quick"
	}
	return args[0]
}

// checkBudget refuses a given budget that is not greater than zero.
func checkBudget(cmd *cobra.Command, budget time.Duration) error {
	if cmd.Flags().Changed("budget") && budget <= 0 {
		return usage(errors.New("--budget must be greater than zero"), "leave --budget out for the default")
	}
	return nil
}

func (f runFlags) request(name string) (lab.Request, error) {
	decode := plan.Decode
	if f.replay {
		decode = plan.DecodeReplay
	}
	p, err := readPlanBy(decode, name)
	if err != nil {
		return lab.Request{}, err
	}
	r := lab.Request{Plan: p, PlanFile: planFile(name), Drivers: f.drivers, Budget: f.budget, Target: float64(f.precision), Margin: float64(f.margin), Capacity: f.capacity, Replay: f.replay, Resume: f.resume}
	r.Only, err = parseOnly(f.only)
	return r, err
}

// run measures a plan and shows the result.
func (a *app) run(ctx context.Context, name string, flags runFlags) error {
	request, err := flags.request(name)
	if err != nil {
		return err
	}
	request.LeaveOut = true
	s, err := a.localStore(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	result, err := a.measure(ctx, s, a.commandLine("run", name, "--resume"), request, flags.quiet)
	switch {
	case err == nil:
		return a.showResult(ctx, s, result, flags.full)
	case ctx.Err() != nil && result.Spent.Total() > 0:
		return errors.Join(err, a.showMeasured(context.WithoutCancel(ctx), s, result))
	}
	return err
}

// showMeasured shows the answer of what a run measured until it was stopped.
func (a *app) showMeasured(ctx context.Context, s *store.Store, result lab.Result) error {
	analyzed, err := lab.Analyze(ctx, s, result.ID)
	if err != nil || len(analyzed.Tables) == 0 {
		return err
	}
	return a.showScreen(a.reportOn(analyzed))
}

// measure makes a run and shows its progress. resume is the command that resumes it.
func (a *app) measure(ctx context.Context, s *store.Store, resume string, request lab.Request, quiet bool) (lab.Result, error) {
	l, err := a.lab(quiet)
	if err != nil {
		return lab.Result{}, err
	}
	result, err := l.Run(ctx, s, request)
	a.progress.close()
	if err == nil {
		return result, nil
	}
	return result, a.unfinished(ctx, resume, result, err)
}

// unfinished says what was kept when a run was stopped.
func (a *app) unfinished(ctx context.Context, resume string, result lab.Result, err error) error {
	hint := notBegun
	if result.Kept {
		hint = resumable(resume)
	}
	return stopped(ctx, err, resume, hint)
}

// notBegun is the hint where nothing was kept.
const notBegun = "nothing was measured yet"

// resumable is the hint where a command can go on.
func resumable(resume string) string { return "what was finished is kept; resume with: " + resume }

// interrupted returns the error of a command that a signal stopped, with hints; if none did, err itself.
func interrupted(ctx context.Context, err error, hints ...string) error {
	if ctx.Err() == nil || errors.As(err, new(*guard.Panic)) {
		return err
	}
	return &exitError{statusInterrupted, errors.New("interrupted"), hints}
}

// stopped returns the error of a command that an error or a signal stopped early. The hint
// says what was kept.
func stopped(ctx context.Context, err error, resume, hint string) error {
	if errors.As(err, new(*lab.InputError)) {
		return err
	}
	hints := []string{hint}
	switch {
	case errors.Is(err, lab.ErrChanged):
		hints = nil // the error says what to do instead
	case errors.Is(err, store.ErrTaken):
		hints[0] = "wait for that process or stop it; if the run is unfinished then, resume it with: " + resume
	}
	return interrupted(ctx, &exitError{statusFailed, err, hints}, hints...)
}

// planFile returns where a run's plan lies, so that it is found again from another
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

// showResult shows the result of a run and says where it lies.
func (a *app) showResult(ctx context.Context, s *store.Store, result lab.Result, full bool) error {
	analyzed, err := lab.Analyze(ctx, s, result.ID)
	if err != nil {
		return err
	}
	r := a.reportOn(analyzed)
	if full {
		err = r.WriteText(a.stdout, a.columns())
	} else {
		err = a.showScreen(r)
	}
	if err != nil {
		return err
	}
	a.summarize(s, result)
	return a.checkCells(analyzed)
}

// summarize says where the result is, and what the run itself cost.
func (a *app) summarize(s *store.Store, result lab.Result) {
	text := fmt.Sprintf("results: %s; measuring took %s%s", strings.Join(append([]string{s.Name()}, a.pushes.done...), ", "), wording.Brief(result.Spent.Total()), timeShares(result.Spent))
	if peak, err := host.PeakMemory(); err == nil {
		text += fmt.Sprintf("; peak memory of assay %.0f MB", float64(peak)/1e6)
	}
	a.say(text)
}

// showScreen prints the answer: as wide as the terminal and in its colours, which
// pass by the filter of control characters. The report has no others.
func (a *app) showScreen(r *report.Report) error {
	if a.screen == nil {
		return r.WriteScreen(a.stdout, report.Screen{})
	}
	return r.WriteScreen(a.screen, report.Screen{Width: a.columns(), Color: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"})
}

// say writes a text to stderr; a terminal would break its lines inside words.
func (a *app) say(text string) { fmt.Fprintln(a.stderr, fold(columnsOf(a.terminal), text)) }

// columns returns how wide the terminal behind stdout is; 0: there is none, or it does not say.
func (a *app) columns() int { return columnsOf(a.screen) }

func columnsOf(terminal *os.File) int {
	if terminal == nil {
		return 0
	}
	width, _, err := term.GetSize(int(terminal.Fd()))
	if err != nil {
		return 0
	}
	return width
}
