package dataset

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"assay"
)

// Tried is what doing an operation a number of times has shown.
type Tried struct {
	Times int
	Took  time.Duration // of all, one after the other in this process, nothing synced
	// Median is that of the times of each.
	Median time.Duration
	Steps  []TriedStep
}

// TriedStep is about the rows that a step answered or changed.
type TriedStep struct {
	Min, Max int64 // at one position
	Total    int64
	Found    int // positions with any
}

// Try does an operation at the positions of its trace from 0 on, at most count of
// them and none that would begin after the limit, and counts the rows. One that
// changes data is done on a private copy, in one transaction that is undone.
func (d *Data) Try(ctx context.Context, op assay.Operation, trace *Trace, count int, limit time.Duration) (tried Tried, err error) {
	op, err = d.Resolve(ctx, op)
	if err != nil {
		return tried, err
	}
	conn, done, err := d.connectToTry(ctx, op.Changes)
	if err != nil {
		return tried, err
	}
	defer func() { err = errors.Join(err, done()) }()
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return tried, err
	}
	defer func() {
		if _, undone := conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK"); err == nil {
			err = undone // else SQLite may have undone it already
		}
	}()
	s, err := newSession(ctx, conn, op, trace)
	if err != nil {
		return tried, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	tried.Steps = make([]TriedStep, len(s.steps))
	began := time.Now()
	var each []time.Duration
	for position := 0; position < count && tried.Took <= limit && err == nil; position++ {
		if err = s.try(ctx, position, &tried); err == nil {
			took := time.Since(began)
			each, tried.Took = append(each, took-tried.Took), took
		}
	}
	if len(each) > 0 {
		slices.Sort(each)
		tried.Median = each[len(each)/2]
	}
	return tried, err
}

// connectToTry opens the data or, to change them, the copy that is kept for that or
// one of its own.
func (d *Data) connectToTry(ctx context.Context, changes bool) (conn *sql.Conn, done func() error, err error) {
	if changes && d.kept != "" {
		return connectPrivate(ctx, d.kept)
	}
	return d.connect(ctx, changes)
}

// try does the operation at a position, and counts the rows of its steps.
func (s *session) try(ctx context.Context, position int, tried *Tried) error {
	return s.each(position, func(st *step) error {
		rows, err := st.run(ctx, false)
		t := &tried.Steps[st.number-1]
		if tried.Times == 0 || rows < t.Min {
			t.Min = rows
		}
		t.Max = max(t.Max, rows)
		t.Total += rows
		if rows > 0 {
			t.Found++
		}
		if st.number == len(s.steps) {
			tried.Times++
		}
		return err
	})
}
