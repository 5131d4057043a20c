// Worker pgx drives PostgreSQL through github.com/jackc/pgx/v5: its own API,
// with the pool pgxpool.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"assay/kit"
	"assay/kit/postgres"
	"assay/kit/wire"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
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
	var opened wire.Opened
	if request.Readers < 1 && request.Writers < 1 {
		return nil, opened, wire.Errorf(wire.Invalid, "no connections asked for")
	}
	if request.Idle < request.Readers {
		return nil, opened, wire.Errorf(wire.Unsupported, "pgxpool keeps all connections open: %d of %d idle cannot be asked for", request.Idle, request.Readers)
	}
	if len(request.Settings) > 0 {
		return nil, opened, wire.Errorf(wire.Unsupported, "settings are given to the server when it starts")
	}
	opened.DSN, opened.Each = request.DSN, request.Each
	if opened.DSN == "" {
		opened.DSN = fmt.Sprintf("host=%s port=%d user=%s dbname=%s", quoted(request.Path), postgres.Port, postgres.User, postgres.Database)
	}
	db := &database{}
	if err := db.open(opened.DSN, request); err != nil {
		return nil, opened, errors.Join(err, db.Close())
	}
	err := db.any(func(conn *pgx.Conn) error {
		return conn.QueryRow(context.Background(), "SHOW server_version").Scan(&opened.EngineVersion)
	})
	if err != nil {
		return nil, opened, errors.Join(fmt.Errorf("server_version: %w", err), db.Close())
	}
	return db, opened, nil
}

// database is the open connections: a pool for operations that change nothing,
// and connections of their own for those that do, which clients take in turn.
type database struct {
	readers  *pgxpool.Pool // nil where there are none
	count    int           // of readers
	writers  kit.Turns[*pgx.Conn]
	prepared int       // statements that have a name
	waits    kit.Waits // for a connection for changes
}

func (d *database) open(dsn string, request wire.Open) error {
	d.writers = make(kit.Turns[*pgx.Conn], request.Writers)
	for range request.Writers {
		conn, err := pgx.Connect(context.Background(), dsn)
		if err != nil {
			return err
		}
		d.writers <- conn
		if err := execute(conn, request.Each); err != nil {
			return err
		}
	}
	if err := d.openReaders(dsn, request); err != nil {
		return err
	}
	return d.any(func(conn *pgx.Conn) error { return execute(conn, request.Once) })
}

func (d *database) openReaders(dsn string, request wire.Open) error {
	if request.Readers < 1 {
		return nil
	}
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return err
	}
	d.count = request.Readers
	config.MinConns, config.MaxConns = int32(d.count), int32(d.count)
	config.MaxConnLifetime, config.MaxConnIdleTime = never, never
	config.AfterConnect = func(_ context.Context, conn *pgx.Conn) error { return execute(conn, request.Each) }
	if d.readers, err = pgxpool.NewWithConfig(context.Background(), config); err != nil {
		return err
	}
	return d.eachReader(func(string, *pgx.Conn) error { return nil })
}

// execute runs statements without arguments.
func execute(conn *pgx.Conn, statements []string) error {
	for _, text := range statements {
		if _, err := conn.Exec(context.Background(), text, pgx.QueryExecModeSimpleProtocol); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}

// eachReader holds all connections of the pool at the same time and visits
// them.
func (d *database) eachReader(visit func(name string, conn *pgx.Conn) error) error {
	var held []*pgxpool.Conn
	defer func() {
		for _, conn := range held {
			conn.Release()
		}
	}()
	for i := range d.count {
		conn, err := d.readers.Acquire(context.Background())
		if err != nil {
			return fmt.Errorf("connection %d of %d: %w", i+1, d.count, err)
		}
		held = append(held, conn)
	}
	for i, conn := range held {
		if err := visit(wire.ReaderName(i), conn.Conn()); err != nil {
			return err
		}
	}
	return nil
}

// any lends one connection, a reader's where there is one.
func (d *database) any(use func(*pgx.Conn) error) error {
	if d.readers == nil {
		return d.writers.Lend(use)
	}
	return d.readers.AcquireFunc(context.Background(), func(conn *pgxpool.Conn) error { return use(conn.Conn()) })
}

// Settings reads every setting on every connection.
func (d *database) Settings(names []string) ([]wire.Connection, error) {
	var connections []wire.Connection
	read := func(name string, conn *pgx.Conn) error {
		c, err := kit.ReadSettings(name, names, func(setting string) (string, bool, error) {
			var value pgtype.Text // NULL where the server does not know it
			err := conn.QueryRow(context.Background(), "SELECT current_setting($1, true)", setting).Scan(&value)
			return value.String, value.Valid, err
		})
		connections = append(connections, c)
		return err
	}
	err := errors.Join(d.eachReader(read), d.writers.Each(read))
	return connections, err
}

// Query runs SQL and visits its rows.
func (d *database) Query(text string, returns []string, visit func([]any) error) error {
	dest, err := newDestinations(returns)
	if err != nil {
		return err
	}
	return d.any(func(conn *pgx.Conn) error {
		rows, err := conn.Query(context.Background(), text)
		if err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		_, err = dest.scan(rows, visit, nil)
		return err
	})
}

// Close closes all connections.
func (d *database) Close() error {
	err := d.writers.Close(func(conn *pgx.Conn) error { return conn.Close(context.Background()) })
	if d.readers != nil {
		d.readers.Close()
	}
	return err
}

// quoted is a value in a DSN of the form KEY=VALUE.
func quoted(value string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(value) + "'"
}
