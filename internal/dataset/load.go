package dataset

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"assay"
	"assay/internal/dataset/seeded"
	"assay/internal/plan/sqltext"
	sqlsettings "assay/kit/sqlite"
)

// build makes the database at path: from the specification, or from the copy
// of a user's file that is there already. It leaves it closed and checked.
func (c Cache) build(ctx context.Context, ds assay.Dataset, path string) error {
	missing := ds
	if ds.File != "" && checkApplied(path, ds.FileSettings) == nil {
		missing.FileSettings = nil // rewriting would lay its pages out anew
	}
	if err := c.write(ctx, missing, path); err != nil {
		return err
	}
	return checkApplied(path, ds.FileSettings)
}

func (c Cache) write(ctx context.Context, ds assay.Dataset, path string) (err error) {
	dsn, err := uri(path, privateFile)
	if err != nil {
		return err
	}
	session, done, err := seeded.Connect(ctx, dsn, ds.Seed)
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	conn := session.Conn
	defer func() { err = errors.Join(err, done()) }()
	if err := c.fill(ctx, session, ds, path); err != nil {
		return err
	}
	// A schema may have turned the write-ahead log on.
	if err := setJournalDelete(ctx, conn); err != nil {
		return err
	}
	if err := checkIntegrity(ctx, conn, ds); err != nil {
		return err
	}
	if _, wanted := ds.FileSettings["journal_mode"]; !wanted {
		return nil
	}
	// Last: the log goes into the file when this connection closes.
	_, err = conn.ExecContext(ctx, "PRAGMA journal_mode = wal")
	return wrap(err, "file setting journal_mode=wal")
}

func (c Cache) fill(ctx context.Context, session *seeded.Session, ds assay.Dataset, path string) (err error) {
	conn := session.Conn
	for _, statement := range ds.Prepare {
		if err := c.within(ctx, func(ctx context.Context) (sql.Result, error) { return conn.ExecContext(ctx, statement) }); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	if len(ds.Prepare) > 0 {
		return nil
	}
	if err := applyFileSettings(ctx, conn, ds.FileSettings); err != nil {
		return err
	}
	if ds.File != "" {
		if len(ds.FileSettings) == 0 {
			return nil
		}
		// A file with content takes its settings when it is rewritten.
		_, err := conn.ExecContext(ctx, "VACUUM")
		return wrap(err, "VACUUM, to apply the file settings")
	}
	if err := c.within(ctx, func(ctx context.Context) (sql.Result, error) { return conn.ExecContext(ctx, ds.Schema) }); err != nil {
		return fmt.Errorf("schema: %w; the SQL is:\n%s", err, ds.Schema)
	}
	if ds.Recorded != "" {
		if err := attach(ctx, conn, filepath.Join(filepath.Dir(path), recordedName)); err != nil {
			return err
		}
		defer func() { // settings would be of it too
			_, detached := conn.ExecContext(ctx, "DETACH recorded")
			err = errors.Join(err, detached)
		}()
	}
	for _, table := range ds.Tables {
		if err := c.load(ctx, session, table); err != nil {
			return fmt.Errorf("table %q: %w", table.Name, err)
		}
	}
	return nil
}

// within runs a statement, which may have no end: a view, a trigger or a query of
// the schema can go round in a circle.
func (c Cache) within(ctx context.Context, run func(context.Context) (sql.Result, error)) error {
	if c.Timeout == 0 {
		_, err := run(ctx)
		return err
	}
	limited, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	_, err := run(limited)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		return fmt.Errorf("%w (%s)", ErrTimeout, c.Timeout)
	}
	return err
}

func wrap(err error, doing string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// loadTimes is how many times the time of one statement all rows of a table can take.
const loadTimes = 30

// load fills a table with the rows of its SELECT.
func (c Cache) load(ctx context.Context, session *seeded.Session, table assay.Table) error {
	text, err := loading(ctx, session, table)
	if err != nil {
		return err
	}
	c.Timeout *= loadTimes
	var loaded int64
	err = c.within(ctx, func(ctx context.Context) (sql.Result, error) {
		result, err := session.ExecContext(ctx, text)
		if err == nil {
			loaded, err = result.RowsAffected()
		}
		return result, err
	})
	var engine *sqlite.Error
	switch {
	case errors.As(err, &engine) && engine.Code()&0xff == sqlite3.SQLITE_FULL: // no fault of the SQL
		return err
	case err != nil:
		return fmt.Errorf("%w; the SQL is:\n%s", err, table.Select)
	}
	if c.Progress != nil && loaded > 0 {
		c.Progress(table.Name, int(loaded), int(loaded))
	}
	return nil
}

// loading is the statement that fills a table with the rows of its SELECT.
func loading(ctx context.Context, session *seeded.Session, table assay.Table) (string, error) {
	query, err := table.Select, session.Begin(ctx, "table/"+table.Name)
	if err == nil && table.Rows > 0 {
		query, err = session.Over(ctx, query, recordsOf(table))
	}
	return fmt.Sprintf("INSERT INTO %s %s", sqltext.Quote(table.Name), query), err
}

// recordsOf are the records of a store: what is random in one follows from its number, as
// in the keys that operations draw.
func recordsOf(table assay.Table) seeded.Each {
	return seeded.Each{Stream: keyStream, Rows: table.Rows, At: func(row int) (int64, int) { return int64(row) + 1, row }}
}

// applyFileSettings issues the settings. auto_vacuum is the last: it writes
// the first page, and with it fixes the others.
func applyFileSettings(ctx context.Context, conn *sql.Conn, settings map[string]string) error {
	for _, name := range []string{"page_size", "encoding", "auto_vacuum"} {
		value, requested := settings[name]
		if !requested {
			continue
		}
		if _, err := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA %s = '%s'", name, value)); err != nil {
			return fmt.Errorf("file setting %s=%s: %w", name, value, err)
		}
	}
	return nil
}

// checkApplied holds the settings against what the file itself says: SQLite
// ignores a setting that comes too late or is not known without a word.
func checkApplied(path string, settings map[string]string) error {
	header, err := Header(path)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		setting, _ := sqlsettings.Lookup(name)
		want := settings[name]
		if have, _ := setting.Normal(header[name]); have != want {
			return fmt.Errorf("file setting %s=%s has no effect: the file says %s", name, want, header[name])
		}
	}
	return nil
}

func checkIntegrity(ctx context.Context, conn *sql.Conn, ds assay.Dataset) error {
	found, err := CheckIntegrity(ctx, conn, 1)
	if err == nil && len(found.Damage) > 0 {
		err = errors.New(found.Damage[0])
	}
	if err != nil && ds.File != "" {
		return fmt.Errorf("%s is damaged or cannot be checked: %w", ds.File, err)
	}
	return wrap(err, "check the integrity")
}
