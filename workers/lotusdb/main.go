// Worker lotusdb drives github.com/lotusdblabs/lotusdb: a log-structured merge
// tree whose indexes are B+ trees, with values kept apart, in partitions.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"assay/kit/kv"
	"assay/kit/kvdb"

	"github.com/lotusdblabs/lotusdb/v2"
)

func main() {
	_ = os.Remove(lotusdb.DefaultOptions.DirPath) // the library makes a folder when it is loaded, which nobody uses
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
	path  string
	batch lotusdb.BatchOptions
}

// open asks for syncs in the options of batches. Nothing else makes v2.1.0 sync:
// a Put sets what it was asked for to false (PutWithOptions), and with the
// option of the database nobody does, because the log writes without syncs and
// the table leaves them to the log (memtable.putBatch).
func open(c kvdb.Config) (kvdb.Store, error) {
	options := lotusdb.DefaultOptions
	options.DirPath = c.Path
	if text, ok := c.Settings[kv.BlockCache]; ok {
		size, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return nil, err
		}
		options.BlockCache = uint32(size)
	}
	db, err := lotusdb.Open(options)
	batch := lotusdb.DefaultBatchOptions
	batch.Sync = c.Sync(batch.Sync)
	return &store{db, c.Path, batch}, err
}

func (s *store) Get(key, into []byte) ([]byte, bool, error) {
	stored, err := s.db.Get(key)
	return answer(into, stored, err)
}

// answer copies what the library answers, which may be its own memory.
func answer(into, stored []byte, err error) ([]byte, bool, error) {
	if errors.Is(err, lotusdb.ErrKeyNotFound) {
		return into, false, nil
	}
	return append(into, stored...), err == nil, err
}

func (s *store) Scan(from []byte, n int, visit func(key, value []byte) error) error {
	cursor, err := s.db.NewIterator(lotusdb.IteratorOptions{})
	if err != nil {
		return err
	}
	for cursor.Seek(from); n > 0 && cursor.Valid(); cursor.Next() {
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

// Update commits what was put before an error too: a batch cannot be given up.
func (s *store) Update(change func(kvdb.Writer) error) error {
	batch := s.db.NewBatch(s.batch)
	if err := change(writer{batch}); err != nil {
		return errors.Join(err, batch.Commit()) // there is no other way to give its lock back
	}
	return batch.Commit()
}

// View is a batch that only reads. It keeps the store's lock, so that writers
// wait for its end.
func (s *store) View(look func(kvdb.Getter) error) error {
	batch := s.db.NewBatch(lotusdb.BatchOptions{ReadOnly: true})
	return errors.Join(look(writer{batch}), batch.Commit())
}

// Durability is less than documented: "power" with syncs; without them "if the
// machine crashes, then some recent writes may be lost", and with a process that
// crashes "no writes will be lost". A log whose end is not whole is not cut: such
// a store does not open (openMemtable returns the error of the checksum), and the
// index is written without syncs. With syncs or without, a disk that runs full
// leaves such an end, and so can a power cut, and a kill within a write:
//
//	assay crash kv --drivers lotusdb --only profile=synced,unsynced --faults kill,full,eio --states 30 --seed 2
//	assay crash kv --drivers lotusdb --only profile=synced,unsynced --faults power --states 300 --seed 1
func (s *store) Durability() string { return "none" }

// Effective is empty: the database does not show its options.
func (s *store) Effective() map[string]string { return map[string]string{} }

// flushPatience is longer than any flush of memtables takes.
const flushPatience = time.Minute

// Settle waits until all full memtables are flushed. Each memtable has a log,
// which is deleted before its flush ends; that of the active one stays.
func (s *store) Settle() error {
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		logs, err := filepath.Glob(filepath.Join(s.path, "*.SEG.*"))
		if err != nil || len(logs) <= 1 && !flushing() {
			return err
		}
		if time.Since(began) > flushPatience {
			return fmt.Errorf("%s: memtables are not flushed after %v", s.path, flushPatience)
		}
	}
}

// flushing reports whether a goroutine of the library is flushing a memtable. Its
// stack is the only sign of that.
func flushing() bool {
	stacks := make([]byte, 1<<20)
	return bytes.Contains(stacks[:runtime.Stack(stacks, true)], []byte("lotusdb/v2.(*DB).flushMemtable("))
}

// Close settles first, because DB.Close waits for flushes while it holds the
// lock that they need, without end. It syncs what was not synced before, which
// DB.Close does not.
func (s *store) Close() error {
	if err := s.Settle(); err != nil {
		return err
	}
	if !s.batch.Sync {
		if err := s.db.Sync(); err != nil {
			return err
		}
	}
	return s.db.Close()
}

type writer struct{ *lotusdb.Batch }

func (w writer) Put(key, value []byte) error {
	if len(value) == 0 {
		return errEmpty
	}
	return w.Batch.Put(key, value)
}

func (w writer) Get(key, into []byte) ([]byte, bool, error) {
	stored, err := w.Batch.Get(key)
	return answer(into, stored, err)
}
