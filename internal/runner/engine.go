//go:build unix

package runner

import (
	"cmp"
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
	"assay/internal/dataset/oracle"
	"assay/kit/column"
	"assay/kit/duckdb"
	"assay/kit/kv"
	"assay/kit/process"
	"assay/kit/sqlite"
	"assay/kit/wire"
)

// engine is what depends on the kind of a target's engine: a file of SQLite or DuckDB, a
// key-value store, or a PostgreSQL server.
type engine interface {
	// version is the version of the engine, of which the worker itself said something. Its
	// error is a *failure.
	version(ctx context.Context, r *Runner, said string) (string, error)
	// adapt makes a case one for the target, with the settings of its engine. Its
	// error is a *failure: the target cannot run the case.
	adapt(c assay.Case) (assay.Case, error)
	// fill finds the job's data as the engine has them, or has them put there.
	fill(ctx context.Context, r *Runner, j *job) (dataset.Source, error)
	// start starts what the worker connects to. It returns the settings that the
	// worker applies, and the tracer, if any, that the worker is started under.
	start(ctx context.Context, in *instance, under []string) (settings map[string]string, tracer []string, err error)
	// settings are the names of those that are read back.
	settings(j *job) []string
	// everything asks for what a query over all the data answers.
	everything(q assay.Query) wire.Verify
	traits() traits
}

// traits holds what there is to know of a kind of engine.
type traits struct {
	plays    oracle.Engine // of which package oracle's expectations of tables hold
	reusable bool          // a copy of the data can be made equal to them again
	direct   bool          // a commit writes all that it changes before it ends, to files and not to mapped memory
	pauses   bool          // it does nothing between calls, neither in the worker nor beside it: pausing changes nothing
	traced   string        // the setting that a trace of system calls proves where the worker cannot read it back; empty: none
}

// engineOf is the engine of a worker with these capabilities.
func engineOf(capabilities []string) engine {
	switch {
	case slices.Contains(capabilities, wire.CapPostgreSQL):
		return postgresServer{}
	case slices.Contains(capabilities, wire.CapKV):
		return keyValueStore{}
	case slices.Contains(capabilities, wire.CapDuckDB):
		return duckFile{}
	}
	return sqliteFile{}
}

// fits says why a target cannot run a case.
func fits(c assay.Case, capabilities []string) error {
	can := func(capability string) bool { return slices.Contains(capabilities, capability) }
	noSQLite := can(wire.CapKV) || can(wire.CapPostgreSQL) || can(wire.CapDuckDB)
	call := can(wire.CapCall)
	switch {
	case c.Cell.Begin != "" && noSQLite:
		return &failure{assay.Unsupported, "begin: " + string(c.Cell.Begin) + " is SQLite's, and " + c.Cell.Driver + " opens no file of SQLite"}
	case c.Cell.Processes > 1 && can(wire.CapKV) && !can(wire.CapProcesses):
		return &failure{assay.Unsupported, "a store of " + c.Cell.Driver + " is for one process at a time"}
	case c.Cell.Processes > 1 && can(wire.CapDuckDB):
		return &failure{assay.Unsupported, "DuckDB locks its file: one process at a time can write to it"}
	case len(c.Dataset.Prepare) > 0 && noSQLite:
		return &failure{assay.Unsupported, "the profile " + c.Cell.Profile + " prepares an SQLite file, and " + c.Cell.Driver + " opens none"}
	case c.Operation.Call() && !call:
		return &failure{assay.Unsupported, c.Cell.Driver + " has no operations of its own that a plan could call"}
	case !c.Operation.Call() && call && !can(wire.CapSQL):
		return &failure{assay.Unsupported, c.Cell.Driver + " runs operations of its own only, which a plan names by call"}
	case c.Operation.Sequence != "" && c.Cell.Clients > 1 && !can(wire.CapOrdered):
		return &failure{assay.Unsupported, "the worker " + c.Cell.Driver + " does not keep the order of several clients"}
	case c.Operation.Serve && !can(wire.CapHTTP):
		return &failure{assay.Unsupported, "the worker " + c.Cell.Driver + " does not serve operations over HTTP"}
	}
	return nil
}

// inWorker holds what engines have in common that run in the worker's process.
type inWorker struct{}

func (inWorker) version(_ context.Context, _ *Runner, said string) (string, error) { return said, nil }

func (inWorker) start(_ context.Context, in *instance, under []string) (settings map[string]string, tracer []string, err error) {
	return in.first.Profile.Settings, under, nil
}

// sqliteFile is a file that a driver of SQLite opens, in the worker's process.
type sqliteFile struct{ inWorker }

// adapt expresses the settings of a key-value store by those that say the same.
func (sqliteFile) adapt(c assay.Case) (assay.Case, error) {
	var err error
	if c.Profile, err = withoutOthers(c.Profile); err == nil && c.Operation.KV() {
		if len(c.Profile.Settings) > 0 && len(kv.InSQLite(c.Profile.Settings)) == 0 {
			return c, &failure{assay.Unsupported, "the profile " + c.Cell.Profile + " has settings of key-value stores only"}
		}
		c.Profile.Settings = kv.InSQLite(storeSettings(c))
	}
	if err == nil && c.Cell.Begin != "" {
		c.Profile.Settings[wire.Begin] = string(c.Cell.Begin)
	}
	if err == nil && c.Cell.Processes > 1 {
		err = shareable(c.Profile)
	}
	return c, err
}

// shareable says which setting of a profile keeps other processes from the database.
func shareable(p assay.Profile) error {
	requested := p.Requested()
	for _, private := range []struct{ name, value string }{{"memory", "1"}, {"locking_mode", "exclusive"}} {
		if requested[private.name] == private.value {
			return &failure{assay.Unsupported, fmt.Sprintf("the profile %s has %s=%s: no other process sees such a database", p.Name, private.name, kv.Word(private.name, private.value))}
		}
	}
	return nil
}

func (sqliteFile) fill(_ context.Context, _ *Runner, j *job) (dataset.Source, error) {
	return j.data, nil
}

// settings returns all that a PRAGMA shows, whether the database is in memory, and of
// those that only behaviour shows (which takes a moment) the ones that the profile
// asks for.
func (sqliteFile) settings(j *job) []string {
	requested := j.Profile.Requested()
	var names []string
	if j.Operation.Call() { // what an application's connection has is shown whole
		names = append(names, sqlite.Others...)
	}
	for _, s := range sqlite.Settings {
		if _, asked := requested[s.Name]; asked || s.Pragma || s.Name == "memory" {
			names = append(names, s.Name)
		}
	}
	if j.Cell.Begin != "" {
		names = append(names, wire.Begin)
	}
	return names
}

func (sqliteFile) everything(q assay.Query) wire.Verify { return wire.Verify{SQL: q.SQL} }

func (sqliteFile) traits() traits {
	return traits{plays: oracle.SQLite, reusable: true, direct: true, pauses: true}
}

// identity holds what a worker said of itself.
type identity struct {
	target       assay.Target
	engine       engine // nil: there is no such worker
	capabilities []string
	refused      error // a *failure: it did not say what it is
}

// known reports whether the worker can be measured.
func (i identity) known() bool { return i.engine != nil && i.refused == nil }

// identify starts every program once and asks what it is.
func (r *Runner) identify(ctx context.Context) error {
	r.workers = map[string]identity{}
	var refused error
	measurable := false
	for _, key := range slices.Sorted(maps.Keys(r.config.Programs)) {
		w, err := r.ask(ctx, r.config.Programs[key])
		if err != nil {
			return err
		}
		r.workers[key] = w
		measurable = measurable || w.known()
		if w.refused != nil && refused == nil {
			refused = fmt.Errorf("no worker can be measured; %s: %w", key, w.refused)
		}
	}
	if measurable {
		return nil
	}
	return refused
}

// ask starts a program and asks what it is. Its error ends the run.
func (r *Runner) ask(ctx context.Context, program Program) (identity, error) {
	worker, err := startWorker(ctx, r.config, program.Path, process.Options{})
	if ctx.Err() != nil {
		return identity{}, ctx.Err()
	}
	if err = notStarted(err); errors.As(err, new(*EnvironmentError)) {
		return identity{}, err
	}
	if err != nil {
		return identity{refused: err}, nil
	}
	said, capabilities := worker.Hello().Target, worker.Hello().Capabilities
	w := identity{engine: engineOf(capabilities), capabilities: capabilities}
	_, _ = stopWorker(ctx, r.config, worker) // it has nothing open that could fail to close
	version, err := w.engine.version(ctx, r, said.EngineVersion)
	w.refused = err
	w.target = assay.Target{Driver: said.Driver, DriverVersion: cmp.Or(program.Version, said.DriverVersion), Engine: said.Engine,
		EngineVersion: version, Build: program.Digest, Facts: said.Facts, CompileOptions: said.CompileOptions,
		Options: program.Options, Layouts: len(program.Layouts)}
	return w, nil
}

// startWorker and stopWorker keep to the plan's time limit.
func startWorker(ctx context.Context, config Config, program string, options process.Options) (worker *process.Worker, err error) {
	options.Trace = config.Wire
	_, err = withinTime(ctx, config.Timeout, func(ctx context.Context) (err error) {
		worker, err = process.Start(ctx, program, options)
		return err
	})
	return worker, err
}

func stopWorker(ctx context.Context, config Config, worker *process.Worker) (wire.Closed, error) {
	limited, cancel := context.WithTimeout(ctx, config.Timeout)
	defer cancel()
	return worker.Stop(limited)
}

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
	if c.Profile, err = withoutOthers(c.Profile); err == nil {
		c.Profile.Settings = storeSettings(c)
	}
	return c, err
}

// storeSettings returns the settings of a case of a key-value store. Whether commits are
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

func (keyValueStore) traits() traits {
	return traits{plays: oracle.SQLite, reusable: true, traced: kv.Sync}
}

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

// bytesPut returns how many bytes of keys and values an operation puts each time,
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

// diskUsage returns how many bytes the files of a folder take on the disk.
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

// duckFile is a file of DuckDB, in the worker's process.
type duckFile struct{ inWorker }

// adapt takes the settings of DuckDB, which syncs every commit.
func (duckFile) adapt(c assay.Case) (assay.Case, error) {
	if c.Dataset.File != "" {
		return c, &failure{assay.Unsupported, dataset.ErrFile.Error()}
	}
	if c.Operation.KV() {
		if storeSettings(c)[kv.Sync] == "0" {
			return c, &failure{assay.Unsupported, "DuckDB syncs every commit"}
		}
		c.Profile.Settings = map[string]string{}
	}
	return ownSettings(c, "DuckDB", duckdb.Settings)
}

func (duckFile) settings(*job) []string { return duckdb.Settings.Names() }

func (duckFile) everything(q assay.Query) wire.Verify { return wire.Verify{SQL: q.SQL} }

// traits have it play PostgreSQL: what SQL does there, as far as it differs from SQLite, it does
// in DuckDB.
func (duckFile) traits() traits { return traits{plays: oracle.PostgreSQL, reusable: true} }

// fill finds the data in a file of DuckDB, or has the job's worker put them there.
func (duckFile) fill(ctx context.Context, r *Runner, j *job) (dataset.Source, error) {
	return r.filled(ctx, j, "DuckDB", func(ctx context.Context) (dataset.Source, error) {
		return j.data.DuckDB(ctx, j.target.EngineVersion, func(path string, statements []string) error {
			if j.Operation.Call() {
				statements = nil // the worker makes its own tables
			}
			return r.execute(ctx, j, path, statements)
		})
	})
}

// execute has the job's worker execute statements in a new database, and close it.
func (r *Runner) execute(ctx context.Context, j *job, path string, statements []string) error {
	worker, err := process.Start(ctx, j.program.Path, process.Options{Dir: filepath.Dir(path), Trace: r.config.Wire})
	if err != nil {
		return notStarted(err)
	}
	defer worker.Kill()
	if err := worker.Call(ctx, wire.TypeOpen, wire.Open{Path: path, Once: statements, Writers: 1}, nil); err != nil {
		return err
	}
	_, err = worker.Stop(ctx)
	return fail("close the database with the data", err)
}
