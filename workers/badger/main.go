// Worker badger drives github.com/dgraph-io/badger: a log-structured merge tree
// whose large values are kept apart.
package main

import (
	"errors"
	"os"
	"strconv"
	"sync/atomic"

	"assay/kit/kv"
	"assay/kit/kvdb"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
)

func main() {
	os.Exit(kvdb.Main(kvdb.Driver{
		Name:     "badger",
		Module:   "github.com/dgraph-io/badger/v4",
		Settings: []string{kv.Sync, kv.BlockCache, kv.Memtable, kv.L0Compaction, kv.L0Stop, kv.ValueThreshold, kv.Compression},
		Open:     open,
		Busy:     func(err error) bool { return errors.Is(err, badger.ErrConflict) },
	}))
}

type store struct {
	db     *badger.DB
	splits atomic.Int64
}

func open(c kvdb.Config) (kvdb.Store, error) {
	with := badger.DefaultOptions(c.Path).WithLogger(nil)
	with = with.WithSyncWrites(c.Sync(with.SyncWrites))
	for name, text := range c.Settings {
		switch name {
		case kv.Sync:
			continue
		case kv.Compression:
			with.Compression = compressions[text]
			continue
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, err
		}
		switch name {
		case kv.BlockCache:
			with.BlockCacheSize = n
		case kv.Memtable:
			with.MemTableSize = n
		case kv.L0Compaction:
			with.NumLevelZeroTables = int(n)
		case kv.L0Stop:
			with.NumLevelZeroTablesStall = int(n)
		case kv.ValueThreshold:
			with.ValueThreshold = n
		}
	}
	db, err := badger.Open(with)
	return &store{db: db}, err
}

var compressions = map[string]options.CompressionType{"none": options.None, "snappy": options.Snappy, "zstd": options.ZSTD}

func (s *store) Get(key, into []byte) (value []byte, found bool, err error) {
	value = into
	err = s.db.View(func(tx *badger.Txn) error {
		value, found, err = get(tx, key, into)
		return err
	})
	return value, found, err
}

func (s *store) View(look func(kvdb.Getter) error) error {
	return s.db.View(func(tx *badger.Txn) error { return look(reader{tx}) })
}

type reader struct{ tx *badger.Txn }

func (r reader) Get(key, into []byte) ([]byte, bool, error) { return get(r.tx, key, into) }

func get(tx *badger.Txn, key, into []byte) ([]byte, bool, error) {
	item, err := tx.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return into, false, nil
	}
	if err != nil {
		return into, false, err
	}
	value, err := item.ValueCopy(into)
	return value, err == nil, err
}

// maxPrefetched is how many values badger reads ahead by default.
const maxPrefetched = 100

func (s *store) Scan(from []byte, n int, visit func(key, value []byte) error) error {
	options := badger.DefaultIteratorOptions
	options.PrefetchSize = min(n, maxPrefetched)
	return s.db.View(func(tx *badger.Txn) error {
		cursor := tx.NewIterator(options)
		defer cursor.Close()
		for cursor.Seek(from); cursor.Valid() && n > 0; cursor.Next() {
			item := cursor.Item()
			if err := item.Value(func(value []byte) error { return visit(item.Key(), value) }); err != nil {
				return err
			}
			n--
		}
		return nil
	})
}

func (s *store) Put(key, value []byte) error {
	return s.db.Update(func(tx *badger.Txn) error { return tx.Set(key, value) })
}

func (s *store) Delete(key []byte) error {
	return s.db.Update(func(tx *badger.Txn) error { return tx.Delete(key) })
}

// Update commits in the middle where a transaction is too big for badger, as
// its documentation says to do, and counts that.
func (s *store) Update(change func(kvdb.Writer) error) error {
	w := &writer{store: s, tx: s.db.NewTransaction(true)}
	defer func() { w.tx.Discard() }()
	if err := change(w); err != nil {
		return err
	}
	return w.tx.Commit()
}

func (s *store) Splits() int64 { return s.splits.Load() }

// Durability without syncs: the logs are mapped files with checksums, and what a
// killed process wrote is in them. Each is cut at the first record that is not
// whole, but the log of a full memtable is not synced when the next one begins:
// a power cut can leave a gap between the two.
func (s *store) Durability() string {
	if s.db.Opts().SyncWrites {
		return "power"
	}
	return "process"
}

func (s *store) Effective() map[string]string {
	o := s.db.Opts()
	effective := map[string]string{kv.Sync: "0", kv.BlockCache: strconv.FormatInt(o.BlockCacheSize, 10), kv.Memtable: strconv.FormatInt(o.MemTableSize, 10),
		kv.L0Compaction: strconv.Itoa(o.NumLevelZeroTables), kv.L0Stop: strconv.Itoa(o.NumLevelZeroTablesStall), kv.ValueThreshold: strconv.FormatInt(o.ValueThreshold, 10)}
	if o.SyncWrites {
		effective[kv.Sync] = "1"
	}
	for word, compression := range compressions {
		if compression == o.Compression {
			effective[kv.Compression] = word
		}
	}
	return effective
}

func (s *store) Settle() error { return s.db.Flatten(2) }

// Check reads all tables and compares their checksums.
func (s *store) Check() (string, error) { return "VerifyChecksum", s.db.VerifyChecksum() }

func (s *store) Close() error { return s.db.Close() }

// writer is a transaction, or the last part of one that was split.
type writer struct {
	store *store
	tx    *badger.Txn
}

func (w *writer) Get(key, into []byte) ([]byte, bool, error) { return get(w.tx, key, into) }

func (w *writer) Put(key, value []byte) error {
	return w.retry(func() error { return w.tx.Set(key, value) })
}

func (w *writer) Delete(key []byte) error {
	return w.retry(func() error { return w.tx.Delete(key) })
}

// retry makes a change in a new transaction where it is too much for this one.
func (w *writer) retry(change func() error) error {
	err := change()
	if !errors.Is(err, badger.ErrTxnTooBig) {
		return err
	}
	if err := w.tx.Commit(); err != nil {
		return err
	}
	w.store.splits.Add(1)
	w.tx = w.store.db.NewTransaction(true)
	return change()
}
