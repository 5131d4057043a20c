package oracle

import (
	"errors"
	"path/filepath"

	"assay"
	"assay/kit/answer"
	"assay/kit/column"
)

// Values holds what the values of keys, or one field of them, may be.
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

// valuesBuilder collects the keys of Values, the exact ones first.
type valuesBuilder struct {
	Values
	types []assay.Type
	keys  *column.Builder
	rows  *answer.Hash
}

// makeValues returns what build adds; nil where that is nothing.
func makeValues(get assay.Operation, path string, keys []column.Type, build func(*valuesBuilder) error) (_ *Values, err error) {
	b := &valuesBuilder{Values: Values{Get: get, Path: path}, types: get.Steps[0].Returns, keys: column.NewFileBuilder(filepath.Dir(path), keys...)}
	defer func() { err = errors.Join(err, b.keys.Close()) }()
	b.rows = answer.New(assay.TypeNames(b.types))
	if err := build(b); err != nil || b.Exact+len(b.Allowed) == 0 {
		return nil, err
	}
	b.Digest = b.rows.Sum()
	return &b.Values, b.keys.WriteFile(path)
}

// add takes a key whose row is known; a row that is nil is not there.
func (b *valuesBuilder) add(key, row []any) error {
	b.Exact++
	if row != nil {
		if err := b.rows.Row(row); err != nil {
			return err
		}
	}
	return b.keys.Append(key...)
}

// contest takes a key with the digests of the answers that it may give.
func (b *valuesBuilder) contest(key []any, allowed []string) error {
	b.Allowed = append(b.Allowed, allowed)
	return b.keys.Append(key...)
}

// digestRows is the digest of an answer. A row that is nil is not there.
func digestRows(types []assay.Type, rows ...[]any) (digest string, err error) {
	hash := answer.New(assay.TypeNames(types))
	for _, row := range rows {
		if err == nil && row != nil {
			err = hash.Row(row)
		}
	}
	return hash.Sum(), err
}
