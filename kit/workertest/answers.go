//go:build unix

package workertest

import (
	"slices"

	"assay/kit/column"
	"assay/kit/wire"
)

// answersChecks are about what clients answer while they run as they are
// measured.
var answersChecks = []check{
	{"clients that are measured tell the answer at each position", wire.CapAnswers, answersTold},
	{"a mix tells the answers of its reading parts", wire.CapAnswers, answersOfAMix},
	{"a unit with another number of rows than expected has no digest", wire.CapAnswers, missesNotTold},
	{"a mix in order keeps it among several clients", wire.CapOrdered, mixInOrder},
	{"answers are told of a number of operations only", wire.CapAnswers, func(b *bench) {
		op := b.told()
		b.prepare(op, 1)
		b.refused(wire.TypeMeasure, wire.Measure{Operation: op.Name, Nanos: 1000, Answers: true}, wire.Invalid)
	}},
}

var toldRows = [][]any{{[]byte("one")}, {[]byte("two")}, {[]byte("three")}}

// told opens a database that several clients read, and returns an operation with
// an answer of one blob at each of three positions.
func (b *bench) told() wire.Operation {
	op := wire.Operation{Name: "told", RetryBusy: true}
	returns := []string{"blob"}
	if !b.can(wire.CapSQL) {
		newStore(b, nil).load(map[string]string{"a": "one", "b": "two", "c": "three"}, []string{"a", "b", "c"})
		op.Steps = []wire.Step{{KV: wire.Get, Query: true, Args: 1, Rows: 1, Returns: returns}}
		op.Trace = b.trace("told", []column.Type{column.Blob}, []any{[]byte("a")}, []any{[]byte("b")}, []any{[]byte("c")})
		return op
	}
	op.Steps = []wire.Step{{SQL: "SELECT b FROM told WHERE id = ?", Query: true, Args: 1, Rows: 1, Returns: returns}}
	once := []string{"CREATE TABLE told(id INTEGER PRIMARY KEY, b BLOB)", "INSERT INTO told VALUES (1, x'6f6e65'), (2, x'74776f'), (3, x'7468726565')"}
	b.open(wire.Open{Readers: 2, Idle: 2, Writers: 1, Once: once})
	op.Trace = b.trace("told", []column.Type{column.Int}, []any{int64(1)}, []any{int64(2)}, []any{int64(3)})
	return op
}

// tell has an operation run, and checks the digest of each unit; a row that is nil
// has none.
func (b *bench) tell(request wire.Measure, rows ...[]any) {
	b.tellMissing(request, 0, rows...)
}

// tellMissing is tell, of so many units that have other rows than expected.
func (b *bench) tellMissing(request wire.Measure, misses int64, rows ...[]any) {
	request.Answers = true
	m := b.measure(request)
	want := make([]string, len(rows))
	for i, row := range rows {
		if row != nil {
			want[i] = digest([]string{"blob"}, [][]any{row})
		}
	}
	if m.Errors > 0 || m.Misses != misses || !slices.Equal(m.Digests, want) {
		fail("%d operations from %d on with answers: %d errors (%s), %d misses (%s), digests %.12q, want %.12q",
			request.Operations, request.Start, m.Errors, m.Error, m.Misses, m.Miss, m.Digests, want)
	}
}

func answersTold(b *bench) {
	op := b.told()
	b.prepare(op, 3)
	b.tell(wire.Measure{Operation: op.Name, Operations: 2}, toldRows[0], toldRows[1])
	b.tell(wire.Measure{Operation: op.Name, Start: 2, Operations: 7},
		toldRows[2], toldRows[0], toldRows[1], toldRows[2], toldRows[0], toldRows[1], toldRows[2])
	if m := b.block(op.Name, 5); m.Errors+m.Misses > 0 { // measuring goes on as before
		fail("behind it, %d operations have errors (%s) or misses (%s)", m.Errors+m.Misses, m.Error, m.Miss)
	}
}

// missesNotTold has clients look for what is not there, too.
func missesNotTold(b *bench) {
	op := b.told()
	op.Trace = b.trace("absent", []column.Type{column.Blob}, []any{[]byte("a")}, []any{[]byte("x")}, []any{[]byte("c")})
	if b.can(wire.CapSQL) {
		op.Trace = b.trace("absent", []column.Type{column.Int}, []any{int64(1)}, []any{int64(9)}, []any{int64(3)})
	}
	b.prepare(op, 2)
	b.tellMissing(wire.Measure{Operation: op.Name, Operations: 3}, 1, toldRows[0], nil, toldRows[2])
}

func answersOfAMix(b *bench) {
	read := b.told()
	change := wire.Operation{Name: "put", Changes: true, Steps: []wire.Step{{KV: wire.Put, Args: 2, Rows: 1}}}
	types, row := []column.Type{column.Blob, column.Blob}, []any{[]byte("d"), []byte("four")}
	if b.can(wire.CapSQL) {
		change.Steps = []wire.Step{{SQL: "INSERT INTO told VALUES (?, ?)", Args: 2, Rows: 1}}
		types, row = []column.Type{column.Int, column.Blob}, []any{int64(4), []byte("four")}
	}
	change.Trace = b.trace("put", types, row)
	mix := wire.Operation{Name: "mix", Changes: true, RetryBusy: true, Parts: []wire.Operation{change, read}}
	mix.Trace = b.trace("order", []column.Type{column.Int, column.Int}, []any{int64(1), int64(1)}, []any{int64(0), int64(0)},
		[]any{int64(1), int64(2)}, []any{int64(1), int64(0)})
	b.prepare(mix, 2)
	b.tell(wire.Measure{Operation: mix.Name, Operations: 4}, toldRows[1], nil, toldRows[2], toldRows[0])
}
