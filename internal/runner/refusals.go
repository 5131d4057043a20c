//go:build unix

package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"assay"
	"assay/internal/dataset"
	"assay/kit/process"
	"assay/kit/wire"
)

// Refused prepares operations with a worker program, on a private copy of the data at
// a path, and returns by operation why the worker refuses it. Nothing is executed, so
// that one worker after the other may have the same copy. Each request has the time
// limit. Its error says that the worker could not be asked.
func Refused(ctx context.Context, program, path string, data *dataset.Data, operations []assay.Operation, limit time.Duration) (refused map[string]error, err error) {
	dir, err := os.MkdirTemp(filepath.Dir(path), "refused-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	worker, err := startWorker(ctx, Config{Timeout: limit}, program, process.Options{Dir: dir})
	if err != nil {
		return nil, err
	}
	defer worker.Kill()
	ask := func(kind string, request any) error {
		limited, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return worker.Call(limited, kind, request, nil)
	}
	if err := ask(wire.TypeOpen, wire.Open{Path: path, Readers: 1, Idle: 1, Writers: 1}); err != nil {
		return nil, fmt.Errorf("open the data: %w", err)
	}
	refused = map[string]error{}
	for _, op := range operations {
		resolved, err := data.Resolve(ctx, op)
		if err != nil {
			return nil, err
		}
		trace, err := data.Trace(ctx, resolved, 1)
		if err != nil {
			return nil, err
		}
		err = ask(wire.TypePrepare, wire.Prepare{Operation: wireOperation(op.Name, resolved, trace), Clients: 1})
		var said *wire.Error
		switch {
		case errors.As(err, &said):
			refused[op.Name] = errors.New(said.Message)
		case err != nil:
			return nil, fmt.Errorf("prepare %s: %w", op.Name, err)
		}
	}
	return refused, nil
}
