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

func newStore(b *bench, settings map[string]string) *store {
	b.open(wire.Open{Settings: settings, Readers: 4, Idle: 4, Writers: 4})
	return &store{bench: b, model: map[string]string{}}
}

// reopen ends the worker and opens its store with a new one.
func (s *store) reopen() {
	s.restart()
	s.open(wire.Open{Readers: 4, Idle: 4, Writers: 4})
}

func (s *store) load(records map[string]string, order []string) {
	var rows [][]any
	for _, key := range order {
		rows = append(rows, []any{[]byte(key), []byte(records[key])})
	}
	s.model = maps.Clone(records)
	path := s.trace("records", []column.Type{column.Blob, column.Blob}, rows...)
	var loaded wire.Loaded
	s.call(wire.TypeLoad, wire.Load{Records: path}, &loaded)
	expect("records loaded", loaded.Records, int64(len(rows)))
}

func (s *store) agrees(when string) {
	keys := slices.Sorted(maps.Keys(s.model))
	rows := make([][]any, len(keys))
	for i, key := range keys {
		rows[i] = []any{[]byte(key), []byte(s.model[key])}
	}
	types := []string{"blob", "blob"}
	want, got := digest(types, rows), s.verify(wire.Verify{All: true, Returns: types})
	if got.Rows != int64(len(rows)) || got.Digest != want {
		fail("%s: the store has %d keys with digest %.12s, the model %d with %.12s", when, got.Rows, got.Digest, len(rows), want)
	}
}

// tryPrepare makes an operation of some steps ready, with the rows of its trace.
func (s *store) tryPrepare(op wire.Operation, clients int, rows ...[]any) (string, error) {
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
	op.Trace = s.trace(fmt.Sprintf("trace-%d", s.prepared), types, rows...)
	return op.Name, s.ask(wire.TypePrepare, wire.Prepare{Operation: op, Clients: clients}, nil)
}

// run executes an operation once for each row of its trace.
func (s *store) run(op wire.Operation, clients int, rows ...[]any) wire.Measured {
	name, err := s.tryPrepare(op, clients, rows...)
	must(err)
	return s.block(name, int64(len(rows)))
}

// right is run, where nothing may go wrong.
func (s *store) right(op wire.Operation, clients int, rows ...[]any) {
	without(s.run(op, clients, rows...))
}

func (s *store) answered(step wire.Step, want [][]any, rows ...[]any) {
	name, err := s.tryPrepare(wire.Operation{Steps: []wire.Step{step}}, 1, rows...)
	must(err)
	sum, got := digest(step.Returns, want), s.verify(wire.Verify{Operation: name, Count: int64(len(rows))})
	if got.Rows != int64(len(want)) || got.Digest != sum {
		fail("%s: %d rows with digest %.12s, want %d with %.12s", step.KV, got.Rows, got.Digest, len(want), sum)
	}
}

func putStep() wire.Step    { return wire.Step{KV: wire.Put, Args: 2, Rows: 1} }
func deleteStep() wire.Step { return wire.Step{KV: wire.Delete, Args: 1, Rows: 1} }
func getStep(rows int) wire.Step {
	return wire.Step{KV: wire.Get, Query: true, Args: 1, Rows: rows, Returns: []string{"blob"}}
}
func scanStep() wire.Step {
	return wire.Step{KV: wire.Scan, Query: true, Args: 2, Rows: -1, Returns: []string{"blob", "blob"}}
}
