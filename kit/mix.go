package kit

import (
	"errors"
	"fmt"

	"assay/kit/column"
	"assay/kit/wire"
)

// mix is an operation that is one of several each time, as its trace says.
type mix struct {
	trace *column.File
	parts []Operation
	specs []wire.Operation
}

func buildMix(db Database, spec wire.Operation) (Operation, int64, error) {
	if spec.Transaction != 0 {
		return nil, 0, wire.Errorf(wire.Invalid, "mix %q: a mix is no transaction", spec.Name)
	}
	trace, err := column.Open(spec.Trace)
	if err != nil {
		return nil, 0, wire.Errorf(wire.Invalid, "trace of the mix: %v", err)
	}
	m := &mix{trace: trace}
	lengths := make([]int64, len(spec.Parts))
	for i, part := range spec.Parts {
		if len(part.Parts) > 0 || part.Transaction > 1 {
			return nil, 0, errors.Join(wire.Errorf(wire.Invalid, "part %q of a mix is a mix or a batch", part.Name), m.Close())
		}
		operation, length, err := build(db, part)
		if err != nil {
			return nil, 0, errors.Join(fmt.Errorf("part %q: %w", part.Name, err), m.Close())
		}
		m.parts, m.specs, lengths[i] = append(m.parts, operation), append(m.specs, part), length
	}
	if err := m.check(lengths); err != nil {
		return nil, 0, errors.Join(err, m.Close())
	}
	return m, int64(trace.Rows()), nil
}

// check looks at the whole trace once, so that Do need not.
func (m *mix) check(lengths []int64) error {
	columns := m.trace.Columns()
	for i := range columns {
		if columns < 2 || columns > 3 || m.trace.Type(i) != column.Int {
			return wire.Errorf(wire.Invalid, "the trace of a mix wants two int columns, or three")
		}
	}
	for row := range m.trace.Rows() {
		part, position := m.trace.Int(0, row), m.trace.Int(1, row)
		if part < 0 || part >= int64(len(lengths)) || position < 0 || position >= lengths[part] {
			return wire.Errorf(wire.Invalid, "row %d of the mix's trace: part %d, position %d do not exist", row, part, position)
		}
		if columns == 3 && (m.trace.Int(2, row) < 0 || m.trace.Int(2, row) > int64(row)) {
			return wire.Errorf(wire.Invalid, "row %d of the mix's trace comes after itself", row)
		}
	}
	return nil
}

func (m *mix) QueryPlan() string {
	plan := ""
	for i, part := range m.parts {
		plan += m.specs[i].Name + ": " + part.QueryPlan() + "\n"
	}
	return plan
}

func (m *mix) Client() (Client, error) {
	c := &mixClient{trace: m.trace, specs: m.specs}
	for i, part := range m.parts {
		client, err := part.Client()
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
		c.parts = append(c.parts, client)
		c.rows = append(c.rows, expectedRows(m.specs[i]))
	}
	return c, nil
}

func (m *mix) Answer(int, func(int, []any) error) error {
	return wire.Errorf(wire.Unsupported, "the answers of a mix are verified part by part")
}

func (m *mix) Close() error {
	errs := []error{m.trace.Close()}
	for _, part := range m.parts {
		errs = append(errs, part.Close())
	}
	return errors.Join(errs...)
}

type mixClient struct {
	trace *column.File
	parts []Client
	specs []wire.Operation
	rows  []int
}

func (c *mixClient) Do(position int) (int, error) {
	part := c.trace.Int(0, position)
	rows, err := c.parts[part].Do(int(c.trace.Int(1, position)))
	if want := c.rows[part]; err == nil && rows != want && want >= 0 {
		err = &missError{rows, want}
	}
	return rows, err
}

func (c *mixClient) Close() error {
	var errs []error
	for _, part := range c.parts {
		errs = append(errs, part.Close())
	}
	return errors.Join(errs...)
}
