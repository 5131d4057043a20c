package wording_test

import (
	"testing"

	"assay/internal/analysis/wording"
)

// A command that is printed begins as the program was called, where that path stays.
func TestCalled(t *testing.T) {
	for argument, want := range map[string]string{
		"bin/assay": "bin/assay", "./assay": "./assay", "/opt/assay": "/opt/assay", "assay": "assay",
		"/tmp/go-build1/b001/exe/assay": "assay",
	} {
		if got := wording.Called(argument); got != want {
			t.Errorf("%s: got %s, want %s", argument, got, want)
		}
	}
}
