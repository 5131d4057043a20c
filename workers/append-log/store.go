package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sync"

	"assay/kit/kv"
	"assay/kit/kvdb"

	"github.com/google/btree"
)

type store struct {
	lock sync.RWMutex
	log  *os.File
	sync bool
	keys *btree.BTreeG[pair]
	out  []byte // of the commit under way
	// failed is why there are no commits any more: one may be in the log in
	// part, and what followed it would be lost when the log is replayed.
	failed error
}

type pair struct{ key, value []byte }

func before(a, b pair) bool { return bytes.Compare(a.key, b.key) < 0 }

const (
	// headSize is what stands before the changes of a commit: their length and
	// checksum.
	headSize = 8
	// changeHeadSize is what stands before a key and its value: their lengths.
	changeHeadSize = 8
	// degree of the tree: as google/btree's own benchmarks have it.
	degree = 32
	// deleted marks, as the length of a value, that there is none.
	deleted = 1<<32 - 1
)

func open(folder string, sync bool) (*store, error) {
	log, err := os.OpenFile(filepath.Join(folder, "log"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	s := &store{log: log, sync: sync, keys: btree.NewG(degree, before)}
	whole, err := s.replay()
	if err == nil {
		err = log.Truncate(whole)
	}
	if err == nil {
		_, err = log.Seek(whole, io.SeekStart)
	}
	return s, err
}

// replay applies all commits that are whole and returns where they end.
func (s *store) replay() (int64, error) {
	data, err := io.ReadAll(s.log)
	if err != nil {
		return 0, err
	}
	whole := int64(0)
	for len(data) >= headSize {
		length, sum := binary.LittleEndian.Uint32(data), binary.LittleEndian.Uint32(data[4:])
		if length == 0 || uint64(len(data)-headSize) < uint64(length) || crc32.ChecksumIEEE(data[headSize:headSize+length]) != sum {
			break // a commit that was cut off, or zeros that stand for one
		}
		s.apply(data[headSize : headSize+length])
		data = data[headSize+length:]
		whole += headSize + int64(length)
	}
	return whole, nil
}

// apply makes the changes of a commit in the map, which keeps their bytes.
func (s *store) apply(changes []byte) {
	for len(changes) > 0 {
		keyLength, valueLength := binary.LittleEndian.Uint32(changes), binary.LittleEndian.Uint32(changes[4:])
		key := changes[8 : 8+keyLength : 8+keyLength]
		changes = changes[8+keyLength:]
		if valueLength == deleted {
			s.keys.Delete(pair{key: key})
			continue
		}
		s.keys.ReplaceOrInsert(pair{key, changes[:valueLength:valueLength]})
		changes = changes[valueLength:]
	}
}

func (s *store) Get(key, into []byte) ([]byte, bool, error) {
	s.lock.RLock()
	found, ok := s.keys.Get(pair{key: key})
	s.lock.RUnlock() // what is in the map never changes
	return append(into, found.value...), ok, nil
}

// View keeps the map's lock, so that writers wait for its end.
func (s *store) View(look func(kvdb.Getter) error) error {
	s.lock.RLock()
	defer s.lock.RUnlock()
	return look(writer{s})
}

func (s *store) Scan(from []byte, n int, visit func(key, value []byte) error) (err error) {
	s.lock.RLock()
	defer s.lock.RUnlock()
	s.keys.AscendGreaterOrEqual(pair{key: from}, func(p pair) bool {
		if n--; n < 0 {
			return false
		}
		err = visit(p.key, p.value)
		return err == nil
	})
	return err
}

func (s *store) Put(key, value []byte) error {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.begin(changeHeadSize + len(key) + len(value))
	s.put(key, value)
	return s.commit()
}

func (s *store) Delete(key []byte) error {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.begin(changeHeadSize + len(key))
	s.delete(key)
	return s.commit()
}

func (s *store) Update(change func(kvdb.Writer) error) error {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.begin(len(s.out)) // many transactions are as large as the one before
	if err := change(writer{s}); err != nil {
		return err
	}
	return s.commit()
}

// begin begins a commit whose changes take about so many bytes. The map keeps
// those bytes, so that each commit has new ones.
func (s *store) begin(size int) { s.out = make([]byte, headSize, headSize+size) }

func (s *store) put(key, value []byte) {
	s.change(len(key), uint32(len(value)))
	s.out = append(append(s.out, key...), value...)
}

func (s *store) delete(key []byte) {
	s.change(len(key), deleted)
	s.out = append(s.out, key...)
}

func (s *store) change(key int, value uint32) {
	s.out = binary.LittleEndian.AppendUint32(s.out, uint32(key))
	s.out = binary.LittleEndian.AppendUint32(s.out, value)
}

// commit writes all changes at once, syncs them, and then shows them to readers.
func (s *store) commit() error {
	changes := s.out[headSize:]
	if s.failed != nil || len(changes) == 0 {
		return s.failed
	}
	if uint64(len(changes)) >= deleted {
		return errors.New("a transaction of more than 4 GiB")
	}
	binary.LittleEndian.PutUint32(s.out, uint32(len(changes)))
	binary.LittleEndian.PutUint32(s.out[4:], crc32.ChecksumIEEE(changes))
	if s.failed = s.write(); s.failed != nil {
		return s.failed
	}
	s.apply(changes)
	return nil
}

func (s *store) write() error {
	if _, err := s.log.Write(s.out); err != nil {
		return fmt.Errorf("append to the log: %w", err)
	}
	if !s.sync {
		return nil
	}
	if err := syncData(s.log); err != nil {
		return fmt.Errorf("sync %s: %w", s.log.Name(), err)
	}
	return nil
}

// Durability without syncs: what a killed process wrote is in the file. Replay
// stops at the first commit that is not whole, so that a power cut loses that
// one and those after it.
func (s *store) Durability() string {
	if s.sync {
		return "power"
	}
	return "consistent"
}

func (s *store) Effective() map[string]string {
	if s.sync {
		return map[string]string{kv.Sync: "1"}
	}
	return map[string]string{kv.Sync: "0"}
}

func (s *store) Close() error { return errors.Join(s.log.Sync(), s.log.Close()) }

// writer appends changes to the commit under way. It is used inside of Update,
// which holds the lock.
type writer struct{ *store }

func (w writer) Get(key, into []byte) ([]byte, bool, error) {
	found, ok := w.keys.Get(pair{key: key})
	return append(into, found.value...), ok, nil
}

func (w writer) Put(key, value []byte) error {
	w.put(key, value)
	return nil
}

func (w writer) Delete(key []byte) error {
	w.delete(key)
	return nil
}
