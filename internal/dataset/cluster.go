package dataset

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"assay"
	"assay/internal/plan/sqltext"
	"assay/kit/postgres"
)

// scriptVersion is part of a cluster's name: it changes whenever Script writes
// something else for the same specification.
const scriptVersion = 3

// copyRows is how many rows one COPY has: a time limit is of each.
const copyRows = 10_000

// Cluster finds the data as a PostgreSQL of a version keeps them, or has them
// made: fill makes the data folder at path, of a server that has ended. All
// workers have the same. One that is no longer what it was is made again.
func (d *Data) Cluster(version string, fill func(path string) error) (*Store, error) {
	return d.filled(fmt.Sprintf("postgresql-%s-%d", version, scriptVersion), fill)
}

// ErrFile says that the data are a user's own SQLite file, which only SQLite
// reads.
var ErrFile = errors.New("the data are an SQLite file of your own: for PostgreSQL and DuckDB a plan needs a schema and data")

// Script writes what psql makes the tables by, with their rows in the order in
// which SQLite got them. When they are there, the tables are vacuumed, so that
// nothing is left to be done in the background, and analyzed. limit is that of one
// statement of the schema, or that loads rows; 0: none.
func (d *Data) Script(ctx context.Context, w io.Writer, limit time.Duration) (err error) {
	if d.Spec.File != "" {
		return ErrFile
	}
	conn, done, err := connect(ctx, d.drawn, closedFile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	out := bufio.NewWriterSize(w, 1<<16)
	fmt.Fprintf(out, "SET statement_timeout = '%dus';\nBEGIN;\n%s;\n", limit.Microseconds(), strings.TrimRight(postgres.Schema(d.Spec.Schema), "; \t\r\n"))
	for _, table := range d.Spec.Tables {
		if err := d.copyTable(ctx, out, conn, table); err != nil {
			return fmt.Errorf("table %s: %w", table.Name, err)
		}
	}
	fmt.Fprint(out, "COMMIT;\nSET statement_timeout = 0;\nVACUUM (FREEZE, ANALYZE);\nCHECKPOINT;\n")
	return out.Flush()
}

// copyTable writes COPY with the rows of a table, in its text format.
func (d *Data) copyTable(ctx context.Context, out *bufio.Writer, conn *sql.Conn, table assay.Table) error {
	names, rows, err := storedRows(ctx, conn, table.Name)
	if err != nil {
		return err
	}
	begin := fmt.Sprintf("COPY %s (%s) FROM STDIN;\n", table.Name, strings.Join(names, ", "))
	i := 0
	err = Visit(rows, func(row []any) error {
		if i%copyRows == 0 {
			if i > 0 {
				_, _ = out.WriteString(endOfCopy) // Flush tells of errors
			}
			_, _ = out.WriteString(begin)
		}
		i++
		return copied.write(out, row)
	})
	if err == nil && i > 0 {
		_, err = out.WriteString(endOfCopy)
	}
	return err
}

// storedRows are all rows of a table as they are stored, and the names of their columns.
func storedRows(ctx context.Context, conn *sql.Conn, table string) ([]string, *sql.Rows, error) {
	names, err := firstColumn(ctx, conn, "SELECT name FROM pragma_table_info(?)", table)
	if err != nil {
		return nil, nil, err
	}
	plain := make([]string, len(names))
	for i, name := range names {
		plain[i] = "+" + sqltext.Quote(name) // the driver makes times of dates
	}
	rows, err := conn.QueryContext(ctx, fmt.Sprintf("SELECT %s FROM %s", strings.Join(plain, ", "), sqltext.Quote(table)))
	return names, rows, err
}

const endOfCopy = "\\.\n"

var copyEscapes = strings.NewReplacer("\\", `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)

// copied is how COPY reads rows in its text format.
var copied = rowFormat{'\t', `\N`, copyEscapes.Replace, func(v []byte) string { return `\\x` + hex.EncodeToString(v) }}

// rowFormat says how a database reads rows as text: what is between values, NULL, and how texts
// and blobs are written. A bool is a number, as in SQLite.
type rowFormat struct {
	between byte
	null    string
	text    func(string) string
	blob    func([]byte) string
}

// write writes a row. Flush tells of errors.
func (f rowFormat) write(out *bufio.Writer, row []any) error {
	for i, value := range row {
		if i > 0 {
			_ = out.WriteByte(f.between)
		}
		text := f.null
		switch v := value.(type) {
		case nil:
		case int64:
			text = strconv.FormatInt(v, 10)
		case float64:
			text = strconv.FormatFloat(v, 'g', -1, 64)
		case string:
			text = f.text(v)
		case []byte:
			text = f.blob(v)
		case bool:
			text = map[bool]string{false: "0", true: "1"}[v]
		default:
			return fmt.Errorf("a value of type %T", value)
		}
		_, _ = out.WriteString(text)
	}
	return out.WriteByte('\n')
}
