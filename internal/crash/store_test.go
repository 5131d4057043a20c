//go:build linux

package crash

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"assay/kit/kv"
	"assay/kit/kvdb"
)

// logStore is a log of transactions and what they come to. Its name may be that of
// a fault: store-lies does not sync, store-swallows goes on after errors of the
// disk, store-deaf reads nothing from a disk that fails, store-damaged fails its
// own check, store-roomy gives room back that it took, store-crashes ends at its 300th transaction, store-late writes a transaction when the second one after it is done. Others
// have their fault where they are opened again: store-locked does not open, store-busy only when it is opened once more, store-changes
// has another value, store-frozen writes nothing, and store-forgets keeps nothing that is
// written.
type logStore struct {
	name   string
	log    *os.File
	sync   bool
	keys   map[string][]byte
	reopen bool // it has keys from before
	late   [][]byte
	count  int // of transactions
}

type logged struct{ Key, Value []byte }

func openLog(name string, c kvdb.Config) (*logStore, error) {
	log, err := os.OpenFile(filepath.Join(c.Path, "log"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	folder, err := os.Open(c.Path)
	if err == nil && c.Sync(true) {
		err = folder.Sync() // else the log itself can be gone
		if parent, opened := os.Open(filepath.Dir(c.Path)); opened == nil && err == nil {
			err = parent.Sync()
		}
	}
	if err != nil {
		return nil, err
	}
	s := &logStore{name: name, log: log, sync: c.Sync(true), keys: map[string][]byte{}}
	if err := s.replay(); err != nil {
		return nil, err
	}
	if s.reopen = len(s.keys) > 0; s.reopen && name == "store-locked" {
		return nil, errors.New("this store is locked")
	}
	if s.reopen && name == "store-busy" {
		if err := os.Mkdir("opened", 0o700); err == nil { // in the worker's folder, which all its states have
			return nil, errors.New("this store is busy")
		}
	}
	if name == "store-roomy" && !s.reopen {
		if err := os.WriteFile(log.Name()+"-room", make([]byte, 1<<20), 0o600); err != nil {
			return nil, err
		}
	}
	if s.reopen && name == "store-changes" {
		for key, value := range s.keys {
			s.keys[key] = append([]byte{value[0] + 1}, value[1:]...)
			break
		}
	}
	return s, nil
}

// replay applies whole transactions and cuts off what is behind them.
func (s *logStore) replay() error {
	text, err := io.ReadAll(s.log)
	if err != nil && s.name == "store-deaf" {
		return nil
	}
	if err != nil {
		return err
	}
	good := 0
	for {
		payload, size := record(text[good:])
		var all []logged
		if size == 0 || gob.NewDecoder(bytes.NewReader(payload)).Decode(&all) != nil {
			break
		}
		for _, p := range all {
			s.keys[string(p.Key)] = p.Value
		}
		good += size
	}
	if err := s.log.Truncate(int64(good)); err != nil {
		return err
	}
	_, err = s.log.Seek(int64(good), io.SeekStart)
	return err
}

// recordHead is how many bytes stand before a transaction: its length and its checksum.
const recordHead = 8

// record is the first transaction of a log and its size with the head; 0 where it is
// not whole. Without a checksum, a page of zeros within a value would be read as one.
func record(text []byte) (payload []byte, size int) {
	if len(text) < recordHead {
		return nil, 0
	}
	length, sum := binary.LittleEndian.Uint32(text), binary.LittleEndian.Uint32(text[4:])
	if length == 0 || int64(length) > int64(len(text)-recordHead) {
		return nil, 0
	}
	payload = text[recordHead : recordHead+length]
	if crc32.ChecksumIEEE(payload) != sum {
		return nil, 0
	}
	return payload, recordHead + len(payload)
}

func (s *logStore) Get(key, into []byte) ([]byte, bool, error) {
	value, ok := s.keys[string(key)]
	return append(into, value...), ok, nil
}

func (s *logStore) Scan(from []byte, n int, visit func(key, value []byte) error) error {
	for _, key := range slices.Sorted(maps.Keys(s.keys)) {
		if key >= string(from) {
			if n--; n < 0 {
				return nil
			}
			if err := visit([]byte(key), s.keys[key]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *logStore) Put(key, value []byte) error {
	return s.Update(func(w kvdb.Writer) error { return w.Put(key, value) })
}

func (s *logStore) Delete([]byte) error { return nil }

func (s *logStore) Update(do func(kvdb.Writer) error) error {
	w := &logWriter{logStore: s}
	if err := do(w); err != nil {
		return err
	}
	var out bytes.Buffer
	if err := gob.NewEncoder(&out).Encode(w.all); err != nil {
		return err
	}
	if s.count++; s.count == 300 && s.name == "store-crashes" {
		os.Exit(3)
	}
	_ = os.Remove(s.log.Name() + "-room") // there is none of other stores
	head := binary.LittleEndian.AppendUint32(nil, uint32(out.Len()))
	head = binary.LittleEndian.AppendUint32(head, crc32.ChecksumIEEE(out.Bytes()))
	if s.reopen && s.name == "store-frozen" {
		return errors.New("this store is frozen")
	}
	if s.reopen && s.name == "store-forgets" {
		return nil
	}
	whole := append(head, out.Bytes()...)
	if s.name == "store-late" {
		s.late = append(s.late, whole)
		whole = nil
		if len(s.late) > 2 {
			whole, s.late = s.late[0], s.late[1:]
		}
	}
	if _, err := s.log.Write(whole); err != nil && s.name != "store-swallows" {
		return err
	}
	for _, p := range w.all {
		s.keys[string(p.Key)] = p.Value
	}
	if s.sync && s.name != "store-lies" {
		if err := s.log.Sync(); s.name != "store-swallows" {
			return err
		}
	}
	return nil
}

// Check finds damage in each store that has keys, where its name says so.
func (s *logStore) Check() (string, error) {
	if s.name == "store-damaged" && len(s.keys) > 0 {
		return "", errors.New("this store is damaged")
	}
	return "check of the log", nil
}

func (s *logStore) Durability() string {
	if s.sync {
		return "power"
	}
	return "consistent"
}

func (s *logStore) Effective() map[string]string {
	return map[string]string{kv.Sync: map[bool]string{true: "1", false: "0"}[s.sync]}
}

func (s *logStore) Close() error {
	_, err := s.log.Write(slices.Concat(s.late...))
	return errors.Join(err, s.log.Close())
}

type logWriter struct {
	*logStore
	all []logged
}

func (w *logWriter) Put(key, value []byte) error {
	w.all = append(w.all, logged{slices.Clone(key), slices.Clone(value)})
	return nil
}
