// Worker nutsdb drives github.com/nutsdb/nutsdb: an append-only log with an
// index, and by default all values, in memory.
package main

import (
	"bytes"
	"errors"
	"os"

	"assay/kit/kv"
	"assay/kit/kvdb"

	"github.com/nutsdb/nutsdb"
)

func main() {
	os.Exit(kvdb.Main(kvdb.Driver{
		Name:     "nutsdb",
		Module:   "github.com/nutsdb/nutsdb",
		Settings: []string{kv.Sync},
		NoScan:   noScan,
		Open:     open,
	}))
}

const bucket = "kv"

// noScan is why there are no scans: NewIterator begins an iteration of
// tidwall/btree that only Release ends, and nothing calls that. RangeScan and
// PrefixScan answer values without keys.
const noScan = "the iterator of nutsdb v1.0.4 keeps a lock that it never gives back: the next write would wait without end"

type store struct {
	db   *nutsdb.DB
	sync bool
}

func open(c kvdb.Config) (kvdb.Store, error) {
	options := nutsdb.DefaultOptions
	options.Dir = c.Path
	options.SyncEnable = c.Sync(options.SyncEnable)
	db, err := nutsdb.Open(options)
	if err != nil {
		return nil, err
	}
	err = db.Update(func(tx *nutsdb.Tx) error {
		if tx.ExistBucket(nutsdb.DataStructureBTree, bucket) {
			return nil
		}
		return tx.NewBucket(nutsdb.DataStructureBTree, bucket)
	})
	return &store{db, options.SyncEnable}, err
}

func (s *store) Get(key, into []byte) (value []byte, found bool, err error) {
	value = into
	err = s.db.View(func(tx *nutsdb.Tx) error {
		value, found, err = get(tx, key, into)
		return err
	})
	return value, found, err
}

func get(tx *nutsdb.Tx, key, into []byte) ([]byte, bool, error) {
	stored, err := tx.Get(bucket, key)
	if errors.Is(err, nutsdb.ErrKeyNotFound) || errors.Is(err, nutsdb.ErrNotFoundKey) || errors.Is(err, nutsdb.ErrNotFoundBucket) {
		return into, false, nil // a bucket without keys has no index
	}
	return append(into, stored...), err == nil, err
}

// Scan reads everything; see noScan.
func (s *store) Scan(_ []byte, _ int, visit func(key, value []byte) error) error {
	return s.db.View(func(tx *nutsdb.Tx) error {
		keys, values, err := tx.GetAll(bucket)
		if errors.Is(err, nutsdb.ErrBucketEmpty) || errors.Is(err, nutsdb.ErrNotFoundBucket) {
			return nil
		}
		for i := range keys {
			if err = errors.Join(err, visit(keys[i], values[i])); err != nil {
				break
			}
		}
		return err
	})
}

func (s *store) Put(key, value []byte) error {
	return s.db.Update(func(tx *nutsdb.Tx) error { return put(tx, key, value) })
}

// put copies key and value, because the library's index keeps what it is given.
func put(tx *nutsdb.Tx, key, value []byte) error {
	return tx.Put(bucket, bytes.Clone(key), bytes.Clone(value), nutsdb.Persistent)
}

func (s *store) Delete(key []byte) error {
	err := s.db.Update(func(tx *nutsdb.Tx) error { return tx.Delete(bucket, key) })
	if errors.Is(err, nutsdb.ErrKeyNotFound) || errors.Is(err, nutsdb.ErrNotFoundBucket) {
		return nil // as with other stores
	}
	return err
}

func (s *store) Update(change func(kvdb.Writer) error) error {
	return s.db.Update(func(tx *nutsdb.Tx) error { return change(writer{tx}) })
}

func (s *store) View(look func(kvdb.Getter) error) error {
	return s.db.View(func(tx *nutsdb.Tx) error { return look(writer{tx}) })
}

// Durability is less than documented: with syncs "all changes are persisted to
// disk", without them "potential data loss likely". A log whose end is not whole
// is not cut: such a store does not open (parseDataFiles returns the error of the
// checksum). With syncs or without, a disk that runs full leaves that, and so can a
// power cut, and a kill within the write of a transaction:
//
//	assay crash kv --drivers nutsdb --only profile=synced,unsynced --faults kill,full,eio --states 30 --seed 2
//	assay crash kv --drivers nutsdb --only profile=synced,unsynced --faults power --states 300 --seed 1
func (s *store) Durability() string { return "none" }

// Effective is empty: the database does not show its options.
func (s *store) Effective() map[string]string { return map[string]string{} }

// Close syncs the newest segment where nothing did before: the library syncs
// none when it closes.
func (s *store) Close() error {
	if !s.sync {
		if err := s.db.ActiveFile.Sync(); err != nil {
			return err
		}
	}
	return s.db.Close()
}

type writer struct{ tx *nutsdb.Tx }

func (w writer) Get(key, into []byte) ([]byte, bool, error) { return get(w.tx, key, into) }

func (w writer) Put(key, value []byte) error {
	return put(w.tx, key, value)
}

// Delete does not hide that a key is not there: one that the transaction itself
// put is not there either, and would stay.
func (w writer) Delete(key []byte) error { return w.tx.Delete(bucket, key) }
