package main

import (
	"testing"

	"assay/internal/crash"
)

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
