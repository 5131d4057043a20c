package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"assay/kit"
)

// writer runs operations that change data. Clients take a connection in turn,
// so that the number of writers is what was asked for; each connection has
// statements of its own.
type writer struct {
	*client
	statements map[*sql.Conn][]preparedStep
}

// Do runs one operation, or one transaction of several.
func (w *writer) Do(position int) (int, error) { return w.DoPhases(position, nil) }

// DoPhases does the same and times the phases of each statement. To take a
// connection, to begin a transaction and to commit it are none of them.
func (w *writer) DoPhases(position int, phases *kit.Phases) (int, error) {
	conn := <-w.o.db.writers
	rows, err := w.do(conn, position, phases)
	w.o.db.writers <- conn
	return rows, w.o.db.busy(err)
}

func (w *writer) do(conn *sql.Conn, position int, phases *kit.Phases) (int, error) {
	steps, err := w.on(conn)
	if err != nil {
		return 0, err
	}
	return w.run(conn, steps, position, phases, nil)
}

// run runs one operation, or one transaction of several, and shows the rows of
// its steps to visit where there is one.
func (w *writer) run(conn *sql.Conn, steps []preparedStep, position int, phases *kit.Phases, visit visitor) (int, error) {
	if w.o.spec.Transaction == 0 {
		rows, err := runAll(steps, position, phases, visit)
		if err != nil && rows > 0 {
			// Not to be tried again: an earlier step has changed data.
			err = fmt.Errorf("after a step that changed %d rows: %v", rows, err)
		}
		return rows, err
	}
	return w.transaction(conn, steps, position, phases, visit)
}

func (w *writer) transaction(conn *sql.Conn, steps []preparedStep, position int, phases *kit.Phases, visit visitor) (int, error) {
	ctx := context.Background()
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return 0, fmt.Errorf("BEGIN IMMEDIATE: %w", err)
	}
	rows := 0
	size := w.o.spec.Transaction
	for i := range size {
		n, err := runAll(steps, position*size+i, phases, visit)
		rows += n
		if err != nil {
			return 0, rollback(conn, err)
		}
	}
	if _, err := conn.ExecContext(ctx, "COMMIT"); err != nil {
		return 0, rollback(conn, fmt.Errorf("COMMIT: %w", err))
	}
	return rows, nil
}

func rollback(conn *sql.Conn, cause error) error {
	if _, err := conn.ExecContext(context.Background(), "ROLLBACK"); err != nil {
		return errors.Join(cause, fmt.Errorf("ROLLBACK: %w", err))
	}
	return cause
}

// visitor is shown the rows of each step, with their declared types.
type visitor = func(types []string, row []any) error

// runAll times phases where there are any to be timed.
func runAll(steps []preparedStep, position int, phases *kit.Phases, visit visitor) (rows int, err error) {
	for i := range steps {
		var n int
		switch {
		case visit != nil:
			n, err = steps[i].run(position, func(row []any) error { return visit(steps[i].Returns, row) })
		case phases == nil:
			n, err = steps[i].run(position, nil)
		default:
			n, err = steps[i].runPhases(position, phases)
		}
		rows += n
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}

func (w *writer) on(conn *sql.Conn) ([]preparedStep, error) {
	if steps, ok := w.statements[conn]; ok {
		return steps, nil
	}
	steps, err := w.prepare(conn)
	if err == nil {
		w.statements[conn] = steps
	}
	return steps, err
}

// Close closes the statements of every connection.
func (w *writer) Close() error {
	var errs []error
	for _, steps := range w.statements {
		errs = append(errs, closeSteps(steps))
	}
	return errors.Join(errs...)
}
