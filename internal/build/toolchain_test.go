package build

import (
	"os"
	"path/filepath"
	"testing"
)

// What a C compiler says of itself is a part of the toolchain: another one under the same name
// makes other programs.
func TestToolchainHasTheCompiler(t *testing.T) {
	dir := t.TempDir()
	compiler := filepath.Join(dir, "cc")
	must(t, os.WriteFile(compiler, []byte("#!/bin/sh\necho 'cc 14.1'\necho more\n"), 0o755))
	must(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module m\n"), 0o600))
	t.Setenv("CC", compiler)
	for cgo, want := range map[string]string{"1": "cc 14.1", "0": ""} {
		t.Setenv("CGO_ENABLED", cgo)
		tools, err := findToolchain(t.Context(), dir)
		must(t, err)
		if got := tools["CC --version"]; got != want {
			t.Errorf("CGO_ENABLED=%s: got the compiler %q, want %q", cgo, got, want)
		}
	}
}
