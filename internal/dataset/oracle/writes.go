package oracle

import (
	"errors"
	"fmt"

	"assay"
	"assay/internal/dataset"
	"assay/kit/column"
	"assay/kit/wire"
)

// writes reads from traces what an operation writes to a store.
type writes struct {
	choice *column.File // of a mix: the part and its position; nil elsewhere
	parts  []written
	files  []*column.File
	fields int // of a value; 1 where it has none
}

// written is one operation that is no mix.
type written struct {
	trace *column.File
	steps []assay.Step
}

func newWrites(op assay.Operation, trace *dataset.Trace) (*writes, error) {
	w := &writes{fields: 1}
	if len(op.Parts) == 0 {
		return w, w.add(op, trace)
	}
	var err error
	if w.choice, err = w.open(trace); err != nil {
		return nil, err
	}
	if len(trace.Parts) != len(op.Parts) {
		return nil, errors.Join(fmt.Errorf("operation %q has %d parts, its trace %d", op.Name, len(op.Parts), len(trace.Parts)), w.close())
	}
	for i, part := range op.Parts {
		if err := w.add(part.Operation, &trace.Parts[i]); err != nil {
			return nil, errors.Join(err, w.close())
		}
	}
	return w, nil
}

func (w *writes) open(trace *dataset.Trace) (*column.File, error) {
	file, err := column.Open(trace.Path)
	if err == nil {
		w.files = append(w.files, file)
	}
	return file, err
}

func (w *writes) add(op assay.Operation, trace *dataset.Trace) error {
	part := written{steps: op.Steps}
	for _, step := range op.Steps {
		w.fields = max(w.fields, step.Fields)
	}
	var err error
	if op.Changes {
		part.trace, err = w.open(trace)
	}
	w.parts = append(w.parts, part)
	return err
}

// recorder is told what is written to keys.
type recorder interface {
	put(key []byte, fields [][]byte)
	update(key []byte, field int, value []byte)
	delete(key []byte)
}

// at tells what the operation at a position writes.
func (w *writes) at(position int, to recorder) {
	part, row := &w.parts[0], position
	if w.choice != nil {
		position %= w.choice.Rows()
		part, row = &w.parts[w.choice.Int(0, position)], int(w.choice.Int(1, position))
	}
	if part.trace == nil {
		return // it changes nothing
	}
	first := 0
	row %= part.trace.Rows()
	for _, step := range part.steps {
		argument := func(i int) []byte { return part.trace.Bytes(first+i, row) }
		switch step.KV {
		case wire.Put:
			fields := make([][]byte, w.fields)
			for i := range fields {
				fields[i] = argument(1 + i)
			}
			to.put(argument(0), fields)
		case wire.Update:
			to.update(argument(0), step.Field, argument(1))
		case wire.Delete:
			to.delete(argument(0))
		}
		first += len(step.Args)
	}
}

// release gives back the memory of what was read.
func (w *writes) release() {
	for _, file := range w.files {
		file.Release()
	}
}

func (w *writes) close() error {
	var errs []error
	for _, file := range w.files {
		errs = append(errs, file.Close())
	}
	return errors.Join(errs...)
}
