//go:build unix

package workertest

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"assay/kit/column"
	"assay/kit/duckdb"
	"assay/kit/postgres"
	"assay/kit/postgres/cluster"
	"assay/kit/setting"
	"assay/kit/wire"
)

var serverChecks = []check{
	{"the server's version is said when it is opened", wire.CapPostgreSQL, serverVersion},
	{"the server's settings are read back on every connection", wire.CapPostgreSQL, serverSettings},
	{"odd values of the server have the right digest, stored and as arguments", wire.CapPostgreSQL, oddServerValues},
	{"settings of DuckDB are read back on every connection", wire.CapDuckDB, duckSettings},
	{"odd values of DuckDB have the right digest, stored and as arguments", wire.CapDuckDB, oddServerValues},
	{"a server that ends is an error, and the worker goes on", wire.CapPostgreSQL, serverEnds},
}

// servers makes the clusters of checks from one that is made once.
type servers struct {
	programs cluster.Programs
	dir      string // of the template; empty while there is none
}

func (s *servers) remove() {
	if s.dir != "" {
		_ = os.RemoveAll(s.dir)
	}
}

// start starts a server with its socket and its data in a folder.
func (s *servers) start(b *bench, settings map[string]string) (*cluster.Cluster, error) {
	if s.dir == "" {
		programs, err := cluster.Find(b.ctx)
		if errors.Is(err, cluster.ErrMissing) {
			return nil, fmt.Errorf("%w: %w", errNotApplicable, err)
		}
		if err != nil {
			return nil, err
		}
		if s.dir, err = os.MkdirTemp("", "assay-check-"); err != nil {
			return nil, err
		}
		if err := programs.Init(b.ctx, filepath.Join(s.dir, "data")); err != nil {
			return nil, err
		}
		s.programs = programs
	}
	data := filepath.Join(b.dir, "data")
	if err := cluster.Copy(data, filepath.Join(s.dir, "data")); err != nil {
		return nil, err
	}
	return s.programs.Start(b.ctx, cluster.Options{Data: data, Socket: b.dir, Settings: settings})
}

// openServer starts a server with those settings that it has, and has the worker
// connect to it.
func (b *bench) openServer(request wire.Open, opened *wire.Opened) error {
	settings, _ := postgres.Settings.Own(request.Settings)
	var err error
	if b.server, err = b.servers.start(b, settings); err != nil {
		return err
	}
	request.Path, request.Settings = b.server.Socket(), nil
	request.Once = strict(request.Once, `'\x$1'`)
	return b.ask(wire.TypeOpen, request, opened)
}

// strict is SQL for an engine with PostgreSQL's types, which has blobs in its own way.
func strict(texts []string, blob string) []string {
	var all []string
	for _, text := range texts {
		all = append(all, blobs.ReplaceAllString(postgres.Schema(text), blob))
	}
	return all
}

// blobs are SQLite's.
var blobs = regexp.MustCompile(`x'([0-9a-f]*)'`)

func (b *bench) endServer() {
	if b.server != nil {
		b.server.Kill()
	}
}

// said is a request as a worker of the server takes it.
func (b *bench) said(request any) any {
	prepare, ok := request.(wire.Prepare)
	if !ok || !b.can(wire.CapPostgreSQL) {
		return request
	}
	prepare.Operation = postgres.Operation(prepare.Operation)
	return prepare
}

// refusals are the codes for SQL that does not compile.
func (b *bench) refusals() []string {
	if b.can(wire.CapPostgreSQL) || b.can(wire.CapDuckDB) {
		return []string{wire.Unsupported}
	}
	return []string{wire.Failed, wire.Invalid}
}

func serverVersion(b *bench) {
	var opened wire.Opened
	must(b.openServer(wire.Open{Writers: 1}, &opened))
	version, _, _ := strings.Cut(opened.EngineVersion, " ") // what a distribution adds
	expect("engine_version", version, b.servers.programs.Version)
}

func serverSettings(b *bench) {
	b.settingsOf(postgres.Settings, map[string]string{"synchronous_commit": "off", "fsync": "off", "shared_buffers": "33554432", "work_mem": "1048576", "wal_compression": "pglz", "effective_io_concurrency": "0"})
}

func duckSettings(b *bench) {
	b.settingsOf(duckdb.Settings, map[string]string{"checkpoint_threshold": "3MiB", "memory_limit": "300MiB", "preserve_insertion_order": "false", "threads": "1"})
}

// settingsOf checks that each of an engine's settings is read back on every connection.
func (b *bench) settingsOf(known setting.Table, want map[string]string) {
	b.open(wire.Open{Settings: want, Readers: 3, Idle: 3, Writers: 2})
	var names []string
	for _, c := range b.settings(slices.Sorted(maps.Keys(want))...) {
		names = append(names, c.Name)
		for name, value := range want {
			setting, _ := known.Lookup(name)
			if got, err := setting.Normal(c.Settings[name]); err != nil || got != value {
				fail("%s reads %s=%q, want %q", c.Name, name, c.Settings[name], value)
			}
		}
	}
	expect("connections", strings.Join(names, " "), "reader-1 reader-2 reader-3 writer-1 writer-2")
}

// Values at the ends of their ranges; and answers whose types are not those that
// were declared: sums and means are numeric in PostgreSQL.
var (
	serverTable   = "CREATE TABLE odd(id bigint PRIMARY KEY, n bigint, x double precision, s text, b bytea, yes boolean)"
	serverColumns = "SELECT id, n, x, s, b, yes FROM odd ORDER BY id"
	serverRows    = [][]any{
		{int64(1), int64(math.MaxInt64), 1e308, "🐘 grün\n\t\\", []byte{}, true},
		{int64(2), int64(math.MinInt64), 5e-324, "", []byte{0, 1, 255}, false},
		{int64(3), nil, math.Copysign(0, -1), nil, nil, nil},
		{int64(4), nil, nil, nil, nil, nil},
	}
)

func oddServerValues(b *bench) {
	if !b.can(wire.CapSQL) {
		fail("%w: the worker has not the capability %s", errNotApplicable, wire.CapSQL)
	}
	b.open(wire.Open{Readers: 1, Idle: 1, Writers: 1, Once: []string{serverTable}})
	b.insertInto("odd", serverRows, column.Int, column.Int, column.Real, column.Text, column.Blob, column.Bool)
	b.answers(serverColumns, allTypes, serverRows...)
	b.answers("SELECT count(*), sum(id), avg(id), max(s), bool_or(yes) FROM odd", []string{"int", "int", "real", "text?", "bool?"},
		[]any{int64(4), int64(10), 2.5, "🐘 grün\n\t\\", true})
}

func serverEnds(b *bench) {
	read := wire.Operation{Name: "read", Steps: []wire.Step{{SQL: "SELECT 1", Query: true, Rows: 1, Returns: []string{"int"}}}}
	b.open(wire.Open{Readers: 1, Idle: 1})
	b.runs(read, 1, 10)
	b.server.Kill()
	m := b.block("read", 10)
	expect("operations", m.Operations, int64(0))
	expect("errors", m.Errors, int64(10))
	b.stats()
}
