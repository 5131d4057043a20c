package dataset

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"assay"
	"assay/kit/postgres"
)

// DuckDB finds the data as a DuckDB of a version keeps them, or has them made: fill
// executes statements in a new file at path, and closes it.
func (d *Data) DuckDB(ctx context.Context, version string, fill func(path string, statements []string) error) (*Store, error) {
	return d.filled(fmt.Sprintf("duckdb-%s-%d", version, scriptVersion), func(path string) error {
		folder := path + "-tables"
		if err := os.Mkdir(folder, 0o700); err != nil {
			return err
		}
		statements, err := d.tables(ctx, folder)
		if err != nil {
			return err
		}
		return fill(path, statements)
	})
}

// tables writes a file of rows for each table, in the order in which SQLite got them, and
// returns the SQL that makes the tables and loads those.
func (d *Data) tables(ctx context.Context, folder string) (statements []string, err error) {
	if d.Spec.File != "" {
		return nil, ErrFile
	}
	conn, done, err := connect(ctx, d.drawn, closedFile)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	statements = []string{"BEGIN", postgres.Schema(d.Spec.Schema)}
	for i, table := range d.Spec.Tables {
		path := filepath.Join(folder, strconv.Itoa(i)+".csv")
		names, err := writeTable(ctx, conn, table, path)
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", table.Name, err)
		}
		statements = append(statements, fmt.Sprintf("COPY %s (%s) FROM '%s' (FORMAT csv, HEADER false, AUTO_DETECT false, DELIMITER ',', QUOTE '\"', ESCAPE '\"', NULLSTR '', ALLOW_QUOTED_NULLS false)",
			table.Name, strings.Join(names, ", "), strings.ReplaceAll(path, "'", "''")))
	}
	return append(statements, "COMMIT"), nil
}

// writeTable writes the rows of a table to a file, and returns the names of its columns.
func writeTable(ctx context.Context, conn *sql.Conn, table assay.Table, path string) (names []string, err error) {
	names, rows, err := storedRows(ctx, conn, table.Name)
	if err != nil {
		return nil, err
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, errors.Join(err, rows.Close())
	}
	out := bufio.NewWriterSize(file, 1<<16)
	err = Visit(rows, func(row []any) error { return csv.write(out, row) })
	return names, errors.Join(err, out.Flush(), file.Close())
}

// csv is how DuckDB reads rows: NULL is nothing, a text is in quotes, and each byte of a blob is
// \xHH.
var csv = rowFormat{',', "", quoted, func(v []byte) string {
	digits, text := hex.EncodeToString(v), strings.Builder{}
	for i := 0; i < len(digits); i += 2 {
		text.WriteString(`\x` + digits[i:i+2])
	}
	return quoted(text.String())
}}

func quoted(text string) string { return `"` + strings.ReplaceAll(text, `"`, `""`) + `"` }
