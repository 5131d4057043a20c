package main

import (
	"strings"
	"testing"
	"time"

	"assay"
	"assay/internal/analysis/wording"
	"assay/internal/crash"
)

// The command that a report prints does the same again: states without a budget have no
// limit, so that a budget beside them is named even if it is the usual one.
func TestCrashCommand(t *testing.T) {
	for _, c := range []struct {
		states int
		budget time.Duration
		want   string
	}{
		{0, crash.DefaultBudget, "crash p --seed 1"},
		{0, time.Second, "crash p --budget 1s --seed 1"},
		{9, 0, "crash p --states 9 --seed 1"},
		{9, crash.DefaultBudget, "crash p --states 9 --budget " + crash.DefaultBudget.String() + " --seed 1"},
	} {
		flags := crashFlags{Request: crash.Request{States: c.states, Budget: c.budget, Seed: 1, FileSystem: assay.Ext4}, faults: wording.Texts(crash.Usual())}
		if got := strings.Join(commandOf("p", flags), " "); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// What a report of crash says by its error fails the command.
func TestCrashStatus(t *testing.T) {
	err := (&crash.Report{}).Err()
	if err == nil {
		t.Fatal("nothing was tried: got no error, want one")
	}
	if status := asExit(t.Context(), err).status; status != statusFailed {
		t.Errorf("got status %d, want %d", status, statusFailed)
	}
}
