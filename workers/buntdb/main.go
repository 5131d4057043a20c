// Worker buntdb drives github.com/tidwall/buntdb: all data in memory, with an
// append-only file.
package main

import (
	"errors"
	"os"
	"path/filepath"

	"assay/kit/kv"
	"assay/kit/kvdb"

	"github.com/tidwall/buntdb"
)

func main() {
	os.Exit(kvdb.Main(kvdb.Driver{
		Name:     "buntdb",
		Module:   "github.com/tidwall/buntdb",
		Settings: []string{kv.Sync},
		Open:     open,
	}))
}

type store struct{ db *buntdb.DB }

// open takes the library's default, a sync every second, where none are asked
// for: that is what programs without syncs of their own run with.
func open(c kvdb.Config) (kvdb.Store, error) {
	db, err := buntdb.Open(filepath.Join(c.Path, "data.aof"))
	if err != nil {
		return nil, err
	}
	var config buntdb.Config
	if err := db.ReadConfig(&config); err != nil {
		return nil, err
	}
	if c.Sync(config.SyncPolicy == buntdb.Always) {
		config.SyncPolicy = buntdb.Always
	}
	return &store{db}, db.SetConfig(config)
}

func (s *store) Get(key, into []byte) (value []byte, found bool, err error) {
	value = into
	err = s.db.View(func(tx *buntdb.Tx) error {
		value, found, err = get(tx, key, into)
		return err
	})
	return value, found, err
}

func get(tx *buntdb.Tx, key, into []byte) ([]byte, bool, error) {
	stored, err := tx.Get(string(key))
	if errors.Is(err, buntdb.ErrNotFound) {
		return into, false, nil
	}
	return append(into, stored...), err == nil, err
}

func (s *store) Scan(from []byte, n int, visit func(key, value []byte) error) (err error) {
	var k, v []byte
	viewed := s.db.View(func(tx *buntdb.Tx) error {
		return tx.AscendGreaterOrEqual("", string(from), func(key, value string) bool {
			if n--; n < 0 {
				return false
			}
			k, v = append(k[:0], key...), append(v[:0], value...)
			err = visit(k, v)
			return err == nil
		})
	})
	return errors.Join(err, viewed)
}

func (s *store) Put(key, value []byte) error {
	return s.db.Update(func(tx *buntdb.Tx) error { return put(tx, key, value) })
}

func put(tx *buntdb.Tx, key, value []byte) error {
	_, _, err := tx.Set(string(key), string(value), nil)
	return err
}

func (s *store) Delete(key []byte) error {
	return s.db.Update(func(tx *buntdb.Tx) error { return remove(tx, key) })
}

func remove(tx *buntdb.Tx, key []byte) error {
	_, err := tx.Delete(string(key))
	if errors.Is(err, buntdb.ErrNotFound) {
		return nil // as with other stores
	}
	return err
}

func (s *store) Update(change func(kvdb.Writer) error) error {
	return s.db.Update(func(tx *buntdb.Tx) error { return change(writer{tx}) })
}

func (s *store) View(look func(kvdb.Getter) error) error {
	return s.db.View(func(tx *buntdb.Tx) error { return look(writer{tx}) })
}

// Durability is less than documented: with syncs "very durable", without them "up
// to one second of data might be lost". The file has no checksums and no marks of
// transactions: it is cut at the first command that is not whole, which may be
// within a transaction, and is refused where a command is damaged. So a process
// that is killed within a write leaves parts of a transaction, with syncs in 2 of
// the 250 kills of
//
//	assay crash kv --drivers buntdb --only profile=synced --faults kill --states 250 --seed 5
//
// and a power cut can leave a file that does not open, with syncs too. Commit
// ignores the error of its sync (--faults eio), and shrinking, once the file is over
// 32 MB, puts an unsynced file in place of a synced one.
func (s *store) Durability() string { return "none" }

func (s *store) Effective() map[string]string {
	var config buntdb.Config
	if err := s.db.ReadConfig(&config); err != nil {
		return map[string]string{}
	}
	if config.SyncPolicy == buntdb.Always {
		return map[string]string{kv.Sync: "1"}
	}
	return map[string]string{kv.Sync: "0"}
}

func (s *store) Close() error { return s.db.Close() }

type writer struct{ tx *buntdb.Tx }

func (w writer) Get(key, into []byte) ([]byte, bool, error) { return get(w.tx, key, into) }

func (w writer) Put(key, value []byte) error { return put(w.tx, key, value) }

func (w writer) Delete(key []byte) error { return remove(w.tx, key) }
