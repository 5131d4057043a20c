// Worker pgx drives PostgreSQL through github.com/jackc/pgx/v5: its own API,
// with the pool pgxpool.
package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"assay/kit"
	"assay/kit/postgres"
	worker "assay/kit/sql"
	"assay/kit/wire"
)

const module = "github.com/jackc/pgx/v5"

func main() { os.Exit(kit.Main(engine{})) }

type engine struct{}

func (engine) Capabilities() []string {
	return []string{wire.CapSQL, wire.CapPostgreSQL, wire.CapHTTP, wire.CapAnswers}
}

// Target leaves the version to the server, which is known when it is opened.
func (engine) Target() (wire.Target, error) {
	return wire.Target{Driver: "pgx", DriverVersion: kit.ModuleVersion(module), Engine: postgres.Engine, EngineVersion: "server",
		Facts: map[string]string{
			"api": "pgx", "cgo": "false", "go": runtime.Version(), "module": module, "pool": "pgxpool",
			"statement_cache": "512 a connection, by SQL text (QueryExecModeCacheStatement, the default)",
			"uncounted":       "B/op and allocs/op leave out what the server allocates, peak-B the server's memory",
		}}, nil
}

// Open opens all connections, so that none is opened while measuring.
func (engine) Open(request wire.Open) (kit.Database, wire.Opened, error) {
	dsn := fmt.Sprintf("host=%s port=%d user=%s dbname=%s", quoted(request.Path), postgres.Port, postgres.User, postgres.Database)
	opened := wire.Opened{DSN: cmp.Or(request.DSN, dsn), Each: request.Each}
	var err error
	if request.Idle < request.Readers {
		err = wire.Errorf(wire.Unsupported, "pgxpool keeps all connections open: %d of %d idle cannot be asked for", request.Idle, request.Readers)
	}
	if err == nil && len(request.Settings) > 0 {
		err = wire.Errorf(wire.Unsupported, "settings are given to the server when it starts")
	}
	if err != nil {
		return nil, wire.Opened{}, err
	}
	db, err := worker.Open(&api{dsn: opened.DSN, each: request.Each}, request, worker.Setup[*conn]{})
	if err != nil {
		return nil, opened, err
	}
	err = db.Query("SHOW server_version", []string{"text"}, func(row []any) error {
		opened.EngineVersion = row[0].(string)
		return nil
	})
	if err != nil {
		return nil, opened, errors.Join(err, db.Close())
	}
	return db, opened, nil
}

// quoted is a value in a DSN of the form KEY=VALUE.
func quoted(value string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(value) + "'"
}
