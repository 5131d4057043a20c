package oracle

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay"
	"assay/internal/dataset"
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

// written are writes such as "put key field ...", "update key 1 value" and "delete key", as the
// mix that does one at each position.
func written(t *testing.T, done Done, fields int, all ...string) []write {
	t.Helper()
	step := func(kind string, field, args int) assay.Operation {
		return assay.Operation{Changes: true, Steps: []assay.Step{{KV: kind, Fields: fields, Field: field, Args: make([]assay.Values, args)}}}
	}
	mix := assay.Operation{Parts: []assay.Part{{Operation: step(wire.Put, 0, 1+fields)}, {Operation: step(wire.Delete, 0, 1)}}}
	for field := range fields {
		mix.Parts = append(mix.Parts, assay.Part{Operation: step(wire.Update, field, 2)})
	}
	path := func(i int, b *column.Builder) string {
		path := filepath.Join(t.TempDir(), fmt.Sprint(i))
		must(t, b.WriteFile(path))
		return path
	}
	choice, rows := column.NewBuilder(column.Int, column.Int), make([][][]any, len(mix.Parts))
	for _, one := range all {
		kind, text, _ := strings.Cut(one, " ")
		args := strings.Split(text, " ")
		part := 0
		switch kind {
		case "delete":
			part = 1
		case "update":
			part = 2 + int(args[1][0]-'0')
			args = slices.Delete(args, 1, 2)
		}
		var row []any
		for _, arg := range args {
			row = append(row, []byte(arg))
		}
		must(t, choice.Append(int64(part), int64(len(rows[part]))))
		rows[part] = append(rows[part], row)
	}
	trace := dataset.Trace{Path: path(0, choice)}
	for i, part := range mix.Parts {
		values := column.NewBuilder(slices.Repeat([]column.Type{column.Blob}, len(part.Operation.Steps[0].Args))...)
		for _, row := range rows[i] {
			must(t, values.Append(row...))
		}
		trace.Parts = append(trace.Parts, dataset.Trace{Path: path(1+i, values)})
	}
	arguments, err := trace.Arguments(mix)
	must(t, err)
	t.Cleanup(func() { must(t, arguments.Close()) })
	found, err := writesOf(arguments, done)
	must(t, err)
	return found
}

// What a key may hold follows from what was written to it, and when. The key a had the fields
// a0 and a1; "-" is one that is not there.
func TestWrittenKey(t *testing.T) {
	const put = "put a p0 p1"
	for name, c := range map[string]struct {
		done   Done
		writes []string
		want   string
	}{
		"one update cannot be lost":                    {Done{Measured: 1}, []string{"update a 1 x"}, "a0|x"},
		"of two, one can be lost":                      {Done{Measured: 2}, []string{"update a 0 x", "update a 1 y"}, "a0 x|a1 y"},
		"of two of one field, the other is as it was":  {Done{Measured: 2}, []string{"update a 0 x", "update a 0 y"}, "a0 x y|a1"},
		"a put of all fields reads nothing":            {Done{Measured: 2}, []string{put, put}, "p0|p1"},
		"an update may bring back what a put replaced": {Done{Measured: 2}, []string{put, "update a 0 x"}, "a0 p0 x|a1 p1"},
		"the warm-up is over when measuring begins":    {Done{2, 1, 0}, []string{"update a 0 x", "update a 0 y", "update a 0 z"}, "z|a1"},
		"a field keeps what the warm-up may have left": {Done{2, 1, 0}, []string{"update a 0 x", "update a 0 y", "update a 1 z"}, "a0 x y|z"},
		"of one client the newest is there":            {Done{2, 0, 2}, []string{put, "update a 0 x", "update a 0 y", "update a 0 z"}, "z|a1 p1"},
		"one client deletes, and puts again":           {Done{1, 0, 2}, []string{put, "delete a", put}, "p0|p1"},
		"an empty value is not one that is missing":    {Done{Measured: 2}, []string{"put a  ", "delete a"}, "- |- "},
		"a key that is deleted is not there":           {Done{Measured: 1}, []string{"delete a"}, "-|-"},
		"all measured":                                 {Done{Measured: 3}, []string{"put a v w", "put a x w", "put a y w"}, "v x y|w"},
		"one warmed up":                                {Done{Warm: 1, Measured: 2}, []string{"put a v w", "put a x w", "put a y w"}, "x y|w"},
		"one was alone":                                {Done{Measured: 2, OneClient: 1}, []string{"put a v w", "put a x w", "put a y w"}, "y|w"},
		"one of each":                                  {Done{1, 1, 1}, []string{"put a v w", "put a x w", "put a y w"}, "y|w"},
	} {
		k := writtenKey{key: []byte("a"), before: []byte("a0a1"), writes: written(t, c.done, 2, c.writes...)}
		var fields []string
		for field := range 2 {
			var all []string
			for _, v := range k.allowedValues(field, 2) {
				all = append(all, string(v))
				if v == nil {
					all[len(all)-1] = "-"
				}
			}
			fields = append(fields, strings.Join(all, " "))
		}
		if got := strings.Join(fields, "|"); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// The keys of a store are found like those of a plain map: each written key once, with its
// value, and their count.
func TestStoreKeys(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const there, changed = 3000, 2000
	model, times := map[string]string{}, map[string]int{}
	var puts []string
	var records [][]any
	for i := range there {
		key, value := fmt.Sprintf("k%06d", 2*i), fmt.Sprint("old", i)
		records, model[key] = append(records, []any{[]byte(key), []byte(value)}), value
	}
	for i := range changed {
		key, value := fmt.Sprintf("k%06d", random.IntN(4*there)), fmt.Sprint("new", i)
		puts, model[key] = append(puts, "put "+key+" "+value), value
		times[key]++
	}
	random.Shuffle(there, func(i, j int) { records[i], records[j] = records[j], records[i] })
	s := &store{records: columntest.Open(t, []column.Type{column.Blob, column.Blob}, records...), fields: 1, random: random, path: filepath.Join(t.TempDir(), "keys")}
	s.write(written(t, Done{Measured: changed}, 1, puts...))
	found, err := s.keys(t.Context())
	must(t, err)
	if found.Least != len(model) || found.Most != len(model) {
		t.Errorf("got %d to %d keys; want %d", found.Least, found.Most, len(model))
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
	var exact [][]any
	seen := map[string]bool{}
	for row := range looked.Rows() {
		key := string(looked.Bytes(0, row))
		if seen[key] || (row < v.Exact) != (times[key] <= 1) {
			t.Fatalf("row %d is key %s, written %d times; seen before: %v", row, key, times[key], seen[key])
		}
		seen[key] = true
		if row < v.Exact {
			exact = append(exact, []any{[]byte(model[key])})
			continue
		}
		digest, err := digestRows([]assay.Type{"blob"}, []any{[]byte(model[key])})
		if err != nil || !slices.Contains(v.Allowed[row-v.Exact], digest) || len(v.Allowed[row-v.Exact]) != times[key] {
			t.Fatalf("key %s, written %d times, has %d allowed values: %v", key, times[key], len(v.Allowed[row-v.Exact]), err)
		}
	}
	want, err := digestRows([]assay.Type{"blob"}, exact...)
	if err != nil || v.Digest != want || v.Exact != once+sampledUntouched || looked.Rows() != v.Exact+len(v.Allowed) {
		t.Errorf("got %d exact of %d keys and digest %.8s; want %d and %.8s (%v)", v.Exact, looked.Rows(), v.Digest, once+sampledUntouched, want, err)
	}
}
