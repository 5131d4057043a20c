package dataset

import (
	"context"
	"errors"
	"fmt"
	"math"

	"assay"
)

// Choices is how many different rows the arguments of an operation can name:
// the widest range that one of them is drawn from, and no more than the largest
// table has rows. most stands for what cannot be known of a user's own file.
func (d *Data) Choices(ctx context.Context, op assay.Operation, most int64) (choices int64, err error) {
	rows := int64(0)
	for _, table := range d.Spec.Tables {
		rows = max(rows, int64(table.Rows))
	}
	if len(d.Spec.Tables) == 0 {
		rows = most
	}
	for _, v := range arguments(op) {
		choices = max(choices, min(v.Range(), rows))
	}
	existing, err := d.countExisting(ctx, op)
	return max(choices, existing), err
}

// countExisting is how many rows the largest table has that arguments are
// drawn from.
func (d *Data) countExisting(ctx context.Context, op assay.Operation) (rows int64, err error) {
	g, err := argumentGenerator(d.Spec.Seed, op)
	if err != nil {
		return 0, err
	}
	tables := g.existing()
	if len(tables) == 0 {
		return 0, nil
	}
	conn, done, err := d.connect(ctx, false)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, done()) }()
	for _, table := range tables {
		if err := table.count(ctx, conn); err != nil {
			return 0, fmt.Errorf("count the rows of table %q: %w", table.table, err)
		}
		rows = max(rows, int64(min(table.rows, math.MaxInt32)))
	}
	return rows, nil
}
