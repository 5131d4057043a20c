package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"time"

	worker "assay/kit/sql"
	"assay/kit/wire"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
)

// never is how long a connection may live, or be idle.
const never = time.Duration(math.MaxInt64)

// ofSavepoint finds the statements about savepoints.
var ofSavepoint = regexp.MustCompile(`(?i)^\s*(SAVEPOINT|RELEASE|ROLLBACK)\b`)

// background is for all but requests: nobody cancels it.
var background = context.Background()

// api is an open database: a pool for operations that change nothing, and
// connections of their own for those that do.
type api struct {
	dsn     string
	each    []string // SQL for every connection
	readers *pgxpool.Pool
	writers int
}

// conn is a connection. Those of the pool have what they are given back by.
type conn struct {
	*pgx.Conn
	lease    *pgxpool.Conn
	prepared int // statements that have a name
}

// self is under what a connection of pgx keeps its conn.
const self = "assay"

// prepare makes a new connection ready.
func (a *api) prepare(ctx context.Context, made *pgx.Conn) error {
	c := &conn{Conn: made}
	made.PgConn().CustomData()[self] = c
	for _, text := range a.each {
		if err := a.Exec(c, text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}

func (a *api) Connect() (*conn, error) {
	made, err := pgx.Connect(background, a.dsn)
	if err != nil {
		return nil, err
	}
	if err := a.prepare(background, made); err != nil {
		return nil, errors.Join(err, made.Close(background))
	}
	a.writers++
	return of(made), nil
}

func of(made *pgx.Conn) *conn { return made.PgConn().CustomData()[self].(*conn) }

func (a *api) Pool(connections int) (worker.Pool[*conn], error) {
	config, err := pgxpool.ParseConfig(a.dsn)
	if err != nil {
		return nil, err
	}
	config.MinConns, config.MaxConns = int32(connections), int32(connections)
	config.MaxConnLifetime, config.MaxConnIdleTime = never, never
	config.AfterConnect = a.prepare
	a.readers, err = pgxpool.NewWithConfig(background, config)
	return pool{a.readers}, err
}

type pool struct{ *pgxpool.Pool }

func (p pool) Take() (*conn, error) {
	lease, err := p.Acquire(background)
	if err != nil {
		return nil, err
	}
	c := of(lease.Conn())
	c.lease = lease
	return c, nil
}

func (p pool) Put(c *conn) { c.lease.Release() }

func (p pool) Close() error {
	if p.Pool != nil {
		p.Pool.Close()
	}
	return nil
}

func (a *api) Exec(c *conn, text string) error {
	_, err := c.Conn.Exec(background, text, pgx.QueryExecModeSimpleProtocol)
	return err
}

// Setting is not known where the server does not know it.
func (a *api) Setting(c *conn, name string) (string, bool, error) {
	var value pgtype.Text
	err := c.QueryRow(background, "SELECT current_setting($1, true)", name).Scan(&value)
	return value.String, value.Valid, err
}

func (a *api) Explain(c *conn, step worker.Step) ([]string, error) {
	if step.Script {
		return nil, nil // only a single statement can be prepared
	}
	found, err := c.Prepare(background, "", step.SQL)
	switch {
	case err != nil:
		return nil, refusal(err)
	case len(found.ParamOIDs) != step.Args:
		return nil, wire.Errorf(wire.Invalid, "the statement takes %d arguments, %d were said", len(found.ParamOIDs), step.Args)
	case step.Query && len(found.Fields) != len(step.Returns):
		return nil, wire.Errorf(wire.Invalid, "the statement answers %d columns, %d were said", len(found.Fields), len(step.Returns))
	case ofSavepoint.MatchString(step.SQL):
		return nil, nil // the server explains no such statement
	}
	rows, err := c.Query(background, "EXPLAIN (COSTS OFF) "+step.SQL, step.FirstArguments()...)
	if err != nil {
		return nil, refusal(fmt.Errorf("explain: %w", err))
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return lines, refusal(err)
}

// refusal tells what cannot be said to PostgreSQL from what failed: an error
// of class 42 (syntax error or access rule violation) or 0A (feature not
// supported), as PostgreSQL's list of error codes has it.
func refusal(err error) error {
	if class := code(err)[:2]; class == "42" || class == "0A" {
		return wire.Errorf(wire.Unsupported, "it cannot be said in PostgreSQL: %v", err)
	}
	return err
}

// code is an error's code, that of success where it has none.
func code(err error) string {
	if said, is := errors.AsType[*pgconn.PgError](err); is && len(said.Code) == 5 {
		return said.Code
	}
	return "00000"
}

// named is the name of a prepared statement, which ends with its connection.
type named string

func (named) Close() error { return nil }

func (a *api) Compile(c *conn, step worker.Step) (worker.Compiled, error) {
	c.prepared++
	name := fmt.Sprintf("assay_%d", c.prepared)
	_, err := c.Prepare(background, name, step.SQL)
	return named(name), err
}

func (a *api) Begin() string { return "BEGIN" }

// Rollback ends a transaction. After a COMMIT that failed there is none, of
// which PostgreSQL only warns.
func (a *api) Rollback(c *conn) error { return a.Exec(c, "ROLLBACK") }

// Busy reports errors after which PostgreSQL's documentation says to try again:
// serialization_failure, deadlock_detected and lock_not_available.
func (a *api) Busy(err error) bool {
	return slices.Contains([]string{"40001", "40P01", "55P03"}, code(err))
}

func (a *api) Close(c *conn) error { return c.Conn.Close(background) }
func (a *api) CloseAll() error     { return nil }

// Count says what the connections did. pgxpool keeps all of them.
func (a *api) Count(p *wire.Pool) {
	p.Opened = int64(a.writers)
	if a.readers != nil {
		stat := a.readers.Stat()
		p.Opened += stat.NewConnsCount()
		p.Closed = stat.NewConnsCount() - int64(stat.TotalConns())
		p.Waits = stat.EmptyAcquireCount()
		p.Waited = int64(stat.EmptyAcquireWaitTime())
	}
}
