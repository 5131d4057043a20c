package sqldb

import (
	"database/sql"
	"slices"
	"strings"
	"time"

	"assay/kit"
)

// destinations is the room that the rows of an answer are scanned into, one
// pointer a column, by the declared types.
type destinations struct {
	pointers []any
	values   []any  // reused for visitors
	stored   bool   // pointers are those of values: as stored, whatever is declared
	texts    []bool // where stored: the columns that are declared text
	truths   bool   // a column is declared bool
}

// newStored returns the room for values as they are stored. Verified answers
// are read so: database/sql would make an int of the text '5'.
func newStored(types []string) destinations {
	d := newDestinations(types)
	for i := range d.pointers {
		d.pointers[i] = &d.values[i]
		d.texts = append(d.texts, strings.HasPrefix(types[i], "text"))
	}
	d.stored, d.truths = true, false
	return d
}

func newDestinations(types []string) destinations {
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
			d.pointers[i], d.truths = new(bool), true
		case "int?":
			d.pointers[i] = new(sql.NullInt64)
		case "real?":
			d.pointers[i] = new(sql.NullFloat64)
		case "text?":
			d.pointers[i] = new(sql.NullString)
		case "blob?":
			d.pointers[i] = new(*[]byte)
		case "bool?":
			d.pointers[i], d.truths = new(sql.NullBool), true
		}
	}
	return d
}

// scan reads and closes rows, scans every column of each, shows them to visit
// where there is one, and returns how many there were.
// The clock is read between the phases where they are timed.
func (d *destinations) scan(rows *sql.Rows, visit func([]any) error, phases *kit.Phases) (int, error) {
	for n := 0; ; n++ {
		more := rows.Next()
		phases.End(kit.PhaseNext)
		if !more {
			err := rows.Err()
			if closed := rows.Close(); err == nil {
				err = closed
			}
			phases.End(kit.PhaseCloseRows)
			return n, err
		}
		err := rows.Scan(d.pointers...)
		if err != nil && d.hasTimes(rows) {
			err = rows.Scan(d.pointers...)
		}
		if err != nil && d.truths {
			err = d.scanTruths(rows, err)
		}
		phases.End(kit.PhaseScan)
		if err == nil && visit != nil {
			err = visit(d.row())
		}
		if err != nil {
			_ = rows.Close() // the first error is the one to tell
			return n, err
		}
	}
}

// hasTimes looks at a row whose scan has failed: of a number in a column declared DATE,
// DATETIME or TIMESTAMP drivers make a time, which database/sql makes no number of. From then
// on such columns are taken as they come.
func (d *destinations) hasTimes(rows *sql.Rows) (found bool) {
	row, pointers := make([]any, len(d.pointers)), make([]any, len(d.pointers))
	for i := range row {
		pointers[i] = &row[i]
	}
	if rows.Scan(pointers...) != nil {
		return false
	}
	for i, pointer := range d.pointers {
		_, is := row[i].(time.Time)
		switch pointer.(type) {
		case *int64, *float64, *sql.NullInt64, *sql.NullFloat64:
			if is {
				d.pointers[i], found = &d.values[i], true
			}
		}
	}
	return found
}

// scanTruths scans a row again whose scan has failed. Numbers other than 0 and 1 are
// true, but database/sql refuses them. Another reason stays the error.
func (d *destinations) scanTruths(rows *sql.Rows, err error) error {
	pointers, numbers := slices.Clone(d.pointers), make([]sql.NullInt64, len(d.pointers))
	for i, pointer := range d.pointers {
		switch pointer.(type) {
		case *bool, *sql.NullBool:
			pointers[i] = &numbers[i]
		}
	}
	if rows.Scan(pointers...) != nil {
		return err
	}
	for i, pointer := range d.pointers {
		switch p := pointer.(type) {
		case *bool:
			if !numbers[i].Valid {
				return err
			}
			*p = numbers[i].Int64 != 0
		case *sql.NullBool:
			*p = sql.NullBool{Bool: numbers[i].Int64 != 0, Valid: numbers[i].Valid}
		}
	}
	return nil
}

func (d *destinations) row() []any {
	if d.stored {
		d.timesAsText()
		return d.values
	}
	for i, pointer := range d.pointers {
		d.values[i] = value(pointer)
	}
	return d.values
}

// timesAsText undoes what a driver does that makes a time of every text in the
// form of RFC 3339: database/sql writes it in that form into a string.
func (d *destinations) timesAsText() {
	for i, text := range d.texts {
		if t, is := d.values[i].(time.Time); is && text {
			d.values[i] = t.Format(time.RFC3339Nano)
		}
	}
}

func value(pointer any) any {
	switch p := pointer.(type) {
	case *any:
		return *p
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
