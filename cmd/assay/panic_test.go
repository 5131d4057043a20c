package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"assay/internal/guard"
	"assay/internal/lab"
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
			status := a.printError(ctx, a.unfinished(ctx, "my plan", lab.Result{ID: "20261120-153000-0001"}, fault))
			want := "the stack\n\nassay: error: internal error: planted\n" +
				"assay: hint: this is a bug in assay: please report it with the lines above\n" +
				"assay: hint: what was finished is kept; resume with: assay run 'my plan' --resume\n"
			if got := out.String(); status != statusFailed || got != want {
				t.Errorf("got status %d and\n%s\nwant %d and\n%s", status, got, statusFailed, want)
			}
			out.Reset()
			if status := a.printError(ctx, fault); status != statusFailed || !strings.Contains(out.String(), "internal error: planted") {
				t.Errorf("of another command: got status %d and\n%s\nwant %d and the error", status, out.String(), statusFailed)
			}
		})
	}
}
