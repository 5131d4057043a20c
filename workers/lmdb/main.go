// Worker lmdb drives LMDB, by cgo through github.com/PowerDNS/lmdb-go, which
// brings its C source: a B+ tree in one mapped file, with one writer at a time.
package main

import (
	"fmt"
	"os"

	"assay/kit/kv"
	"assay/kit/kvdb"

	"github.com/PowerDNS/lmdb-go/lmdb"
)

func main() {
	os.Exit(kvdb.Main(kvdb.Driver{
		Name:          "lmdb",
		Module:        "github.com/PowerDNS/lmdb-go",
		EngineVersion: version,
		Cgo:           true,
		Processes:     true,
		Settings:      []string{kv.Sync, kv.MetaSync, kv.Readahead},
		Open:          open,
	}))
}

func version() string {
	major, minor, patch, _ := lmdb.Version()
	return fmt.Sprintf("%d.%d.%d", major, minor, patch)
}

const (
	// mapSize is address space only: the file grows as data come.
	mapSize = 64 << 30
	// maxReaders are as many clients as a plan can sensibly have.
	maxReaders = 4096
)

// unless are the flags that turn settings off.
var unless = map[string]uint{kv.MetaSync: lmdb.NoMetaSync, kv.Readahead: lmdb.NoReadahead}

type store struct {
	env *lmdb.Env
	dbi lmdb.DBI
}

func open(c kvdb.Config) (kvdb.Store, error) {
	env, err := lmdb.NewEnv()
	if err != nil {
		return nil, err
	}
	if err := env.SetMapSize(mapSize); err != nil {
		return nil, err
	}
	if err := env.SetMaxReaders(maxReaders); err != nil {
		return nil, err
	}
	var flags uint
	if !c.Sync(true) {
		flags = lmdb.NoSync
	}
	for name, flag := range unless {
		if c.Settings[name] == "0" {
			flags |= flag
		}
	}
	if err := env.Open(c.Path, flags, 0o644); err != nil {
		return nil, err
	}
	s := &store{env: env}
	return s, env.Update(func(tx *lmdb.Txn) error {
		s.dbi, err = tx.OpenRoot(0)
		return err
	})
}

func (s *store) Get(key, into []byte) (value []byte, found bool, err error) {
	value = into
	err = s.env.View(func(tx *lmdb.Txn) error {
		value, found, err = s.get(tx, key, into)
		return err
	})
	return value, found, err
}

func (s *store) get(tx *lmdb.Txn, key, into []byte) ([]byte, bool, error) {
	tx.RawRead = true // what is mapped is copied once, into the caller's memory
	stored, err := tx.Get(s.dbi, key)
	if lmdb.IsNotFound(err) {
		return into, false, nil
	}
	return append(into, stored...), err == nil, err
}

func (s *store) Scan(from []byte, n int, visit func(key, value []byte) error) error {
	return s.env.View(func(tx *lmdb.Txn) error {
		tx.RawRead = true
		cursor, err := tx.OpenCursor(s.dbi)
		if err != nil {
			return err
		}
		defer cursor.Close()
		op := uint(lmdb.SetRange)
		if len(from) == 0 {
			from, op = nil, lmdb.First
		}
		for ; n > 0; n-- {
			key, value, err := cursor.Get(from, nil, op)
			if lmdb.IsNotFound(err) {
				return nil
			}
			if err == nil {
				err = visit(key, value)
			}
			if err != nil {
				return err
			}
			from, op = nil, lmdb.Next
		}
		return nil
	})
}

func (s *store) Put(key, value []byte) error {
	return s.env.Update(func(tx *lmdb.Txn) error { return tx.Put(s.dbi, key, value, 0) })
}

func (s *store) Delete(key []byte) error {
	return s.env.Update(func(tx *lmdb.Txn) error { return s.remove(tx, key) })
}

// remove deletes a key. That it is not there is no error.
func (s *store) remove(tx *lmdb.Txn, key []byte) error {
	err := tx.Del(s.dbi, key, nil)
	if lmdb.IsNotFound(err) {
		return nil
	}
	return err
}

func (s *store) Update(change func(kvdb.Writer) error) error {
	return s.env.Update(func(tx *lmdb.Txn) error { return change(writer{s, tx}) })
}

func (s *store) View(look func(kvdb.Getter) error) error {
	return s.env.View(func(tx *lmdb.Txn) error { return look(writer{s, tx}) })
}

// Durability with MDB_NOSYNC: "a system crash can then corrupt the database or
// lose the last transactions", by lmdb.h; a killed process leaves its pages with
// the system. With MDB_NOMETASYNC a system crash may undo the last transaction, and
// "maintains database integrity".
func (s *store) Durability() string {
	switch now := s.Effective(); {
	case now[kv.Sync] != "1":
		return "process"
	case now[kv.MetaSync] != "1":
		return "last-commit"
	}
	return "power"
}

func (s *store) Effective() map[string]string {
	flags, err := s.env.Flags()
	if err != nil {
		return map[string]string{}
	}
	on := func(off uint) string { return map[bool]string{true: "1", false: "0"}[flags&off == 0] }
	effective := map[string]string{kv.Sync: on(lmdb.NoSync)}
	for name, flag := range unless {
		effective[name] = on(flag)
	}
	return effective
}

func (s *store) Close() error {
	if err := s.env.Sync(true); err != nil {
		return err
	}
	return s.env.Close()
}

type writer struct {
	*store
	tx *lmdb.Txn
}

func (w writer) Get(key, into []byte) ([]byte, bool, error) { return w.get(w.tx, key, into) }

func (w writer) Put(key, value []byte) error { return w.tx.Put(w.dbi, key, value, 0) }

func (w writer) Delete(key []byte) error { return w.remove(w.tx, key) }
