package dataset

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"

	"assay"
	"assay/internal/plan/sqltext"
)

// Choices is how many different rows the arguments of an operation can name:
// the widest range that one of them is drawn from, and no more than the largest
// table has rows. most stands for what cannot be known of a user's own file.
func (d *Data) Choices(ctx context.Context, op assay.Operation, most int64) (choices int64, err error) {
	rows, err := d.largest(ctx)
	if err != nil {
		return 0, err
	}
	if len(d.Spec.Tables) == 0 {
		rows = most
	}
	for _, v := range arguments(op) {
		named := v.Range()
		if v.Kind == assay.Expression {
			named = rows
		}
		choices = max(choices, min(named, rows))
	}
	existing, err := d.countExisting(ctx, op)
	return max(choices, existing), err
}

// largest is how many rows the largest table has.
func (d *Data) largest(ctx context.Context) (rows int64, err error) {
	var conn *sql.Conn
	for _, table := range d.Spec.Tables {
		count := int64(table.Rows)
		if table.Select != "" && count == 0 {
			if conn == nil {
				var done func() error
				if conn, done, err = d.connect(ctx, false); err != nil {
					return 0, err
				}
				defer func() { err = errors.Join(err, done()) }()
			}
			if err := conn.QueryRowContext(ctx, "SELECT count(*) FROM "+sqltext.Quote(table.Name)).Scan(&count); err != nil {
				return 0, err
			}
		}
		rows = max(rows, count)
	}
	return rows, nil
}

// countExisting is how many rows the largest table has that arguments are
// drawn from.
func (d *Data) countExisting(ctx context.Context, op assay.Operation) (rows int64, err error) {
	if !slices.ContainsFunc(arguments(op), func(v assay.Values) bool { return v.Kind == assay.From || v.Kind == assay.Row }) {
		return 0, nil
	}
	g, err := d.arguments(ctx, op, 0)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, g.close()) }()
	for _, gr := range g.groups {
		if gr.of(g).Kind == assay.Row {
			rows = max(rows, gr.there)
		}
	}
	conn, tables := g.session.Conn, g.existing()
	for _, table := range tables {
		if err := table.count(ctx, conn); err != nil {
			return 0, fmt.Errorf("count the rows of table %q: %w", table.table, err)
		}
		rows = max(rows, int64(min(table.rows, math.MaxInt32)))
	}
	return rows, nil
}
