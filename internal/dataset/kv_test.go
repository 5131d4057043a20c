//go:build unix

package dataset

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay"
	"assay/kit/column"
	"assay/kit/kv"
	"assay/kit/wire"
)

// keySQL is the SELECT of a key.
func keySQL(key string) string { return "SELECT CAST((" + key + ") AS BLOB)" }

// records is a dataset of a store.
func records(n int, key string) assay.Dataset {
	return assay.Dataset{Workload: "kv", Schema: kv.Schema, Seed: 7, Tables: []assay.Table{
		{Name: kv.Table, Rows: n, Select: keySQL(key) + ", CAST((blob(5) || zeroblob(5)) AS BLOB)"}}}
}

// drawnKeys are the first keys that an operation draws.
func drawnKeys(t *testing.T, v assay.Values, key string, n int) []string {
	t.Helper()
	v.Kind, v.Query = assay.Key, keySQL(key)
	trace, err := prepare(t, records(1, ":i")).Trace(t.Context(), assay.Operation{Name: "get", Steps: []assay.Step{{Args: []assay.Values{v}}}}, n)
	must(t, err)
	drawn, _ := traceRows(t, trace)
	keys := make([]string, n)
	for i, key := range drawn {
		keys[i] = string(key)
	}
	return keys
}

func TestKeys(t *testing.T) {
	for key, want := range map[string]string{
		":i":                          "1 2 3 1",
		"printf('user%016x', :i)":     "user0000000000000001 user0000000000000002 user0000000000000003 user0000000000000001",
		"printf('%016x', hash(:i-1))": "c82245866e9ec6f8 ...",
	} {
		got := strings.Join(drawnKeys(t, assay.Values{Draw: assay.Seq, To: 2}, key, 4), " ")
		if strings.Contains(key, "hash") {
			if !strings.HasPrefix(got, "c82245866e9ec6f8 ") || !strings.HasSuffix(got, " c82245866e9ec6f8") {
				t.Errorf("%s: %s", key, got)
			}
			continue
		}
		if got != want {
			t.Errorf("%s: %s\nwant %s", key, got, want)
		}
	}
}

// However keys are drawn, they are keys of the records.
func TestDrawnKeysAreThere(t *testing.T) {
	const n, key = 50, "text(9) || :i"
	all := drawnKeys(t, assay.Values{Draw: assay.Seq, To: n - 1}, key, n)
	for _, draw := range []assay.ValueKind{assay.Uniform, assay.Zipf, assay.Latest} {
		counts := map[string]int{}
		for _, key := range drawnKeys(t, assay.Values{Draw: draw, To: n - 1, Theta: 0.99}, key, 5000) {
			if !slices.Contains(all, key) {
				t.Fatalf("%s draws %s, which is not there", draw, key)
			}
			counts[key]++
		}
		most := ""
		for key, count := range counts {
			if count > counts[most] {
				most = key
			}
		}
		if skewed := counts[most] > 500; skewed != (draw != assay.Uniform) {
			t.Errorf("%s draws the most frequent key %d of 5000 times", draw, counts[most])
		}
		if draw == assay.Latest && most != all[n-1] {
			t.Errorf("latest draws %s most often, want the last, %s", most, all[n-1])
		}
	}
}

func put(key string, v assay.Values) assay.Operation {
	v.Kind, v.Query = assay.Key, keySQL(key)
	return assay.Operation{Name: "put", Changes: true, Steps: []assay.Step{{KV: wire.Put, SQL: kv.Put, Rows: 1,
		Args: []assay.Values{v, {Kind: assay.Expression, Query: "SELECT blob(4)"}}}}}
}

func traceRows(t *testing.T, trace *Trace) (keys [][]byte, file *column.File) {
	t.Helper()
	file, err := column.Open(trace.Path)
	must(t, err)
	t.Cleanup(func() { _ = file.Close() })
	for row := range file.Rows() {
		keys = append(keys, file.Bytes(0, row))
	}
	return keys, file
}

// Sorted has the rows of the trace in the order of their keys, whole.
func TestSorted(t *testing.T) {
	d := prepare(t, records(10, ":i"))
	op := put("hex(blob(8))", assay.Values{Draw: assay.Seq, From: 10, To: math.MaxInt64})
	drawn, err := d.Trace(t.Context(), op, 100)
	must(t, err)
	op.Sorted = true
	sorted, err := d.Trace(t.Context(), op, 100)
	must(t, err)
	before, values := traceRows(t, drawn)
	after, sortedValues := traceRows(t, sorted)
	if slices.IsSortedFunc(before, bytes.Compare) || !slices.IsSortedFunc(after, bytes.Compare) {
		t.Error("the keys are sorted without being asked to, or not sorted")
	}
	for i, key := range after {
		at := slices.IndexFunc(before, func(b []byte) bool { return bytes.Equal(b, key) })
		if at < 0 || !bytes.Equal(values.Bytes(1, at), sortedValues.Bytes(1, i)) {
			t.Fatalf("row %d of the sorted trace is none of the drawn ones", i)
		}
	}
}

// In a mix, latest draws from what was put before, and never from what comes
// after; the oracle finds each key.
func TestLatestInAMix(t *testing.T) {
	const n = 20
	d := prepare(t, records(n, "printf('k%016x', :i)"))
	get := assay.Operation{Name: "get", Steps: []assay.Step{{KV: wire.Get, SQL: kv.Get, Query: true, Rows: 1, Returns: []assay.Type{"blob"},
		Args: []assay.Values{{Kind: assay.Key, Query: keySQL("printf('k%016x', :i)"), Draw: assay.Latest, To: n - 1, Theta: 0.99}}}}}
	mix := assay.Operation{Name: "mix", Changes: true, Check: &assay.Query{SQL: kv.All, Returns: []assay.Type{"blob", "blob"}},
		Parts: []assay.Part{{Operation: get, Weight: 1}, {Operation: put("printf('k%016x', :i)", assay.Values{Draw: assay.Seq, From: n, To: math.MaxInt64}), Weight: 1}}}
	trace, err := d.Trace(t.Context(), mix, 1000)
	must(t, err)
	choice, err := column.Open(trace.Path)
	must(t, err)
	defer choice.Close()
	if alone, err := d.Trace(t.Context(), get, trace.Parts[0].Length); err != nil || alone.Path == trace.Parts[0].Path {
		t.Errorf("got the trace %v (%v) where no key is added, and in the mix that adds some, want two", alone, err)
	}
	gets, _ := traceRows(t, &trace.Parts[0])
	added, late := 0, 0
	for row := range choice.Rows() {
		if choice.Int(0, row) == 1 {
			added++
			continue
		}
		var i int
		if _, err := fmt.Sscanf(string(gets[choice.Int(1, row)]), "k%x", &i); err != nil {
			t.Fatal(err)
		}
		i-- // :i counts from 1
		if i >= n+added {
			t.Fatalf("row %d gets key %d, and only %d are there", row, i, n+added)
		}
		if i >= n {
			late++
		}
	}
	if late < 300 {
		t.Errorf("%d gets of keys that the mix has added", late)
	}
	found, err := d.Expect(t.Context(), mix, trace, 0, 1000)
	if err != nil || found.State == "" {
		t.Errorf("state %q, %v", found.State, err)
	}
}

// A read-modify-write writes the key that it reads.
func TestSame(t *testing.T) {
	d := prepare(t, records(10, ":i"))
	op := put(":i", assay.Values{Draw: assay.Uniform, To: 9})
	key := op.Steps[0].Args[0]
	op.Steps[0].Args[0] = assay.Values{Kind: assay.Same}
	op.Steps = append([]assay.Step{{KV: wire.Get, SQL: kv.Get, Query: true, Rows: 1, Returns: []assay.Type{"blob"}, Args: []assay.Values{key}}}, op.Steps...)
	trace, err := d.Trace(t.Context(), op, 50)
	must(t, err)
	_, file := traceRows(t, trace)
	for row := range file.Rows() {
		if !bytes.Equal(file.Bytes(0, row), file.Bytes(1, row)) {
			t.Fatalf("row %d: %q and %q", row, file.Bytes(0, row), file.Bytes(1, row))
		}
	}
}

// The records of the column file are those of the SQLite file.
func TestRecords(t *testing.T) {
	d := prepare(t, records(30, "hex(blob(8))"))
	path, err := d.Records(t.Context())
	must(t, err)
	file, err := column.Open(path)
	must(t, err)
	defer file.Close()
	want := queryAll(t, d.Path, "SELECT hex(key), hex(value) FROM kv ORDER BY key")
	var rows []string
	for row := range file.Rows() {
		if value := file.Bytes(1, row); !bytes.Equal(value[5:], make([]byte, 5)) || bytes.Equal(value[:5], make([]byte, 5)) {
			t.Errorf("half of the value should be zeros: %x", value)
		}
		rows = append(rows, fmt.Sprintf("%X %X", file.Bytes(0, row), file.Bytes(1, row)))
	}
	slices.Sort(rows)
	for _, row := range rows {
		key, value, _ := strings.Cut(row, " ")
		if !strings.Contains(want, key) || !strings.Contains(want, value) {
			t.Errorf("record %s is not in the SQLite file:\n%s", row, want)
		}
	}
	if len(rows) != 30 {
		t.Errorf("%d records", len(rows))
	}
}

// A store is filled once, found again, made again where it was damaged, and
// copied with its holes.
func TestStore(t *testing.T) {
	d := prepare(t, records(5, ":i"))
	fills := 0
	fill := func(path, _ string) error {
		fills++
		if err := os.MkdirAll(filepath.Join(path, "deep"), 0o755); err != nil {
			return err
		}
		file, err := os.Create(filepath.Join(path, "deep", "data"))
		if err != nil {
			return err
		}
		if _, err := file.WriteAt([]byte("end"), 10<<20); err != nil {
			return err
		}
		return file.Close()
	}
	for i, want := range []int{1, 1, 2} {
		if i == 2 {
			must(t, os.WriteFile(filepath.Join(filepath.Dir(d.Path), "store-b", "deep", "data"), []byte("damaged"), 0o644))
		}
		s, err := d.Store(t.Context(), "b", fill)
		if err != nil || fills != want {
			t.Fatalf("filled %d times, want %d; %v", fills, want, err)
		}
		dst := filepath.Join(t.TempDir(), "copy")
		must(t, s.Copy(dst))
		content := read(t, filepath.Join(dst, "deep", "data"))
		if len(content) != 10<<20+3 || !strings.HasSuffix(content, "end") {
			t.Errorf("the copy has %d bytes", len(content))
		}
		if used, err := folderBlocks(dst); err != nil || used > 1<<20 {
			t.Errorf("the copy takes %d bytes, %v: its hole was filled", used, err)
		}
	}
	if _, err := d.Store(t.Context(), "c", func(string, string) error { return os.ErrPermission }); err == nil {
		t.Error("a store that could not be filled is there")
	}
	if got := names(t, filepath.Dir(d.Path)); slices.Contains(got, "store-c") {
		t.Errorf("left behind: %v", got)
	}
}
