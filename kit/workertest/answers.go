//go:build unix

package workertest

import (
	"fmt"
	"slices"

	"assay/kit/column"
	"assay/kit/wire"
)

// answersChecks are about what clients answer while they run as they are
// measured.
var answersChecks = []check{
	{"clients that are measured tell the answer at each position", wire.CapAnswers, answersTold},
	{"a mix tells the answers of its reading parts", wire.CapAnswers, answersOfAMix},
	{"answers are told of a number of operations only", wire.CapAnswers, answersOfAWindow},
}

// toldRows are the answers at the positions of told.
var toldRows = [][]any{{[]byte("one")}, {[]byte("two")}, {[]byte("three")}}

// told opens a database that several clients read, and returns an operation with
// an answer of one blob at each of three positions.
func (b *bench) told() (wire.Operation, error) {
	op := wire.Operation{Name: "told", RetryBusy: true}
	returns := []string{"blob"}
	if !b.can(wire.CapSQL) {
		s, err := newStore(b, nil)
		if err == nil {
			err = s.load(map[string]string{"a": "one", "b": "two", "c": "three"}, []string{"a", "b", "c"})
		}
		op.Steps = []wire.Step{{KV: wire.Get, Query: true, Args: 1, Rows: 1, Returns: returns}}
		if err == nil {
			op.Trace, err = b.trace("told", []column.Type{column.Blob}, []any{[]byte("a")}, []any{[]byte("b")}, []any{[]byte("c")})
		}
		return op, err
	}
	op.Steps = []wire.Step{{SQL: "SELECT b FROM told WHERE id = ?", Query: true, Args: 1, Rows: 1, Returns: returns}}
	once := []string{"CREATE TABLE told(id INTEGER PRIMARY KEY, b BLOB)", "INSERT INTO told VALUES (1, x'6f6e65'), (2, x'74776f'), (3, x'7468726565')"}
	err := b.open(wire.Open{Readers: 2, Idle: 2, Writers: 1, Once: once})
	if err == nil {
		op.Trace, err = b.trace("told", []column.Type{column.Int}, []any{int64(1)}, []any{int64(2)}, []any{int64(3)})
	}
	return op, err
}

// tell has an operation run, and checks the digest of each unit; a row that is nil
// has none.
func (b *bench) tell(request wire.Measure, rows ...[]any) error {
	request.Answers = true
	var m wire.Measured
	if err := b.call(wire.TypeMeasure, request, &m); err != nil {
		return err
	}
	want := make([]string, len(rows))
	for i, row := range rows {
		if row == nil {
			continue
		}
		var err error
		if want[i], err = digest([]string{"blob"}, [][]any{row}); err != nil {
			return err
		}
	}
	if m.Errors+m.Misses > 0 || !slices.Equal(m.Digests, want) {
		return fmt.Errorf("%d operations from %d on with answers: %d errors (%s), %d misses (%s), digests %.12q, want %.12q",
			request.Operations, request.Start, m.Errors, m.Error, m.Misses, m.Miss, m.Digests, want)
	}
	return nil
}

func answersTold(b *bench) error {
	op, err := b.told()
	return steps(
		func() error { return err },
		func() error { return b.call(wire.TypePrepare, wire.Prepare{Operation: op, Clients: 3}, nil) },
		func() error {
			return b.tell(wire.Measure{Operation: op.Name, Operations: 2}, toldRows[0], toldRows[1])
		},
		func() error {
			return b.tell(wire.Measure{Operation: op.Name, Start: 2, Operations: 7},
				toldRows[2], toldRows[0], toldRows[1], toldRows[2], toldRows[0], toldRows[1], toldRows[2])
		},
		func() error { // and measuring goes on as before
			var m wire.Measured
			err := b.call(wire.TypeMeasure, wire.Measure{Operation: op.Name, Operations: 5}, &m)
			if err == nil && m.Errors+m.Misses > 0 {
				err = fmt.Errorf("behind it, %d operations have errors (%s) or misses (%s)", m.Errors+m.Misses, m.Error, m.Miss)
			}
			return err
		})
}

func answersOfAMix(b *bench) error {
	read, err := b.told()
	if err != nil {
		return err
	}
	change := wire.Operation{Name: "put", Changes: true, Steps: []wire.Step{{KV: wire.Put, Args: 2, Rows: 1}}}
	types, row := []column.Type{column.Blob, column.Blob}, []any{[]byte("d"), []byte("four")}
	if b.can(wire.CapSQL) {
		change.Steps = []wire.Step{{SQL: "INSERT INTO told VALUES (?, ?)", Args: 2, Rows: 1}}
		types, row = []column.Type{column.Int, column.Blob}, []any{int64(4), []byte("four")}
	}
	if change.Trace, err = b.trace("put", types, row); err != nil {
		return err
	}
	mix := wire.Operation{Name: "mix", Changes: true, RetryBusy: true, Parts: []wire.Operation{read, change}}
	mix.Trace, err = b.trace("order", []column.Type{column.Int, column.Int}, []any{int64(0), int64(1)}, []any{int64(1), int64(0)},
		[]any{int64(0), int64(2)}, []any{int64(0), int64(0)})
	return steps(
		func() error { return err },
		func() error { return b.call(wire.TypePrepare, wire.Prepare{Operation: mix, Clients: 2}, nil) },
		func() error {
			return b.tell(wire.Measure{Operation: mix.Name, Operations: 4}, toldRows[1], nil, toldRows[2], toldRows[0])
		})
}

func answersOfAWindow(b *bench) error {
	op, err := b.told()
	return steps(
		func() error { return err },
		func() error { return b.call(wire.TypePrepare, wire.Prepare{Operation: op, Clients: 1}, nil) },
		func() error {
			return b.refused(wire.TypeMeasure, wire.Measure{Operation: op.Name, Nanos: 1000, Answers: true}, wire.Invalid)
		})
}
