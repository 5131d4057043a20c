package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"

	"assay/kit/opening"
	"assay/kit/proof"
	worker "assay/kit/sql"
	"assay/kit/sqlite"
	"assay/kit/sqlrows"
	"assay/kit/wire"
)

// conn is what statements run on: a connection, or the whole pool.
type conn struct {
	handle
	one *sql.Conn // nil for the whole pool
	tx  *sql.Tx   // that the driver has begun
}

// handle is what *sql.DB and *sql.Conn have in common.
type handle interface {
	PrepareContext(context.Context, string) (*sql.Stmt, error)
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}

// take takes a connection of a pool.
func take(db *sql.DB) (*conn, error) {
	one, err := db.Conn(context.Background())
	if err != nil {
		return nil, err
	}
	return &conn{handle: one, one: one}, nil
}

// lent is a connection for what is not measured: proofs, and copies.
type lent struct{ *conn }

func (l lent) Exec(text string) error {
	if _, err := l.ExecContext(context.Background(), text); err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	return nil
}

func (l lent) Texts(text string) ([][]string, error) {
	rows, err := l.QueryContext(context.Background(), text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	return sqlrows.Texts(rows)
}

func (l lent) Close() error { return nil }

// owned is one that is closed with its pool.
type owned struct {
	lent
	db *sql.DB
}

func (o owned) Close() error { return errors.Join(o.one.Close(), o.db.Close()) }

// single takes one connection of a pool of its own.
func single(db *sql.DB) (sqlite.Conn, error) {
	c, err := take(db)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return owned{lent{c}, db}, nil
}

// api is the pools of one open database. The one for changes has its connections
// taken out for good, so that statements can stay with them.
type api struct {
	connector *connector
	proof     *proof.Proof
	begin     string // how transactions begin that the driver begins; empty: by SQL
	readers   *sql.DB
	changes   *sql.DB
	keeper    *sql.DB // holds a shared database in memory; nil where there is none
}

// Connect opens a connection for changes.
func (a *api) Connect() (*conn, error) {
	if a.changes == nil {
		a.changes = sql.OpenDB(a.connector)
		a.changes.SetMaxOpenConns(a.connector.request.Writers)
	}
	return take(a.changes)
}

func (a *api) Pool(connections int) (worker.Pool[*conn], error) {
	a.readers = sql.OpenDB(a.connector)
	a.readers.SetMaxOpenConns(connections)
	a.readers.SetMaxIdleConns(a.connector.request.Idle)
	return &pool{db: a.readers, connections: connections, whole: &conn{handle: a.readers}}, nil
}

func (a *api) Exec(c *conn, text string) error {
	_, err := c.ExecContext(context.Background(), text)
	return err
}

func (a *api) Setting(c *conn, name string) (string, bool, error) {
	if other := a.connector.driver.Other; other != nil {
		return other.setting(c, name)
	}
	settings := opening.Settings{Proof: a.proof, Conn: lent{c}, Rollback: func() error { return a.Rollback(c) },
		Begin: func() error { return c.begin(context.Background()) }}
	if mutex := a.connector.driver.Mutex; mutex != nil {
		settings.Mutex = func() (mode string, known bool) {
			_ = c.one.Raw(func(raw any) error {
				mode, known = mutex(raw)
				return nil
			})
			return mode, known
		}
	}
	return settings.Read(name)
}

// Explain returns the details of EXPLAIN QUERY PLAN.
func (a *api) Explain(c *conn, step worker.Step) ([]string, error) {
	if step.Script {
		return nil, nil // only a single statement can be explained
	}
	if other := a.connector.driver.Other; other != nil {
		return other.explain(c, step)
	}
	rows, err := c.QueryContext(context.Background(), "EXPLAIN QUERY PLAN "+step.SQL, step.FirstArguments()...)
	if err != nil {
		return nil, err
	}
	plan, err := sqlrows.Texts(rows)
	return worker.Details(plan), err
}

func (a *api) Compile(c *conn, step worker.Step) (worker.Compiled, error) {
	if step.Around && a.begin != "" {
		return nil, nil
	}
	return c.PrepareContext(context.Background(), step.SQL)
}

func (a *api) Begin() string {
	switch {
	case a.begin != "":
		return "begin " + a.begin
	case a.connector.driver.Other != nil:
		return "BEGIN"
	}
	return "BEGIN IMMEDIATE"
}

// Rollback leaves alone what follows a commit of the driver that failed:
// database/sql takes the transaction for ended, SQLite need not. Engines that are not SQLite
// have ended it, and roll nothing back.
func (a *api) Rollback(c *conn) error {
	tx := c.tx
	if c.tx = nil; tx != nil {
		return tx.Rollback()
	}
	err := a.Exec(c, "ROLLBACK")
	if a.begin != "" || a.connector.driver.Other != nil {
		return nil
	}
	return err
}

func (c *conn) begin(ctx context.Context) (err error) {
	c.tx, err = c.one.BeginTx(ctx, nil)
	return err
}

func (c *conn) commit(context.Context) error {
	tx := c.tx
	c.tx = nil
	return tx.Commit()
}

func (a *api) Busy(err error) bool { return a.connector.driver.Busy(err) }

func (a *api) Close(c *conn) error { return c.one.Close() }

func (a *api) CloseAll() error {
	var errs []error
	for _, db := range []*sql.DB{a.changes, a.keeper} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	if closer, is := a.connector.Connector.(io.Closer); is {
		errs = append(errs, closer.Close())
	}
	return errors.Join(errs...)
}

// Count says what the pools did: database/sql closes connections that are idle,
// and opens others for them, without a word.
func (a *api) Count(p *wire.Pool) {
	p.Opened = a.connector.connections.Load()
	p.Closed = p.Opened
	for _, db := range []*sql.DB{a.readers, a.changes, a.keeper} {
		if db != nil {
			stats := db.Stats()
			p.Closed -= int64(stats.OpenConnections)
			p.Waits += stats.WaitCount
			p.Waited += int64(stats.WaitDuration)
		}
	}
}

// pool is that of the readers. Statements are compiled for the whole of it.
type pool struct {
	db          *sql.DB
	connections int
	whole       *conn
}

func (p *pool) Take() (*conn, error) { return take(p.db) }
func (p *pool) Put(c *conn)          { _ = c.one.Close() } // gives it back
func (p *pool) Close() error         { return p.db.Close() }
func (p *pool) Whole() *conn         { return p.whole }

// CompileEverywhere compiles statements once for every connection of the pool,
// while that connection is the only one that is free.
func (p *pool) CompileEverywhere(statements []worker.Compiled) (err error) {
	held := make([]*conn, p.connections)
	defer func() {
		for _, c := range held {
			if c != nil {
				p.Put(c)
			}
		}
	}()
	for i := range held {
		if held[i], err = p.Take(); err != nil {
			return err
		}
	}
	for i, c := range held {
		p.Put(c)
		if err = compileInside(p.db, statements); err != nil {
			held[i] = nil
			return err
		}
		if held[i], err = p.Take(); err != nil {
			return err
		}
	}
	return nil
}

// compileInside compiles statements of the pool on its one free connection: a
// transaction is how database/sql does that without executing them.
func compileInside(pool *sql.DB, statements []worker.Compiled) error {
	tx, err := pool.BeginTx(context.Background(), nil)
	if err != nil {
		return fmt.Errorf("compile on every connection: begin: %w", err)
	}
	for _, statement := range statements {
		// The transaction's own handle only borrows what is compiled.
		_ = tx.StmtContext(context.Background(), statement.(*sql.Stmt))
	}
	return tx.Rollback()
}
