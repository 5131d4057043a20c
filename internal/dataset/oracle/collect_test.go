package oracle

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"assay"
	"assay/kit/column"
	"assay/kit/column/columntest"
	"assay/kit/wire"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// file writes keys with values, and opens them.
func file(t *testing.T, keys, values []string) *column.File {
	t.Helper()
	var rows [][]any
	for i := range keys {
		rows = append(rows, []any{[]byte(keys[i]), []byte(values[i])})
	}
	return columntest.Open(t, []column.Type{column.Blob, column.Blob}, rows...)
}

// Keys in several shards are found like those of a plain map: each written key
// once, with its value, and its count.
func TestCollectionOfShards(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const there, changed = 2*shardKeys + 5, shardKeys + 1000
	model, times := map[string]string{}, map[string]int{}
	var keys, values, newKeys, newValues []string
	for i := range there {
		keys, values = append(keys, fmt.Sprintf("k%06d", 2*i)), append(values, fmt.Sprint("old", i))
		model[keys[i]] = values[i]
	}
	for i := range changed {
		newKeys, newValues = append(newKeys, fmt.Sprintf("k%06d", random.IntN(4*there))), append(newValues, fmt.Sprint("new", i))
		model[newKeys[i]] = newValues[i]
		times[newKeys[i]]++
	}
	records := file(t, keys, values)
	put := assay.Step{KV: wire.Put, Args: make([]assay.Values, 2)}
	w := &writes{fields: 1, parts: []written{{trace: file(t, newKeys, newValues), steps: []assay.Step{put}}}}
	done := Done{Measured: changed}
	c, err := newCollection(records, 1, 7, filepath.Join(t.TempDir(), "keys"))
	must(t, err)
	defer c.close()
	parts := shards(records, w, done)
	for _, part := range parts {
		h := newHistory(records, 1, part)
		h.replay(w, done)
		if len(h.keys)+len(h.rows) > 2*shardKeys {
			t.Errorf("a shard of %d keys and %d records, want some %d", len(h.keys), len(h.rows), shardKeys)
		}
		must(t, c.add(h))
	}
	found, err := c.keys()
	must(t, err)
	if len(parts) < 3 || found.Written != len(times) || found.Least != len(model) || found.Most != len(model) {
		t.Errorf("got %d shards, %d keys written, %d to %d in all; want several, %d and %d", len(parts), found.Written, found.Least, found.Most, len(times), len(model))
	}
	checkValues(t, found.Values[0], model, times)
}

// checkValues holds the exact keys, and the digest of their values, against a model.
func checkValues(t *testing.T, v Values, model map[string]string, times map[string]int) {
	t.Helper()
	looked, err := column.Open(v.Path)
	must(t, err)
	defer looked.Close()
	once := 0
	for _, n := range times {
		if n == 1 {
			once++
		}
	}
	var exact [][]byte
	seen := map[string]bool{}
	for row := range looked.Rows() {
		key := string(looked.Bytes(0, row))
		if seen[key] || (row < v.Exact) != (times[key] <= 1) {
			t.Fatalf("row %d is key %s, written %d times; seen before: %v", row, key, times[key], seen[key])
		}
		seen[key] = true
		if row < v.Exact {
			exact = append(exact, []byte(model[key]))
			continue
		}
		digest, err := digestOf([]byte(model[key]))
		if err != nil || !slices.Contains(v.Allowed[row-v.Exact], digest) || len(v.Allowed[row-v.Exact]) != times[key] {
			t.Fatalf("key %s, written %d times, has %d allowed values: %v", key, times[key], len(v.Allowed[row-v.Exact]), err)
		}
	}
	want, err := digestOf(exact...)
	if err != nil || v.Digest != want || v.Exact != once+sampledUntouched || looked.Rows() != v.Exact+len(v.Allowed) {
		t.Errorf("got %d exact of %d keys and digest %.8s; want %d and %.8s (%v)", v.Exact, looked.Rows(), v.Digest, once+sampledUntouched, want, err)
	}
}
