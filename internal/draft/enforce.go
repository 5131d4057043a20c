package draft

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"assay"
	columnfile "assay/kit/column"
)

// foreignKeys says which operation fails where foreign keys are enforced, which
// SQLite does only when asked; empty where none does. It changes the copy at a path.
func (b *probe) foreignKeys(ctx context.Context, path string, all []*operation) (reason string, err error) {
	conn, done, err := enforcing(ctx, path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, done()) }()
	for _, o := range all {
		op := b.cases[o.name].Operation
		if o.leftOut != "" || !op.Changes {
			continue
		}
		err := b.apply(ctx, conn, op)
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if err != nil && strings.Contains(err.Error(), "FOREIGN KEY") {
			return o.name + " fails with them: " + err.Error(), nil
		}
	}
	return "", nil
}

// enforcing opens a private copy so that foreign keys are enforced.
func enforcing(ctx context.Context, path string) (conn *sql.Conn, done func() error, err error) {
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?_pragma=foreign_keys(1)&_pragma=synchronous(0)")
	if err != nil {
		return nil, nil, err
	}
	if conn, err = db.Conn(ctx); err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return conn, func() error { return errors.Join(conn.Close(), db.Close()) }, nil
}

// apply runs an operation with the first arguments of its trace, in one
// transaction, which foreign keys that are deferred can refuse as well.
func (b *probe) apply(ctx context.Context, conn *sql.Conn, op assay.Operation) (err error) {
	trace, err := b.data.Trace(ctx, op, tried)
	if err != nil {
		return err
	}
	arguments, err := columnfile.Open(trace.Path)
	if err != nil {
		return fmt.Errorf("open %s: %w", trace.Path, err)
	}
	defer func() { err = errors.Join(err, arguments.Close()) }()
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for row := range arguments.Rows() {
		args := make([]any, arguments.Columns())
		for i := range args {
			args[i] = arguments.Value(i, row)
		}
		for _, step := range op.Steps {
			if _, err := tx.ExecContext(ctx, step.SQL, args[:len(step.Args)]...); err != nil {
				return errors.Join(err, tx.Rollback())
			}
			args = args[len(step.Args):]
		}
	}
	return tx.Commit()
}
