package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"assay/internal/analysis/wording"
	"assay/internal/lab"
	"assay/internal/store"
	"assay/internal/sys/guard"
)

// A fault of assay itself ends a run with its stack, and with the command that
// resumes the run; also while the run is interrupted.
func TestPanicIsTold(t *testing.T) {
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	for name, ctx := range map[string]context.Context{"alone": t.Context(), "while it is interrupted": interrupted} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			a := &app{stderr: &out}
			fault := &guard.Panic{Value: "planted", Stack: []byte("the stack\n")}
			status := a.printError(ctx, a.unfinished(ctx, a.commandLine("run", "my plan", "--resume"), lab.Result{ID: "20261120-153000-0001", Kept: true}, fault))
			want := "the stack\n\nassay: error: internal error: planted\n" +
				"assay: hint: this is a bug in assay: please report it with the lines above\n" +
				"assay: hint: what was finished is kept; resume with: assay run 'my plan' --resume\n"
			if got := out.String(); status != statusFailed || got != want {
				t.Errorf("got status %d and\n%s\nwant %d and\n%s", status, got, statusFailed, want)
			}
			a.failed = statusUsage // status 1 says what was found
			if status := a.printError(ctx, fault); status != statusUsage {
				t.Errorf("of a command that finds something: got status %d, want %d", status, statusUsage)
			}
			a.failed = 0
			out.Reset()
			if status := a.printError(ctx, fault); status != statusFailed || !strings.Contains(out.String(), "internal error: planted") {
				t.Errorf("of another command: got status %d and\n%s\nwant %d and the error", status, out.String(), statusFailed)
			}
		})
	}
}

// Who resumes a run that another process measures is told so, and to wait for it.
func TestResumeOfATakenRun(t *testing.T) {
	var a app
	taken := fmt.Errorf("claiming run: %w: process 7 measures it", store.ErrTaken)
	exit := asExit(t.Context(), a.unfinished(t.Context(), a.commandLine("run", "quick", "--resume"), lab.Result{}, taken))
	said := exit.Error() + " " + strings.Join(exit.hints, " ")
	if exit.status != statusFailed || !strings.Contains(said, "process 7 measures it") || !strings.Contains(said, "wait for that process or stop it") || strings.Contains(said, "not measured anything") {
		t.Errorf("got status %d, %q; want 1, the process and that it is waited for", exit.status, said)
	}
}

// Who interrupts an audit learns what is kept and how to see it, also while it estimates.
func TestInterruptedAudit(t *testing.T) {
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	var a app
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"estimating": {context.Canceled, "assay audit"},
		"waiting":    {a.unfinished(interrupted, "assay run kv --resume", lab.Result{ID: "20261120-153000-0001"}, context.Canceled), notBegun},
		"measuring":  {a.unfinished(interrupted, "assay run kv --resume", lab.Result{ID: "20261120-153000-0001", Kept: true}, context.Canceled), "assay run kv --resume the runs"},
	} {
		exit := asExit(interrupted, a.unaudited(interrupted, auditFlags{}, c.err))
		if hints := strings.Join(exit.hints, " "); exit.status != statusInterrupted || !strings.Contains(hints, c.want) || !strings.Contains(hints, "the verdicts by them: assay audit") {
			t.Errorf("%s: got status %d, %q; want %d and %q", name, exit.status, hints, statusInterrupted, c.want)
		}
	}
	if err := errors.New("disk"); !errors.Is(a.unaudited(t.Context(), auditFlags{}, err), err) {
		t.Error("an audit that nobody interrupted has another error")
	}
}

// A hint is a command that runs as it is printed, wherever the program lies.
func TestHintsArePasted(t *testing.T) {
	program := wording.Program
	t.Cleanup(func() { wording.Program = program })
	wording.Program = "../my dir/assay"
	var out bytes.Buffer
	a := &app{stderr: &out}
	a.printError(t.Context(), usage(errors.New("no run"), "assay run quick makes one"))
	if want := "assay: error: no run\nassay: hint: '../my dir/assay' run quick makes one\n"; out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}
