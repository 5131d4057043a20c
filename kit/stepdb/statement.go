package stepdb

import (
	"context"

	"assay/kit"
	worker "assay/kit/sql"
	"assay/kit/wire"
)

// Stmt makes a step ready by its statement policy.
func (a *api) Stmt(conn Conn, step worker.Step, compiled worker.Compiled) (worker.Stmt, error) {
	s := newStep(conn, step)
	cacher, caches := conn.(Cacher)
	switch {
	case step.Script:
		return &script{s}, nil
	case step.Policy == wire.Never && step.Around:
		return &command{s}, nil
	case step.Policy == wire.Never:
		return newCalled(s), nil
	case step.Policy == wire.Each:
		return &each{s}, nil
	case caches:
		return &cached{s, cacher}, nil
	}
	return &once{s, compiled.(Stmt)}, nil
}

// step is one statement of an operation with the room for its arguments and
// rows.
type step struct {
	worker.Step
	conn Conn
	args Args
	dest destinations
}

func newStep(conn Conn, s worker.Step) step {
	return step{Step: s, conn: conn, args: Args{trace: s.Trace, first: s.First, values: make([]any, s.Args)}, dest: newDestinations(s.Returns)}
}

// run executes a compiled statement and returns the number of rows answered or
// changed.
func (s *step) run(stmt Stmt, visit func([]any) error, phases *kit.Phases) (int, error) {
	err := stmt.Bind(&s.args)
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
	n := s.conn.Changes()
	phases.End(kit.PhaseNext)
	return n, nil
}

// show executes a step whose rows are shown as they are stored.
func (s *step) show(step worker.Stmt, row int, visit func([]any) error) (int, error) {
	s.dest.stored = true
	defer func() { s.dest.stored = false }()
	return step.Do(context.Background(), row, visit, nil)
}

// once is a step whose statement was compiled on its connection.
type once struct {
	step
	stmt Stmt
}

func (s *once) Do(_ context.Context, row int, visit func([]any) error, phases *kit.Phases) (int, error) {
	phases.Begin()
	s.args.row = row
	n, err := s.run(s.stmt, visit, phases)
	if resetting := s.stmt.Reset(); err == nil {
		err = resetting
	}
	phases.End(kit.PhaseCloseRows)
	return n, err
}

func (s *once) Show(row int, visit func([]any) error) (int, error) { return s.show(s, row, visit) }

// cached is a step whose statement the driver keeps.
type cached struct {
	step
	cacher Cacher
}

func (s *cached) Do(_ context.Context, row int, visit func([]any) error, phases *kit.Phases) (int, error) {
	phases.Begin()
	s.args.row = row
	stmt, err := s.cacher.Cached(s.SQL) // also resets it and clears its arguments
	phases.End(kit.PhaseCloseRows)
	if err != nil {
		return 0, err
	}
	n, err := s.run(stmt, visit, phases)
	if err != nil {
		_ = stmt.Reset() // it repeats the error
	}
	return n, err
}

func (s *cached) Show(row int, visit func([]any) error) (int, error) { return s.show(s, row, visit) }

// each is a step that is compiled for each execution.
type each struct{ step }

func (s *each) Do(_ context.Context, row int, visit func([]any) error, phases *kit.Phases) (int, error) {
	phases.Begin()
	s.args.row = row
	stmt, err := s.conn.Prepare(s.SQL)
	phases.End(kit.PhasePrepare)
	if err != nil {
		return 0, err
	}
	n, err := s.run(stmt, visit, phases)
	if closing := stmt.Close(); err == nil {
		err = closing
	}
	phases.End(kit.PhaseCloseStmt)
	return n, err
}

func (s *each) Show(row int, visit func([]any) error) (int, error) { return s.show(s, row, visit) }

// called is a step that one call of the driver executes. What that does until it
// shows the first row, compiling it too, is one phase.
type called struct {
	step
	caller    Caller
	rowCaller RowCaller
	// takes the rows that the driver shows
	visit  func([]any) error
	phases *kit.Phases
	phase  kit.Phase // that ends at the next row
	count  int
	take   func(Stmt) error // takeRow, made once
}

func newCalled(s step) *called {
	c := &called{step: s}
	c.caller, _ = s.conn.(Caller)
	c.rowCaller, _ = s.conn.(RowCaller)
	c.take = c.takeRow
	return c
}

func (s *called) takeRow(stmt Stmt) error {
	s.phases.End(s.phase)
	s.phase = kit.PhaseNext
	s.count++
	err := s.dest.row(stmt, s.visit)
	s.phases.End(kit.PhaseScan)
	return err
}

func (s *called) Do(_ context.Context, row int, visit func([]any) error, phases *kit.Phases) (int, error) {
	phases.Begin()
	s.args.row = row
	if !s.Query {
		err := s.caller.Call(s.SQL, s.args.Values())
		phases.End(kit.PhaseQuery)
		if err != nil {
			return 0, err
		}
		return s.conn.Changes(), nil
	}
	s.visit, s.phases, s.phase, s.count = visit, phases, kit.PhaseQuery, 0
	err := s.rowCaller.CallRows(s.SQL, s.args.Values(), s.take)
	phases.End(s.phase)
	return s.count, err
}

func (s *called) Show(row int, visit func([]any) error) (int, error) { return s.show(s, row, visit) }

// command is a statement of transactions that is not compiled by the worker.
type command struct{ step }

func (s *command) Do(context.Context, int, func([]any) error, *kit.Phases) (int, error) {
	return 0, s.conn.Exec(s.SQL)
}

func (s *command) Show(row int, visit func([]any) error) (int, error) { return s.show(s, row, visit) }

// script is several statements, which one call executes.
type script struct{ step }

func (s *script) Do(_ context.Context, _ int, _ func([]any) error, phases *kit.Phases) (int, error) {
	phases.Begin()
	err := s.conn.(Scripter).ExecScript(s.SQL)
	phases.End(kit.PhaseQuery)
	return 0, err
}

func (s *script) Show(row int, visit func([]any) error) (int, error) { return s.show(s, row, visit) }
