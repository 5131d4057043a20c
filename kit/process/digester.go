//go:build unix

package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"assay/kit/answer"
	"assay/kit/wire"
)

// digester digests the answers of a worker that writes rows to files, by the types that an
// operation declares.
type digester struct {
	*Worker
	opened   *wire.Open // nil: nothing is open
	prepared map[string]*preparedOperation
}

// Rows visits the rows, as they are stored, that a prepared operation answers where it is
// verified, and reports whether the worker told them all. The visited slice is the caller's.
func (w *Worker) Rows(ctx context.Context, request wire.Verify, visit func(row []any)) bool {
	if w.digester == nil || w.broken != nil {
		return false
	}
	op, prepared := w.digester.prepared[request.Operation]
	if !prepared {
		return false
	}
	err := w.digester.rows(ctx, request, op.Operation, func(_ int, row []any) error {
		visit(row)
		return nil
	})
	if w.broken != nil {
		w.Kill()
	}
	return err == nil
}

// call answers a request that may be asked, with rows where digests are asked for.
func (d *digester) call(ctx context.Context, kind string, request, reply any) error {
	switch r := request.(type) {
	case wire.Verify:
		op := wire.Operation{Steps: []wire.Step{{Query: true, Returns: r.Returns}}}
		if r.Operation != "" {
			op = d.prepared[r.Operation].Operation
		}
		verified, err := d.verify(ctx, r, op)
		return into(reply, verified, err)
	case wire.Measure:
		if r.Answers {
			measured, err := d.measure(ctx, r, d.prepared[r.Operation])
			return into(reply, measured, err)
		}
	}
	return d.Worker.call(ctx, kind, request, reply)
}

// into makes a reply of a result, unless there was an error.
func into(reply, result any, err error) error {
	if err != nil || reply == nil {
		return err
	}
	data, err := json.Marshal(result)
	return errors.Join(err, json.Unmarshal(data, reply))
}

// isCall reports whether an operation is a worker's own, which tells what it did last, or has one.
func isCall(op wire.Operation) bool {
	return slices.ContainsFunc(op.Steps, func(s wire.Step) bool { return s.Call != "" }) || slices.ContainsFunc(op.Parts, isCall)
}

// hashes are those of an operation whose answers are digested.
func hashes(op wire.Operation) (answer.Steps, error) {
	steps := answer.NewSteps(op.Steps)
	if op.Changes && !isCall(op) || steps.Sum() == "" {
		return nil, wire.Errorf(wire.Unsupported, "operation %q changes data, returns no rows or is a mix: its answers are not digested", op.Name)
	}
	return steps, nil
}

// fileSize is about how many bytes a file of rows may have: of several positions so many
// are asked for at once.
const fileSize = 16 << 20

func (d *digester) verify(ctx context.Context, request wire.Verify, op wire.Operation) (verified wire.Verified, err error) {
	steps, err := hashes(op)
	if err != nil {
		return verified, err
	}
	err = d.rows(ctx, request, op, digesting(steps))
	return wire.Verified{Digest: steps.Sum(), Rows: steps.Rows()}, err
}

// rows visits what an operation answers at some positions.
func (d *digester) rows(ctx context.Context, request wire.Verify, op wire.Operation, visit func(step int, row []any) error) error {
	left := request.Count
	request.Count = min(left, 1)
	if isCall(op) { // the last unit, wherever it was
		request.Count = left
	}
	for {
		size, err := d.request(ctx, wire.TypeVerify, columnsOf(op), func(path string) any {
			request.Rows = path
			return request
		}, nil, func(_ unitRows, each eachRow) error { return each(visit) })
		left -= request.Count
		if err != nil || left <= 0 {
			return err
		}
		request.Start += request.Count
		request.Count = min(left, 16*request.Count, max(1, request.Count*fileSize/max(1, size)))
	}
}

// measure has clients run that tell their answers, and digests those of each unit.
func (d *digester) measure(ctx context.Context, request wire.Measure, op *preparedOperation) (measured wire.Measured, err error) {
	parts := op.Parts
	if len(parts) == 0 {
		parts = []wire.Operation{op.Operation}
		if _, err := hashes(op.Operation); err != nil {
			return measured, err
		}
	}
	asked := units{int(request.Start / op.unit()), int(request.Operations / op.unit()), int(op.length)}
	digests := map[uint64][]string{}
	_, err = d.request(ctx, wire.TypeMeasure, columnsOf(op.Operation), func(path string) any {
		request.Rows = path
		return request
	}, &measured, func(unit unitRows, each eachRow) error {
		if int64(unit.Part) >= int64(len(parts)) || parts[unit.Part].Changes {
			return fmt.Errorf("there is no part %d that reads", unit.Part)
		}
		if len(digests[unit.Unit]) >= asked.times(unit.Unit) {
			return fmt.Errorf("unit %d was not asked for, or is told too often", unit.Unit)
		}
		steps := answer.NewSteps(parts[unit.Part].Steps)
		err := each(digesting(steps))
		digests[unit.Unit] = append(digests[unit.Unit], steps.Sum())
		return err
	})
	if err == nil {
		measured.Digests = asked.ordered(digests)
	}
	return measured, err
}

// units are those of a measurement: so many from the first one on, around the trace's end.
type units struct{ first, count, length int }

// times is how often clients are to run the unit of a number.
func (u units) times(unit uint64) int {
	if unit >= uint64(u.length) {
		return 0
	}
	times := u.count / u.length
	if behind := (int(unit) - u.first%u.length + u.length) % u.length; behind < u.count%u.length {
		times++
	}
	return times
}

// ordered lists the units' digests by their positions; a unit without one has failed. One
// that several clients ran has its digests in any order.
func (u units) ordered(digests map[uint64][]string) []string {
	list := make([]string, u.count)
	for i := range list {
		unit := uint64((u.first + i) % u.length)
		if found := digests[unit]; len(found) > 0 {
			list[i], digests[unit] = found[0], found[1:]
		}
	}
	return list
}

// columnsOf is how many columns a row that an operation answers has at most.
func columnsOf(op wire.Operation) (most int) {
	for _, step := range op.Steps {
		most = max(most, len(step.Returns))
	}
	for _, part := range op.Parts {
		most = max(most, columnsOf(part))
	}
	return most
}

// digesting adds rows to digests. What is not of its declared type has failed.
func digesting(steps answer.Steps) func(step int, row []any) error {
	return func(step int, row []any) error {
		if step >= len(steps) || steps[step] == nil {
			return fmt.Errorf("step %d returns no rows", step+1)
		}
		if err := steps.Row(step, row); err != nil {
			return &wire.Error{Code: wire.Failed, Message: err.Error()}
		}
		return nil
	}
}

// request sends a request with the path of a file, visits what the worker wrote to it, and
// returns how many bytes that were. Where units of a measurement have failed, maybe to
// write, the file is not looked at.
func (d *digester) request(ctx context.Context, kind string, columns int, with func(path string) any, reply any, visit func(unitRows, eachRow) error) (size int64, err error) {
	file, err := newRowsFile(d.command.Dir)
	if err != nil {
		return 0, err
	}
	defer func() {
		if d.broken != nil {
			d.Kill() // before the file is gone: it would make another
		}
		file.remove()
	}()
	if err := d.Worker.call(ctx, kind, with(file.Name()), reply); err != nil {
		return 0, err
	}
	if m, measured := reply.(*wire.Measured); measured && m.Errors > 0 {
		return 0, nil
	}
	if err := file.each(ctx, columns, visit); err != nil {
		switch {
		case ctx.Err() != nil:
			return 0, d.late(ctx)
		case errors.As(err, new(*wire.Error)):
			return 0, err
		}
		return 0, d.breach(fmt.Sprintf("its rows for %s: %v", kind, err))
	}
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
