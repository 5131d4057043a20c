// Worker bbolt drives go.etcd.io/bbolt: a B+ tree in one mapped file, with one
// writer at a time.
package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"assay/kit/kv"
	"assay/kit/kvdb"

	"go.etcd.io/bbolt"
)

func main() {
	os.Exit(kvdb.Main(kvdb.Driver{
		Name:     "bbolt",
		Module:   "go.etcd.io/bbolt",
		Settings: []string{kv.Sync, kv.FreelistType, kv.FreelistSync},
		Open:     open,
	}))
}

var bucket = []byte("kv")

type store struct{ db *bbolt.DB }

func open(c kvdb.Config) (kvdb.Store, error) {
	options := *bbolt.DefaultOptions
	options.NoSync = !c.Sync(true)
	if kind, ok := c.Settings[kv.FreelistType]; ok {
		options.FreelistType = bbolt.FreelistType(kind)
	}
	if sync, ok := c.Settings[kv.FreelistSync]; ok {
		options.NoFreelistSync = sync == "0"
	}
	db, err := bbolt.Open(filepath.Join(c.Path, "data.bbolt"), 0o600, &options)
	if err != nil {
		return nil, err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists(bucket)
		return err
	})
	return &store{db}, err
}

func (s *store) Get(key, into []byte) (value []byte, found bool, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		stored := tx.Bucket(bucket).Get(key)
		value, found = append(into, stored...), stored != nil
		return nil
	})
	return value, found, err
}

func (s *store) Scan(from []byte, n int, visit func(key, value []byte) error) error {
	return s.db.View(func(tx *bbolt.Tx) error {
		cursor := tx.Bucket(bucket).Cursor()
		for key, value := cursor.Seek(from); key != nil && n > 0; key, value = cursor.Next() {
			if err := visit(key, value); err != nil {
				return err
			}
			n--
		}
		return nil
	})
}

func (s *store) Put(key, value []byte) error {
	return s.db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(bucket).Put(key, value) })
}

func (s *store) Delete(key []byte) error {
	return s.db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(bucket).Delete(key) })
}

func (s *store) Update(change func(kvdb.Writer) error) error {
	return s.db.Update(func(tx *bbolt.Tx) error { return change(writer{tx.Bucket(bucket)}) })
}

func (s *store) View(look func(kvdb.Getter) error) error {
	return s.db.View(func(tx *bbolt.Tx) error { return look(writer{tx.Bucket(bucket)}) })
}

// Durability without syncs: pages are written in any order, and a power cut
// may leave a file that cannot be read.
func (s *store) Durability() string {
	if s.db.NoSync {
		return "process"
	}
	return "power"
}

func (s *store) Effective() map[string]string {
	flag := map[bool]string{false: "0", true: "1"}
	return map[string]string{kv.Sync: flag[!s.db.NoSync], kv.FreelistSync: flag[!s.db.NoFreelistSync], kv.FreelistType: string(s.db.FreelistType)}
}

// Check follows all pages from the root and holds the free list against them.
func (s *store) Check() (string, error) {
	return "Tx.Check", s.db.View(func(tx *bbolt.Tx) error {
		var first error
		found := 0
		for err := range tx.Check() { // to its end, or its goroutine stays
			found++
			first = cmp.Or(first, err)
		}
		if found > 0 {
			return fmt.Errorf("Tx.Check finds %d errors, the first: %w", found, first)
		}
		return nil
	})
}

func (s *store) Close() error {
	if s.db.NoSync { // what was not synced before is when the store is closed
		if err := s.db.Sync(); err != nil {
			return err
		}
	}
	return s.db.Close()
}

type writer struct{ *bbolt.Bucket }

func (w writer) Get(key, into []byte) ([]byte, bool, error) {
	stored := w.Bucket.Get(key)
	return append(into, stored...), stored != nil, nil
}
