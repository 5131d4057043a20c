package dataset

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"assay"
	"assay/internal/plan/sqltext"
	"assay/kit/column"
)

// After returns for each unit of a sequence how many of the first ones have ended before it
// begins; nil where all before it have.
func (t *Trace) After() (after []int, err error) {
	file, err := t.open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if file.Columns() < 3 || file.Type(2) != column.Int {
		return nil, nil
	}
	for row := range file.Rows() {
		after = append(after, int(file.Int(2, row)))
	}
	return after, nil
}

// execution holds what doing a step of a sequence has shown.
type execution struct {
	*typing       // nil for a step that answers nothing
	rows    int64 // each time; below 0: that is not known, or differs
}

// resolveSequence finds the types of all answers of a sequence by doing it: what is read later
// may have values that are not there at first. Where none of its units may overlap, it finds
// how many rows a step has each time too.
func (d *Data) resolveSequence(ctx context.Context, op assay.Operation) (_ assay.Operation, err error) {
	if known, ok := d.sequences[op.Sequence]; ok {
		return known, nil
	}
	trace, err := d.Trace(ctx, op, op.Count)
	if err != nil {
		return op, err
	}
	conn, done, err := d.connect(ctx, true)
	if err != nil {
		return op, err
	}
	defer func() { err = errors.Join(err, done()) }()
	after, err := trace.After()
	if err != nil {
		return op, err
	}
	overlap := false
	for position, ended := range after {
		overlap = overlap || ended < position
	}
	known := map[*assay.Step]*execution{}
	arguments, err := trace.Arguments(op)
	if err != nil {
		return op, err
	}
	defer func() { err = errors.Join(err, arguments.Close()) }()
	err = batches(ctx, conn, 0, trace.Length, func(position int) error {
		return arguments.At(position, func(step *assay.Step, bound Args) error {
			args := make([]any, len(step.Args))
			for i := range args {
				args[i] = bound.Value(i)
			}
			return resolveExecution(ctx, conn, step, args, known)
		})
	})
	if err != nil {
		return op, fmt.Errorf("%w\n%s", err, notThose)
	}
	for step, e := range known {
		if e.typing != nil {
			step.Returns = e.returns()
			for i, c := range e.columns {
				step.Returns[i] = cmp.Or(step.Returns[i], likelyType(c.DeclType), "int?") // NULL each time
			}
		}
		if !overlap {
			step.Rows = int(e.rows)
		}
	}
	if d.sequences == nil {
		d.sequences = map[string]assay.Operation{}
	}
	d.sequences[op.Sequence] = op
	return op, nil
}

// resolveExecution executes a step, and adds what its answer shows.
func resolveExecution(ctx context.Context, conn *sql.Conn, step *assay.Step, args []any, known map[*assay.Step]*execution) (err error) {
	e, first := known[step], known[step] == nil
	if first {
		e = &execution{rows: -1}
		if step.Query {
			if e.typing, err = newTyping(ctx, conn, step.SQL); err != nil {
				return err
			}
		}
		known[step] = e
	}
	n := int64(0)
	if step.Query {
		if n, err = e.read(ctx, conn, step.SQL, args); err == nil && e.mixed > 0 {
			err = fmt.Errorf("column %d of its answer has values of several types, and a driver is asked for one", e.mixed)
		}
	} else {
		var result sql.Result
		if result, err = conn.ExecContext(ctx, step.SQL, args...); err == nil {
			n, err = result.RowsAffected()
		}
	}
	tokens, _ := sqltext.Scan(step.SQL)
	// Bindings of Python count no rows of a change that begins with WITH.
	if first && countsRows(step.SQL) && (step.Query || !tokens[0].Is("WITH")) {
		e.rows = n
	} else if n != e.rows {
		e.rows = -1
	}
	return err
}

// SequenceAnswers does the units of a sequence in an order, and returns the digests of what those answer
// that change nothing, by position. It fails where the data are not those that the program had:
// its SQL fails on them, or has other rows.
func (d *Data) SequenceAnswers(ctx context.Context, op assay.Operation, trace *Trace, order []int) (digests []string, err error) {
	digests = make([]string, trace.Length)
	at := func(ctx context.Context, _ *sql.Conn, t *Digester, position int) (err error) {
		digests[position], err = t.Digest(ctx, position)
		return err
	}
	var others error
	end := func(_ context.Context, _ *sql.Conn, t *Digester) error {
		for _, part := range op.Parts {
			others = cmp.Or(others, t.sameRows(part))
		}
		return nil
	}
	started := false // before that it is not the data that fail
	begin := func(context.Context, *sql.Conn) error { started = true; return nil }
	err = d.Replay(ctx, op, trace, [][]int{order}, Watch{Begin: begin, At: at, End: end})
	if err != nil && started {
		err = fmt.Errorf("%w\n%s", err, notThose)
	}
	return digests, cmp.Or(err, others)
}

// notThose says what to do where the data are not those that the program had.
const notThose = "the database is not as it was when recording began: have the recorder keep it (docs/traffic.md), or draft the plan anew with a copy from then"

// sameRows fails where a part had other rows than the program's; a program may leave rows of an
// answer unread.
func (t *Digester) sameRows(part assay.Part) error {
	for i, had := range part.Had {
		spec := &part.Operation.Steps[i]
		st := t.changes.steps[spec]
		if st == nil && t.reads != nil {
			st = t.reads.steps[spec]
		}
		if had < 0 || st == nil || !countsRows(spec.SQL) || st.had == had || st.Query && st.had > had {
			continue
		}
		return fmt.Errorf("%s, step %d: in the log it has %d rows in all, and here %d; %s; the SQL is:\n%s", part.Operation.Name, i+1, had, st.had, notThose, spec.SQL)
	}
	return nil
}

// countsRows reports whether a statement has rows of its own: after others an engine may still
// say how many the one before had.
func countsRows(text string) bool {
	tokens, _ := sqltext.Scan(text)
	return len(sqltext.Statements(tokens)) == 1 && slices.Contains([]string{"SELECT", "VALUES", "INSERT", "UPDATE", "DELETE", "REPLACE"}, sqltext.Verb(tokens))
}
