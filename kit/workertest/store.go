//go:build unix

package workertest

import (
	"fmt"
	"maps"
	"slices"

	"assay/kit/column"
	"assay/kit/wire"
)

// store is a bench with the model of what its store must have.
type store struct {
	*bench
	model    map[string]string
	prepared int
}

func newStore(b *bench, settings map[string]string) (*store, error) {
	return &store{bench: b, model: map[string]string{}},
		b.open(wire.Open{Settings: settings, Readers: 4, Idle: 4, Writers: 4})
}

// reopen ends the worker and opens its store with a new one.
func (s *store) reopen() error {
	if err := s.restart(); err != nil {
		return err
	}
	return s.open(wire.Open{Readers: 4, Idle: 4, Writers: 4})
}

// load loads records into the empty store and the model.
func (s *store) load(records map[string]string, order []string) error {
	var rows [][]any
	for _, key := range order {
		rows = append(rows, []any{[]byte(key), []byte(records[key])})
	}
	s.model = maps.Clone(records)
	path, err := s.trace("records", []column.Type{column.Blob, column.Blob}, rows...)
	if err != nil {
		return err
	}
	var loaded wire.Loaded
	if err := s.call(wire.TypeLoad, wire.Load{Records: path}, &loaded); err != nil {
		return err
	}
	return expect("records loaded", loaded.Records, int64(len(rows)))
}

// agrees checks that the store has what the model has.
func (s *store) agrees(when string) error {
	keys := slices.Sorted(maps.Keys(s.model))
	rows := make([][]any, len(keys))
	for i, key := range keys {
		rows[i] = []any{[]byte(key), []byte(s.model[key])}
	}
	types := []string{"blob", "blob"}
	want, err := digest(types, rows)
	if err != nil {
		return err
	}
	var got wire.Verified
	if err := s.call(wire.TypeVerify, wire.Verify{All: true, Returns: types}, &got); err != nil {
		return err
	}
	if got.Rows != int64(len(rows)) || got.Digest != want {
		return fmt.Errorf("%s: the store has %d keys with digest %.12s, the model %d with %.12s", when, got.Rows, got.Digest, len(rows), want)
	}
	return nil
}

// prepare makes an operation of some steps ready, with the rows of its trace.
func (s *store) prepare(op wire.Operation, clients int, rows ...[]any) (string, error) {
	s.prepared++
	op.Name = fmt.Sprintf("operation %d", s.prepared)
	var types []column.Type
	for _, step := range op.Steps {
		switch step.KV {
		case wire.Put, wire.Update:
			types = append(types, slices.Repeat([]column.Type{column.Blob}, step.Args)...)
		case wire.Scan:
			types = append(types, column.Blob, column.Int)
		default:
			types = append(types, column.Blob)
		}
	}
	var err error
	if op.Trace, err = s.trace(fmt.Sprintf("trace-%d", s.prepared), types, rows...); err != nil {
		return "", err
	}
	return op.Name, s.call(wire.TypePrepare, wire.Prepare{Operation: op, Clients: clients}, nil)
}

// run executes an operation once for each row of its trace.
func (s *store) run(op wire.Operation, clients int, rows ...[]any) (wire.Measured, error) {
	var m wire.Measured
	name, err := s.prepare(op, clients, rows...)
	if err != nil {
		return m, err
	}
	return m, s.call(wire.TypeMeasure, wire.Measure{Operation: name, Operations: int64(len(rows))}, &m)
}

// right is run, where nothing may go wrong.
func (s *store) right(op wire.Operation, clients int, rows ...[]any) error {
	m, err := s.run(op, clients, rows...)
	if err == nil && m.Errors+m.Misses > 0 {
		err = fmt.Errorf("%d errors (%s), %d misses (%s)", m.Errors, m.Error, m.Misses, m.Miss)
	}
	return err
}

// answered checks the digest of a reading operation's answers.
func (s *store) answered(step wire.Step, want [][]any, rows ...[]any) error {
	name, err := s.prepare(wire.Operation{Steps: []wire.Step{step}}, 1, rows...)
	if err != nil {
		return err
	}
	sum, err := digest(step.Returns, want)
	if err != nil {
		return err
	}
	var got wire.Verified
	if err := s.call(wire.TypeVerify, wire.Verify{Operation: name, Count: int64(len(rows))}, &got); err != nil {
		return err
	}
	if got.Rows != int64(len(want)) || got.Digest != sum {
		return fmt.Errorf("%s: %d rows with digest %.12s, want %d with %.12s", step.KV, got.Rows, got.Digest, len(want), sum)
	}
	return nil
}

func putStep() wire.Step    { return wire.Step{KV: wire.Put, Args: 2, Rows: 1} }
func deleteStep() wire.Step { return wire.Step{KV: wire.Delete, Args: 1, Rows: 1} }
func getStep(rows int) wire.Step {
	return wire.Step{KV: wire.Get, Query: true, Args: 1, Rows: rows, Returns: []string{"blob"}}
}
func scanStep() wire.Step {
	return wire.Step{KV: wire.Scan, Query: true, Args: 2, Rows: -1, Returns: []string{"blob", "blob"}}
}
