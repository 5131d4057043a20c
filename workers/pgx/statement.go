package main

import (
	"context"
	"database/sql/driver"

	"assay/kit"
	worker "assay/kit/sql"
	"assay/kit/wire"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// inTurn is the name of statements that are prepared for each execution.
const inTurn = "assay_each"

// statement is a step with the room for its arguments and rows.
type statement struct {
	worker.Step
	conn *pgx.Conn
	text string // what pgx is given: the SQL, or the name of the prepared statement
	args []any
	row  []any // what rows of the answer are scanned into, a pointer for each column
	seen []any // reused for visitors
}

func (a *api) Stmt(c *conn, step worker.Step, compiled worker.Compiled) (worker.Stmt, error) {
	s := &statement{Step: step, conn: c.Conn, text: step.SQL, args: make([]any, step.Args),
		row: make([]any, len(step.Returns)), seen: make([]any, len(step.Returns))}
	if name, is := compiled.(named); is {
		s.text = string(name)
	}
	for i, declared := range step.Returns {
		if s.row[i] = room(declared); s.row[i] == nil {
			return nil, wire.Errorf(wire.Invalid, "type %q: want int, real, text, blob or bool", declared)
		}
	}
	return s, nil
}

func (s *statement) Show(position int, visit func([]any) error) (int, error) {
	return s.Do(background, position, visit, nil)
}

func (s *statement) Do(ctx context.Context, position int, visit func([]any) error, phases *kit.Phases) (n int, err error) {
	phases.Begin()
	for i := range s.args {
		s.args[i] = s.Trace.Value(s.First+i, position)
	}
	text := s.text
	if s.Policy == wire.Each {
		if _, err := s.conn.Prepare(ctx, inTurn, s.SQL); err != nil {
			return 0, err
		}
		text = inTurn
		phases.End(kit.PhasePrepare)
		defer func() {
			if closed := s.conn.Deallocate(background, inTurn); err == nil {
				err = closed
			}
			phases.End(kit.PhaseCloseStmt)
		}()
	}
	if !s.Query {
		tag, err := s.conn.Exec(ctx, text, s.args...)
		phases.End(kit.PhaseQuery)
		return int(tag.RowsAffected()), err
	}
	rows, err := s.conn.Query(ctx, text, s.args...)
	if err != nil {
		return 0, err
	}
	phases.End(kit.PhaseQuery)
	return s.scan(rows, visit, phases)
}

// room is that of a column's declared type; nil where there is no such type.
func room(declared string) any {
	switch declared {
	case "int":
		return new(int64)
	case "real":
		return new(float64)
	case "text":
		return new(string)
	case "blob", "blob?":
		return new([]byte)
	case "bool":
		return new(bool)
	case "int?":
		return new(pgtype.Int8)
	case "real?":
		return new(pgtype.Float8)
	case "text?":
		return new(pgtype.Text)
	case "bool?":
		return new(pgtype.Bool)
	}
	return nil
}

// scan reads and closes rows, scans every column of each, shows them to visit
// where there is one, and returns how many there were.
// The clock is read between the phases where they are timed.
func (s *statement) scan(rows pgx.Rows, visit func([]any) error, phases *kit.Phases) (int, error) {
	for n := 0; ; n++ {
		more := rows.Next()
		phases.End(kit.PhaseNext)
		if !more {
			rows.Close()
			phases.End(kit.PhaseCloseRows)
			return n, rows.Err()
		}
		err := rows.Scan(s.row...)
		phases.End(kit.PhaseScan)
		if err == nil && visit != nil {
			err = visit(s.values())
		}
		if err != nil {
			rows.Close()
			return n, err
		}
	}
}

func (s *statement) values() []any {
	for i, pointer := range s.row {
		switch p := pointer.(type) {
		case *int64:
			s.seen[i] = *p
		case *float64:
			s.seen[i] = *p
		case *string:
			s.seen[i] = *p
		case *bool:
			s.seen[i] = *p
		case *[]byte:
			if s.seen[i] = nil; *p != nil {
				s.seen[i] = *p
			}
		case driver.Valuer:
			s.seen[i], _ = p.Value() // of pgtype there is no error
		}
	}
	return s.seen
}
