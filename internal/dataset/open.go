package dataset

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"

	"assay/internal/dataset/seeded"

	_ "modernc.org/sqlite" // the oracle's engine, registered as "sqlite"
)

// How files are opened.
const (
	// closedFile is for cached data: nobody writes to it, so neither locks nor
	// a journal are looked for.
	closedFile = "mode=ro&immutable=1&_pragma=cache_size(-16384)"
	// privateFile is for files in a work folder. Their durability is of no
	// interest: after a failure they are removed.
	privateFile = "mode=rwc&_pragma=cache_size(-16384)&_pragma=synchronous(off)&_pragma=journal_mode(off)"
)

// uri returns a file's URI, in which a path may hold any character.
func uri(path, query string) (string, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return "file:" + (&url.URL{Path: absolute}).EscapedPath() + "?" + query, nil
}

// connect opens a file with one connection, which done closes.
func connect(ctx context.Context, path, query string) (conn *sql.Conn, done func() error, err error) {
	dsn, err := uri(path, query)
	if err != nil {
		return nil, nil, err
	}
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, nil, fmt.Errorf("open %s: %w", path, err)
	}
	if conn, err = db.Conn(ctx); err != nil {
		_ = db.Close()
		return nil, nil, fmt.Errorf("open %s: %w", path, err)
	}
	done = func() error {
		_ = conn.Close() // returns it to the pool, which is closed next
		return db.Close()
	}
	return conn, done, nil
}

// session opens one of the data's files, which done closes, with what is recorded.
func (d *Data) session(ctx context.Context, path string) (s *seeded.Session, done func() error, err error) {
	dsn, err := uri(path, closedFile)
	if err != nil {
		return nil, nil, err
	}
	if s, done, err = seeded.Connect(ctx, dsn, d.Spec.Seed); err != nil {
		return nil, nil, fmt.Errorf("open %s: %w", path, err)
	}
	if err := attach(ctx, s.Conn, d.recorded); err != nil {
		return nil, nil, errors.Join(err, done())
	}
	return s, done, nil
}

// attach opens a file, if there is one, as the schema recorded.
func attach(ctx context.Context, conn *sql.Conn, path string) error {
	if path == "" {
		return nil
	}
	name, err := uri(path, "mode=ro&immutable=1")
	if err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, "ATTACH ? AS recorded", name)
	return wrap(err, "open "+path)
}

// ask returns the one value of the one row of an answer, as text.
func ask(ctx context.Context, conn *sql.Conn, query string) (string, error) {
	var value string
	if err := conn.QueryRowContext(ctx, query).Scan(&value); err != nil {
		return "", fmt.Errorf("%s: %w", query, err)
	}
	return value, nil
}
