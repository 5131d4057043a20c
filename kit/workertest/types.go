//go:build unix

package workertest

import (
	"errors"
	"fmt"

	"assay/kit/wire"
)

// conversion says what a stored value is as each declared type; nil is an error.
type conversion struct {
	literal string // in SQL
	as      [5]any // by wire.Types
}

// conversions is the table of the protocol.
var conversions = []conversion{
	{"7", [5]any{int64(7), 7.0, nil, nil, true}},
	{"0", [5]any{int64(0), 0.0, nil, nil, false}},
	{"-1", [5]any{int64(-1), -1.0, nil, nil, true}},
	{"5.5", [5]any{nil, 5.5, nil, nil, nil}},
	{"5.0", [5]any{nil, 5.0, nil, nil, nil}},
	{"'5'", [5]any{nil, nil, "5", []byte("5"), nil}},
	{"x'35'", [5]any{nil, nil, "5", []byte("5"), nil}},
	{"''", [5]any{nil, nil, "", []byte{}, nil}},
	{"x''", [5]any{nil, nil, "", []byte{}, nil}},
	{"NULL", [5]any{}},
}

// typesDeclared holds a worker to the table: SQL that is verified, an operation
// that is verified, and values in columns with a declared type of their own.
func typesDeclared(b *bench) {
	flags := []string{"CREATE TABLE flag(yes BOOLEAN)", "INSERT INTO flag VALUES (7), (-1)"}
	b.open(wire.Open{Readers: 1, Idle: 1, Writers: 1, Once: flags})
	for row, c := range conversions {
		for i, declared := range wire.Types {
			for _, suffix := range []string{"", "?"} {
				name := fmt.Sprintf("%d %s%s", row, declared, suffix)
				b.converts(name, "SELECT "+c.literal, declared+suffix, c.as[i], c.literal == "NULL" && suffix != "")
			}
		}
	}
	b.answers("SELECT yes FROM flag ORDER BY rowid", []string{"int"}, []any{int64(7)}, []any{int64(-1)})
	b.answers("SELECT yes FROM flag ORDER BY rowid", []string{"bool"}, []any{true}, []any{true})
}

func (b *bench) converts(name, sql, declared string, want any, null bool) {
	op := wire.Operation{Name: name, Steps: []wire.Step{{SQL: sql, Query: true, Rows: 1, Returns: []string{declared}}}}
	cell := fmt.Sprintf("%s as %s", sql, declared)
	about(cell, func() {
		b.prepare(op, 1)
		for _, request := range []wire.Verify{{SQL: sql, Returns: []string{declared}}, {Operation: name, Count: 1}} {
			var got wire.Verified
			err := b.ask(wire.TypeVerify, request, &got)
			var answered *wire.Error
			switch {
			case want != nil || null:
				must(err)
				expect("digest", got.Digest, digest([]string{declared}, [][]any{{want}}))
			case !errors.As(err, &answered) || answered.Code != wire.Failed:
				fail("want an error of code %s, got %v", wire.Failed, err)
			}
		}
	})
	if want != nil || null {
		m := b.block(name, 1)
		expect(fmt.Sprintf("errors (%s) of %s", m.Error, cell), m.Errors, int64(0))
	}
}
