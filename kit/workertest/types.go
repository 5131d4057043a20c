//go:build unix

package workertest

import (
	"errors"
	"fmt"

	"assay/kit/wire"
)

// declaredTypes are the columns of the table below.
var declaredTypes = []string{"int", "real", "text", "blob", "bool"}

// conversion says what a stored value is as each declared type; nil is an error.
type conversion struct {
	literal string // in SQL
	as      [5]any // by declared type
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
func typesDeclared(b *bench) error {
	flags := []string{"CREATE TABLE flag(yes BOOLEAN)", "INSERT INTO flag VALUES (7), (-1)"}
	if err := b.open(wire.Open{Readers: 1, Idle: 1, Writers: 1, Once: flags}); err != nil {
		return err
	}
	for row, c := range conversions {
		for i, declared := range declaredTypes {
			for _, suffix := range []string{"", "?"} {
				name := fmt.Sprintf("%d %s%s", row, declared, suffix)
				if err := b.converts(name, "SELECT "+c.literal, declared+suffix, c.as[i], c.literal == "NULL" && suffix != ""); err != nil {
					return err
				}
			}
		}
	}
	return steps(
		func() error {
			return b.answers("SELECT yes FROM flag ORDER BY rowid", []string{"int"}, []any{int64(7)}, []any{int64(-1)})
		},
		func() error {
			return b.answers("SELECT yes FROM flag ORDER BY rowid", []string{"bool"}, []any{true}, []any{true})
		})
}

// converts checks one cell of the table.
func (b *bench) converts(name, sql, declared string, want any, null bool) error {
	op := wire.Operation{Name: name, Steps: []wire.Step{{SQL: sql, Query: true, Rows: 1, Returns: []string{declared}}}}
	if err := b.call(wire.TypePrepare, wire.Prepare{Operation: op, Clients: 1}, nil); err != nil {
		return fmt.Errorf("%s as %s: %w", sql, declared, err)
	}
	for _, request := range []wire.Verify{{SQL: sql, Returns: []string{declared}}, {Operation: name, Count: 1}} {
		var got wire.Verified
		err := b.call(wire.TypeVerify, request, &got)
		if want == nil && !null {
			var answered *wire.Error
			if !errors.As(err, &answered) || answered.Code != wire.Failed {
				return fmt.Errorf("%s as %s: want an error of code %s, got %v", sql, declared, wire.Failed, err)
			}
			continue
		}
		digest, problem := digest([]string{declared}, [][]any{{want}})
		if err := steps(
			func() error { return problem },
			func() error { return err },
			func() error { return expect("digest", got.Digest, digest) }); err != nil {
			return fmt.Errorf("%s as %s: %w", sql, declared, err)
		}
	}
	if want == nil && !null {
		return nil
	}
	var m wire.Measured
	return steps(
		func() error {
			return b.call(wire.TypeMeasure, wire.Measure{Operation: name, Operations: 1}, &m)
		},
		func() error {
			return expect(fmt.Sprintf("errors (%s) of %s as %s", m.Error, sql, declared), m.Errors, int64(0))
		})
}
