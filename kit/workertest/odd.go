//go:build unix

package workertest

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/kit/column"
	"assay/kit/wire"
)

// oddTable holds values that drivers treat unlike one another: the ends of
// ranges, text with a NUL inside, dates that some make times of.
var (
	oddTable = []string{
		"CREATE TABLE odd(id INTEGER PRIMARY KEY, n INTEGER, x REAL, s TEXT, b BLOB, yes BOOLEAN, day DATE, at DATETIME, stamp TIMESTAMP)",
		"INSERT INTO odd VALUES (1, 9223372036854775807, 1e308, CAST(x'610062' AS TEXT), x'', TRUE, '2026-11-21', '2026-11-21 04:05:06', '2026-11-21T04:05:06.789Z')",
		"INSERT INTO odd VALUES (2, -9223372036854775808, 5e-324, '🐘 grün', x'000102', FALSE, '0001-01-01', 'never', '')",
		"INSERT INTO odd VALUES (3, 0, 0.1, '', x'ff00ff', TRUE, NULL, NULL, NULL)",
		"INSERT INTO odd VALUES (4, NULL, -0.0, NULL, NULL, NULL, '', '', 'x')",
		"INSERT INTO odd VALUES (5, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
	}
	oddColumns = []string{"id", "n", "x", "s", "b", "yes", "day", "at", "stamp"}
	oddTypes   = []string{"int", "int?", "real?", "text?", "blob?", "bool?", "text?", "text?", "text?"}
	oddRows    = [][]any{
		{int64(1), int64(math.MaxInt64), 1e308, "a\x00b", []byte{}, true, "2026-11-21", "2026-11-21 04:05:06", "2026-11-21T04:05:06.789Z"},
		{int64(2), int64(math.MinInt64), 5e-324, "🐘 grün", []byte{0, 1, 2}, false, "0001-01-01", "never", ""},
		{int64(3), int64(0), 0.1, "", []byte{255, 0, 255}, true, nil, nil, nil},
		{int64(4), nil, math.Copysign(0, -1), nil, nil, nil, "", "", "x"},
		{int64(5), nil, nil, nil, nil, nil, nil, nil, nil},
	}
)

// The same columns with numbers: times as many programs store them.
var (
	unixTable = []string{
		"CREATE TABLE unix(id INTEGER PRIMARY KEY, day DATE, at DATETIME, stamp TIMESTAMP)",
		"INSERT INTO unix VALUES (1, 1700000000, 1700000000123, 0)",
		"INSERT INTO unix VALUES (2, NULL, -1, 9223372036854775807)",
	}
	unixColumns = []string{"id", "day", "at", "stamp"}
	unixTypes   = []string{"int", "int?", "int?", "int?"}
	unixRows    = [][]any{
		{int64(1), int64(1700000000), int64(1700000000123), int64(0)},
		{int64(2), nil, int64(-1), int64(math.MaxInt64)},
	}
)

// oddValues reads them as stored, and again when they were arguments.
func oddValues(b *bench) {
	b.open(wire.Open{Readers: 1, Idle: 1, Writers: 1, Once: slices.Concat(oddTable, unixTable)})
	oddBound, unixBound := renumbered(oddRows), renumbered(unixRows)
	b.keeps("odd", oddColumns, oddTypes, oddRows)
	b.keeps("unix", unixColumns, unixTypes, unixRows)
	b.insertInto("odd", oddBound, column.Int, column.Int, column.Real, column.Text, column.Blob, column.Bool, column.Text, column.Text, column.Text)
	b.insertInto("unix", unixBound, column.Int, column.Int, column.Int, column.Int)
	b.keeps("odd", oddColumns, oddTypes, slices.Concat(oddRows, oddBound))
	b.keeps("unix", unixColumns, unixTypes, slices.Concat(unixRows, unixBound))
}

// keeps checks that a table has these rows, of which the first value is the id. Where
// it has not, the error names the first value that is not right: a digest of all says
// nothing to look for.
func (b *bench) keeps(table string, columns, types []string, rows [][]any) {
	err := caught(func() {
		b.answers(fmt.Sprintf("SELECT %s FROM %s ORDER BY id", strings.Join(columns, ", "), table), types, rows...)
	})
	if err == nil {
		return
	}
	for _, row := range rows {
		for i, name := range columns {
			about(fmt.Sprintf("%s of id %d, which is %s, read as %s", name, row[0], literal(row[i]), types[i]), func() {
				b.answers(fmt.Sprintf("SELECT %s FROM %s WHERE id = %d", name, table, row[0]), types[i:i+1], row[i:i+1])
			})
		}
	}
	must(err)
}

// literal is a value as SQL writes it, all of it on one line.
func literal(value any) string {
	switch v := value.(type) {
	case nil:
		return "NULL"
	case []byte:
		return fmt.Sprintf("x'%x'", v)
	case string:
		return strconv.Quote(v)
	}
	return fmt.Sprint(value)
}

// renumbered are the same rows with other ids.
func renumbered(rows [][]any) [][]any {
	var all [][]any
	for _, row := range rows {
		all = append(all, slices.Concat([]any{row[0].(int64) + 10}, row[1:]))
	}
	return all
}

func (b *bench) insertInto(table string, rows [][]any, types ...column.Type) {
	sql := "INSERT INTO " + table + " VALUES (?" + strings.Repeat(", ?", len(types)-1) + ")"
	op := wire.Operation{Name: table, Trace: b.trace(table, types, rows...), Changes: true, Steps: []wire.Step{{SQL: sql, Args: len(types), Rows: 1}}}
	b.runs(op, 1, int64(len(rows)))
}
