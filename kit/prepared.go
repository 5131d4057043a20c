package kit

import (
	"errors"
	"fmt"

	"assay/kit/answer"
	"assay/kit/column"
	"assay/kit/wire"
)

// prepared is an operation that is ready to be measured, with its clients.
type prepared struct {
	spec      wire.Operation
	operation Operation
	clients   []Client
	length    int64 // of the trace in units: transactions where there are any
	unit      int64 // operations that one Do runs
	rows      int   // that one Do is expected to return; -1: unknown
}

func prepareOperation(db Database, spec wire.Operation, clients int) (*prepared, error) {
	p := &prepared{spec: spec, unit: int64(max(1, spec.Transaction)), rows: expectedRows(spec)}
	var err error
	if p.operation, p.length, err = build(db, spec); err != nil {
		return nil, err
	}
	for range clients {
		client, err := p.operation.Client()
		if err != nil {
			return nil, errors.Join(fmt.Errorf("client of %q: %w", spec.Name, err), p.close())
		}
		p.clients = append(p.clients, client)
	}
	return p, nil
}

// expectedRows is the number of rows of one Do. The parts of a mix check
// their own.
func expectedRows(spec wire.Operation) int {
	if len(spec.Parts) > 0 {
		return -1
	}
	total := 0
	for _, step := range spec.Steps {
		if step.Rows < 0 {
			return -1
		}
		total += step.Rows
	}
	return total * max(1, spec.Transaction)
}

// build opens the operation's trace and has the database prepare it. Without a
// trace there is one position, which is used again and again.
func build(db Database, spec wire.Operation) (Operation, int64, error) {
	if len(spec.Parts) > 0 {
		return buildMix(db, spec)
	}
	var trace *column.File
	if spec.Trace != "" {
		var err error
		if trace, err = column.Open(spec.Trace); err != nil {
			return nil, 0, wire.Errorf(wire.Invalid, "trace: %v", err)
		}
	}
	length, err := spec.Units(trace)
	if err != nil {
		return nil, 0, errors.Join(err, closeTrace(trace))
	}
	operation, err := db.Prepare(spec, trace)
	if err != nil {
		return nil, 0, errors.Join(err, closeTrace(trace))
	}
	return &traced{operation, trace}, length, nil
}

// traced closes the trace with the operation.
type traced struct {
	Operation
	trace *column.File
}

func (t *traced) Close() error { return errors.Join(t.Operation.Close(), closeTrace(t.trace)) }

func closeTrace(trace *column.File) error {
	if trace == nil {
		return nil
	}
	return trace.Close()
}

func (p *prepared) close() error {
	var errs []error
	for _, client := range p.clients {
		errs = append(errs, client.Close())
	}
	return errors.Join(append(errs, p.operation.Close())...)
}

// verify digests the answers at some positions. Where several steps return
// rows, the digest is that of the steps' digests, one after the other.
func (p *prepared) verify(request wire.Verify) (wire.Verified, error) {
	if request.Start < 0 || request.Count < 0 {
		return wire.Verified{}, wire.Errorf(wire.Invalid, "verify of %d positions from %d on", request.Count, request.Start)
	}
	steps := answer.NewSteps(p.spec.Steps)
	if steps.Sum() == "" {
		return wire.Verified{}, wire.Errorf(wire.Unsupported, "operation %q returns no rows", p.spec.Name)
	}
	positions := p.length * p.unit
	for i := range request.Count {
		position := (request.Start%positions + i) % positions
		if err := p.operation.Answer(int(position), steps.Row); err != nil {
			return wire.Verified{}, fmt.Errorf("position %d: %w", position, err)
		}
	}
	return wire.Verified{Digest: steps.Sum(), Rows: steps.Rows()}, nil
}

func verifyQuery(db Database, request wire.Verify) (wire.Verified, error) {
	if request.All == (request.SQL != "") {
		return wire.Verified{}, wire.Errorf(wire.Invalid, "verify wants an operation, sql or all, one of them")
	}
	if err := wire.CheckTypes(request.Returns); err != nil {
		return wire.Verified{}, err
	}
	hash := answer.New(request.Returns)
	if err := db.Query(request.SQL, request.Returns, hash.Row); err != nil {
		return wire.Verified{}, err
	}
	return wire.Verified{Digest: hash.Sum(), Rows: hash.Rows()}, nil
}
