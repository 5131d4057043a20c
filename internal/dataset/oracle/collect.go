package oracle

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"assay"
	"assay/kit/answer"
	"assay/kit/column"
	"assay/kit/kv"
)

// collection is what is to be looked at, taken from one shard of the keys after
// the other.
type collection struct {
	random    *rand.Rand
	records   *column.File
	checks    []*fieldCheck // one for each field
	found     Keys
	untouched sample[int] // rows of records that nothing was written to
}

// fieldCheck are the keys to be looked at, for one field.
type fieldCheck struct {
	field, fields int
	path          string
	keys          *column.Builder // those that can hold one value only, or none
	exact         int
	values        *answer.Hash // of those keys that are there, in their order
	contested     sample[contestedKey]
}

// contestedKey is a key that was written several times, with the values that it may
// have; nil is none.
type contestedKey struct {
	key []byte
	may [][]byte
}

// newCollection makes files whose names begin with path.
func newCollection(records *column.File, fields int, seed uint64, path string) (*collection, error) {
	c := &collection{random: rand.New(rand.NewPCG(seed, uint64(records.Rows()))), records: records, untouched: sample[int]{most: sampledUntouched}}
	c.found.All = assay.Query{SQL: kv.Of(fields).All, Returns: slices.Repeat([]assay.Type{"blob"}, 1+fields)}
	for field := range fields {
		values, err := answer.New([]string{"blob"})
		if err != nil {
			return nil, err
		}
		c.checks = append(c.checks, &fieldCheck{field: field, fields: fields, path: fmt.Sprintf("%s-%d.col", path, field), values: values,
			keys: column.NewFileBuilder(filepath.Dir(path), column.Blob), contested: sample[contestedKey]{most: sampledContested / fields}})
	}
	return c, nil
}

// close removes temporary files.
func (c *collection) close() error {
	var errs []error
	for _, l := range c.checks {
		errs = append(errs, l.keys.Close())
	}
	return errors.Join(errs...)
}

// add takes what is known of a shard.
func (c *collection) add(h *history) error {
	for row := range c.records.Rows() {
		key := c.records.Bytes(0, row)
		if h.keys[string(key)] != nil || !h.shard.has(key) {
			continue
		}
		c.found.Least, c.found.Most = c.found.Least+1, c.found.Most+1
		c.untouched.offer(c.random, row)
	}
	c.found.Written += len(h.keys)
	for _, key := range slices.Sorted(maps.Keys(h.keys)) {
		if err := c.addWritten([]byte(key), h.keys[key]); err != nil {
			return err
		}
	}
	return nil
}

func (c *collection) addWritten(key []byte, f *keyHistory) error {
	f.close()
	if f.mayBeThere() {
		c.found.Most++
	}
	if !f.mayBeGone() {
		c.found.Least++
	}
	for _, l := range c.checks {
		may := f.may[l.field]
		if len(may) > 1 {
			l.contested.offer(c.random, contestedKey{key, may})
			continue
		}
		if err := l.add(key, may[0]); err != nil {
			return err
		}
	}
	return nil
}

// add takes a key that holds a value, or none where that is nil.
func (l *fieldCheck) add(key, value []byte) error {
	l.exact++
	if err := l.keys.Append(key); err != nil || value == nil {
		return err
	}
	return l.values.Row([]any{value})
}

// keys ends the collection: behind the keys of all shards come the untouched and
// the contested ones.
func (c *collection) keys() (*Keys, error) {
	for _, l := range c.checks {
		for _, row := range c.untouched.taken {
			if err := l.add(c.records.Bytes(0, row), fieldOf(c.records.Bytes(1, row), l.field, l.fields)); err != nil {
				return nil, err
			}
		}
		values, err := l.finish()
		if err != nil {
			return nil, err
		}
		c.found.Values = append(c.found.Values, values)
	}
	return &c.found, nil
}

func (l *fieldCheck) finish() (Values, error) {
	v := Values{Get: l.get(), Path: l.path, Exact: l.exact, Digest: l.values.Sum()}
	for _, one := range l.contested.taken {
		var allowed []string
		for _, value := range one.may {
			digest, err := digestOf(value)
			if err != nil {
				return v, err
			}
			allowed = append(allowed, digest)
		}
		v.Allowed = append(v.Allowed, allowed)
		if err := l.keys.Append(one.key); err != nil {
			return v, err
		}
	}
	return v, l.keys.WriteFile(l.path)
}

// sample takes some of what it is offered, all with the same chance (Vitter's
// algorithm R).
type sample[T any] struct {
	most    int
	offered int
	taken   []T
}

func (s *sample[T]) offer(random *rand.Rand, one T) {
	s.offered++
	if len(s.taken) < s.most {
		s.taken = append(s.taken, one)
	} else if i := random.IntN(s.offered); i < s.most {
		s.taken[i] = one
	}
}
