//go:build unix

package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"assay"
	"assay/internal/dataset"
	"assay/kit/column"
	"assay/kit/kv"
	"assay/kit/process"
	"assay/kit/wire"
)

// loadTimeouts is how many times the plan's timeout all of a dataset may take to
// be made or loaded: it bounds one statement, and millions of rows take many.
var loadTimeouts = time.Duration(30) // tests wait less

func (r *Runner) loadLimit() time.Duration { return loadTimeouts * r.config.Timeout }

// keyValueStore is a store with files of its own, in the worker's process.
type keyValueStore struct{ inWorker }

func (keyValueStore) adapt(c assay.Case) (assay.Case, error) {
	if !c.Operation.KV() {
		return c, &failure{assay.Unsupported, c.Cell.Driver + " is a key-value store: it runs no SQL"}
	}
	var err error
	if c.Profile, err = withoutPostgres(c.Profile); err == nil {
		c.Profile.Settings = storeSettings(c)
	}
	return c, err
}

// storeSettings are those of a case of a key-value store. Whether commits are
// synced is nothing to operations that change nothing.
func storeSettings(c assay.Case) map[string]string {
	settings := maps.Clone(c.Profile.Settings)
	if !c.Operation.Changes {
		delete(settings, kv.Sync)
	}
	return settings
}

func (keyValueStore) settings(*job) []string {
	var names []string
	for _, s := range kv.Settings {
		names = append(names, s.Name)
	}
	return names
}

func (keyValueStore) everything(assay.Query) wire.Verify { return wire.Verify{All: true} }

func (keyValueStore) tracedSetting() string { return kv.Sync }

// fill finds the data in a store of the engine, or has them put there.
func (keyValueStore) fill(ctx context.Context, r *Runner, j *job) (store dataset.Source, err error) {
	what := "the records in " + j.Cell.Driver
	kept := j.Cell.Build
	own := kv.InFiles(j.Profile.Settings)
	for _, name := range slices.Sorted(maps.Keys(own)) {
		kept += "," + name + "=" + own[name]
	}
	err = r.limited(ctx, r.loadLimit(), what, j.data.Path+"|"+kept, func(ctx context.Context) (err error) {
		store, err = j.data.Store(ctx, kept, func(path, records string) error { return r.loadRecords(ctx, j, path, records) })
		return err
	})
	return store, err
}

// loadRecords has the job's worker load records without syncs, settle, and close
// the store. The error is a *failure where it is the worker's.
func (r *Runner) loadRecords(ctx context.Context, j *job, path, records string) error {
	asked, err := rowsOf(records)
	if err != nil {
		return err
	}
	worker, err := process.Start(ctx, j.program.Path, process.Options{Dir: filepath.Dir(path), Trace: r.config.Wire})
	if err != nil {
		return notStarted(err)
	}
	defer worker.Kill()
	settings := kv.InFiles(j.Profile.Settings)
	settings[kv.Sync] = "0"
	open := wire.Open{Path: path, Settings: settings, Readers: 1, Idle: 1, Writers: 1}
	if err := worker.Call(ctx, wire.TypeOpen, open, nil); err != nil {
		return fail("open a store to load records", err)
	}
	var loaded wire.Loaded
	if err := worker.Call(ctx, wire.TypeLoad, wire.Load{Records: records}, &loaded); err != nil {
		return fail("load records", err)
	}
	if err := untrue(wire.TypeLoad, loaded.Check(asked)); err != nil {
		return err
	}
	_, err = worker.Stop(ctx)
	return fail("close a store after loading records", err)
}

func rowsOf(path string) (int64, error) {
	file, err := column.Open(path)
	if err != nil {
		return 0, err
	}
	return int64(file.Rows()), file.Close()
}

// bytesPut is how many bytes of keys and values an operation puts each time,
// on the mean; 0 where it is no put alone.
func bytesPut(j *job) (float64, error) {
	steps := j.Operation.Steps
	if len(steps) != 1 || steps[0].KV != wire.Put {
		return 0, nil
	}
	trace, err := column.Open(j.trace.Path)
	if err != nil {
		return 0, err
	}
	total := 0
	for row := range trace.Rows() {
		for i := range steps[0].Args {
			total += len(trace.Bytes(i, row))
		}
	}
	return float64(total) / float64(max(1, trace.Rows())), trace.Close()
}

// diskUsage is how many bytes the files of a folder take on the disk.
func diskUsage(folder string) (bytes int64, err error) {
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok && entry.Type().IsRegular() {
			bytes += stat.Blocks * 512
		}
		return nil
	})
	return bytes, err
}

// splitWarning is about transactions that were not committed as one.
func splitWarning(splits, operations int64) []assay.Warning {
	if splits == 0 {
		return nil
	}
	return []assay.Warning{{Code: "split-transaction",
		Evidence: fmt.Sprintf("transactions were too big for the engine, and committed %d more times in %d operations", splits, operations),
		Advice:   "part of a transaction may survive without the rest: compare it with smaller transactions of the others"}}
}
