package dataset

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"assay"
	"assay/internal/dataset/queryplan"
	"assay/kit/sqlrows"
)

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
