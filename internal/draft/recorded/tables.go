package recorded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"

	_ "modernc.org/sqlite" // writes the tables
)

// Table are rows of arguments: when each was bound, and its values.
type Table struct {
	Name string
	At   []int64
	Rows [][]Value
}

// Columns are the names of the arguments' columns.
func (t *Table) Columns() string {
	var names []string
	for i := range t.Rows[0] {
		names = append(names, fmt.Sprintf("a%d", i+1))
	}
	return strings.Join(names, ", ")
}

// OneType reports whether the values of each column are of one type, but for NULL.
func (t *Table) OneType() bool {
	types := make([]string, len(t.Rows[0]))
	for _, row := range t.Rows {
		for i, v := range row {
			kind := fmt.Sprintf("%T", v.Of)
			if v.Of != nil && types[i] != "" && types[i] != kind {
				return false
			}
			if v.Of != nil {
				types[i] = kind
			}
		}
	}
	return true
}

// WriteTables makes an SQLite file of tables, which only its owner can read.
func WriteTables(ctx context.Context, path string, tables []*Table) (err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		return err
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	defer func() { err = errors.Join(err, db.Close()) }()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for _, t := range tables {
		if err := t.write(ctx, tx); err != nil {
			return errors.Join(fmt.Errorf("table %s: %w", t.Name, err), tx.Rollback())
		}
	}
	return tx.Commit()
}

func (t *Table) write(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("CREATE TABLE %s (at INTEGER, %s)", t.Name, t.Columns())); err != nil {
		return err
	}
	insert, err := tx.PrepareContext(ctx, fmt.Sprintf("INSERT INTO %s VALUES (?%s)", t.Name, strings.Repeat(", ?", len(t.Rows[0]))))
	if err != nil {
		return err
	}
	for i, row := range t.Rows {
		args := []any{t.At[i]}
		for _, v := range row {
			args = append(args, v.Bound())
		}
		if _, err := insert.ExecContext(ctx, args...); err != nil {
			return err
		}
	}
	return insert.Close()
}
