//go:build linux

package crash

import (
	"testing"

	"assay"
	"assay/kit/kv"
)

// newKill is a trial that kills a store that does not sync, in no process of its own.
func newKill(t *testing.T, store string) *trial {
	t.Helper()
	l, err := newLane(t.Context(), t.TempDir(), false)
	must(t, err)
	tried, err := newTrial(l, Task{Driver: store, Program: storeProgram(t, store), Fault: assay.Kill, Seed: 1, Settings: map[string]string{kv.Sync: "0"}, Findings: t.TempDir()})
	must(t, err)
	return tried
}

// No transaction is written that the history does not have: a workload need not be a
// whole number of batches.
func TestWriteForAWhile(t *testing.T) {
	const count = batch + 20
	tried := newKill(t, "store-honest")
	var err error
	tried.workload, err = newWorkload(tried.work, count, valueBytes, 1)
	must(t, err)
	must(t, tried.inFolder(func(path, marks string) error {
		db, err := tried.begin(t.Context(), path, nil)
		if err != nil {
			return err
		}
		defer db.kill()
		written, err := tried.writeForAWhile(t.Context(), db, marks)
		if acked := acknowledged(marks); written != count || acked != count {
			t.Errorf("wrote %d, of which %d were acknowledged, want %d", written, acked, count)
		}
		return err
	}))
}
