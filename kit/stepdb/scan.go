package stepdb

import (
	"fmt"
	"strings"

	"assay/kit"
)

// destination is the room for a column's value, by its declared type.
type destination struct {
	kind     kind
	nullable bool
	null     bool
	number   int64
	real     float64
	text     string
	blob     []byte
	truth    bool
}

type kind int

const (
	integer kind = iota
	real
	text
	blob
	boolean
)

type destinations struct {
	columns []destination
	values  []any // reused for visitors
	stored  bool  // visitors see values as they are stored, whatever is declared
}

func newDestinations(types []string) destinations {
	kinds := map[string]kind{"int": integer, "real": real, "text": text, "blob": blob, "bool": boolean}
	d := destinations{columns: make([]destination, len(types)), values: make([]any, len(types))}
	for i, declared := range types {
		name, nullable := strings.CutSuffix(declared, "?")
		d.columns[i] = destination{kind: kinds[name], nullable: nullable}
	}
	return d
}

// all steps through an answer, reads every column of each row, shows them to
// visit where there is one, and returns how many rows there were.
func (d *destinations) all(stmt Stmt, visit func([]any) error, phases *kit.Phases) (int, error) {
	for n := 0; ; n++ {
		more, err := stmt.Step()
		phases.End(kit.PhaseNext)
		if err != nil || !more {
			return n, err
		}
		if err := d.row(stmt, visit); err != nil {
			return n, err
		}
		phases.End(kit.PhaseScan)
	}
}

func (d *destinations) row(stmt Stmt, visit func([]any) error) error {
	if d.stored {
		return d.storedRow(stmt, visit)
	}
	for i := range d.columns {
		c := &d.columns[i]
		if c.nullable {
			if c.null = stmt.Type(i) == Null; c.null {
				continue
			}
		}
		var err error
		switch c.kind {
		case integer:
			c.number, err = stmt.Int(i)
		case real:
			c.real, err = stmt.Real(i)
		case text:
			c.text, err = stmt.Text(i)
		case blob:
			c.blob, err = stmt.Blob(i, c.blob)
		case boolean:
			c.truth, err = stmt.Bool(i)
		}
		if err != nil {
			return err
		}
	}
	if visit == nil {
		return nil
	}
	for i := range d.columns {
		d.values[i] = d.columns[i].value()
	}
	return visit(d.values)
}

// storedRow reads values for verified answers: SQLite itself would make an int
// of the text '5', of 5.5 and of NULL.
func (d *destinations) storedRow(stmt Stmt, visit func([]any) error) (err error) {
	if n := stmt.Columns(); n != len(d.values) {
		return fmt.Errorf("answers %d columns, declared are %d", n, len(d.values))
	}
	for i := range d.values {
		switch stmt.Type(i) {
		case Integer:
			d.values[i], err = stmt.Int(i)
		case Float:
			d.values[i], err = stmt.Real(i)
		case Text:
			d.values[i], err = stmt.Text(i)
		case Blob:
			d.values[i], err = stmt.Blob(i, nil)
		default:
			d.values[i] = nil
		}
		if err != nil {
			return err
		}
	}
	return visit(d.values)
}

func (c *destination) value() any {
	if c.null {
		return nil
	}
	switch c.kind {
	case integer:
		return c.number
	case real:
		return c.real
	case text:
		return c.text
	case blob:
		return c.blob
	default:
		return c.truth
	}
}
