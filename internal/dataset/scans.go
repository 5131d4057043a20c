package dataset

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"assay"
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
		rows, err := conn.QueryContext(ctx, "EXPLAIN QUERY PLAN "+step.SQL, make([]any, len(step.Args))...)
		if err != nil {
			return false, fmt.Errorf("operation %q: %w", op.Name, err)
		}
		for rows.Next() {
			var id, parent, unused int64
			var detail string
			if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
				return false, errors.Join(err, rows.Close())
			}
			scans = scans || strings.HasPrefix(detail, "SCAN ") && detail != "SCAN CONSTANT ROW"
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return false, err
		}
	}
	return scans, nil
}
