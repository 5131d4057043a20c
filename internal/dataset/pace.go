package dataset

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"assay"
)

// pacedOperations is how many operations Pace does at most.
const pacedOperations = 200

// Pace is how long one operation takes on the data: in this process, without the
// driver under test, one client alone and nothing synced. It is the mean of those
// that begin within the limit. Of a mix it is the mean of its parts by their
// weights. It fails where the data refuse the SQL.
func (d *Data) Pace(ctx context.Context, op assay.Operation, limit time.Duration) (time.Duration, error) {
	if len(op.Parts) == 0 {
		return d.pace(ctx, op, limit)
	}
	var sum time.Duration
	weights := 0
	for _, part := range op.Parts {
		each, err := d.pace(ctx, part.Operation, limit/time.Duration(len(op.Parts)))
		if err != nil {
			return 0, err
		}
		sum += time.Duration(part.Weight) * each
		weights += part.Weight
	}
	return sum / time.Duration(max(1, weights)), nil
}

func (d *Data) pace(ctx context.Context, op assay.Operation, limit time.Duration) (each time.Duration, err error) {
	if op, err = d.Resolve(ctx, op); err != nil {
		return 0, err
	}
	trace, err := d.Trace(ctx, op, pacedOperations)
	if err != nil {
		return 0, err
	}
	conn, done, err := d.connect(ctx, changesData(op))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, done()) }()
	s, err := newSession(ctx, conn, op, trace)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	return s.pace(ctx, conn, limit)
}

// pace does operations in one transaction. The first one reads what is not in any
// cache yet, and counts only where it is alone.
func (s *session) pace(ctx context.Context, conn *sql.Conn, limit time.Duration) (each time.Duration, err error) {
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return 0, err
	}
	began := time.Now()
	if err := s.do(ctx, 0, false); err != nil {
		return 0, err
	}
	each = time.Since(began)
	again, position := time.Now(), 1
	for ; position < pacedOperations && time.Since(began) < limit; position++ {
		if err := s.do(ctx, position, false); err != nil {
			return 0, err
		}
	}
	if position > 1 {
		each = time.Since(again) / time.Duration(position-1)
	}
	_, err = conn.ExecContext(ctx, "COMMIT")
	return each, err
}
