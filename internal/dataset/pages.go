package dataset

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

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
	return scans, d.explain(ctx, op, func(_ *sql.Conn, _ assay.Step, plan []queryplan.Step) error {
		scans = scans || slices.ContainsFunc(plan, func(s queryplan.Step) bool { return s.Scan })
		return nil
	})
}

// RowsRead returns how many rows one execution reads, by the tables and indexes that its plan reads
// whole: those of loops that are nested in each other are multiplied. Searches count nothing.
func (d *Data) RowsRead(ctx context.Context, op assay.Operation) (sum int64, err error) {
	return sum, d.explain(ctx, op, func(conn *sql.Conn, step assay.Step, plan []queryplan.Step) error {
		read := int64(1)
		for _, s := range plan {
			if !s.Repeated {
				read = 1
			}
			if !s.Scan {
				continue
			}
			rows, err := "", error(nil)
			for _, table := range queryplan.Tables(step.SQL, s.Table) {
				if rows, err = ask(ctx, conn, "SELECT count(*) FROM "+sqltext.Quote(table)); err == nil {
					break
				}
			}
			if n, _ := strconv.ParseInt(rows, 10, 64); err == nil && n > 0 && read <= math.MaxInt64/n { // else a subquery, a virtual table without its module, or more than can be told
				read *= n
				sum = max(sum, read)
			}
		}
		return nil
	})
}

// explain reads the query plan of each step that has one.
func (d *Data) explain(ctx context.Context, op assay.Operation, read func(*sql.Conn, assay.Step, []queryplan.Step) error) (err error) {
	conn, done, err := connect(ctx, d.Path, closedFile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	for _, step := range op.Steps {
		if step.Script {
			continue // only a single statement can be explained
		}
		rows, err := conn.QueryContext(ctx, "EXPLAIN QUERY PLAN "+step.SQL, make([]any, len(step.Args))...)
		if err != nil {
			return fmt.Errorf("operation %q: %w", op.Name, err)
		}
		lines, err := sqlrows.Texts(rows)
		if err != nil {
			return err
		}
		plan := ""
		for _, row := range lines { // id, parent, unused, detail
			plan += row[3] + "\n"
		}
		if err := read(conn, step, queryplan.Parse(plan)); err != nil {
			return err
		}
	}
	return nil
}
