package sqldb

import (
	"context"
	"database/sql"

	"assay/kit"
	worker "assay/kit/sql"
	"assay/kit/wire"
)

// Stmt makes a step ready. Where the driver begins transactions, they are its calls.
func (a *api) Stmt(c *conn, step worker.Step, compiled worker.Compiled) (worker.Stmt, error) {
	if step.Around && a.begin != "" {
		return map[bool]call{true: c.begin, false: c.commit}[step.SQL == a.Begin()], nil
	}
	s := &statement{Step: step, on: c.handle, each: step.Policy == wire.Each, args: make([]any, step.Args), dest: newDestinations(step.Returns),
		strict: a.connector.driver.Other != nil}
	s.compiled, _ = compiled.(*sql.Stmt)
	return s, nil
}

// call is a step that is a call of the driver.
type call func(context.Context) error

func (c call) Do(ctx context.Context, _ int, _ func([]any) error, _ *kit.Phases) (int, error) {
	return 0, c(ctx)
}

func (c call) Show(int, func([]any) error) (int, error) { return 0, c(context.Background()) }

// statement is one statement with the room for its arguments and rows.
type statement struct {
	worker.Step
	on       handle
	compiled *sql.Stmt // nil unless compiled once
	each     bool      // compiled for each execution
	args     []any
	dest     destinations
	strict   bool       // values are of their columns' types
	stored   *statement // that shows values as they are stored; nil until it is needed
}

func (s *statement) Do(ctx context.Context, row int, visit func([]any) error, phases *kit.Phases) (n int, err error) {
	phases.Begin()
	for i := range s.args {
		s.args[i] = s.Trace.Value(s.First+i, row)
	}
	compiled := s.compiled
	if s.each {
		if compiled, err = s.on.PrepareContext(ctx, s.SQL); err != nil {
			return 0, err
		}
		phases.End(kit.PhasePrepare)
		defer func() {
			if closed := compiled.Close(); err == nil {
				err = closed
			}
			phases.End(kit.PhaseCloseStmt)
		}()
	}
	if !s.Query {
		n, err = s.exec(ctx, compiled)
		phases.End(kit.PhaseQuery)
		return n, err
	}
	rows, err := s.query(ctx, compiled)
	if err != nil {
		return 0, err
	}
	phases.End(kit.PhaseQuery)
	return s.dest.scan(rows, visit, phases)
}

func (s *statement) query(ctx context.Context, compiled *sql.Stmt) (*sql.Rows, error) {
	if compiled == nil {
		return s.on.QueryContext(ctx, s.SQL, s.args...)
	}
	return compiled.QueryContext(ctx, s.args...)
}

func (s *statement) exec(ctx context.Context, compiled *sql.Stmt) (int, error) {
	var result sql.Result
	var err error
	if compiled == nil {
		result, err = s.on.ExecContext(ctx, s.SQL, s.args...)
	} else {
		result, err = compiled.ExecContext(ctx, s.args...)
	}
	if err != nil {
		return 0, err
	}
	changed, err := result.RowsAffected()
	return int(changed), err
}

// Show executes the statement that is measured, unless it has to be asked otherwise.
func (s *statement) Show(row int, visit func([]any) error) (int, error) {
	if s.strict {
		return s.Do(context.Background(), row, visit, nil)
	}
	if s.stored == nil {
		same := *s
		same.dest = newStored(s.Returns)
		if s.Query {
			var err error
			if same.SQL, err = stored(s.on, s.SQL, s.FirstArguments()); err != nil {
				return 0, err
			}
		}
		if same.SQL != s.SQL {
			same.compiled = nil
		}
		s.stored = &same
	}
	return s.stored.Do(context.Background(), row, visit, nil)
}
