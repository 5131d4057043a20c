package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"assay/internal/crash/powercut"
	"assay/kit/postgres/cluster"
)

// ServeReplay makes the state of a finding again, from its recording or from the files
// that were left, looks at it, and writes what it showed. text is the Replay. It is to
// run as Serve is.
func ServeReplay(ctx context.Context, dir, text string, out io.Writer) error {
	var r Replay
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return fmt.Errorf("read what to replay: %w", err)
	}
	again, err := r.again(ctx, dir)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(again)
}

func (r Replay) again(ctx context.Context, dir string) (Replayed, error) {
	e, err := load(r.Findings, r.ID)
	if err != nil {
		return Replayed{}, err
	}
	if r.Keep != "" {
		if err := e.leave(r.Keep); err != nil {
			return Replayed{}, err
		}
	}
	l, err := newLane(ctx, dir, e.Recording != nil)
	if err != nil {
		return Replayed{}, err
	}
	defer l.close()
	task := e.Finding.Task
	task.Program = r.Program
	t, err := newTrial(l, task)
	if err != nil {
		return Replayed{}, err
	}
	if e.Recording != nil {
		if err := l.format(ctx); err != nil {
			return Replayed{}, err
		}
	}
	if err := t.checkWorker(ctx); err != nil {
		return Replayed{}, err
	}
	if e.Finding.Race {
		if t.workload, err = t.raceWorkload(); err != nil {
			return Replayed{}, err
		}
	}
	found, err := t.again(ctx, e)
	return Replayed{Finding: e.Finding, Damage: found.damage, Found: found.transactions, Words: found.words}, err
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

// again looks at the state of some evidence.
func (t *trial) again(ctx context.Context, e evidence) (observation, error) {
	if e.Recording != nil {
		return t.check(ctx, e.image(), e.Finding.Acked)
	}
	return t.inspectFolder(ctx, e.Files, e.Finding.Acked)
}

// look checks the state that a cut leaves.
func (t *trial) look(ctx context.Context, r *powercut.Recording, cut powercut.Cut, flushes bool, acked int) (observation, error) {
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
