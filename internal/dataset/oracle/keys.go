// Package oracle says what a database has to answer, and to hold, after the
// operations of a plan. It never asks the driver that is measured.
package oracle

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"assay"
	"assay/internal/dataset"
	"assay/kit/column"
	"assay/kit/kv"
	"assay/kit/wire"
)

const (
	// sampledUntouched is how many of the keys that nothing was written to are
	// looked at.
	sampledUntouched = 1000
	// sampledRewritten is how many of the keys that were written several times
	// are looked at: each costs a request. Where values have fields, they share
	// it.
	sampledRewritten = 2000
)

// Keys holds what the keys of a store may hold after several clients have changed
// them at the same time, in an order that nobody knows.
type Keys struct {
	// Values has what the keys' values may be; where values have fields, what
	// each field may be, in their order.
	Values []Values
	// All reads the whole store.
	All assay.Query
	// Least and Most are how many keys the store has afterwards.
	Least, Most int
}

// Done says how many operations were done, at the first positions of a trace: those
// of the warm-up, then those that were measured, then those that one client did
// alone. None began before all of the kind before it had ended.
type Done struct{ Warm, Measured, OneClient int }

// Played is operations that clients have done to data.
type Played struct {
	Data      *dataset.Data
	Operation assay.Operation
	Trace     *dataset.Trace
	Done      Done
	Clients   int // during those that were measured
	Engine    Engine
}

// Name names what the operations leave in the data where the order does not matter:
// they and their arguments decide it. Operations with the same arguments have the same
// trace.
func (p Played) Name() string {
	text, err := json.Marshal([]any{p.Operation, p.Trace.Digest, p.Done})
	if err != nil {
		panic(err) // a constant of a plan is a number, a text, bytes or a truth
	}
	return fmt.Sprintf("%.8x", sha256.Sum256(text))
}

// Keys returns what a store's keys may hold afterwards.
func (p Played) Keys(ctx context.Context) (_ *Keys, err error) {
	path, err := p.Data.Records(ctx)
	if err != nil {
		return nil, err
	}
	records, err := column.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, records.Close()) }()
	arguments, err := p.Trace.Arguments(p.Operation)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, arguments.Close()) }()
	s := &store{records: records, fields: fieldsOf(p.Operation), random: rand.New(rand.NewPCG(p.Data.Spec.Seed, uint64(records.Rows()))),
		path: filepath.Join(filepath.Dir(p.Data.Path), "keys-"+p.Name())}
	writes, err := writesOf(arguments, p.Done)
	if err != nil {
		return nil, err
	}
	s.write(writes)
	return s.keys(ctx)
}

// fieldsOf returns how many fields a value has; 1 where it has none.
func fieldsOf(op assay.Operation) int {
	fields := 1
	for _, step := range op.Steps {
		fields = max(fields, step.Fields)
	}
	for _, part := range op.Parts {
		fields = max(fields, fieldsOf(part.Operation))
	}
	return fields
}

// store is the records of a store, and what was written to its keys.
type store struct {
	records   *column.File
	fields    int // of a value; 1 where it has none
	random    *rand.Rand
	path      string       // of the files with keys begins so
	written   []writtenKey // in the order of the keys
	untouched []int        // rows of records that nothing was written to
}

// write adds what was written, which is in the order of the keys.
func (s *store) write(all []write) {
	rows := dataset.Span(0, s.records.Rows())
	slices.SortFunc(rows, func(a, b int) int { return bytes.Compare(s.records.Bytes(0, a), s.records.Bytes(0, b)) })
	touched := make([]bool, len(rows))
	for len(all) > 0 {
		key := all[0].key
		n := slices.IndexFunc(all, func(w write) bool { return !bytes.Equal(w.key, key) })
		if n < 0 {
			n = len(all)
		}
		one := writtenKey{key: key, writes: all[:n]}
		if i, there := slices.BinarySearchFunc(rows, key, func(row int, key []byte) int { return bytes.Compare(s.records.Bytes(0, row), key) }); there {
			touched[rows[i]], one.before = true, s.records.Bytes(1, rows[i])
		}
		s.written, all = append(s.written, one), all[n:]
	}
	for row, was := range touched {
		if !was {
			s.untouched = append(s.untouched, row)
		}
	}
}

func (s *store) keys(ctx context.Context) (*Keys, error) {
	found := &Keys{Least: len(s.untouched), Most: len(s.untouched)}
	found.All = assay.Query{SQL: kv.Of(s.fields).All, Returns: slices.Repeat([]assay.Type{"blob"}, 1+s.fields)}
	for _, k := range s.written {
		may := k.allowedValues(0, s.fields)
		if slices.ContainsFunc(may, func(v []byte) bool { return v != nil }) {
			found.Most++
		}
		if may[0] != nil {
			found.Least++
		}
	}
	s.untouched = sampleOf(s.random, s.untouched, sampledUntouched)
	for field := range s.fields {
		values, err := s.field(ctx, field)
		if err != nil {
			return nil, err
		}
		if values != nil {
			found.Values = append(found.Values, *values)
		}
	}
	return found, ctx.Err()
}

// field returns what one field of the keys may hold, or the value where it has none.
func (s *store) field(ctx context.Context, field int) (*Values, error) {
	return makeValues(s.get(field), fmt.Sprintf("%s-%d.col", s.path, field), []column.Type{column.Blob}, func(b *valuesBuilder) error {
		var rewritten []writtenKey
		for _, k := range s.written {
			may := k.allowedValues(field, s.fields)
			if len(may) > 1 {
				rewritten = append(rewritten, k)
			} else if err := b.add([]any{k.key}, rowOf(may[0])); err != nil {
				return err
			}
		}
		for _, row := range s.untouched {
			if err := b.add([]any{s.records.Bytes(0, row)}, rowOf(fieldOf(s.records.Bytes(1, row), field, s.fields))); err != nil {
				return err
			}
		}
		for _, k := range sampleOf(s.random, rewritten, sampledRewritten/s.fields) {
			var allowed []string
			for _, value := range k.allowedValues(field, s.fields) {
				digest, err := digestRows(b.types, rowOf(value))
				if err != nil {
					return err
				}
				allowed = append(allowed, digest)
			}
			if err := b.contest([]any{k.key}, allowed); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
}

// rowOf is the answer to a get; nil where the key is not there.
func rowOf(value []byte) []any {
	if value == nil {
		return nil
	}
	return []any{value}
}

// get reads the field, or the value where it has none.
func (s *store) get(field int) assay.Operation {
	step := assay.Step{KV: wire.Get, SQL: kv.Get, Query: true, Args: []assay.Values{{Kind: assay.Key}}, Rows: -1, Returns: []assay.Type{"blob"}}
	if s.fields > 1 {
		step.KV, step.SQL, step.Fields, step.Field = wire.GetField, kv.Of(s.fields).GetField(field), s.fields, field
	}
	return assay.Operation{Name: fmt.Sprintf("field %d after the block", field), Steps: []assay.Step{step}}
}
