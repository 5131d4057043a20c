package stepdb

import (
	"errors"
	"fmt"

	"assay/kit"
	"assay/kit/wire"
)

// client runs one operation after the other.
type client struct {
	o      *operation
	number int
	steps  []step
	visit  func(step int, row []any) error // nil while measuring
	// last is the connection of the newest execution, with the statements that
	// were compiled once on it.
	last struct {
		conn  Conn
		stmts []Stmt
	}
}

// Do runs one operation, or one transaction of several.
func (c *client) Do(position int) (int, error) { return c.DoPhases(position, nil) }

// DoPhases does the same and times the phases of each statement. To take a
// connection, to begin a transaction and to commit it are none of them.
//
// From here to the driver there are few functions on purpose: between system calls, which
// leave the caches cold, a call of one costs 20 to 40 ns, and a point read 5 us.
func (c *client) DoPhases(position int, phases *kit.Phases) (n int, err error) {
	conn, err := c.o.take(c.number)
	if err != nil {
		return 0, err
	}
	if c.o.spec.Transaction > 0 {
		n, err = c.transaction(conn, position, phases)
	} else {
		n, err = c.all(conn, position, phases)
	}
	c.o.give(conn)
	return n, c.failed(n, err)
}

// failed is the error of an operation that has changed so many rows.
func (c *client) failed(changed int, err error) error {
	if err != nil && changed > 0 && c.o.spec.Changes {
		return fmt.Errorf("after a step that changed %d rows: %v", changed, err) // not to be tried again
	}
	return c.o.db.mark(err)
}

func (c *client) transaction(conn Conn, position int, phases *kit.Phases) (int, error) {
	begin := len(c.o.spec.Steps) // behind the steps, then COMMIT
	if err := c.command(conn, begin); err != nil {
		return 0, err
	}
	total, size := 0, c.o.spec.Transaction
	for i := range size {
		n, err := c.all(conn, position*size+i, phases)
		total += n
		if err != nil {
			return 0, c.rollback(conn, c.o.db.stale(i, err))
		}
	}
	if err := c.command(conn, begin+1); err != nil {
		return 0, c.rollback(conn, err)
	}
	return total, nil
}

// laterStep is the error of a step that is not an operation's first.
type laterStep struct{ error }

func (e laterStep) Unwrap() error { return e.error }

func (c *client) rollback(conn Conn, cause error) error {
	return errors.Join(cause, run(conn, "ROLLBACK"))
}

// command runs a statement of transactions by the operation's statement policy.
func (c *client) command(conn Conn, i int) (err error) {
	text := c.steps[i].SQL
	if c.o.spec.Statement == wire.Never {
		return run(conn, text)
	}
	if _, err = c.step(conn, i, nil, nil); err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	return nil
}

func (c *client) all(conn Conn, position int, phases *kit.Phases) (int, error) {
	total := 0
	for i := range c.o.spec.Steps {
		var visit func([]any) error
		if c.visit != nil {
			visit = func(row []any) error { return c.visit(i, row) }
		}
		c.steps[i].args.row = position
		n, err := c.step(conn, i, visit, phases)
		total += n
		if err != nil && i > 0 {
			err = laterStep{err}
		}
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// step runs a step by the operation's statement policy.
func (c *client) step(conn Conn, i int, visit func([]any) error, phases *kit.Phases) (int, error) {
	s := &c.steps[i]
	phases.Begin()
	if s.Script {
		return 0, conn.(Scripter).ExecScript(s.SQL)
	}
	switch c.o.spec.Statement {
	case wire.Each:
		stmt, err := conn.Prepare(s.SQL)
		phases.End(kit.PhasePrepare)
		if err != nil {
			return 0, err
		}
		n, err := s.run(conn, stmt, visit, phases)
		if closing := stmt.Close(); err == nil {
			err = closing
		}
		phases.End(kit.PhaseCloseStmt)
		return n, err
	case wire.Never:
		return s.call(conn, visit, phases)
	}
	if cacher, ok := conn.(Cacher); ok {
		stmt, err := cacher.Cached(s.SQL) // also resets it and clears its arguments
		phases.End(kit.PhaseCloseRows)
		if err != nil {
			return 0, err
		}
		n, err := s.run(conn, stmt, visit, phases)
		if err != nil {
			_ = stmt.Reset() // it repeats the error
		}
		return n, err
	}
	return c.once(conn, i, visit, phases)
}

// once runs a step with its statement that was compiled on this connection.
func (c *client) once(conn Conn, i int, visit func([]any) error, phases *kit.Phases) (int, error) {
	if c.last.conn != conn {
		c.last.conn, c.last.stmts = conn, c.o.compiled[conn]
	}
	stmt := c.last.stmts[i]
	n, err := c.steps[i].run(conn, stmt, visit, phases)
	if resetting := stmt.Reset(); err == nil {
		err = resetting
	}
	phases.End(kit.PhaseCloseRows)
	return n, err
}

func (c *client) Close() error { return nil } // the statements are the operation's

// closeAll closes each statement once: steps can share one.
func closeAll(stmts []Stmt) error {
	var errs []error
	closed := map[Stmt]bool{}
	for _, stmt := range stmts {
		if stmt != nil && !closed[stmt] {
			closed[stmt] = true
			errs = append(errs, stmt.Close())
		}
	}
	return errors.Join(errs...)
}

// step is one statement of an operation with the room for its arguments and
// rows.
type step struct {
	wire.Step
	args  *Args
	dest  *destinations
	shown *shown
	show  func(Stmt) error // shown.row, made once
}

func newStep(s wire.Step, args *Args) (step, error) {
	dest, err := newDestinations(s.Returns)
	show := &shown{dest: dest}
	return step{Step: s, args: args, dest: dest, shown: show, show: show.row}, err
}

// shown takes the rows that a driver shows one by one.
type shown struct {
	dest   *destinations
	visit  func([]any) error
	phases *kit.Phases
	phase  kit.Phase // that ends at the next row
	count  int
}

func (s *shown) row(stmt Stmt) error {
	s.phases.End(s.phase)
	s.phase = kit.PhaseNext
	s.count++
	err := s.dest.row(stmt, s.visit)
	s.phases.End(kit.PhaseScan)
	return err
}

// run executes a compiled statement and returns the number of rows answered or
// changed.
func (s *step) run(conn Conn, stmt Stmt, visit func([]any) error, phases *kit.Phases) (int, error) {
	err := stmt.Bind(s.args)
	phases.End(kit.PhaseBind)
	if err != nil {
		return 0, err
	}
	if s.Query {
		return s.dest.all(stmt, visit, phases)
	}
	for more := true; more; {
		if more, err = stmt.Step(); err != nil {
			return 0, err
		}
	}
	n := conn.Changes()
	phases.End(kit.PhaseNext)
	return n, nil
}

// call executes the statement in one call of the driver. What it does until it
// shows the first row, compiling it too, is one phase.
func (s *step) call(conn Conn, visit func([]any) error, phases *kit.Phases) (int, error) {
	if !s.Query {
		err := conn.(Caller).Call(s.SQL, s.args.Values())
		phases.End(kit.PhaseQuery)
		if err != nil {
			return 0, err
		}
		return conn.Changes(), nil
	}
	s.shown.visit, s.shown.phases, s.shown.phase, s.shown.count = visit, phases, kit.PhaseQuery, 0
	err := conn.(RowCaller).CallRows(s.SQL, s.args.Values(), s.show)
	phases.End(s.shown.phase)
	return s.shown.count, err
}
