package crash

import (
	"context"
	"errors"
	"os"

	"assay/internal/crash/powercut"
	"assay/kit/postgres/cluster"
)

// replay makes the state of a finding again, from its recording or from the files that were
// left, and looks at it.
func (t *trial) replay(ctx context.Context) error {
	e, err := load(t.task.Replay.Findings, t.task.Replay.ID)
	if err == nil && t.task.Replay.Keep != "" {
		err = e.leave(t.task.Replay.Keep)
	}
	if err == nil {
		err = t.checkWorker(ctx)
	}
	if err != nil {
		return err
	}
	found, err := t.again(ctx, e)
	if err == nil {
		t.result.Replayed = &Replayed{Finding: e.Finding, Damage: found.damage, Found: found.transactions, Words: found.words}
	}
	return err
}

// leave keeps a state for the engine's authors.
func (e evidence) leave(path string) error {
	if e.Recording != nil {
		return powercut.WriteImage(e.image(), path)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		return err
	}
	return e.Files.Write(path)
}

// confirmed looks a second time at a state that did not open, or that no worker started to
// look at: the machine may have been short of time or memory.
func (t *trial) confirmed(ctx context.Context, e evidence, found observation, err error) (observation, error) {
	doubtful := errors.Is(err, errStart) || err == nil && found.damage == Unopened
	if doubtful && (e.Recording != nil || e.Files != nil) {
		return t.again(ctx, e)
	}
	return found, err
}

// again looks at the state of some evidence.
func (t *trial) again(ctx context.Context, e evidence) (found observation, err error) {
	if e.Finding.Race {
		defer func(usual workload) { t.workload = usual }(t.workload)
		if t.workload, err = t.raceWorkload(); err != nil {
			return found, err
		}
	}
	if e.Recording != nil {
		return t.check(ctx, e.image(), e.Finding.Acked)
	}
	return t.inspectFolder(ctx, e.Files, e.Finding.Acked)
}

// inspectCut checks the state that a cut leaves.
func (t *trial) inspectCut(ctx context.Context, r *powercut.Recording, cut powercut.Cut, flushes bool, acked int) (observation, error) {
	if r.OfFiles() {
		return t.inspectFolder(ctx, r.Folder(cut, flushes), acked)
	}
	return t.check(ctx, r.Image(cut, flushes), acked)
}

// inspectFolder looks at files on the file system of this machine.
func (t *trial) inspectFolder(ctx context.Context, files powercut.Folder, acked int) (observation, error) {
	dir, err := os.MkdirTemp(t.work, "files-")
	if err != nil {
		return observation{}, err
	}
	defer os.RemoveAll(dir)
	if err := files.Write(dir); err != nil {
		return observation{}, err
	}
	if t.server {
		if err := cluster.Give(dataPath(dir)); err != nil {
			return observation{}, err
		}
	}
	return t.inspect(ctx, dataPath(dir), acked)
}
