//go:build unix

package workertest

import (
	"math"
	"slices"

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
		"CREATE TABLE unix(id INTEGER PRIMARY KEY, day DATE, at DATETIME, stamp TIMESTAMP)",
		"INSERT INTO unix VALUES (1, 1700000000, 1700000000123, 0)",
	}
	oddColumns = "SELECT id, n, x, s, b, yes, day, at, stamp FROM odd ORDER BY id"
	oddTypes   = []string{"int", "int?", "real?", "text?", "blob?", "bool?", "text?", "text?", "text?"}
	oddRows    = [][]any{
		{int64(1), int64(math.MaxInt64), 1e308, "a\x00b", []byte{}, true, "2026-11-21", "2026-11-21 04:05:06", "2026-11-21T04:05:06.789Z"},
		{int64(2), int64(math.MinInt64), 5e-324, "🐘 grün", []byte{0, 1, 2}, false, "0001-01-01", "never", ""},
		{int64(3), int64(0), 0.1, "", []byte{255, 0, 255}, true, nil, nil, nil},
		{int64(4), nil, math.Copysign(0, -1), nil, nil, nil, "", "", "x"},
		{int64(5), nil, nil, nil, nil, nil, nil, nil, nil},
	}
)

// oddValues reads them as stored, and again when they were arguments.
func oddValues(b *bench) error {
	types := []column.Type{column.Int, column.Int, column.Real, column.Text, column.Blob, column.Bool, column.Text, column.Text, column.Text}
	var bound, want [][]any
	for _, row := range oddRows {
		again := append([]any{row[0].(int64) + 10}, row[1:]...)
		bound, want = append(bound, again), append(want, row)
	}
	want = append(want, bound...)
	path, err := b.trace("odd", types, bound...)
	if err != nil {
		return err
	}
	insert := wire.Operation{Name: "odd", Trace: path, Changes: true,
		Steps: []wire.Step{{SQL: "INSERT INTO odd VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", Args: 9, Rows: 1}}}
	var m wire.Measured
	return steps(
		func() error { return b.open(wire.Open{Readers: 1, Idle: 1, Writers: 1, Once: oddTable}) },
		func() error { return b.answers(oddColumns, oddTypes, oddRows...) },
		func() error {
			return b.answers("SELECT id, day, at, stamp FROM unix", []string{"int", "int", "int", "int"},
				[]any{int64(1), int64(1700000000), int64(1700000000123), int64(0)})
		},
		func() error { return b.call(wire.TypePrepare, wire.Prepare{Operation: insert, Clients: 1}, nil) },
		func() error {
			return b.call(wire.TypeMeasure, wire.Measure{Operation: "odd", Operations: int64(len(bound))}, &m)
		},
		func() error { return expect("errors ("+m.Error+m.Miss+")", m.Errors+m.Misses, int64(0)) },
		func() error { return b.answers(oddColumns, oddTypes, want...) })
}
