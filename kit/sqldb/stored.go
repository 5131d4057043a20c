package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// stored returns a query with the same answer whose values come as they are
// stored. Of columns declared DATE, DATETIME or TIMESTAMP drivers make times,
// out of which the text cannot be had back, and of BOOLEAN truths, out of which
// the number cannot; an expression has no declared type.
// It is for answers that are verified: what is measured stays as it is.
func stored(on handle, query string, args []any) (string, error) {
	rows, err := on.QueryContext(context.Background(), query, args...)
	if err != nil {
		return "", err
	}
	types, err := rows.ColumnTypes()
	if err = errors.Join(err, rows.Close()); err != nil {
		return "", err
	}
	if !converted(types) {
		return query, nil
	}
	names, values := make([]string, len(types)), make([]string, len(types))
	for i := range types {
		names[i] = fmt.Sprintf("c%d", i+1)
		values[i] = "+" + names[i]
	}
	return fmt.Sprintf("WITH answer(%s) AS MATERIALIZED (\n%s\n) SELECT %s FROM answer",
		strings.Join(names, ", "), strings.TrimRight(query, "; \t\r\n"), strings.Join(values, ", ")), nil
}

func converted(types []*sql.ColumnType) bool {
	for _, t := range types {
		switch strings.ToUpper(t.DatabaseTypeName()) {
		case "DATE", "TIME", "DATETIME", "TIMESTAMP", "BOOLEAN":
			return true
		}
	}
	return false
}
