//go:build unix

package workertest

import (
	"slices"
	"time"

	"assay/kit/column"
	"assay/kit/wire"
)

const (
	// viewed is how often a read transaction of the check looks at both keys. It
	// has to last longer than a commit of another client.
	viewed = 500
	// viewing is how long the check looks: with one processor, a client is
	// interrupted only every few milliseconds.
	viewing = time.Second
)

// consistentViews has writers put one of two keys and delete the other in a
// transaction, so that one of them is there at any moment. Whoever gets both in
// a read transaction, again and again, finds one each time.
func consistentViews(b *bench) {
	s := newStore(b, map[string]string{"sync": "0"})
	s.load(map[string]string{"a": "1"}, []string{"a"})
	op := s.looksAndChanges()
	err := s.ask(wire.TypePrepare, wire.Prepare{Operation: op, Clients: 4}, nil)
	if refusal(err) != nil {
		return // a store may have no read transactions
	}
	must(err)
	for began := time.Now(); time.Since(began) < viewing; {
		if m := s.block(op.Name, viewingOperations); m.Misses > 0 {
			fail("%d read transactions that got two keys %d times, of which one is there at any moment, saw changes of others: %s", m.Misses, viewed, m.Miss)
		}
	}
}

// viewingOperations is how many operations that mix has. Stores that do not delete
// what is not there fail where a writer is not in turn: a measurement gives up
// after 1000 failures.
const viewingOperations = 900

// looksAndChanges is the mix that consistentViews runs.
func (s *store) looksAndChanges() wire.Operation {
	blob := column.Blob
	looks := wire.Operation{Name: "looks", Transaction: 1}
	var keys []any
	for range viewed {
		looks.Steps = append(looks.Steps, getStep(1), getStep(0)) // the sum is what is checked
		keys = append(keys, []byte("a"), []byte("b"))
	}
	looks.Trace = s.trace("looks", slices.Repeat([]column.Type{blob}, len(keys)), keys)
	op := wire.Operation{Name: "looks and changes", RetryBusy: true, Parts: []wire.Operation{looks}}
	for key, other := range map[string]string{"a": "b", "b": "a"} {
		change := wire.Operation{Name: "only " + key, Changes: true, Transaction: 1, Steps: []wire.Step{putStep(), deleteStep()}}
		change.Trace = s.trace("only-"+key, []column.Type{blob, blob, blob}, []any{[]byte(key), []byte("1"), []byte(other)})
		op.Parts = append(op.Parts, change)
	}
	var draws [][]any
	for i := range viewingOperations {
		draws = append(draws, []any{[]int64{0, 1, 0, 2}[i%4], int64(0)})
	}
	op.Trace = s.trace("draws", []column.Type{column.Int, column.Int}, draws...)
	return op
}

// freshViews gets two keys in one transaction before and after one of them is
// put.
func freshViews(b *bench) {
	s := newStore(b, nil)
	s.load(map[string]string{"a": "1"}, []string{"a"})
	keys := [][]any{{[]byte("a")}, {[]byte("b")}}
	name, err := s.tryPrepare(wire.Operation{Steps: []wire.Step{getStep(1)}, Transaction: len(keys)}, 1, keys...)
	if refusal(err) != nil {
		return
	}
	must(err)
	look := func(when string, units, misses int64) {
		m := s.block(name, 2)
		expect("operations "+when, m.Operations, units*2)
		expect("misses "+when, m.Misses, misses)
	}
	look("before the second key is put", 0, 1)
	s.right(wire.Operation{Steps: []wire.Step{putStep()}, Changes: true}, 1, []any{[]byte("b"), []byte("2")})
	look("after the second key was put", 1, 0)
}
