// Package oracle says what a database has to answer, and to hold, after the
// operations of a plan. It never asks the driver that is measured.
package oracle

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"

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
	// are looked at: each costs a request.
	sampledContested = 2000
)

// Keys is what the keys of a store may hold after several clients have changed
// them at the same time, in an order that nobody knows.
type Keys struct {
	Path string // of a column file with the keys to be read, one to a row
	// Exact is how many keys, the first ones, can hold one value only, or none:
	// a sample of those that were not written at all, and all that were written
	// once. Digest is that of their answers.
	Exact  int
	Digest string
	// Allowed has for each key behind those, a sample of those that were written
	// several times, the digests of the answers that it may give: one of the
	// values that were written to it, or none where it was deleted too.
	Allowed [][]string
	// Written is how many keys were written, and Least and Most how many the
	// store has afterwards.
	Written, Least, Most int
}

// Get reads one key. It answers no row where the key is not there.
func Get() assay.Operation {
	return assay.Operation{Name: "key", Steps: []assay.Step{{KV: wire.Get, SQL: kv.Get, Query: true,
		Args: []assay.Values{{Kind: assay.Key}}, Rows: -1, Returns: []assay.Type{"blob"}}}}
}

// After returns what the keys may hold after the positions 0, ...,
// warm+count-1 of an operation's trace. Those before warm were finished before
// the others began.
func After(ctx context.Context, d *dataset.Data, op assay.Operation, trace *dataset.Trace, warm, count int) (_ *Keys, err error) {
	records, err := recordsOf(ctx, d)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, records.Close()) }()
	h := &history{keys: map[string]*fate{}}
	w, err := newWrites(op, trace)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	for position := range warm + count {
		h.measured = position >= warm
		w.at(position, h.put, h.delete)
	}
	keys, err := h.keysOf(records, d.Spec.Seed)
	if err != nil {
		return nil, err
	}
	return keys.Keys, keys.write(filepath.Dir(d.Path), trace.Digest, warm, count)
}

func recordsOf(ctx context.Context, d *dataset.Data) (*column.File, error) {
	path, err := d.Records(ctx)
	if err != nil {
		return nil, err
	}
	return column.Open(path)
}

// fate is what was done to a key.
type fate struct {
	values   [][]byte // that were written, in mapped memory
	deleted  bool
	measured bool // by the measured operations, not by the warm-up
}

// settled tells whether the key can have one value only, or none.
func (f *fate) settled() bool { return f.deleted != (len(f.values) == 1) && len(f.values) < 2 }

// answers are the digests that the key may answer.
func (f *fate) answers() ([]string, error) {
	all := map[string]bool{}
	for _, value := range f.values {
		digest, err := digestOf(value)
		if err != nil {
			return nil, err
		}
		all[digest] = true
	}
	if f.deleted {
		digest, err := digestOf()
		if err != nil {
			return nil, err
		}
		all[digest] = true
	}
	return slices.Sorted(maps.Keys(all)), nil
}

// digestOf is the digest of an answer of these values, a row each.
func digestOf(values ...[]byte) (string, error) {
	hash, err := answer.New([]string{"blob"})
	for _, value := range values {
		if err == nil {
			err = hash.Row([]any{value})
		}
	}
	if err != nil {
		return "", err
	}
	return hash.Sum(), nil
}

// history is what was done to all keys that were written.
type history struct {
	keys     map[string]*fate
	measured bool
}

// of forgets what the warm-up wrote where the measured operations write too:
// it was over when they began.
func (h *history) of(key []byte) *fate {
	f := h.keys[string(key)]
	if f == nil || f.measured != h.measured {
		f = &fate{measured: h.measured}
		h.keys[string(key)] = f
	}
	return f
}

func (h *history) put(key, value []byte) {
	f := h.of(key)
	f.values = append(f.values, value)
}

func (h *history) delete(key []byte) { h.of(key).deleted = true }

// found is Keys before it is written.
type found struct {
	*Keys
	exact, contested [][]byte
	values           [][]byte // of the exact keys that are there, in their order
}

// keysOf sorts the keys into those that can hold one value and the others.
func (h *history) keysOf(records *column.File, seed uint64) (_ *found, err error) {
	k := &found{Keys: &Keys{Written: len(h.keys)}}
	random := rand.New(rand.NewPCG(seed, uint64(len(h.keys))))
	k.untouched(h, records, random)
	for _, key := range slices.Sorted(maps.Keys(h.keys)) {
		k.add([]byte(key), h.keys[key])
	}
	random.Shuffle(len(k.contested), func(i, j int) { k.contested[i], k.contested[j] = k.contested[j], k.contested[i] })
	k.contested = k.contested[:min(len(k.contested), sampledContested)]
	for _, key := range k.contested {
		answers, err := h.keys[string(key)].answers()
		if err != nil {
			return nil, err
		}
		k.Allowed = append(k.Allowed, answers)
	}
	k.Exact = len(k.exact)
	k.Digest, err = digestOf(k.values...)
	return k, err
}

func (k *found) add(key []byte, f *fate) {
	if len(f.values) > 0 {
		k.Most++
		if !f.deleted {
			k.Least++
		}
	}
	if !f.settled() {
		k.contested = append(k.contested, key)
		return
	}
	k.exact = append(k.exact, key)
	k.values = append(k.values, f.values...)
}

// untouched adds a sample of the records that nothing was written to, and
// counts them all.
func (k *found) untouched(h *history, records *column.File, random *rand.Rand) {
	var sample []int
	all := 0
	for row := range records.Rows() {
		if h.keys[string(records.Bytes(0, row))] != nil {
			continue
		}
		all++
		if len(sample) < sampledUntouched {
			sample = append(sample, row)
		} else if i := random.IntN(all); i < sampledUntouched {
			sample[i] = row
		}
	}
	for _, row := range sample {
		k.exact, k.values = append(k.exact, records.Bytes(0, row)), append(k.values, records.Bytes(1, row))
	}
	k.Least, k.Most = all, all
}

func (k *found) write(folder, trace string, warm, count int) error {
	builder := column.NewBuilder(column.Blob)
	for _, key := range slices.Concat(k.exact, k.contested) {
		if err := builder.Append(key); err != nil {
			return err
		}
	}
	k.Path = filepath.Join(folder, fmt.Sprintf("keys-%.16s-%d-%d.col", trace, warm, count))
	return builder.WriteFile(k.Path)
}
