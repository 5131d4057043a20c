package dataset

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"assay"
	"assay/internal/dataset/queryplan"
	"assay/internal/plan/sqltext"
	"assay/kit/sqlrows"
)

// Pages are queries, with an answer of one number each, that together read all pages of the
// tables and indexes: what a database has in its cache in the long run, if there is room.
// Indexes that a count of all rows cannot use, such as partial ones, are left out.
func (d *Data) Pages(ctx context.Context) (queries []string, err error) {
	conn, done, err := connect(ctx, d.Path, closedFile)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	rows, err := conn.QueryContext(ctx, "SELECT type, name, tbl_name FROM sqlite_schema WHERE rootpage > 0 ORDER BY rowid")
	if err != nil {
		return nil, fmt.Errorf("list the tables of %s: %w", d.Path, err)
	}
	all, err := sqlrows.Texts(rows)
	if err != nil {
		return nil, fmt.Errorf("list the tables of %s: %w", d.Path, err)
	}
	for _, row := range all {
		query := "SELECT count(*) FROM " + sqltext.Quote(row[2]) + " NOT INDEXED"
		if row[0] == "index" {
			// Not count(*): SQLite answers that by the smallest index, whatever is said here.
			query = "SELECT count(1) FROM " + sqltext.Quote(row[2]) + " INDEXED BY " + sqltext.Quote(row[1])
		}
		if _, err := conn.ExecContext(ctx, "EXPLAIN "+query); err == nil {
			queries = append(queries, query)
		}
	}
	return queries, ctx.Err()
}

// Scans reports whether a step of the operation reads a whole table or index,
// as EXPLAIN QUERY PLAN says: one such operation can take as long as thousands
// of others.
func (d *Data) Scans(ctx context.Context, op assay.Operation) (scans bool, err error) {
	conn, done, err := connect(ctx, d.Path, closedFile)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, done()) }()
	for _, step := range op.Steps {
		if step.Script {
			continue // only a single statement can be explained
		}
		rows, err := conn.QueryContext(ctx, "EXPLAIN QUERY PLAN "+step.SQL, make([]any, len(step.Args))...)
		if err != nil {
			return false, fmt.Errorf("operation %q: %w", op.Name, err)
		}
		plan, err := sqlrows.Texts(rows)
		if err != nil {
			return false, err
		}
		for _, row := range plan { // id, parent, unused, detail
			scans = scans || slices.ContainsFunc(queryplan.Parse(row[3]), func(s queryplan.Step) bool { return s.Scan })
		}
	}
	return scans, nil
}
