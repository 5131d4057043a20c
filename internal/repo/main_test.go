// Package repo_test holds the documents, the build and the structure of this
// checkout to what they say. Its tests run at the root of the checkout.
package repo_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "assay-repo-")
	if err == nil {
		programs = dir
		defer os.RemoveAll(dir)
		err = os.Chdir("../..")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// programs is the folder of what buildAssay makes.
var programs string

// buildAssay builds the command once for all tests.
var buildAssay = sync.OnceValue(func() error {
	build := exec.Command("go", "build", "-o", filepath.Join(programs, "assay"), "./cmd/assay")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
})
