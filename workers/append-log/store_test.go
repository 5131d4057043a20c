package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"assay/kit/kvdb"
)

// opened opens the store in a folder until the test ends.
func opened(t *testing.T, folder string) *store {
	t.Helper()
	s, err := open(folder, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func put(t *testing.T, s *store, key, value string) {
	t.Helper()
	if err := s.Put([]byte(key), []byte(value)); err != nil {
		t.Fatal(err)
	}
}

// content is all keys and values.
func content(t *testing.T, s *store) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := s.Scan(nil, 1000, func(key, value []byte) error {
		all[string(key)] = string(value)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestDamage: of a log that is damaged, the commits before are kept, and those
// that are made then are kept too.
func TestDamage(t *testing.T) {
	folder := t.TempDir()
	s := opened(t, folder)
	const count, size = 9, headSize + changeHeadSize + 1 + 7 // of each record
	for i := range count {
		put(t, s, fmt.Sprint(i), "a value")
	}
	whole, err := os.ReadFile(s.log.Name())
	if err != nil || len(whole) != count*size {
		t.Fatalf("%d bytes, want %d: %v", len(whole), count*size, err)
	}
	for name, c := range map[string]struct {
		damage func(log []byte) []byte
		kept   int
	}{
		"none":              {func(log []byte) []byte { return log }, count},
		"cut in a head":     {func(log []byte) []byte { return log[:4*size+3] }, 4},
		"cut in a value":    {func(log []byte) []byte { return log[:5*size-1] }, 4},
		"changed byte":      {func(log []byte) []byte { log[4*size+20]++; return log }, 4},
		"long length":       {func(log []byte) []byte { log[4*size+3] = 0xff; return log }, 4},
		"zeros at the end":  {func(log []byte) []byte { return append(log, make([]byte, 100)...) }, count},
		"zeros for commits": {func(log []byte) []byte { clear(log[4*size : 6*size]); return log }, 4},
	} {
		t.Run(name, func(t *testing.T) {
			folder, want := t.TempDir(), map[string]string{}
			for i := range c.kept {
				want[fmt.Sprint(i)] = "a value"
			}
			if err := os.WriteFile(filepath.Join(folder, "log"), c.damage(append([]byte{}, whole...)), 0o600); err != nil {
				t.Fatal(err)
			}
			s := opened(t, folder)
			if got := content(t, s); !maps.Equal(got, want) {
				t.Errorf("opened with %v\nwant %v", got, want)
			}
			put(t, s, "new", "value")
			want["new"] = "value"
			if got := content(t, opened(t, folder)); !maps.Equal(got, want) {
				t.Errorf("opened again with %v\nwant %v", got, want)
			}
		})
	}
}

// TestFailed: after a commit that may be in the log in part, none is
// acknowledged, for it would be lost.
func TestFailed(t *testing.T) {
	s := opened(t, t.TempDir())
	put(t, s, "a", "1")
	writable := s.log
	readOnly, err := os.Open(writable.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer readOnly.Close()
	s.log = readOnly
	first := s.Put([]byte("b"), []byte("2"))
	s.log = writable
	if next := s.Delete([]byte("a")); first == nil || next != first {
		t.Errorf("put: %v; then delete: %v, want the same error", first, next)
	}
	if got, want := content(t, s), map[string]string{"a": "1"}; !maps.Equal(got, want) {
		t.Errorf("the store has %v, want %v", got, want)
	}
}

// TestEmptyUpdate: a transaction without changes writes nothing.
func TestEmptyUpdate(t *testing.T) {
	s := opened(t, t.TempDir())
	if err := s.Update(func(kvdb.Writer) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if info, err := s.log.Stat(); err != nil || info.Size() != 0 {
		t.Errorf("the log has %d bytes, want none: %v", info.Size(), err)
	}
}
