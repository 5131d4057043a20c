//go:build unix

package process

import (
	"context"
	"fmt"
	"slices"

	"assay/kit/column"
	"assay/kit/wire"
)

// preparedOperation is what requests about an operation are held against.
type preparedOperation struct {
	wire.Operation
	clients  int
	length   int64 // of its trace, in units
	ordered  bool  // it is a mix whose units wait for others
	measured bool
}

func (r *preparedOperation) unit() int64 { return int64(max(1, r.Transaction)) }

// allowed answers requests of a worker that writes rows to files. What may not be asked is
// refused here, so that no library need do it.
func (d *digester) allowed(handle handler) handler {
	return func(ctx context.Context, kind string, request, reply any) error {
		if d.opened == nil && (kind == wire.TypeQuery || slices.Contains(wire.OfDatabase, kind)) {
			return wire.Errorf(wire.Invalid, "no database is open")
		}
		var done func()
		var err error
		switch r := request.(type) {
		case wire.Open:
			done, err = func() { d.opened = &r }, r.Check(d.opened != nil)
		case wire.Prepare:
			var op *preparedOperation
			op, err = d.preparable(r)
			done = func() { d.prepared[r.Operation.Name] = op }
		case wire.Measure:
			var op *preparedOperation
			op, err = d.measurable(r)
			done = func() { op.measured = true }
		case wire.Verify:
			err = d.verifiable(r)
		case wire.Load:
			var records *column.File
			if records, err = r.Open(); err == nil {
				err = records.Close()
			}
		}
		if err == nil {
			err = handle(ctx, kind, request, reply)
		}
		if err == nil && done != nil {
			done()
		}
		return err
	}
}

func (d *digester) preparable(r wire.Prepare) (*preparedOperation, error) {
	op := &preparedOperation{Operation: r.Operation, clients: r.Clients}
	_, again := d.prepared[r.Operation.Name]
	switch {
	case again:
		return nil, wire.Errorf(wire.Invalid, "operation %q is prepared already", r.Operation.Name)
	case r.Clients < 1:
		return nil, wire.Errorf(wire.Invalid, "%d clients", r.Clients)
	}
	var err error
	op.length, op.ordered, err = d.lengthOf(r.Operation)
	switch {
	case err != nil:
	case isCall(r.Operation):
		err = d.callable(r)
	case op.ordered && r.Clients > 1 && !d.has(wire.CapOrdered):
		err = wire.Errorf(wire.Unsupported, "the clients of this worker keep no order")
	}
	return op, err
}

// lengthOf is how many units an operation's trace has, and whether they have an order.
func (d *digester) lengthOf(op wire.Operation) (length int64, ordered bool, err error) {
	var trace *column.File
	if op.Trace != "" {
		if trace, err = column.Open(op.Trace); err != nil {
			return 0, false, wire.Errorf(wire.Invalid, "trace: %v", err)
		}
		defer trace.Close()
		ordered = len(op.Parts) > 0 && trace.Columns() > 2
	}
	var lengths []int64
	for _, part := range op.Parts {
		length, _, err := d.lengthOf(part)
		if err != nil {
			return 0, false, fmt.Errorf("part %q: %w", part.Name, err)
		}
		lengths = append(lengths, length)
	}
	if length, err = op.Units(trace, lengths...); err != nil || len(op.Parts) > 0 {
		return length, ordered, err
	}
	switch {
	case isCall(op): // see callable
	case d.has(wire.CapSQL):
		err = op.CheckSQL(d.opened.Readers, d.opened.Writers)
	case d.has(wire.CapKV):
		err = op.CheckStore(trace)
	}
	return length, ordered, err
}

// callable refuses a call that is not alone, or that the worker has not.
func (d *digester) callable(r wire.Prepare) error {
	op := r.Operation
	switch {
	case len(op.Steps) != 1 || r.Clients > 1 || op.Steps[0].N < 1 || op.Transaction > 1:
		return wire.Errorf(wire.Invalid, "a call has n above 0, and is alone: one step, one client, transaction 0 or 1")
	case !slices.Contains(d.hello.Calls, op.Steps[0].Call):
		return wire.Errorf(wire.Unsupported, "%s has no operation %q of its own", d.hello.Target.Driver, op.Steps[0].Call)
	}
	return nil
}

func (d *digester) find(operation string) (*preparedOperation, error) {
	if op := d.prepared[operation]; op != nil {
		return op, nil
	}
	return nil, wire.Errorf(wire.Invalid, "operation %q is not prepared", operation)
}

func (d *digester) measurable(r wire.Measure) (*preparedOperation, error) {
	op, err := d.find(r.Operation)
	if err != nil {
		return nil, err
	}
	switch {
	case r.Phases && !d.has(wire.CapPhases):
		return nil, wire.Errorf(wire.Unsupported, "this worker does not time phases")
	case r.Marks != "" && op.clients > 1:
		return nil, wire.Errorf(wire.Invalid, "marks are of one client, not of %d", op.clients)
	case op.ordered && op.clients > 1 && (r.Operations == 0 || r.Start+r.Operations > op.length):
		return nil, wire.Errorf(wire.Invalid, "a mix in order has blocks that end with its trace at the latest")
	}
	return op, r.Check(op.unit())
}

func (d *digester) verifiable(r wire.Verify) error {
	if r.Operation == "" {
		return wire.CheckTypes(r.Returns)
	}
	op, err := d.find(r.Operation)
	switch {
	case err != nil:
		return err
	case r.Start < 0 || r.Count < 0:
		return wire.Errorf(wire.Invalid, "verify of %d positions from %d on", r.Count, r.Start)
	case isCall(op.Operation) && !op.measured:
		return wire.Errorf(wire.Invalid, "%s was not measured yet: a call is verified by what it did last", r.Operation)
	}
	return nil
}
