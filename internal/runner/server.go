//go:build unix

package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"assay"
	"assay/internal/dataset"
	"assay/internal/dataset/oracle"
	"assay/internal/runner/syncs"
	"assay/internal/sys/guard"
	"assay/kit/duckdb"
	"assay/kit/kv"
	"assay/kit/postgres"
	"assay/kit/postgres/cluster"
	"assay/kit/setting"
	"assay/kit/wire"
)

// postgreSQL finds the server's programs, once. The error is a *failure.
func (r *Runner) postgreSQL(ctx context.Context) (cluster.Programs, error) {
	server := &r.prepared.server
	if server.Version != "" {
		return *server, nil
	}
	var err error
	if *server, err = cluster.Find(ctx); err != nil {
		return *server, &failure{assay.Unsupported, err.Error()}
	}
	return *server, nil
}

// postgresServer is a PostgreSQL server, which is started for each instance.
type postgresServer struct{}

func (postgresServer) version(ctx context.Context, r *Runner, _ string) (string, error) {
	server, err := r.postgreSQL(ctx)
	return server.Version, err
}

// adapt takes the settings of PostgreSQL.
func (postgresServer) adapt(c assay.Case) (assay.Case, error) {
	if c.Dataset.File != "" {
		return c, &failure{assay.Unsupported, dataset.ErrFile.Error()}
	}
	if c.Operation.KV() {
		c.Profile.Settings = kv.InPostgres(storeSettings(c))
	}
	return ownSettings(c, "PostgreSQL", postgres.Settings)
}

// ownSettings leaves a case those settings that an engine has. A profile may have those of
// other engines, too; it must have one of its own, or none at all.
func ownSettings(c assay.Case, engine string, table setting.Table) (assay.Case, error) {
	own, others := table.Own(c.Profile.Settings)
	requests, otherRequests := table.Own(c.Profile.Requests)
	if len(own)+len(requests) == 0 && (others || otherRequests) && len(c.Profile.Raw) == 0 {
		return c, &failure{assay.Unsupported, fmt.Sprintf("profile %s has settings of SQLite only, and says nothing for %s: give it some of %s, or use a profile without settings",
			c.Profile.Name, engine, strings.Join(table.Names(), ", "))}
	}
	c.Profile.Settings, c.Profile.Requests = own, requests
	return c, nil
}

// withoutOthers is a profile without the settings that only other engines have than SQLite
// and stores. One that has no others says nothing for these.
func withoutOthers(p assay.Profile) (assay.Profile, error) {
	dropped := 0
	drop := func(settings map[string]string) map[string]string {
		kept := map[string]string{}
		for name, value := range settings {
			_, ofServer := postgres.Lookup(name)
			_, ofDuckDB := duckdb.Alone.Lookup(name)
			if !ofServer && !ofDuckDB {
				kept[name] = value
			}
		}
		dropped += len(settings) - len(kept)
		return kept
	}
	p.Settings, p.Requests = drop(p.Settings), drop(p.Requests)
	if dropped > 0 && len(p.Settings)+len(p.Requests)+len(p.Raw) == 0 {
		return p, &failure{assay.Unsupported, fmt.Sprintf("profile %s has settings of other engines only", p.Name)}
	}
	return p, nil
}

type clusterData struct{ *dataset.Store }

// Copy makes a copy that the server may own.
func (d clusterData) Copy(dst string) error { return cluster.Copy(dst, d.Path) }

// fill finds the data in a PostgreSQL cluster, or has them put there.
func (postgresServer) fill(ctx context.Context, r *Runner, j *job) (dataset.Source, error) {
	programs, err := r.postgreSQL(ctx)
	if err != nil {
		return nil, err
	}
	return r.filled(ctx, j, "PostgreSQL", func(ctx context.Context) (dataset.Source, error) {
		store, err := j.data.Cluster(programs.Version, func(path string) error { return r.makeCluster(ctx, programs, j, path) })
		return clusterData{store}, err
	})
}

// filled finds a job's data in an engine, or has them put there, once. The error is a
// *failure where they cannot be.
func (r *Runner) filled(ctx context.Context, j *job, engine string, fill func(context.Context) (dataset.Source, error)) (dataset.Source, error) {
	key := j.data.Path + "|" + engine + j.target.EngineVersion
	if known, ok := r.prepared.elsewhere[key]; ok {
		return known.data, known.err
	}
	var data dataset.Source
	err := r.limited(ctx, r.loadLimit(), "the data in "+engine, key, func(ctx context.Context) (err error) {
		data, err = fill(ctx)
		return err
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil && !errors.As(err, new(*failure)) {
		err = &failure{assay.Unsupported, "the data cannot be loaded into " + engine + ": " + err.Error()}
	}
	r.prepared.elsewhere[key] = filled{data, err}
	return data, err
}

func (postgresServer) settings(*job) []string { return postgres.Settings.Names() }

func (postgresServer) everything(q assay.Query) wire.Verify { return wire.Verify{SQL: q.SQL} }

// traits are not direct: with synchronous_commit off, another process writes what a commit changes.
func (postgresServer) traits() traits { return traits{plays: oracle.PostgreSQL} }

// start starts the server, which applies the settings. It is the server that a
// tracer follows, for it writes.
func (postgresServer) start(ctx context.Context, in *instance, under []string) (settings map[string]string, tracer []string, err error) {
	if err := in.startServer(ctx); err != nil || len(under) == 0 {
		return nil, under, err
	}
	return nil, syncs.Attach(under, in.server.Processes()), nil
}

// makeCluster has psql make the job's tables with their rows in a new cluster.
func (r *Runner) makeCluster(ctx context.Context, programs cluster.Programs, j *job, path string) error {
	var caught guard.Catcher
	err := programs.Make(ctx, path, func(w io.Writer) (err error) {
		if j.Operation.Call() {
			return nil // the worker makes its own tables
		}
		caught.Do(func() { err = j.data.Script(ctx, w, r.config.Timeout) }) // in a goroutine of Make
		return err
	})
	caught.Rethrow()
	if errors.Is(err, cluster.ErrTimeout) {
		return fmt.Errorf("%w (%s): %w", dataset.ErrTimeout, r.config.Timeout, err)
	}
	return err
}

// filled holds what became of a dataset in another engine than SQLite.
type filled struct {
	data dataset.Source
	err  error
}

// startServer starts a server on the instance's copy of the data.
func (in *instance) startServer(ctx context.Context) error {
	programs, err := in.r.postgreSQL(ctx)
	if err != nil {
		return err
	}
	in.options = cluster.Options{Data: in.path, Socket: in.dir, Settings: in.first.Profile.Settings,
		Connections: max(1, in.first.Cell.Processes) * (in.asked.readers + in.asked.writers)}
	if in.server, err = programs.Start(ctx, in.options); err != nil {
		return fail("server", err)
	}
	return nil
}

// ofServer completes what a worker said of opening, where there is a server: its
// settings were given to that, and it must be the one that the target was said to be.
func (in *instance) ofServer() error {
	if in.server == nil {
		return nil
	}
	said, _, _ := strings.Cut(in.opened.EngineVersion, " ") // behind it stands what a distribution adds
	if want := in.r.prepared.server.Version; said != want {
		return &failure{assay.Failed, fmt.Sprintf("the worker is connected to PostgreSQL %q, and assay started %s", said, want)}
	}
	in.opened.Issued = in.options.Arguments()
	return nil
}

// diagnose adds what the server says to a failure, where it has ended.
func (in *instance) diagnose(err error) error {
	var f *failure
	if in.server == nil || in.server.Alive() || !errors.As(err, &f) {
		return err
	}
	return &failure{assay.Failed, f.reason + "; " + in.server.LastWords()}
}

// measure has the workers measure, and checks what it says. What the server's
// processes used meanwhile is added to what the worker used.
func (in *instance) measure(ctx context.Context, request wire.Measure, m *wire.Measured) error {
	if in.server == nil {
		return in.measureTogether(ctx, request, m)
	}
	before := in.server.Snapshot()
	if err := in.measureTogether(ctx, request, m); err != nil {
		return err
	}
	used := in.server.Snapshot().Since(before)
	m.Counters.Add(wire.Counters{CPU: int64(used.CPU), Read: used.Read, Fetched: used.Fetched, Written: used.Written, Switches: used.Switches})
	return nil
}

// stopServer ends the server, which is a part of closing the database.
func (in *instance) stopServer() error {
	if in.server == nil {
		return nil
	}
	took, err := in.server.Stop()
	in.closed += took
	return fail("stop the server", err)
}

// address returns what the database is opened by: its path, or the folder of its
// server's socket.
func (in *instance) address() string {
	if in.server == nil {
		return in.path
	}
	return in.server.Socket()
}

// say is an operation as the instance's engine takes it.
func (in *instance) say(op wire.Operation) wire.Operation {
	if in.server == nil {
		return op
	}
	return postgres.Operation(op)
}
