//go:build unix

package runner

import (
	"bytes"
	"encoding/gob"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"assay/kit"
	"assay/kit/kv"
	"assay/kit/kvdb"
)

// newStoreEngine is a store in memory with a log, honest unless its name is
// that of a fault: store-loses drops each tenth put, store-drops drops every
// update of a key, store-older keeps what a key was given before at each fourth put of it,
// store-mixes gives a key what another was given, store-lies says that it
// syncs, store-deaf does not know the setting, store-splits commits twice. Others
// do not get through loading: store-dies, store-hangs, store-refuses, store-full.
func newStoreEngine(name string) kit.Engine {
	return kvdb.New(kvdb.Driver{Name: name, Version: "1", Settings: []string{kv.Sync},
		Open: func(c kvdb.Config) (kvdb.Store, error) { return openStore(name, c) }})
}

type fileStore struct {
	turn   sync.Mutex   // of writers
	mu     sync.RWMutex // of keys
	name   string
	log    *os.File
	sync   bool
	keys   map[string][]byte
	puts   int
	last   []byte         // newest value that a key was given which was there
	given  map[string]int // how often a key was put
	splits int64
}

type change struct{ Key, Value []byte }

func openStore(name string, c kvdb.Config) (*fileStore, error) {
	log, err := os.OpenFile(filepath.Join(c.Path, "log"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	s := &fileStore{name: name, log: log, sync: c.Sync(true), keys: map[string][]byte{}, given: map[string]int{}}
	text, err := io.ReadAll(log)
	for in := bytes.NewReader(text); err == nil && in.Len() > 0; {
		var all []change
		decoder := gob.NewDecoder(in)
		if err = decoder.Decode(&all); err == nil {
			s.apply(all)
		}
	}
	return s, err
}

func (s *fileStore) apply(all []change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range all {
		if c.Value == nil {
			delete(s.keys, string(c.Key))
			continue
		}
		s.keys[string(c.Key)] = c.Value
	}
}

func (s *fileStore) Get(key, into []byte) ([]byte, bool, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	value, ok := s.keys[string(key)]
	return append(into, value...), ok, nil
}

func (s *fileStore) Scan(from []byte, n int, visit func(key, value []byte) error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, key := range slices.Sorted(maps.Keys(s.keys)) {
		if key < string(from) {
			continue
		}
		if n--; n < 0 {
			return nil
		}
		if err := visit([]byte(key), s.keys[key]); err != nil {
			return err
		}
	}
	return nil
}

func (s *fileStore) View(look func(kvdb.Getter) error) error {
	s.turn.Lock() // no writer
	defer s.turn.Unlock()
	return look(s)
}

func (s *fileStore) Put(key, value []byte) error {
	return s.Update(func(w kvdb.Writer) error { return w.Put(key, value) })
}

func (s *fileStore) Delete(key []byte) error {
	return s.Update(func(w kvdb.Writer) error { return w.Delete(key) })
}

func (s *fileStore) Update(do func(kvdb.Writer) error) error {
	s.turn.Lock()
	defer s.turn.Unlock()
	w := &changes{fileStore: s}
	if err := do(w); err != nil {
		return err
	}
	switch s.name {
	case "store-splits":
		s.splits++
	case "store-dies":
		os.Exit(7)
	case "store-hangs":
		time.Sleep(time.Hour)
	case "store-refuses":
		return errors.New("no more keys")
	case "store-full":
		return syscall.ENOSPC
	}
	var out bytes.Buffer
	if err := gob.NewEncoder(&out).Encode(w.all); err != nil {
		return err
	}
	if _, err := s.log.Write(out.Bytes()); err != nil {
		return err
	}
	if s.sync && s.name != "store-lies" && s.name != "store-deaf" {
		if err := s.log.Sync(); err != nil {
			return err
		}
	}
	s.apply(w.all)
	return nil
}

func (s *fileStore) Splits() int64 { return s.splits }

func (s *fileStore) Durability() string {
	if s.sync {
		return "power"
	}
	return "consistent"
}

func (s *fileStore) Effective() map[string]string {
	switch {
	case s.name == "store-deaf":
		return map[string]string{}
	case s.sync:
		return map[string]string{kv.Sync: "1"}
	}
	return map[string]string{kv.Sync: "0"}
}

func (s *fileStore) Close() error { return errors.Join(s.log.Sync(), s.log.Close()) }

type changes struct {
	*fileStore
	all []change
}

func (c *changes) Put(key, value []byte) error {
	c.puts++
	if c.name == "store-loses" && c.puts > 100 && c.puts%10 == 0 { // not while loading
		return nil
	}
	_, there := c.keys[string(key)] // only a writer changes it, and this is the one
	if there && c.name == "store-drops" {
		return nil
	}
	if c.name == "store-older" {
		if c.given[string(key)]++; c.given[string(key)]%4 == 0 {
			return nil
		}
	}
	if there && c.name == "store-mixes" {
		c.last, value = value, append(bytes.Clone(c.last), value...)[:len(value)]
	}
	c.all = append(c.all, change{bytes.Clone(key), bytes.Clone(value)})
	return nil
}

func (c *changes) Delete(key []byte) error {
	c.all = append(c.all, change{bytes.Clone(key), nil})
	return nil
}

const stores = `name: stores
drivers: [store, honest]
profiles: {synced: {sync: on}}
workload: {name: kv, records: {n: 100, key: "printf('%016x', hash(:i))", value: blob(20)}}
operations:
  get: {kv: get, draw: zipfian}
  range: {kv: scan, limit: 5}
  put: {kv: put, count: 200, transaction: [none, 10]}
  change: {kv: rmw, count: 200}
  remove: {kv: delete, count: 50}
  part: {kv: put, draw: uniform, only: mix}
  mix: {mix: {get: 80, part: 20}, count: 200}
  newest: {kv: get, draw: latest, only: mix}
  add: {kv: put, only: mix}
  latest: {mix: {newest: 50, add: 50}, count: 200}
`
