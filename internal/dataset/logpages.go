package dataset

import (
	"context"
	"errors"

	"assay"
)

// LogPages is how many pages one operation adds to a write-ahead log, the mean of
// those at the first positions of its trace, each committed alone. Of a mix it is
// the mean of all its parts, those included that change nothing.
func (d *Data) LogPages(ctx context.Context, op assay.Operation, trace *Trace, count int) (each float64, err error) {
	if op, err = d.Resolve(ctx, op); err != nil || !changesData(op) || count <= 0 {
		return 0, err
	}
	conn, done, err := d.connect(ctx, true)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, done()) }()
	for _, setting := range []string{"journal_mode=wal", "wal_autocheckpoint=0"} {
		if _, err := conn.ExecContext(ctx, "PRAGMA "+setting); err != nil {
			return 0, err
		}
	}
	p, err := newPlayer(ctx, conn, op, trace, true)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	for position := range count {
		if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
			return 0, err
		}
		if err := p.do(ctx, position); err != nil {
			return 0, err
		}
		if _, err := conn.ExecContext(ctx, "COMMIT"); err != nil {
			return 0, err
		}
	}
	var busy, pages, moved float64
	if err := conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint").Scan(&busy, &pages, &moved); err != nil {
		return 0, err
	}
	return pages / float64(count), nil
}
