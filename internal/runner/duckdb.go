//go:build unix

package runner

import (
	"context"
	"path/filepath"

	"assay"
	"assay/internal/dataset"
	"assay/internal/dataset/oracle"
	"assay/kit/duckdb"
	"assay/kit/kv"
	"assay/kit/process"
	"assay/kit/wire"
)

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
