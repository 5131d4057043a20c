//go:build unix

package runner

import (
	"context"
	"slices"

	"assay"
	"assay/internal/dataset"
	"assay/internal/dataset/oracle"
	"assay/kit/kv"
	"assay/kit/sqlite"
	"assay/kit/wire"
)

// engine is what depends on the kind of a target's engine: an SQLite file, a
// key-value store, or a PostgreSQL server.
type engine interface {
	// version is that of the engine, of which the worker itself said something. Its
	// error is a *failure.
	version(ctx context.Context, r *Runner, said string) (string, error)
	// adapt makes a case one for the target, with the settings of its engine. Its
	// error is a *failure: the target cannot run the case.
	adapt(c assay.Case) (assay.Case, error)
	// fill finds the job's data as the engine has them, or has them put there.
	fill(ctx context.Context, r *Runner, j *job) (dataset.Source, error)
	// reusable reports whether a copy of the data can be made equal to them again.
	reusable() bool
	// start starts what the worker connects to. It returns the settings that the
	// worker applies, and the tracer, if any, that the worker is started under.
	start(ctx context.Context, in *instance, under []string) (settings map[string]string, tracer []string, err error)
	// settings are the names of those that are read back.
	settings(j *job) []string
	// everything asks for what a query over all the data answers.
	everything(q assay.Query) wire.Verify
	// tracedSetting is the setting that a trace of system calls proves where the
	// worker cannot read it back; empty: none.
	tracedSetting() string
	// direct reports whether a commit writes all that it changes before it ends, to
	// files and not to mapped memory.
	direct() bool
	// canPause reports whether pausing the worker changes nothing for the engine: it does
	// nothing between calls, neither in the worker nor beside it.
	canPause() bool
	// plays is the engine of which package oracle's expectations of tables hold.
	plays() oracle.Engine
}

// engineOf is the engine of a worker with these capabilities.
func engineOf(capabilities []string) engine {
	switch {
	case slices.Contains(capabilities, wire.CapPostgreSQL):
		return postgresServer{}
	case slices.Contains(capabilities, wire.CapKV):
		return keyValueStore{}
	}
	return sqliteFile{}
}

// fits says why a target cannot run a case.
func fits(c assay.Case, capabilities []string) error {
	call := slices.Contains(capabilities, wire.CapCall)
	switch {
	case c.Cell.Begin != "" && (slices.Contains(capabilities, wire.CapKV) || slices.Contains(capabilities, wire.CapPostgreSQL)):
		return &failure{assay.Unsupported, "begin: " + string(c.Cell.Begin) + " is SQLite's, and " + c.Cell.Driver + " opens no file of SQLite"}
	case len(c.Dataset.Prepare) > 0 && (slices.Contains(capabilities, wire.CapKV) || slices.Contains(capabilities, wire.CapPostgreSQL)):
		return &failure{assay.Unsupported, "the profile " + c.Cell.Profile + " prepares an SQLite file, and " + c.Cell.Driver + " opens none"}
	case c.Operation.Call() && !call:
		return &failure{assay.Unsupported, c.Cell.Driver + " has no operations of its own that a plan could call"}
	case !c.Operation.Call() && call && !slices.Contains(capabilities, wire.CapSQL):
		return &failure{assay.Unsupported, c.Cell.Driver + " runs operations of its own only, which a plan names by call"}
	case c.Operation.Serve && !slices.Contains(capabilities, wire.CapHTTP):
		return &failure{assay.Unsupported, "the worker " + c.Cell.Driver + " does not serve operations over HTTP"}
	}
	return nil
}

// inWorker is what engines have in common that run in the worker's process.
type inWorker struct{}

func (inWorker) version(_ context.Context, _ *Runner, said string) (string, error) { return said, nil }

func (inWorker) reusable() bool { return true }

func (inWorker) start(_ context.Context, in *instance, under []string) (settings map[string]string, tracer []string, err error) {
	return in.first.Profile.Settings, under, nil
}

func (inWorker) direct() bool { return false }

func (inWorker) canPause() bool { return false }

func (inWorker) plays() oracle.Engine { return oracle.SQLite }

// sqliteFile is a file that a driver of SQLite opens, in the worker's process.
type sqliteFile struct{ inWorker }

// adapt expresses the settings of a key-value store by those that say the same.
func (sqliteFile) adapt(c assay.Case) (assay.Case, error) {
	var err error
	if c.Profile, err = withoutPostgres(c.Profile); err == nil && c.Operation.KV() {
		if len(c.Profile.Settings) > 0 && len(kv.InSQLite(c.Profile.Settings)) == 0 {
			return c, &failure{assay.Unsupported, "the profile " + c.Cell.Profile + " has settings of key-value stores only"}
		}
		c.Profile.Settings = kv.InSQLite(storeSettings(c))
	}
	if err == nil && c.Cell.Begin != "" {
		c.Profile.Settings[wire.Begin] = string(c.Cell.Begin)
	}
	return c, err
}

func (sqliteFile) fill(_ context.Context, _ *Runner, j *job) (dataset.Source, error) {
	return j.data, nil
}

// settings are all that a PRAGMA shows, whether the database is in memory, and of
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

func (sqliteFile) tracedSetting() string { return "" }

func (sqliteFile) direct() bool { return true }

func (sqliteFile) canPause() bool { return true }
