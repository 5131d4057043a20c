//go:build unix

package runner

import (
	"sync/atomic"
	"testing"

	"assay"
)

// Operations that change nothing have their copies of the data made once, and
// all others have one for each instance.
func TestCopiesAreMadeOnce(t *testing.T) {
	for _, c := range []struct {
		name, operation string
		perLaunch       bool
	}{
		{"reads", read, false},
		{"inserts", insert, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, header+c.operation)
			var made atomic.Int64
			folder := b.Work.copies.Folder
			b.Work.copies.Folder = func() (string, error) { made.Add(1); return folder() }
			b.run(t)
			want := int64(3) // two drivers and the twin
			if c.perLaunch {
				want *= int64(b.launches())
			}
			if b.launches() < 2 || made.Load() != want {
				t.Errorf("%d copies were made in %d launches, want %d", made.Load(), b.launches(), want)
			}
			for _, trial := range b.trials {
				if trial.Outcome != assay.OK {
					t.Errorf("%s: %s, %s", describe(trial.Cell), trial.Outcome, trial.Reason)
				}
			}
		})
	}
}
