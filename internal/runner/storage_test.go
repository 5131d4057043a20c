//go:build linux

package runner

import (
	"os"
	"slices"
	"strings"
	"testing"

	"assay"
)

// On a file system in memory no setting is worth more than process, and each
// trial that changes data says why.
func TestStorageInMemory(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "assay-")
	if err != nil {
		t.Skip("no file system in memory at /dev/shm: ", err)
	}
	defer os.RemoveAll(dir)
	b := newBench(t, strings.Replace(stores, "[store, honest]", "[store]", 1))
	if b.Work, err = NewWorkspace(dir, "memory"); err != nil {
		t.Fatal(err)
	}
	b.Launches = 1
	b.Cases = slices.DeleteFunc(b.Cases, func(c assay.Case) bool { return c.Cell.Operation != "put" })
	b.run(t)
	for _, trial := range b.trials {
		if trial.Outcome != assay.OK || trial.Durability != assay.Process {
			t.Errorf("%s, durability %s; want ok, process", trial.Outcome, trial.Durability)
		}
		if !slices.ContainsFunc(trial.Warnings, func(w assay.Warning) bool { return w.Code == "storage-loses-syncs" }) {
			t.Errorf("warnings %v, want storage-loses-syncs", trial.Warnings)
		}
	}
	if len(b.trials) == 0 {
		t.Error("nothing was measured")
	}
}
