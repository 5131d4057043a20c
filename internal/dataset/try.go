package dataset

import (
	"context"
	"errors"
	"time"

	"assay"
)

// Tried is what doing an operation a number of times has shown.
type Tried struct {
	Times int
	Took  time.Duration // of all, one after the other in this process, nothing synced
	Steps []TriedStep
}

// TriedStep is about the rows that a step answered or changed.
type TriedStep struct {
	Min, Max int64 // at one position
	Total    int64
	Found    int // positions with any
}

// Try does an operation at the positions of its trace from 0 on, at most count of
// them and none that would begin after the limit, and counts the rows. One that
// changes data is done on a private copy.
func (d *Data) Try(ctx context.Context, op assay.Operation, trace *Trace, count int, limit time.Duration) (tried Tried, err error) {
	op, err = d.Resolve(ctx, op)
	if err != nil {
		return tried, err
	}
	conn, done, err := d.connect(ctx, op.Changes)
	if err != nil {
		return tried, err
	}
	defer func() { err = errors.Join(err, done()) }()
	s, err := newSession(ctx, conn, op, trace)
	if err != nil {
		return tried, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	tried.Steps = make([]TriedStep, len(s.steps))
	began := time.Now()
	err = batches(ctx, conn, 0, count, func(position int) error {
		if tried.Took > limit {
			return nil
		}
		if err := s.try(ctx, position, &tried); err != nil {
			return err
		}
		tried.Took = time.Since(began)
		return nil
	})
	return tried, err
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
