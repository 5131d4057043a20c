package main

import (
	"context"
	"errors"
	"fmt"

	"assay/kit"
	"assay/kit/column"
	"assay/kit/wire"

	"github.com/jackc/pgx/v5"
)

// writer runs operations that change data, on connections of their own that
// clients take in turn.
type writer struct{ *client }

// Do runs one operation, or one transaction of several.
func (w *writer) Do(position int) (int, error) { return w.DoPhases(position, nil) }

// DoPhases does the same and times the phases of each statement. To take a
// connection, to begin a transaction and to commit it are none of them.
func (w *writer) DoPhases(position int, phases *kit.Phases) (int, error) {
	conn := <-w.o.db.writers
	rows, err := w.do(conn, position, phases)
	w.o.db.writers <- conn
	return rows, busy(err)
}

func (w *writer) do(conn *pgx.Conn, position int, phases *kit.Phases) (int, error) {
	if w.o.spec.Transaction == 0 {
		rows, err := w.runAll(conn, position, phases)
		if err != nil && rows > 0 {
			// Not to be tried again: an earlier step has changed data.
			err = fmt.Errorf("after a step that changed %d rows: %v", rows, err)
		}
		return rows, err
	}
	if err := w.command(conn, "BEGIN", w.o.begin); err != nil {
		return 0, err
	}
	rows, size := 0, w.o.spec.Transaction
	for i := range size {
		n, err := w.runAll(conn, position*size+i, phases)
		rows += n
		if err != nil {
			return 0, rollback(conn, err)
		}
	}
	if err := w.command(conn, "COMMIT", w.o.commit); err != nil {
		return 0, rollback(conn, err)
	}
	return rows, nil
}

// command runs a statement of transactions by the operation's statement policy.
func (w *writer) command(conn *pgx.Conn, sql, text string) error {
	e := execution{Step: wire.Step{SQL: sql}, ctx: context.Background(), text: text, each: w.o.spec.Statement == wire.Each}
	if _, err := e.run(conn, 0, nil, nil); err != nil {
		return fmt.Errorf("%s: %w", sql, err)
	}
	return nil
}

// rollback ends a transaction. After a COMMIT that failed there is none, of
// which PostgreSQL only warns.
func rollback(conn *pgx.Conn, cause error) error {
	_, err := conn.Exec(context.Background(), "ROLLBACK")
	return errors.Join(cause, err)
}

// execution is one statement with the room for its arguments and rows.
type execution struct {
	wire.Step
	ctx   context.Context // of the request that is answered; otherwise one that nobody cancels
	text  string          // what pgx is given: the SQL, or the name of the prepared statement
	each  bool            // prepared for each execution
	trace *column.File
	first int // column of the first argument
	args  []any
	dest  destinations
}

// inTurn is the name of statements that are prepared for each execution.
const inTurn = "assay_each"

// run executes the step with the arguments at a position and returns the
// number of rows answered or changed. Phases are timed where phases is not nil.
func (e *execution) run(conn *pgx.Conn, position int, visit func([]any) error, phases *kit.Phases) (n int, err error) {
	phases.Begin()
	for i := range e.args {
		e.args[i] = e.trace.Value(e.first+i, position)
	}
	text := e.text
	if e.each {
		if _, err := conn.Prepare(e.ctx, inTurn, e.SQL); err != nil {
			return 0, err
		}
		text = inTurn
		phases.End(kit.PhasePrepare)
		defer func() {
			if closed := conn.Deallocate(context.Background(), inTurn); err == nil {
				err = closed
			}
			phases.End(kit.PhaseCloseStmt)
		}()
	}
	if !e.Query {
		tag, err := conn.Exec(e.ctx, text, e.args...)
		phases.End(kit.PhaseQuery)
		return int(tag.RowsAffected()), err
	}
	rows, err := conn.Query(e.ctx, text, e.args...)
	if err != nil {
		return 0, err
	}
	phases.End(kit.PhaseQuery)
	return e.dest.scan(rows, visit, phases)
}
