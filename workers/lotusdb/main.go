// Worker lotusdb drives github.com/lotusdblabs/lotusdb: a log-structured merge
// tree whose indexes are B+ trees, with values kept apart, in partitions.
package main

import (
	"errors"
	"os"
	"strconv"

	"assay/kit/kv"
	"assay/kit/kvdb"

	"github.com/lotusdblabs/lotusdb/v2"
)

func main() {
	os.Exit(kvdb.Main(kvdb.Driver{
		Name:     "lotusdb",
		Module:   "github.com/lotusdblabs/lotusdb/v2",
		Settings: []string{kv.Sync, kv.BlockCache},
		Open:     open,
		Busy:     func(err error) bool { return errors.Is(err, lotusdb.ErrWaitMemtableSpaceTimeOut) },
	}))
}

type store struct {
	db    *lotusdb.DB
	batch lotusdb.BatchOptions
}

// open asks for syncs in the options of batches. Nothing else makes v2.1.0 sync:
// a Put sets what it was asked for to false (PutWithOptions), and with the
// option of the database nobody does, because the log writes without syncs and
// the table leaves them to the log (memtable.putBatch).
func open(c kvdb.Config) (kvdb.Store, error) {
	options := lotusdb.DefaultOptions
	_ = os.Remove(options.DirPath) // the library makes one for itself when it is loaded
	options.DirPath = c.Path
	if text, ok := c.Settings[kv.BlockCache]; ok {
		bytes, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return nil, err
		}
		options.BlockCache = uint32(bytes)
	}
	db, err := lotusdb.Open(options)
	batch := lotusdb.DefaultBatchOptions
	batch.Sync = c.Sync(batch.Sync)
	return &store{db, batch}, err
}

func (s *store) Get(key, into []byte) ([]byte, bool, error) {
	return answer(into)(s.db.Get(key))
}

// answer copies what the library answers, which may be its own memory.
func answer(into []byte) func(stored []byte, err error) ([]byte, bool, error) {
	return func(stored []byte, err error) ([]byte, bool, error) {
		if errors.Is(err, lotusdb.ErrKeyNotFound) {
			return into, false, nil
		}
		return append(into, stored...), err == nil, err
	}
}

func (s *store) Scan(from []byte, n int, visit func(key, value []byte) error) error {
	cursor, err := s.db.NewIterator(lotusdb.IteratorOptions{})
	if err != nil {
		return err
	}
	for cursor.Seek(from); cursor.Valid() && n > 0; cursor.Next() {
		if err := visit(cursor.Key(), cursor.Value()); err != nil {
			return errors.Join(err, cursor.Close())
		}
		n--
	}
	return cursor.Close()
}

// errEmpty: the library takes a value without bytes for none as long as it is
// in memory (Batch.Get of v2.1.0).
var errEmpty = errors.New("lotusdb does not find keys with empty values, so that none is put")

func (s *store) Put(key, value []byte) error {
	if len(value) == 0 {
		return errEmpty
	}
	if s.batch.Sync {
		return s.Update(func(w kvdb.Writer) error { return w.Put(key, value) })
	}
	return s.db.Put(key, value)
}

func (s *store) Delete(key []byte) error {
	if s.batch.Sync {
		return s.Update(func(w kvdb.Writer) error { return w.Delete(key) })
	}
	return s.db.Delete(key)
}

func (s *store) Update(change func(kvdb.Writer) error) error {
	batch := s.db.NewBatch(s.batch)
	if err := change(writer{batch}); err != nil {
		return errors.Join(err, batch.Commit()) // there is no other way to give its lock back
	}
	return batch.Commit()
}

// Durability without syncs, by the library's documentation: "if the machine
// crashes, then some recent writes may be lost". Its log has checksums.
func (s *store) Durability() string {
	if s.batch.Sync {
		return "power"
	}
	return "consistent"
}

// Effective is empty: the database does not show its options.
func (s *store) Effective() map[string]string { return map[string]string{} }

func (s *store) Close() error { return s.db.Close() }

type writer struct{ *lotusdb.Batch }

func (w writer) Put(key, value []byte) error {
	if len(value) == 0 {
		return errEmpty
	}
	return w.Batch.Put(key, value)
}

func (w writer) Get(key, into []byte) ([]byte, bool, error) {
	return answer(into)(w.Batch.Get(key))
}
