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
	trace, err := column.Open(spec.Trace)
	if err != nil {
		return nil, 0, wire.Errorf(wire.Invalid, "trace of the mix: %v", err)
	}
	m := &mix{trace: trace}
	lengths := make([]int64, len(spec.Parts))
	for i, part := range spec.Parts {
		operation, length, err := build(db, part)
		if err != nil {
			return nil, 0, errors.Join(fmt.Errorf("part %q: %w", part.Name, err), m.Close())
		}
		m.parts, m.specs, lengths[i] = append(m.parts, operation), append(m.specs, part), length
	}
	length, err := spec.Units(trace, lengths...)
	if err != nil {
		return nil, 0, errors.Join(err, m.Close())
	}
	return m, length, nil
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
