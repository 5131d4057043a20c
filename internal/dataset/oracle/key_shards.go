package oracle

import (
	"bytes"
	"slices"

	"assay/kit/column"
)

const (
	// shardKeys is how many keys a shard has, about: each takes some 300 bytes.
	shardKeys = 1 << 15
	// keysLooked is how many keys of a shard are looked at to find where it ends.
	keysLooked = 64
)

// shards parts the keys of records and of what is written, in order.
func shards(records *column.File, w *writes, done Done) []shard {
	count := 1 + (done.positions()+records.Rows())/shardKeys
	if count == 1 {
		return []shard{{}}
	}
	const stride = shardKeys / keysLooked
	var some someKeys
	for row := 0; row < records.Rows(); row += stride {
		some.keys = append(some.keys, records.Bytes(0, row))
	}
	for position := 0; position < done.positions(); position += stride {
		w.at(position, &some)
	}
	slices.SortFunc(some.keys, bytes.Compare)
	all, low := []shard(nil), []byte(nil)
	for i := 1; i < count; i++ {
		high := some.keys[i*len(some.keys)/count]
		all, low = append(all, shard{low, high}), high
	}
	return append(all, shard{low, nil})
}

// someKeys are keys that were written.
type someKeys struct{ keys [][]byte }

func (s *someKeys) put(key []byte, _ [][]byte)         { s.keys = append(s.keys, key) }
func (s *someKeys) update(key []byte, _ int, _ []byte) { s.keys = append(s.keys, key) }
func (s *someKeys) delete(key []byte)                  { s.keys = append(s.keys, key) }
