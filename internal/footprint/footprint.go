// Package footprint measures what a driver costs beside its speed: the size of a
// program with it, and the time from its start to the first answer.
package footprint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"assay/kit/process"
	"assay/kit/wire"
)

// Footprint is what was measured of one driver, and when and where.
type Footprint struct {
	Driver, Version string
	Toolchain       string // the Go version; empty where the program is not in Go
	Program         int64  // bytes of the worker; 0: it is a script
	// Start is the median of Starts starts; 0: it cannot be told.
	Start  time.Duration
	Starts int
	// ColdBuild is the time of a build where nothing was compiled before; 0: not
	// measured.
	ColdBuild time.Duration
	// Cross is the platform that it was compiled for without cgo, and NeedsCgo why
	// it was not; both are empty where it was not tried.
	Cross, NeedsCgo string
	Machine         string // processor and number of processors
	Measured        time.Time
}

// starts is how often a worker is started, after once to warm up.
const starts = 9

// Measure takes the size of a program, and starts it on new databases below
// scratch.
func Measure(ctx context.Context, program, scratch string) (Footprint, error) {
	var f Footprint
	info, err := os.Stat(program)
	if err != nil {
		return f, err
	}
	f.Program = info.Size()
	var took []time.Duration
	for i := range starts + 1 {
		one, err := start(ctx, program, filepath.Join(scratch, fmt.Sprint("start-", i)))
		if errors.Is(err, errNoFile) {
			return f, nil
		}
		if err != nil {
			return f, err
		}
		if i > 0 {
			took = append(took, one)
		}
	}
	slices.Sort(took)
	f.Start, f.Starts = took[len(took)/2], len(took)
	return f, nil
}

// errNoFile is of drivers that open no file, but connect to a server.
var errNoFile = errors.New("it opens no file")

// start takes the time until a worker has answered PRAGMA user_version of a new
// database, or has opened a new store.
func start(ctx context.Context, program, folder string) (time.Duration, error) {
	if err := os.Mkdir(folder, 0o755); err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	began := time.Now()
	worker, err := process.Start(ctx, program, process.Options{Dir: folder})
	if err != nil {
		return 0, err
	}
	defer worker.Kill()
	can := worker.Hello().Capabilities
	if slices.Contains(can, wire.CapPostgreSQL) || !slices.Contains(can, wire.CapSQL) && !slices.Contains(can, wire.CapKV) {
		return 0, errNoFile
	}
	request := wire.Open{Path: filepath.Join(folder, "data"), Readers: 1, Idle: 1, Writers: 1}
	if err := worker.Call(ctx, wire.TypeOpen, request, nil); err != nil {
		return 0, err
	}
	if slices.Contains(can, wire.CapSQL) {
		if err := worker.Call(ctx, wire.TypeSettings, wire.Settings{Names: []string{"user_version"}}, nil); err != nil {
			return 0, err
		}
	}
	took := time.Since(began)
	_, err = worker.Stop(ctx)
	return took, err
}

// Save keeps the footprint in a folder, which it makes.
func (f Footprint) Save(folder string) error {
	data, err := json.Marshal(f)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, f.Driver+".json"), data, 0o644)
}

// Load is what was kept of a driver; false where nothing was.
func Load(folder, driver string) (Footprint, bool) {
	var f Footprint
	data, err := os.ReadFile(filepath.Join(folder, driver+".json"))
	return f, err == nil && json.Unmarshal(data, &f) == nil
}
