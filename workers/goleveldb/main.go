// Worker goleveldb drives github.com/syndtr/goleveldb: LevelDB in Go, a
// log-structured merge tree with a write-ahead log.
package main

import (
	"errors"
	"os"
	"strconv"

	"assay/kit/kv"
	"assay/kit/kvdb"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"
)

func main() {
	os.Exit(kvdb.Main(kvdb.Driver{
		Name:     "goleveldb",
		Module:   "github.com/syndtr/goleveldb",
		Settings: []string{kv.Sync, kv.BlockCache},
		Open:     open,
	}))
}

type store struct {
	db    *leveldb.DB
	write *opt.WriteOptions
}

func open(c kvdb.Config) (kvdb.Store, error) {
	options := &opt.Options{}
	if text, ok := c.Settings[kv.BlockCache]; ok {
		bytes, err := strconv.Atoi(text)
		if err != nil {
			return nil, err
		}
		options.BlockCacheCapacity = bytes
		if bytes == 0 {
			options.BlockCacheCapacity = -1 // zero stands for the default
		}
	}
	db, err := leveldb.OpenFile(c.Path, options)
	return &store{db, &opt.WriteOptions{Sync: c.Sync(false)}}, err
}

// Get copies once more than the library does: it has no form that appends.
func (s *store) Get(key, into []byte) ([]byte, bool, error) {
	return get(s.db, key, into)
}

// View reads a snapshot: a transaction of goleveldb is for a writer, and keeps
// others out.
func (s *store) View(look func(kvdb.Getter) error) error {
	snapshot, err := s.db.GetSnapshot()
	if err != nil {
		return err
	}
	defer snapshot.Release()
	return look(reader{snapshot})
}

type reader struct{ *leveldb.Snapshot }

func (r reader) Get(key, into []byte) ([]byte, bool, error) { return get(r.Snapshot, key, into) }

func get(from leveldb.Reader, key, into []byte) ([]byte, bool, error) {
	stored, err := from.Get(key, nil)
	if errors.Is(err, leveldb.ErrNotFound) {
		return into, false, nil
	}
	if len(into) == 0 && err == nil {
		return stored, true, nil // a copy already, and the caller's from now on
	}
	return append(into, stored...), err == nil, err
}

func (s *store) Scan(from []byte, n int, visit func(key, value []byte) error) error {
	cursor := s.db.NewIterator(&util.Range{Start: from}, nil)
	defer cursor.Release()
	for n > 0 && cursor.Next() {
		if err := visit(cursor.Key(), cursor.Value()); err != nil {
			return err
		}
		n--
	}
	return cursor.Error()
}

func (s *store) Put(key, value []byte) error { return s.db.Put(key, value, s.write) }

func (s *store) Delete(key []byte) error { return s.db.Delete(key, s.write) }

func (s *store) Update(change func(kvdb.Writer) error) error {
	w := writer{new(leveldb.Batch), s}
	if err := change(w); err != nil {
		return err
	}
	return s.db.Write(w.batch, s.write)
}

// Durability is less than documented ("power" with syncs). A second power cut,
// while the store recovers from the first one, can leave a CURRENT that names an
// empty manifest, and the store does not open: one or two of the 300 states of
//
//	assay crash kv --drivers goleveldb --only profile=synced --faults power --states 300 --seed 1
//
// Without syncs the log is written with each commit, so that a killed process
// loses nothing. Its checksums are not strict by default: behind a page that a
// power cut left empty, later commits are read as if nothing were missing.
func (s *store) Durability() string { return "process" }

// Effective is empty: options are given with each write, and nothing reads them
// back.
func (s *store) Effective() map[string]string { return map[string]string{} }

func (s *store) Settle() error { return s.db.CompactRange(util.Range{}) }

func (s *store) Close() error { return s.db.Close() }

// writer is a batch, which is not read: reads are of what was committed.
type writer struct {
	batch *leveldb.Batch
	*store
}

func (w writer) Put(key, value []byte) error {
	w.batch.Put(key, value)
	return nil
}

func (w writer) Delete(key []byte) error {
	w.batch.Delete(key)
	return nil
}
