package dataset

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"assay"
	"assay/kit/answer"
	"assay/kit/column"
)

// How much of an answer is known before it is asked for: the second column of
// Answers.
const (
	statusKnown = 0 // it has no answer that could be known
	rowsKnown   = 1 // the number of rows
	everyByte   = 2 // every byte
)

// answersRules is raised whenever other answers than before are expected.
const answersRules = 4

// expectedAnswer holds what is known of the answer to one request.
type expectedAnswer struct{ sum, known int64 }

// Answers finds or makes the file of what a served operation has to answer at
// each position of its trace, as package load reads it: two int columns, a digest
// (answer.Sum of the body, or answer.RowsSum) and of how much it is.
//
// In a mix that changes data, a request comes before or after changes. So the
// reading parts are asked of the data before all changes, and at several moments
// up to the last one: what is the same each time is expected whole, and of the
// rest only the number of rows, where the plan says it. That is a sample: what is
// changed and changed back between two looks passes for unchanged.
func (d *Data) Answers(ctx context.Context, op assay.Operation, trace *Trace) (string, error) {
	op, err := d.Resolve(ctx, op)
	if err != nil {
		return "", err
	}
	expected, err := expectKey(d.Digest, op, trace, 0, trace.Length)
	if err != nil {
		return "", err
	}
	key, err := digest("answers", answersRules, expected, looks)
	if err != nil {
		return "", err
	}
	path := filepath.Join(filepath.Dir(d.Path), "answers-"+key+".col")
	if _, ok := cachedColumns(path); ok {
		return path, nil
	}
	all, err := d.answers(ctx, op, trace)
	if err != nil {
		return "", fmt.Errorf("the expected answers: %w", err)
	}
	_, err = d.writeColumns(ctx, path, []column.Type{column.Int, column.Int}, len(all), func(i int) ([]any, error) { return []any{all[i].sum, all[i].known}, nil })
	return path, err
}

func (d *Data) answers(ctx context.Context, op assay.Operation, trace *Trace) ([]expectedAnswer, error) {
	parts, err := d.byPart(ctx, op, trace)
	if err != nil {
		return nil, err
	}
	mix, err := trace.Arguments(op)
	if err != nil {
		return nil, err
	}
	all := make([]expectedAnswer, trace.Length)
	for i := range all {
		part, own := mix.Part(i)
		all[i] = parts[part][own]
	}
	return all, mix.Close()
}

// byPart returns the answers at the positions of each part's own trace.
func (d *Data) byPart(ctx context.Context, op assay.Operation, trace *Trace) (parts [][]expectedAnswer, err error) {
	conn, done, err := d.connect(ctx, false)
	if err != nil {
		return nil, err
	}
	parts, err = ofParts(ctx, conn, op, trace)
	if err = errors.Join(err, done()); err != nil || !op.Changes || len(op.Parts) == 0 {
		return parts, err
	}
	var phases [][]int
	for look := range looks {
		phases = append(phases, Span(look*trace.Length/looks, (look+1)*trace.Length/looks))
	}
	end := func(ctx context.Context, conn *sql.Conn, _ *Digester) error {
		return forget(ctx, conn, op, trace, parts)
	}
	return parts, d.Replay(ctx, op, trace, phases, Watch{End: end})
}

// looks is at how many moments the data of a mix that changes are looked at. With
// the last one alone, a row that is changed and later changed back would seem
// never to change.
const looks = 16

// forget takes what is answered otherwise by now for unknown.
func forget(ctx context.Context, conn *sql.Conn, op assay.Operation, trace *Trace, parts [][]expectedAnswer) error {
	now, err := ofParts(ctx, conn, op, trace)
	for i, answers := range now {
		for j, found := range answers {
			if found != parts[i][j] {
				parts[i][j] = ofChange(op.Parts[i].Operation, 1)[0]
			}
		}
	}
	return err
}

// ofParts returns what the data answer now to each part of a mix, or to an operation that is none.
func ofParts(ctx context.Context, conn *sql.Conn, op assay.Operation, trace *Trace) ([][]expectedAnswer, error) {
	operations, traces := trace.parts(op)
	parts := make([][]expectedAnswer, len(operations))
	for i, part := range operations {
		if part.Changes {
			parts[i] = ofChange(part, traces[i].Length)
			continue
		}
		var err error
		if parts[i], err = ofReads(ctx, conn, part, &traces[i]); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// ofChange returns what is known of answers without asking: as many rows as the plan
// says.
func ofChange(op assay.Operation, length int) []expectedAnswer {
	rows, answers := 0, false
	all := make([]expectedAnswer, length)
	for _, step := range op.Steps {
		if step.Rows < 0 {
			return all
		}
		rows += step.Rows
		answers = answers || step.Query
	}
	var body answer.Body
	body.Begin()
	text := body.End(rows)
	one := expectedAnswer{answer.Sum(text), everyByte}
	if answers {
		one = expectedAnswer{answer.RowsSum(text), rowsKnown}
	}
	for i := range all {
		all[i] = one
	}
	return all
}

// ofReads asks for the answers at all positions. Drivers make times of columns
// that are declared as dates, each in its own way: of those answers the number
// of rows is known, and so of those that are others each time.
func ofReads(ctx context.Context, conn *sql.Conn, op assay.Operation, trace *Trace) (all []expectedAnswer, err error) {
	if trace.Length == 0 {
		return nil, nil
	}
	rowsOnly, err := anyDated(conn, op)
	if err != nil {
		return nil, err
	}
	sessions, err := tied(ctx, conn, op, trace)
	defer func() {
		for _, s := range sessions {
			err = errors.Join(err, s.close())
		}
	}()
	if err != nil {
		return nil, err
	}
	rowsOnly = rowsOnly || Varies(op)
	var body answer.Body
	all = make([]expectedAnswer, trace.Length)
	err = batches(ctx, conn, 0, trace.Length, func(position int) error {
		text, open, err := sessions[0].body(ctx, position, &body)
		if err != nil {
			return err
		}
		all[position] = expectedAnswer{answer.Sum(text), everyByte}
		counted := expectedAnswer{answer.RowsSum(text), rowsKnown}
		if !rowsOnly && !open {
			open, err = differ(ctx, sessions[1:], position, &body)
		}
		if rowsOnly || open {
			all[position] = counted
		}
		return err
	})
	return all, err
}

// tied prepares an operation, and, where its SQL orders rows, the same with equal ones in
// either order of their columns.
func tied(ctx context.Context, conn *sql.Conn, op assay.Operation, trace *Trace) (sessions []*session, err error) {
	ways := []assay.Operation{op}
	if slices.ContainsFunc(op.Steps, func(step assay.Step) bool { return step.Query && !unordered(step.SQL) }) {
		for _, descending := range []bool{false, true} {
			way, _ := InOrder(op, descending)
			ways = append(ways, way)
		}
	}
	for _, way := range ways {
		s, err := newSession(ctx, conn, way, trace, nil)
		if err != nil {
			return sessions, err
		}
		sessions = append(sessions, s)
	}
	return sessions, nil
}

// differ reports whether sessions answer otherwise at a position.
func differ(ctx context.Context, sessions []*session, position int, body *answer.Body) (bool, error) {
	sums := map[int64]bool{}
	for _, s := range sessions {
		text, _, err := s.body(ctx, position, body)
		if err != nil {
			return false, err
		}
		sums[answer.Sum(text)] = true
	}
	return len(sums) > 1, nil
}

func anyDated(conn *sql.Conn, op assay.Operation) (bool, error) {
	for _, step := range op.Steps {
		plain, err := plainQuery(conn, step.SQL)
		if err != nil || plain != step.SQL {
			return true, err
		}
	}
	return false, nil
}

// body returns what a worker answers to a request, and whether it may answer the rows in another
// order.
func (s *session) body(ctx context.Context, position int, body *answer.Body) (_ []byte, open bool, err error) {
	body.Begin()
	rows := 0
	err = s.each(position, func(st *step) error {
		before, types := rows, assay.TypeNames(st.Returns)
		found, err := st.stmt.QueryContext(ctx, st.args...)
		if err == nil {
			err = Visit(found, func(row []any) error {
				rows++
				return body.Row(types, row)
			})
		}
		open = open || rows-before > 1 && st.unordered
		return err
	})
	return body.End(rows), open, err
}
