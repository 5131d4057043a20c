package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Replay makes the state of a finding again, from its recording, and looks at
// it with a worker program. Where keep is a path, the image is left there. It is
// to run as Serve is.
func Replay(ctx context.Context, findings, id, program, keep, dir string) (Replayed, error) {
	e, err := load(findings, id)
	if err != nil {
		return Replayed{}, err
	}
	image := e.image()
	if keep != "" {
		if err := writeImage(image, keep); err != nil {
			return Replayed{}, err
		}
	}
	l, err := newLane(ctx, dir)
	if err != nil {
		return Replayed{}, err
	}
	defer l.close()
	task := e.Finding.Task
	task.Program = program
	t := &trial{lane: l, task: task, digests: map[int]string{}, random: rand.New(rand.NewPCG(task.Seed, 3)),
		history: newHistory(transactions, valueBytes, task.Seed), arguments: filepath.Join(l.work, "arguments.col"), result: &Result{}}
	if err := t.history.arguments(t.arguments); err != nil {
		return Replayed{}, err
	}
	found, err := t.check(ctx, image, e.Finding.Acked)
	return Replayed{Finding: e.Finding, Damage: found.damage, Found: found.transactions, Words: found.words}, err
}

// writeImage writes an image as a sparse file.
func writeImage(image *Image, path string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("keep the image: %w", err)
	}
	defer file.Close()
	if err := file.Truncate(image.bytes); err != nil {
		return fmt.Errorf("keep the image: %w", err)
	}
	for number, b := range image.blocks {
		if _, err := file.WriteAt(b.data[:], number*blockBytes); err != nil {
			return fmt.Errorf("keep the image: %w", err)
		}
	}
	return file.Close()
}
