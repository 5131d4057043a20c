// Package sqlrows reads answers of database/sql that are not measured. It is apart, so
// that workers without database/sql do not carry it.
package sqlrows

import (
	"database/sql"
	"errors"
)

// Texts returns rows as texts, empty ones for NULL, and closes them.
func Texts(rows *sql.Rows) (all [][]string, err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		values, pointers := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			pointers[i] = &values[i]
		}
		if err := rows.Scan(pointers...); err != nil {
			return nil, err
		}
		row := make([]string, len(columns))
		for i, v := range values {
			row[i] = v.String
		}
		all = append(all, row)
	}
	return all, rows.Err()
}
