package dataset

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"modernc.org/sqlite"

	"assay"
	"assay/internal/plan/sqltext"
	"assay/kit/answer"
	"assay/kit/wire"
)

// session does an operation in this process, or those parts of a mix that it has prepared, one
// position after the other.
type session struct {
	*Arguments
	steps map[*assay.Step]*step
}

type step struct {
	assay.Step
	number    int // counts from 1
	stmt      *sql.Stmt
	hash      *answer.Hash
	args      []any
	unordered bool  // its SQL leaves the order of rows open
	had       int64 // rows so far
}

// opening opens the data or, to change them, a private copy.
type opening func(ctx context.Context, private bool) (conn *sql.Conn, done func() error, err error)

// inSession does something with an operation on data that it opens.
func inSession(ctx context.Context, open opening, op assay.Operation, trace *Trace, do func(*sql.Conn, *session) error) (err error) {
	conn, done, err := open(ctx, op.Changes)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	s, err := newSession(ctx, conn, op, trace, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	return do(conn, s)
}

// newSession prepares an operation, or those parts of a mix that are chosen and that occur.
func newSession(ctx context.Context, conn *sql.Conn, op assay.Operation, trace *Trace, chosen func(assay.Operation) bool) (_ *session, err error) {
	s := &session{steps: map[*assay.Step]*step{}}
	if s.Arguments, err = trace.Arguments(op); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	for i, part := range s.parts {
		if len(op.Parts) > 0 && (!chosen(part) || s.values[i].Rows() == 0) {
			continue
		}
		for j := range part.Steps {
			spec := &part.Steps[j]
			prepared := &step{Step: *spec, number: j + 1, args: make([]any, len(spec.Args)), unordered: unordered(spec.SQL)}
			if err := prepared.prepare(ctx, conn); err != nil {
				return nil, fmt.Errorf("operation %q: step %d: %w; the SQL is:\n%s", part.Name, j+1, err, spec.SQL)
			}
			s.steps[spec] = prepared
		}
	}
	return s, nil
}

func (s *step) prepare(ctx context.Context, conn *sql.Conn) (err error) {
	text := s.SQL
	if s.Query {
		if err := wire.CheckTypes(assay.TypeNames(s.Returns)); err != nil {
			return err
		}
		s.hash = answer.New(assay.TypeNames(s.Returns))
		if text, err = plainQuery(conn, s.SQL); err != nil {
			return err
		}
	}
	s.stmt, err = conn.PrepareContext(ctx, text)
	return err
}

// do does what is prepared at a position, as workers do. The answers enter the digest where
// digest says so.
func (s *session) do(ctx context.Context, position int, digest bool) error {
	return s.each(position, counting(ctx, digest, true))
}

// each calls do for the prepared steps of a position, with their arguments in place.
func (s *session) each(position int, do func(st *step) error) error {
	part, own := s.Part(position)
	return s.ofPart(part, own, do)
}

// ofPart is each of a position in the trace of a part.
func (s *session) ofPart(part, own int, do func(st *step) error) error {
	return s.Arguments.ofPart(part, own, func(spec *assay.Step, args Args) error {
		st := s.steps[spec]
		if st == nil {
			return nil
		}
		for i := range st.args {
			st.args[i] = args.Value(i)
		}
		return do(st)
	})
}

// counting runs steps and counts their rows: as many as the operation says, where it is strict.
func counting(ctx context.Context, digest, strict bool) func(st *step) error {
	return func(st *step) error {
		rows, err := st.run(ctx, digest)
		st.had += rows
		if err == nil && strict && st.Rows >= 0 && rows != int64(st.Rows) {
			err = fmt.Errorf("%d rows, the operation says %d; correct its rows, or say that they are unknown", rows, st.Rows)
		}
		return err
	}
}

// digest digests the answers at some positions in the trace of a part, apart from all others.
func (s *session) digest(ctx context.Context, part, own, count int) (string, error) {
	for i := range s.parts[part].Steps {
		if st := s.steps[&s.parts[part].Steps[i]]; st.Query {
			st.hash = answer.New(assay.TypeNames(st.Returns))
		}
	}
	for i := range count {
		if err := s.ofPart(part, own+i, counting(ctx, true, false)); err != nil {
			return "", err
		}
	}
	return s.sum(part).Digest, nil
}

// sum combines the digests of a part's steps that return rows.
func (s *session) sum(part int) Expected {
	var steps answer.Steps
	for i := range s.parts[part].Steps {
		steps = append(steps, s.steps[&s.parts[part].Steps[i]].hash)
	}
	return Expected{Digest: steps.Sum(), Rows: steps.Rows()}
}

// run returns the number of rows answered or changed.
func (s *step) run(ctx context.Context, digest bool) (int64, error) {
	if !s.Query {
		result, err := s.stmt.ExecContext(ctx, s.args...)
		if err != nil {
			return 0, err
		}
		return result.RowsAffected()
	}
	rows, err := s.stmt.QueryContext(ctx, s.args...)
	if err != nil {
		return 0, err
	}
	n := int64(0)
	return n, Visit(rows, func(row []any) error {
		n++
		if !digest {
			return nil
		}
		if err := s.hash.Row(row); err != nil {
			return fmt.Errorf("%w; where a column holds several types, CAST it to one", err)
		}
		return nil
	})
}

// Visit reads all rows and closes them. The visited slice is reused.
func Visit(rows *sql.Rows, each func(row []any) error) error {
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	row, targets := make([]any, len(names)), make([]any, len(names))
	for i := range row {
		targets[i] = &row[i]
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		if err := each(row); err != nil {
			return err
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}

func (s *session) close() error {
	var errs []error
	for _, st := range s.steps {
		errs = append(errs, st.stmt.Close())
	}
	return errors.Join(append(errs, s.Close())...)
}

// plainQuery returns a query with the same answer whose values come as they
// are stored: of columns declared DATE, DATETIME or TIMESTAMP the driver makes
// times, out of which the text cannot be had back, and of BOOLEAN truths, out of
// which the number cannot. An expression has no declared type, so every column is
// made one. Where a statement cannot be wrapped so, a BOOLEAN is taken as it comes.
func plainQuery(conn *sql.Conn, query string) (string, error) {
	columns, err := columnInfo(conn, query)
	if err != nil {
		return "", err
	}
	times, truths := false, false
	for _, c := range columns {
		switch strings.ToUpper(c.DeclType) {
		case "DATE", "DATETIME", "TIMESTAMP":
			times = true
		case "BOOLEAN":
			truths = true
		}
	}
	tokens, _ := sqltext.Scan(query)
	selects := slices.Contains([]string{"SELECT", "VALUES"}, sqltext.Verb(tokens))
	switch {
	case !times && (!truths || !selects):
		return query, nil
	case !selects:
		return "", errors.New("it answers a column declared as a date; return it as text, with CAST(... AS TEXT)")
	}
	return ofAnswer(strings.TrimRight(query, "; \t\r\n"), len(columns), true), nil
}

// ofAnswer selects from the answer to a query, whose columns are c1, c2 and so on: without
// anything selected, all of them as they are stored. once evaluates it once, whatever is selected.
func ofAnswer(query string, columns int, once bool, selected ...string) string {
	names := make([]string, columns)
	for i := range names {
		names[i] = fmt.Sprintf("c%d", i+1)
	}
	if selected == nil {
		selected = []string{"+" + strings.Join(names, ", +")}
	}
	how := map[bool]string{true: "MATERIALIZED "}[once]
	return fmt.Sprintf("WITH answer(%s) AS %s(\n%s\n) SELECT %s FROM answer", strings.Join(names, ", "), how, query, strings.Join(selected, ", "))
}

// columnInfo prepares a query without running it.
func columnInfo(conn *sql.Conn, query string) (columns []sqlite.ColumnInfo, err error) {
	err = conn.Raw(func(driverConn any) error {
		source, ok := driverConn.(interface {
			ColumnInfo(string) ([]sqlite.ColumnInfo, error)
		})
		if !ok {
			return fmt.Errorf("%T describes no columns", driverConn)
		}
		columns, err = source.ColumnInfo(query)
		return err
	})
	return columns, err
}
