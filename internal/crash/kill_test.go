//go:build linux

package crash

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"assay"
	"assay/internal/crash/powercut"
	"assay/internal/sys/guard"
	"assay/kit/kv"
	"assay/kit/process"
	"assay/kit/wire"
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

// A promise that was refuted stays so, and its finding is kept, whatever goes wrong later;
// otherwise that is the outcome.
func TestEnd(t *testing.T) {
	broken := errors.New("the disk is gone")
	for name, c := range map[string]struct {
		counts  map[Damage]int
		err     error
		outcome assay.Outcome
		refuted Damage
	}{
		"refuted, then an error":   {map[Damage]int{Unharmed: 1, Lost: 1}, broken, assay.OK, Lost},
		"refuted, then no support": {map[Damage]int{Lost: 1}, wire.Errorf(wire.Unsupported, "no log"), assay.OK, Lost},
		"refuted, then a fault":    {map[Damage]int{Lost: 1}, guard.Error(func() error { planted(); return nil }), assay.Failed, Lost},
		"held, then an error":      {map[Damage]int{Unharmed: 2}, broken, assay.Failed, Unharmed},
		"held":                     {map[Damage]int{Unharmed: 2}, nil, assay.OK, Unharmed},
	} {
		tried := newKill(t, "store-honest")
		tried.result.Claimed = assay.Process
		for damage, n := range c.counts {
			for range n {
				tried.note(evidence{Finding: Finding{Acked: 2}, Files: powercut.Folder{"store": powercut.NewFolder()}}, observation{damage: damage, transactions: 1})
			}
		}
		must(t, tried.keep())
		tried.end(c.err)
		r := tried.result
		if r.Outcome != c.outcome || r.Refuted() != c.refuted || (r.Reason != "") != (c.err != nil) {
			t.Errorf("%s: got %s (%s), refuted %q; want %s, refuted %q", name, r.Outcome, r.Reason, r.Refuted(), c.outcome, c.refuted)
		}
		if kept := r.Outcome == assay.OK && c.err != nil; kept != (len(r.Notes) > 0) {
			t.Errorf("%s: got notes %q", name, r.Notes)
		}
		if (r.Proof().Refuted > 0) != (c.outcome == assay.OK && c.refuted != Unharmed) {
			t.Errorf("%s: got the proof %+v", name, r.Proof())
		}
	}
}

// A state that does not open is looked at once more, and only what does not open then is
// damaged. A worker that does not start says nothing of its database.
func TestUnopenedTwice(t *testing.T) {
	for store, want := range map[string]Damage{"store-busy": Unharmed, "store-locked": Unopened} {
		tried := newKill(t, store)
		must(t, tried.attempts(t.Context(), func(ctx context.Context) (evidence, observation, error) {
			tried.deadline = time.Now() // one attempt
			return tried.left(ctx, func(_ *evidence, path, marks string) error {
				db, err := tried.begin(ctx, path, nil)
				if err != nil {
					return err
				}
				defer db.kill()
				return db.write(ctx, 0, 3, marks)
			})
		}))
		if tried.result.Counts[want] != 1 || tried.result.States != 1 {
			t.Errorf("%s: got %v, want one state that is %q", store, tried.result.Counts, want)
		}
	}
	for failing, unknown := range map[string]int{"1": 1, "2": 0, "2 3": 1} { // the first one writes, the others look
		tried := newKill(t, "store-honest")
		program := filepath.Join(t.TempDir(), "store-honest")
		script := "#!/bin/sh\necho >>starts\nfor n in " + failing + "; do [ $(wc -l <starts) -ne $n ] || exit 1; done\nexec " + tried.task.Program + " \"$@\"\n"
		must(t, os.WriteFile(program, []byte(script), 0o700))
		tried.task.Program, tried.deadline = program, time.Now()
		must(t, tried.attempts(t.Context(), func(ctx context.Context) (evidence, observation, error) {
			return tried.left(ctx, func(_ *evidence, path, marks string) error {
				db, err := tried.begin(ctx, path, nil)
				if err != nil {
					return err
				}
				defer db.kill()
				return db.write(ctx, 0, 3, marks)
			})
		}))
		if r := tried.result; r.Counts[Unharmed] != 1 || r.States != 1 || r.Unknown != unknown {
			t.Errorf("start %s fails: got %v, %d unknown; want one state that is whole, %d unknown", failing, r.Counts, r.Unknown, unknown)
		}
	}
	tried := newKill(t, "store-honest")
	tried.task.Program += "-gone"
	if found, err := tried.inspect(t.Context(), filepath.Join(t.TempDir(), dataName), 3); err == nil || found.damage != Unharmed {
		t.Errorf("a worker that does not start: got %+v, %v, want an error", found, err)
	}
}

// A worker that has written all when it is killed met no kill, and one that ends by itself
// was not killed.
func TestKillWhileWriting(t *testing.T) {
	tried := newKill(t, "store-honest")
	for lasts, unfelt := range map[time.Duration]bool{0: false, 1: false, time.Hour: true} {
		tried.turn, tried.lasts = 0, lasts // at a time, not at a call
		e, found, err := tried.killWorker(t.Context())
		if lasts == 0 { // it was timed
			if err != nil || tried.lasts <= 0 || tried.lasts > longestLife {
				t.Errorf("got %v, lasts %s, want up to %s", err, tried.lasts, longestLife)
			}
			continue
		}
		if err != nil || found.damage != Unharmed || e.unfelt != unfelt || unfelt != (e.Finding.Acked == transactions) {
			t.Errorf("killed within %s: got %v, %q, %d acknowledged, unfelt %v; want %v", lasts, err, found.damage, e.Finding.Acked, e.unfelt, unfelt)
		}
	}
	tried = newKill(t, "store-crashes")
	for turn := range 2 {
		tried.turn, tried.lasts, tried.made = turn, time.Hour, []callCount{{"fsync", 1}}
		ended := (*process.ExitError)(nil)
		if _, _, err := tried.killWorker(t.Context()); !errors.As(err, &ended) || ended.Code != 3 {
			t.Errorf("a worker that ends by itself: got %v, want its status 3", err)
		}
	}
}
