// Package footprint measures what a driver costs beside its speed: the size of a
// program with it, and the time from its start to the first answer.
package footprint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"assay/internal/sys/file"
	"assay/kit/process"
	"assay/kit/wire"
)

// Footprint holds what was measured of one build of a driver, and when and where.
type Footprint struct {
	Driver  string // as it was asked for, with version and compile options
	Version string
	Build   string // digest of all that went into the program
	Program int64  // bytes of the worker; 0: it is a script
	// Start is the median of Starts starts; 0: it cannot be told.
	Start    time.Duration
	Starts   int
	Machine  string // processor and number of processors
	Measured time.Time
	Cold     *Cold // nil: not measured
}

// Cold is a build where nothing was compiled before.
type Cold struct {
	Took time.Duration
	// Cross is the platform that it was also compiled for, without cgo, and NeedsCgo
	// why that did not work.
	Cross, NeedsCgo string
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
	script, err := isScript(program)
	if err != nil {
		return f, err
	}
	if !script {
		f.Program = info.Size()
	}
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

// isScript reports whether a program is text for an interpreter: its size says
// nothing of what runs.
func isScript(program string) (bool, error) {
	in, err := os.Open(program)
	if err != nil {
		return false, err
	}
	defer in.Close()
	start := make([]byte, 2)
	_, err = io.ReadFull(in, start)
	return string(start) == "#!", err
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

// Save keeps the footprint in a folder, which it makes. What was kept of a cold
// build of the same program on this machine stays, unless there is a newer one.
func (f Footprint) Save(folder string) (Footprint, error) {
	name := filepath.Join(folder, f.Driver+".json")
	if before, err := read(name); f.Cold == nil && err == nil && before.Build == f.Build && before.Machine == f.Machine {
		f.Cold = before.Cold
	}
	data, err := json.Marshal(f)
	if err != nil {
		return f, err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return f, err
	}
	return f, file.Write(name, data)
}

// Load returns all that was kept, by the drivers' names. Files of another format, of an
// older version of assay, are left out.
func Load(folder string) ([]Footprint, error) {
	names, err := filepath.Glob(filepath.Join(folder, "*.json")) // sorted
	if err != nil {
		return nil, err
	}
	var all []Footprint
	for _, name := range names {
		f, err := read(name)
		if err != nil {
			return nil, err
		}
		if f.Build != "" {
			all = append(all, f)
		}
	}
	return all, nil
}

func read(name string) (Footprint, error) {
	var f Footprint
	data, err := os.ReadFile(name)
	if err != nil {
		return f, err
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return f, fmt.Errorf("%s: %w: remove it", name, err)
	}
	return f, nil
}
