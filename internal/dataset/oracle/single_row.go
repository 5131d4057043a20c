package oracle

import (
	"context"
	"database/sql"
	"errors"

	"assay"
)

// dropSeveralRows forgets the answers that several rows make, which change at the same
// time: their least value, or their first by an order, may be the same at each moment
// of some orders and another one in others.
func (b *answerFinder) dropSeveralRows(positions []int) (err error) {
	mix, err := b.Trace.Arguments(b.Operation)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, mix.Close()) }()
	for i, position := range positions {
		if part, _ := mix.Part(position); !b.single[part] {
			b.told[i] = ""
		}
	}
	return nil
}

// singles tells of each part of a mix whether all of its queries read one row at most
// of the tables that change.
func singles(ctx context.Context, conn *sql.Conn, op assay.Operation, changed []*table) ([]bool, error) {
	pages := map[int64]bool{} // at which the tables and their indexes begin
	for _, t := range changed {
		const text = "SELECT rootpage FROM main.sqlite_schema WHERE rootpage > 0 AND tbl_name = ?"
		if err := query(ctx, conn, text, func(row []any) { pages[row[0].(int64)] = true }, t.name); err != nil {
			return nil, err
		}
	}
	all := make([]bool, len(op.Parts))
	for i, part := range op.Parts {
		all[i] = true
		for _, step := range part.Operation.Steps {
			if !step.Query {
				continue
			}
			one, err := single(ctx, conn, step, pages)
			if err != nil {
				return nil, err
			}
			all[i] = all[i] && one
		}
	}
	return all, nil
}

// single reports whether a query reads nothing that changes, or one row of it, as SQLite's
// program for it says: it opens one table, perhaps behind an index that leads there, and has no
// loop. What changes begins at pages.
func single(ctx context.Context, conn *sql.Conn, step assay.Step, pages map[int64]bool) (bool, error) {
	opened, loops, cursors := 0, false, map[any]bool{} // of what changes
	err := query(ctx, conn, "EXPLAIN "+step.SQL, func(row []any) {
		switch row[1] {
		case "OpenRead", "ReopenIdx":
			if pages[row[3].(int64)] && row[4] == int64(0) {
				opened++
				cursors[row[2]] = true
			}
		case "DeferredSeek":
			if cursors[row[4]] {
				opened-- // it is read by an index, which was opened too
			}
		case "VOpen":
			opened += 2 // anything may be in a virtual table
		case "Next", "Prev", "RowSetTest", "Count":
			loops = true
		}
	}, make([]any, len(step.Args))...)
	return opened == 0 || opened == 1 && !loops, err
}
