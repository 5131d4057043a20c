package dataset

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"assay"
	"assay/internal/dataset/seeded"
)

// missingName is what SQLite says of a name that the schema does not have.
var missingName = regexp.MustCompile(`no such (column|table): ([^\s(]+)`)

// MissingName is the name that SQLite does not find, without that of its table, and
// the names of its kind that the schema has. Without one it is empty.
func (d *Data) MissingName(ctx context.Context, refusal error) (name string, known []string) {
	parts := missingName.FindStringSubmatch(refusal.Error())
	if parts == nil {
		return "", nil
	}
	query := "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite@_%' ESCAPE '@'"
	if parts[1] == "column" {
		query = "SELECT DISTINCT p.name FROM sqlite_schema s, pragma_table_info(s.name) p WHERE s.type IN ('table', 'view')"
	}
	known, err := d.names(ctx, query)
	if err != nil {
		return "", nil // the refusal says enough
	}
	return parts[2][strings.LastIndexByte(parts[2], '.')+1:], known
}

// Unfilled says which columns of tables with rows must have a value, and are given
// none, and which SELECT of rows cannot be compiled.
func (d *Data) Unfilled(ctx context.Context, tables []assay.Table) error {
	const needed = `SELECT name FROM pragma_table_xinfo(?1) WHERE "notnull" AND dflt_value IS NULL AND hidden = 0
		AND NOT (pk AND upper(type) = 'INTEGER' AND (SELECT count(*) FROM pragma_table_info(?1) WHERE pk) = 1)`
	var wrong []error
	for _, table := range tables {
		if table.Select != "" {
			if err := d.loads(ctx, table); err != nil {
				wrong = append(wrong, fmt.Errorf("the data of table %s: %w; the SQL is:\n%s", table.Name, err, table.Select))
			}
			continue
		}
		if table.Rows == 0 {
			continue
		}
		names, err := d.names(ctx, needed, table.Name)
		if err != nil {
			return err
		}
		for _, name := range names {
			given := func(c assay.Column) bool { return strings.EqualFold(c.Name, name) }
			if !slices.ContainsFunc(table.Columns, given) {
				wrong = append(wrong, fmt.Errorf("table %s: the column %s is NOT NULL without a default, and the data give it no values: add %[2]s to its columns", table.Name, name))
			}
		}
	}
	return errors.Join(wrong...)
}

// loads compiles what fills a table.
func (d *Data) loads(ctx context.Context, table assay.Table) error {
	return d.seeded(ctx, func(session *seeded.Session) error {
		text, err := loading(ctx, session, table)
		if err == nil {
			err = prepares(ctx, session, text)
		}
		return err
	})
}

func (d *Data) names(ctx context.Context, query string, args ...any) (names []string, err error) {
	conn, done, err := d.connect(ctx, false)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	rows, err := conn.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	err = Visit(rows, func(row []any) error {
		name, _ := row[0].(string)
		names = append(names, name)
		return nil
	})
	return names, err
}
