package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"assay/kit"
	"assay/kit/wire"
)

// writer runs operations that change data. Clients take a connection in turn,
// so that the number of writers is what was asked for; whoever has a connection
// has its statements, too.
type writer struct{ o *operation }

// Do runs one operation, or one transaction of several.
func (w *writer) Do(position int) (int, error) { return w.DoPhases(position, nil) }

// DoPhases does the same and times the phases of each statement. To take a
// connection, to begin a transaction and to commit it are none of them.
func (w *writer) DoPhases(position int, phases *kit.Phases) (int, error) {
	conn := <-w.o.db.writers
	rows, err := w.o.writes[conn].run(position, phases, nil)
	w.o.db.writers <- conn
	return rows, w.o.db.busy(err)
}

func (*writer) Close() error { return nil } // the statements are the operation's

// unit is what one connection for changes runs: the steps, in a transaction
// where there is one. BEGIN and COMMIT are compiled when the steps are.
type unit struct {
	db            *database
	conn          *sql.Conn
	size          int     // operations of a transaction; 0: none
	tx            *sql.Tx // that the driver has begun
	begin, commit preparedStep
	steps         []preparedStep
	statements    []*sql.Stmt
}

// newUnit returns as much as it could make, also with an error.
func (o *operation) newUnit(conn *sql.Conn) (*unit, error) {
	u := &unit{db: o.db, conn: conn, size: o.spec.Transaction}
	c, err := o.newClient()
	if err != nil {
		return u, err
	}
	if u.statements, err = o.compile(conn); err != nil {
		return u, err
	}
	u.steps = c.bind(conn, u.statements)
	if u.size == 0 || o.db.begin != "" {
		u.begin.ctx = context.Background()
		return u, nil
	}
	if u.begin, err = o.command(u, "BEGIN IMMEDIATE"); err == nil {
		u.commit, err = o.command(u, "COMMIT")
	}
	return u, err
}

// command makes a statement of transactions ready, by the operation's policy.
func (o *operation) command(u *unit, text string) (step preparedStep, err error) {
	step = preparedStep{Step: wire.Step{SQL: text}, ctx: context.Background(), on: u.conn, each: o.spec.Statement == wire.Each}
	if o.spec.Statement.Keeps() {
		if step.statement, err = u.conn.PrepareContext(context.Background(), text); err != nil {
			return step, fmt.Errorf("%s: %w", text, err)
		}
		u.statements = append(u.statements, step.statement)
	}
	return step, nil
}

func (u *unit) close() error { return closeStatements(u.statements) }

// run runs one operation, or one transaction of several, and shows the rows of
// its steps to visit where there is one.
func (u *unit) run(position int, phases *kit.Phases, visit visitor) (int, error) {
	if u.size > 0 {
		return u.transaction(position, phases, visit)
	}
	rows, err := runAll(u.steps, position, phases, visit)
	if err != nil && rows > 0 {
		// Not to be tried again: an earlier step has changed data.
		err = fmt.Errorf("after a step that changed %d rows: %v", rows, err)
	}
	return rows, err
}

func (u *unit) transaction(position int, phases *kit.Phases, visit visitor) (int, error) {
	if err := u.start(); err != nil {
		return 0, err
	}
	rows := 0
	for i := range u.size {
		n, err := runAll(u.steps, position*u.size+i, phases, visit)
		rows += n
		if err != nil {
			return 0, u.rollback(u.stale(i, err))
		}
	}
	if err := u.end(); err != nil {
		return 0, err
	}
	return rows, nil
}

// start begins a transaction.
func (u *unit) start() (err error) {
	if u.db.begin == "" {
		if _, err = u.begin.run(0, nil, nil); err != nil {
			return fmt.Errorf("BEGIN IMMEDIATE: %w", err)
		}
		return nil
	}
	if u.tx, err = u.conn.BeginTx(u.begin.ctx, nil); err != nil {
		return fmt.Errorf("begin %s: %w", u.db.begin, err)
	}
	return nil
}

// end commits the transaction.
func (u *unit) end() error {
	if u.tx == nil {
		if _, err := u.commit.run(0, nil, nil); err != nil {
			return u.rollback(fmt.Errorf("COMMIT: %w", err))
		}
		return nil
	}
	err := u.tx.Commit()
	if u.tx = nil; err != nil {
		// database/sql takes the transaction for ended; SQLite need not.
		_, _ = u.conn.ExecContext(context.Background(), "ROLLBACK")
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

func (u *unit) rollback(cause error) error {
	var err error
	if u.tx != nil {
		err = u.tx.Rollback()
	} else {
		_, err = u.conn.ExecContext(context.Background(), "ROLLBACK")
	}
	if u.tx = nil; err != nil {
		return errors.Join(cause, fmt.Errorf("ROLLBACK: %w", err))
	}
	return cause
}

// stale marks the busy answer to a step that is not the first of its deferred transaction:
// the steps before it have read, or it would have the lock already.
func (u *unit) stale(operation int, err error) error {
	if u.db.begin == "deferred" && (operation > 0 || errors.As(err, new(laterStep))) && u.db.driver.Busy(err) {
		return fmt.Errorf("%w: %w", kit.ErrStale, err)
	}
	return err
}

// laterStep is the error of a step that is not an operation's first.
type laterStep struct{ error }

func (e laterStep) Unwrap() error { return e.error }

// visitor is shown the rows of each step, with their declared types.
type visitor = func(types []string, row []any) error

// runAll times phases where there are any to be timed.
func runAll(steps []preparedStep, position int, phases *kit.Phases, visit visitor) (rows int, err error) {
	for i := range steps {
		var show func([]any) error
		if visit != nil {
			show = func(row []any) error { return visit(steps[i].Returns, row) }
		}
		n, err := steps[i].run(position, show, phases)
		rows += n
		if err != nil && i > 0 {
			err = laterStep{err}
		}
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}
