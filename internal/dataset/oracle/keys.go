// Package oracle says what a database has to answer, and to hold, after the
// operations of a plan. It never asks the driver that is measured.
package oracle

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"assay"
	"assay/internal/dataset"
	"assay/kit/answer"
	"assay/kit/column"
	"assay/kit/kv"
	"assay/kit/wire"
)

const (
	// sampledUntouched is how many of the keys that nothing was written to are
	// looked at.
	sampledUntouched = 1000
	// sampledContested is how many of the keys that were written several times
	// are looked at: each costs a request. Where values have fields, they share
	// it.
	sampledContested = 2000
)

// Keys is what the keys of a store may hold after several clients have changed
// them at the same time, in an order that nobody knows.
type Keys struct {
	// Values has what the keys' values may be; where values have fields, what
	// each field may be, in their order.
	Values []Values
	// All reads the whole store.
	All assay.Query
	// Written is how many keys were written, and Least and Most how many the
	// store has afterwards.
	Written, Least, Most int
}

// Values is what the values of keys, or one field of them, may be.
type Values struct {
	// Get reads one key. It answers no row where the key is not there.
	Get  assay.Operation
	Path string // of a column file with the keys to be read, one to a row
	// Exact is how many keys, the first ones, can hold one value only, or none:
	// a sample of those that were not written at all, and all that were written
	// once, or last by one client alone. Digest is that of their answers.
	Exact  int
	Digest string
	// Allowed has for each key behind those, a sample of those that were written
	// several times, the digests of the answers that it may give.
	Allowed [][]string
}

// Done is how many operations were done, at the first positions of a trace: those
// of the warm-up, then those that were measured, then those that one client did
// alone. None began before all of the kind before it had ended.
type Done struct{ Warm, Measured, Alone int }

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
	records, err := recordsOf(ctx, p.Data)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, records.Close()) }()
	w, err := newWrites(p.Operation, p.Trace)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	c, err := newCollection(records, w.fields, p.Data.Spec.Seed, filepath.Join(filepath.Dir(p.Data.Path), "keys-"+p.Name()))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	for _, part := range shards(records, w, p.Done) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		h := newHistory(records, w.fields, part)
		h.replay(w, p.Done)
		if err := c.add(h); err != nil {
			return nil, err
		}
	}
	return c.keys()
}

func (d Done) positions() int { return d.Warm + d.Measured + d.Alone }

// replay does what the operations write.
func (h *history) replay(w *writes, done Done) {
	for position := range done.positions() {
		switch position {
		case done.Warm + done.Measured:
			h.phase = alone
		case done.Warm:
			h.phase = measuring
		}
		if position%shardKeys == 0 { // a file of a million values is large
			w.release()
		}
		w.at(position, h)
	}
}

func recordsOf(ctx context.Context, d *dataset.Data) (*column.File, error) {
	path, err := d.Records(ctx)
	if err != nil {
		return nil, err
	}
	return column.Open(path)
}

// get reads the field, or the value where it has none.
func (l *fieldCheck) get() assay.Operation {
	step := assay.Step{KV: wire.Get, SQL: kv.Get, Query: true, Args: []assay.Values{{Kind: assay.Key}}, Rows: -1, Returns: []assay.Type{"blob"}}
	if l.fields > 1 {
		step.KV, step.SQL, step.Fields, step.Field = wire.GetField, kv.Of(l.fields).GetField(l.field), l.fields, l.field
	}
	return assay.Operation{Name: fmt.Sprintf("field %d after the block", l.field), Steps: []assay.Step{step}}
}

// digestOf is the digest of an answer of these values, a row each. A value that
// is nil is not there.
func digestOf(values ...[]byte) (string, error) {
	hash, err := answer.New([]string{"blob"})
	for _, value := range values {
		if err == nil && value != nil {
			err = hash.Row([]any{value})
		}
	}
	if err != nil {
		return "", err
	}
	return hash.Sum(), nil
}
