package sqldb

import (
	"database/sql"

	"assay/kit/wire"
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
		case "blob":
			d.pointers[i] = new([]byte)
		case "bool":
			d.pointers[i] = new(bool)
		case "int?":
			d.pointers[i] = new(sql.NullInt64)
		case "real?":
			d.pointers[i] = new(sql.NullFloat64)
		case "text?":
			d.pointers[i] = new(sql.NullString)
		case "blob?":
			d.pointers[i] = new(*[]byte)
		case "bool?":
			d.pointers[i] = new(sql.NullBool)
		default:
			return destinations{}, wire.Errorf(wire.Invalid, "type %q: want int, real, text, blob or bool", t)
		}
	}
	return d, nil
}

// scan reads and closes rows, scans every column of each, shows them to visit
// where there is one, and returns how many there were.
func (d *destinations) scan(rows *sql.Rows, visit func([]any) error) (int, error) {
	n := 0
	for rows.Next() {
		if err := rows.Scan(d.pointers...); err != nil {
			_ = rows.Close()
			return n, err
		}
		n++
		if visit != nil {
			if err := visit(d.row()); err != nil {
				_ = rows.Close()
				return n, err
			}
		}
	}
	if err := rows.Err(); err != nil {
		_ = rows.Close()
		return n, err
	}
	return n, rows.Close()
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
	case *[]byte:
		return *p
	case *bool:
		return *p
	case **[]byte:
		if *p == nil {
			return nil
		}
		return **p
	case *sql.NullInt64:
		if p.Valid {
			return p.Int64
		}
	case *sql.NullFloat64:
		if p.Valid {
			return p.Float64
		}
	case *sql.NullString:
		if p.Valid {
			return p.String
		}
	case *sql.NullBool:
		if p.Valid {
			return p.Bool
		}
	}
	return nil
}
