//go:build unix

package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"assay/kit"
	"assay/kit/kv"
	"assay/kit/kvdb"
	"assay/kit/workertest/gotest"
)

func TestConformance(t *testing.T) { gotest.Conformance(t, gotest.Build(t)) }

// TestSplit: a transaction that is too big for badger is committed in parts,
// all of it, and counted.
func TestSplit(t *testing.T) {
	const puts = 200_000
	s, err := open(kvdb.Config{Path: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	value := bytes.Repeat([]byte{7}, 100)
	err = s.Update(func(w kvdb.Writer) error {
		for i := range puts {
			if err := w.Put(binary.BigEndian.AppendUint64(nil, uint64(i)), value); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	next := uint64(0)
	err = s.Scan(nil, puts+1, func(key, got []byte) error {
		if binary.BigEndian.Uint64(key) != next || !bytes.Equal(got, value) {
			return fmt.Errorf("key %x with %d bytes, want key %x", key, len(got), next)
		}
		next++
		return nil
	})
	if err != nil || next != puts {
		t.Errorf("%d keys in order, want %d: %v", next, puts, err)
	}
	if splits := s.(kit.Splitter).Splits(); splits < 1 {
		t.Errorf("%d splits, want some", splits)
	}
}

// Each option takes effect, and what is read back of the default differs from it.
func TestSettingsAreReadBack(t *testing.T) {
	asked := map[string]string{kv.Sync: "1", kv.BlockCache: "1048576", kv.Memtable: "33554432", kv.L0Compaction: "7", kv.L0Stop: "20", kv.ValueThreshold: "512", kv.Compression: "zstd"}
	usual := effective(t, nil)
	for name, want := range asked {
		if got := effective(t, map[string]string{name: want})[name]; got != want || usual[name] == "" || usual[name] == want {
			t.Errorf("%s=%s: got %q, and %q by default; want the value that was asked for, and another by default", name, want, got, usual[name])
		}
	}
}

func effective(t *testing.T, settings map[string]string) map[string]string {
	t.Helper()
	s, err := open(kvdb.Config{Path: t.TempDir(), Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	return s.Effective()
}
