// Command assay tells which embedded database, driver and settings to use for
// a workload on this machine, with evidence.
//
// Only this package reads flags, the environment and the terminal. It decides
// nothing about measurements: package lab makes runs and package report prints
// them. Each subcommand has a file of its own.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"assay/internal/analysis/wording"
	"assay/internal/lab"
	"assay/internal/sys/guard"
	"assay/internal/sys/printable"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// version is set by the linker.
var version = "dev"

// The exit statuses.
const (
	statusOK          = 0
	statusFailed      = 1 // cells failed, or the command could not do its work
	statusUsage       = 2 // wrong flags, arguments or plan
	statusInterrupted = 130
)

// endings are the signals that end assay. SIGHUP, where it is not ignored as
// under nohup, comes when the terminal goes.
func endings() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}

// cleanUpTime is how long a command may take to stop what it started after the
// first signal. A second signal ends assay at once, unless it comes with the first
// one: a program that ends a group of processes may send it twice.
const (
	cleanUpTime = 15 * time.Second
	oneSignal   = 500 * time.Millisecond
)

func main() {
	wording.Program = wording.Called(os.Args[0])
	ctx, stop := signal.NotifyContext(context.Background(), endings()...)
	ended := make(chan int, 1)
	a := newApp(os.Stdout, os.Stderr)
	go func() { ended <- a.main(ctx, os.Args[1:]) }()
	select {
	case status := <-ended:
		os.Exit(status)
	case <-ctx.Done():
		time.AfterFunc(oneSignal, stop) // from then on a signal has its own effect
	}
	patience := time.Duration(0)
	if a.cleansUp.Load() {
		patience = cleanUpTime
	}
	select {
	case status := <-ended:
		os.Exit(status)
	case <-time.After(patience):
		fmt.Fprintln(os.Stderr, "assay: error: interrupted")
		os.Exit(statusInterrupted)
	}
}

// main runs the command and returns its exit status. Nothing but results goes
// to stdout.
func (a *app) main(ctx context.Context, args []string) (status int) {
	defer a.flush()
	defer func() {
		if p := guard.Recovered(recover()); p != nil {
			status = a.printError(ctx, p)
		}
	}()
	root := newRoot(a)
	root.SetArgs(args)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	err := root.ExecuteContext(ctx)
	if err == nil { // what was not written was not done, also where a command does not look
		err = a.stdout.(*printable.Writer).Err()
	}
	status = statusOK
	if err != nil {
		status = a.printError(ctx, err)
	}
	a.progress.close()
	if missing := a.unpushed(); missing != nil {
		status = cmp.Or(status, a.printError(ctx, missing))
	}
	return status
}

// printError prints an error with what to do about it, and returns the status that it
// ends the command with.
func (a *app) printError(ctx context.Context, err error) int {
	a.progress.close()
	exit := asExit(ctx, err)
	if p, is := errors.AsType[*guard.Panic](err); is {
		fmt.Fprintf(a.stderr, "%s\n", p.Stack)
		exit.hints = append([]string{"this is a bug in assay: please report it with the lines above"}, exit.hints...)
	}
	if exit.err != nil {
		a.say("assay: error: " + exit.err.Error())
	}
	for _, hint := range exit.hints {
		if command, is := strings.CutPrefix(hint, "assay "); is {
			hint = wording.Command("") + " " + command
		}
		fmt.Fprintln(a.stderr, "assay: hint:", hint) // not folded: most are commands to copy
	}
	if exit.err != nil && exit.status == statusFailed {
		return cmp.Or(a.failed, statusFailed)
	}
	return exit.status
}

// asExit gives an error the status that it ends the command with.
func asExit(ctx context.Context, err error) *exitError {
	var exit *exitError
	var input *lab.InputError
	switch {
	case errors.As(err, &exit):
		return exit
	case errors.As(err, new(*guard.Panic)): // also while it is interrupted
		return &exitError{status: statusFailed, err: err}
	case errors.As(err, &input):
		return &exitError{statusUsage, input.Err, input.Hints}
	case ctx.Err() != nil:
		return &exitError{status: statusInterrupted, err: errors.New("interrupted")}
	}
	return &exitError{status: statusFailed, err: err}
}

// exitError is an error with an exit status. A nil err prints nothing.
type exitError struct {
	status int
	err    error
	hints  []string
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.status)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usage makes an error that is the user's to fix.
func usage(err error, hints ...string) error {
	if err == nil {
		return nil
	}
	return &exitError{statusUsage, err, hints}
}

// app holds what all subcommands share.
type app struct {
	stdout, stderr io.Writer // without control characters of others
	terminal       *os.File  // behind stderr; nil where it is none
	screen         *os.File  // the terminal behind stdout; nil where it is none
	store          string    // location of the store, as the flags say; empty: they do not
	// environmentStore is the same, as the environment says, and environmentPassword the
	// password of a store whose location has none. No process that assay starts is to see
	// either.
	environmentStore, environmentPassword string
	cleansUp                              atomic.Bool // what was started has to be stopped, also after a signal
	failed                                int         // status of errors, where 1 says what was found; 0: 1
	progress                              *progress   // of the lab that is in use; nil: none was yet
	pushes                                pushes      // to the store that was named, where that is on a server
}

// newApp is the command with its outputs, which only here are made: whatever
// writes to them, no control character of a worker, a plan, a database or an
// HTTP server reaches the terminal.
func newApp(stdout, stderr *os.File) *app {
	a := &app{stdout: printable.NewWriter(stdout), stderr: printable.NewWriter(stderr)}
	a.environmentStore = os.Getenv(storeVariable)
	a.environmentPassword = os.Getenv(passwordVariable)
	for _, secret := range []string{storeVariable, passwordVariable} {
		_ = os.Unsetenv(secret) // fails for no valid name
	}
	if term.IsTerminal(int(stderr.Fd())) {
		a.terminal = stderr
	}
	if term.IsTerminal(int(stdout.Fd())) {
		a.screen = stdout
	}
	return a
}

func (a *app) flush() {
	for _, out := range []io.Writer{a.stdout, a.stderr} {
		_ = out.(*printable.Writer).Flush() // there is nobody left to tell
	}
}

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:           "assay",
		Short:         "Find out which embedded database, driver and settings to use for your workload, on your machine",
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noSubcommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			if err := checkGiven(cmd, args); err != nil {
				return err
			}
			return a.checkFiles(cmd)
		},
	}
	root.SetFlagErrorFunc(flagError)
	root.PersistentFlags().StringVar(&a.store, "store", "", "file that keeps results; or postgres:// URL of a database that gets them too, and that is read (default $ASSAY_STORE, or $XDG_DATA_HOME/assay/assay.db)")
	root.AddCommand(
		a.runCommand(), a.initCommand(), a.plansCommand(), a.driversCommand(), a.runsCommand(),
		a.serveCommand(), a.galleryCommand(), a.reportCommand(), a.compareCommand(), a.auditCommand(), a.noiseCommand(), a.inspectCommand(), a.emitCommand(),
		a.buildCommand(), a.bundleCommand(), a.checkCommand(), a.newWorkerCommand(), a.planCommand(), a.loadCommand(), a.crashCommand(), a.crashDiskCommand(),
		a.crashHostCommand(), a.factsCommand(), a.lintCommand(), a.doctorCommand(), a.gateCommand(), a.tuneCommand(), a.historyCommand(),
		a.footprintCommand(), a.advisoriesCommand())
	root.AddCommand(a.loadProcesses()...)
	groupCommands(root)
	checkTopics(root)
	return root
}

// noSubcommand refuses words that are no subcommand, with a suggestion.
func noSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	var hints []string
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hints = append(hints, "did you mean "+strings.Join(near, " or ")+"?")
	}
	return usage(fmt.Errorf("unknown command %q", args[0]), append(hints, strings.Replace(cmd.CommandPath(), "assay", "assay help", 1)+" lists the commands")...)
}

// checkGiven refuses empty words, such as those of a variable that is not set: a
// default, such as the newest run or the store in a file, would silently take the place
// of what the user meant.
func checkGiven(cmd *cobra.Command, args []string) error {
	if slices.Contains(args, "") {
		return usage(errors.New("an argument is empty"), cmd.UseLine())
	}
	var err error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		_, checked := f.Value.(fileFlag)
		list, is := f.Value.(pflag.SliceValue)
		if !checked && f.Value.Type() == "string" && f.Value.String() == "" || is && len(list.GetSlice()) == 0 {
			err = usage(fmt.Errorf("--%s is empty", f.Name), "leave --"+f.Name+" out for the default")
		}
	})
	return err
}

// wireTrace returns where the talk with workers is copied to, as the
// environment asks.
func (a *app) wireTrace() io.Writer {
	if os.Getenv("ASSAY_TRACE") == "wire" {
		return a.stderr
	}
	return nil
}
