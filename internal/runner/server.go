//go:build unix

package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"

	"assay"
	"assay/internal/dataset"
	"assay/internal/guard"
	"assay/kit/kv"
	"assay/kit/postgres"
	"assay/kit/postgres/cluster"
	"assay/kit/wire"
)

// postgreSQL finds the server's programs, once. The error is a *failure.
func (r *Runner) postgreSQL(ctx context.Context) (cluster.Programs, error) {
	if r.server.Version != "" {
		return r.server, nil
	}
	var err error
	if r.server, err = cluster.Find(ctx); err != nil {
		return r.server, &failure{assay.Unsupported, err.Error()}
	}
	return r.server, nil
}

// asked makes a case one for its target: the settings that are its engine's,
// and, of a key-value store, those that say the same. The error is a *failure
// where the target cannot run the case.
func (r *Runner) asked(c assay.Case, key string) (assay.Case, error) {
	if err := fits(c, r.stores[key], r.can[key]); err != nil {
		return c, err
	}
	if r.servers[key] {
		return asPostgres(c)
	}
	others, err := withoutPostgres(c.Profile)
	c.Profile = others
	if err != nil {
		return c, err
	}
	return asStore(c, r.stores[key]), nil
}

// asPostgres makes a case measurable on PostgreSQL, by the settings that it has.
// A profile may have those of other engines, too; it must have one of its own,
// or none at all.
func asPostgres(c assay.Case) (assay.Case, error) {
	if c.Dataset.File != "" {
		return c, &failure{assay.Unsupported, dataset.ErrFile.Error()}
	}
	settings := c.Profile.Settings
	if c.Operation.KV() {
		settings = maps.Clone(settings)
		if !c.Operation.Changes {
			delete(settings, kv.Sync)
		}
		settings = kv.InPostgres(settings)
	}
	own, others := postgres.Own(settings)
	requests, otherRequests := postgres.Own(c.Profile.Requests)
	if len(own)+len(requests) == 0 && (others || otherRequests) && len(c.Profile.Raw) == 0 {
		return c, &failure{assay.Unsupported, fmt.Sprintf("profile %s has settings of SQLite only, and says nothing for PostgreSQL: give it some of %s, or use a profile without settings",
			c.Profile.Name, strings.Join(settingsOfPostgres(), ", "))}
	}
	c.Profile.Settings, c.Profile.Requests = own, requests
	return c, nil
}

// withoutPostgres is a profile without the settings of PostgreSQL. One that has
// no others says nothing for other engines.
func withoutPostgres(p assay.Profile) (assay.Profile, error) {
	dropped := 0
	drop := func(settings map[string]string) map[string]string {
		kept := map[string]string{}
		for name, value := range settings {
			if _, is := postgres.Lookup(name); !is {
				kept[name] = value
			}
		}
		dropped += len(settings) - len(kept)
		return kept
	}
	p.Settings, p.Requests = drop(p.Settings), drop(p.Requests)
	if dropped > 0 && len(p.Settings)+len(p.Requests)+len(p.Raw) == 0 {
		return p, &failure{assay.Unsupported, fmt.Sprintf("profile %s has settings of PostgreSQL only", p.Name)}
	}
	return p, nil
}

func settingsOfPostgres() []string {
	var names []string
	for _, s := range postgres.Settings {
		names = append(names, s.Name)
	}
	return names
}

// fillCluster has the job's data put into a PostgreSQL cluster, or finds them
// there. The error is a *failure where they cannot be.
func (r *Runner) fillCluster(ctx context.Context, j *job) error {
	if known, ok := r.clusters[j.data.Path]; ok {
		j.cluster = known.store
		return known.err
	}
	programs, err := r.postgreSQL(ctx)
	if err != nil {
		return err
	}
	err = r.limited(ctx, r.loadLimit(), "the data in PostgreSQL", j.data.Path+"|PostgreSQL", func(ctx context.Context) (err error) {
		j.cluster, err = j.data.Cluster(programs.Version, func(path string) error { return r.makeCluster(ctx, programs, j, path) })
		return err
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var known *failure
	if err != nil && !errors.As(err, &known) {
		err = &failure{assay.Unsupported, "the data cannot be had in PostgreSQL: " + err.Error()}
	}
	r.clusters[j.data.Path] = filled{j.cluster, err}
	return err
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

// filled is what became of a dataset in PostgreSQL.
type filled struct {
	store *dataset.Store
	err   error
}

// startServer starts a server on the instance's copy of the data.
func (in *instance) startServer(ctx context.Context) error {
	programs, err := in.r.postgreSQL(ctx)
	if err != nil {
		return err
	}
	in.options = cluster.Options{Data: in.path, Socket: in.dir, Settings: in.first.Profile.Settings,
		Connections: in.asked.readers + in.asked.writers}
	if in.server, err = programs.Start(ctx, in.options); err != nil {
		return fail("server", err)
	}
	return nil
}

// ofServer completes what a worker said of opening: the server's settings were
// given to that, and it must be the one that the target was said to be.
func (in *instance) ofServer() error {
	said, _, _ := strings.Cut(in.opened.EngineVersion, " ") // behind it stands what a distribution adds
	if want := in.r.server.Version; said != want {
		return &failure{assay.Failed, fmt.Sprintf("the worker is connected to PostgreSQL %q, started was %s", said, want)}
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

// measure has the worker measure, and checks what it says. What the server's
// processes used meanwhile is added to what the worker used.
func (in *instance) measure(ctx context.Context, request wire.Measure, m *wire.Measured) error {
	if in.server == nil {
		return in.checkedMeasure(ctx, request, m)
	}
	before := in.server.Snapshot()
	if err := in.checkedMeasure(ctx, request, m); err != nil {
		return err
	}
	used := in.server.Snapshot().Since(before)
	m.Counters.CPU += int64(used.CPU)
	m.Counters.Read += used.Read
	m.Counters.Fetched += used.Fetched
	m.Counters.Written += used.Written
	m.Counters.Switches += used.Switches
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

// say is an operation as the instance's engine takes it.
func (in *instance) say(op wire.Operation) wire.Operation {
	if in.server == nil {
		return op
	}
	return postgres.Operation(op)
}
