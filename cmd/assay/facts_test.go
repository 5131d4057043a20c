package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// Facts that cannot be measured now are those that were stored, and the reason is said;
// where none are stored, the reason is the error.
func TestStoredFacts(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	checkout, err := filepath.Abs("../..")
	must(t, err)
	t.Setenv("ASSAY_SOURCE", checkout) // the program of this test lies elsewhere
	reason := errors.New("python3 is missing\nsee above")
	for spec, want := range map[string]string{"django@6.0": "django@6.0", "mattn@v1.14.32": "mattn@v1.14.32", "django@0.1": ""} {
		var said strings.Builder
		a := &app{stderr: &said}
		a.progress = newProgress(a, true)
		found, err := a.storedFacts(spec, reason)
		got := strings.TrimSuffix(found.At().String(), "@")
		noted := strings.HasSuffix(said.String(), "and not again: python3 is missing\n")
		if got != want || noted != (want != "") || (want == "") != errors.Is(err, reason) {
			t.Errorf("%s: got %q, %v, said %q; want %q", spec, got, err, said.String(), want)
		}
	}
}
