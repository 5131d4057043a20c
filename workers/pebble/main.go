// Worker pebble drives github.com/cockroachdb/pebble: a log-structured merge
// tree with a write-ahead log.
package main

import (
	"bytes"
	"context"
	"errors"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"assay/kit/kv"
	"assay/kit/kvdb"

	"github.com/cockroachdb/pebble/v2"
)

func main() {
	os.Exit(kvdb.Main(kvdb.Driver{
		Name:     "pebble",
		Module:   "github.com/cockroachdb/pebble/v2",
		Settings: []string{kv.Sync, kv.BlockCache, kv.Memtable, kv.L0Compaction, kv.L0Stop},
		Open:     open,
	}))
}

type store struct {
	path  string
	db    *pebble.DB
	cache *pebble.Cache
	write *pebble.WriteOptions
}

// written are the names of settings in the file of options that pebble writes when it
// opens a store.
var written = map[string]string{"cache_size": kv.BlockCache, "mem_table_size": kv.Memtable, "l0_compaction_threshold": kv.L0Compaction, "l0_stop_writes_threshold": kv.L0Stop}

func open(c kvdb.Config) (kvdb.Store, error) {
	s := &store{path: c.Path, write: pebble.Sync}
	if !c.Sync(true) {
		s.write = pebble.NoSync
	}
	options := &pebble.Options{Logger: quiet{}}
	for name, text := range c.Settings {
		if name == kv.Sync {
			continue
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, err
		}
		switch name {
		case kv.BlockCache:
			s.cache = pebble.NewCache(n)
			options.Cache = s.cache
		case kv.Memtable:
			options.MemTableSize = uint64(n)
		case kv.L0Compaction:
			options.L0CompactionThreshold = int(n)
		case kv.L0Stop:
			options.L0StopWritesThreshold = int(n)
		}
	}
	var err error
	s.db, err = pebble.Open(c.Path, options)
	return s, err
}

// quiet drops what pebble tells of its compactions.
type quiet struct{}

func (quiet) Infof(string, ...any)              {}
func (quiet) Errorf(format string, args ...any) { log.Printf(format, args...) }
func (quiet) Fatalf(format string, args ...any) { log.Fatalf(format, args...) }

func (s *store) Get(key, into []byte) ([]byte, bool, error) {
	return get(s.db, key, into)
}

// View reads a snapshot: pebble has no transactions.
func (s *store) View(look func(kvdb.Getter) error) error {
	snapshot := s.db.NewSnapshot()
	return errors.Join(look(reader{snapshot}), snapshot.Close())
}

type reader struct{ *pebble.Snapshot }

func (r reader) Get(key, into []byte) ([]byte, bool, error) { return get(r.Snapshot, key, into) }

func get(from pebble.Reader, key, into []byte) ([]byte, bool, error) {
	stored, closer, err := from.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return into, false, nil
	}
	if err != nil {
		return into, false, err
	}
	into = append(into, stored...)
	return into, true, closer.Close()
}

func (s *store) Scan(from []byte, n int, visit func(key, value []byte) error) error {
	cursor, err := s.db.NewIter(&pebble.IterOptions{LowerBound: from})
	if err != nil {
		return err
	}
	for valid := cursor.First(); valid && n > 0; valid = cursor.Next() {
		value, err := cursor.ValueAndErr()
		if err == nil {
			err = visit(cursor.Key(), value)
		}
		if err != nil {
			return errors.Join(err, cursor.Close())
		}
		n--
	}
	return cursor.Close()
}

func (s *store) Put(key, value []byte) error { return s.db.Set(key, value, s.write) }

func (s *store) Delete(key []byte) error { return s.db.Delete(key, s.write) }

func (s *store) Update(change func(kvdb.Writer) error) error {
	batch := s.db.NewBatch()
	if err := change(writer{batch, s}); err != nil {
		return errors.Join(err, batch.Close())
	}
	return errors.Join(batch.Commit(s.write), batch.Close())
}

// Durability with NoSync: the log has checksums, and what was not written or
// not synced is missing at its end. It is written by another goroutine, so that
// a killed process can lose the newest commits too, which only none allows.
func (s *store) Durability() string {
	if s.write == pebble.NoSync {
		return "none"
	}
	return "power"
}

// Effective is what pebble itself wrote of its options when it opened the store.
// Whether it syncs is given with each write, and nothing reads that back.
func (s *store) Effective() map[string]string {
	effective := map[string]string{}
	files, err := filepath.Glob(filepath.Join(s.path, "OPTIONS-*"))
	if err != nil || len(files) == 0 {
		return effective
	}
	text, err := os.ReadFile(slices.Max(files)) // the newest: their numbers have six digits
	if err != nil {
		return effective
	}
	section, _, _ := strings.Cut(string(text), "[Level")
	for line := range strings.Lines(section) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if setting, ok := written[name]; ok {
			effective[setting] = value
		}
	}
	return effective
}

func (s *store) Settle() error {
	return s.db.Compact(context.Background(), []byte{}, bytes.Repeat([]byte{0xff}, 64), false)
}

// Check holds all entries of all levels against each other.
func (s *store) Check() (string, error) { return "CheckLevels", s.db.CheckLevels(nil) }

func (s *store) Close() error {
	err := s.db.Close()
	if s.cache != nil {
		s.cache.Unref()
	}
	return err
}

// writer is a batch, which is not read: reads are of what was committed.
type writer struct {
	batch *pebble.Batch
	*store
}

func (w writer) Put(key, value []byte) error { return w.batch.Set(key, value, nil) }

func (w writer) Delete(key []byte) error { return w.batch.Delete(key, nil) }
