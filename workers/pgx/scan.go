package main

import (
	"assay/kit"
	"assay/kit/wire"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// destinations is the room that the rows of an answer are scanned into, one
// pointer a column, by the declared types.
type destinations struct {
	pointers []any
	values   []any // reused for visitors
}

func newDestinations(types []string) (destinations, error) {
	d := destinations{pointers: make([]any, len(types)), values: make([]any, len(types))}
	for i, t := range types {
		switch t {
		case "int":
			d.pointers[i] = new(int64)
		case "real":
			d.pointers[i] = new(float64)
		case "text":
			d.pointers[i] = new(string)
		case "blob", "blob?":
			d.pointers[i] = new([]byte)
		case "bool":
			d.pointers[i] = new(bool)
		case "int?":
			d.pointers[i] = new(pgtype.Int8)
		case "real?":
			d.pointers[i] = new(pgtype.Float8)
		case "text?":
			d.pointers[i] = new(pgtype.Text)
		case "bool?":
			d.pointers[i] = new(pgtype.Bool)
		default:
			return destinations{}, wire.Errorf(wire.Invalid, "type %q: want int, real, text, blob or bool", t)
		}
	}
	return d, nil
}

// scan reads and closes rows, scans every column of each, shows them to visit
// where there is one, and returns how many there were.
// The clock is read between the phases where they are timed.
func (d *destinations) scan(rows pgx.Rows, visit func([]any) error, phases *kit.Phases) (int, error) {
	for n := 0; ; n++ {
		more := rows.Next()
		phases.End(kit.PhaseNext)
		if !more {
			rows.Close()
			phases.End(kit.PhaseCloseRows)
			return n, rows.Err()
		}
		err := rows.Scan(d.pointers...)
		phases.End(kit.PhaseScan)
		if err == nil && visit != nil {
			err = visit(d.row())
		}
		if err != nil {
			rows.Close()
			return n, err
		}
	}
}

func (d *destinations) row() []any {
	for i, pointer := range d.pointers {
		d.values[i] = value(pointer)
	}
	return d.values
}

func value(pointer any) any {
	switch p := pointer.(type) {
	case *int64:
		return *p
	case *float64:
		return *p
	case *string:
		return *p
	case *bool:
		return *p
	case *[]byte:
		if *p != nil {
			return *p
		}
	case *pgtype.Int8:
		if p.Valid {
			return p.Int64
		}
	case *pgtype.Float8:
		if p.Valid {
			return p.Float64
		}
	case *pgtype.Text:
		if p.Valid {
			return p.String
		}
	case *pgtype.Bool:
		if p.Valid {
			return p.Bool
		}
	}
	return nil
}
