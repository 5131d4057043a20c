package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"assay"
	"assay/kit/column"

	"github.com/google/go-cmp/cmp"
)

// transfer has two steps.
func transfer() assay.Operation {
	return assay.Operation{Name: "transfer", Changes: true, Steps: []assay.Step{
		{SQL: "UPDATE monster SET hp = hp - ?2 WHERE id = ?1", Rows: -1,
			Args: []assay.Values{{Kind: assay.Uniform, From: 1, To: 100}, {Kind: assay.Uniform, From: 1, To: 10}}},
		{SQL: "INSERT INTO \"two words\" (n) VALUES (?)", Rows: 1,
			Args: []assay.Values{{Kind: assay.Expression, Query: "SELECT 2 * random(1, 100)"}}},
	}}
}

func byID() assay.Operation {
	return assay.Operation{Name: "by-id", Steps: []assay.Step{{SQL: "SELECT id, mail FROM monster WHERE id = ?", Query: true, Rows: 1,
		Returns: []assay.Type{"int", "text"}, Args: []assay.Values{{Kind: assay.Uniform, From: 1, To: 100}}}}}
}

func makeTrace(t *testing.T, d *Data, op assay.Operation, length int) *Trace {
	t.Helper()
	trace, err := d.Trace(t.Context(), op, length)
	must(t, err)
	return trace
}

// values reads a whole column file.
func values(t *testing.T, path string) [][]any {
	t.Helper()
	f, err := column.Open(path)
	must(t, err)
	defer f.Close()
	rows := make([][]any, f.Rows())
	for r := range rows {
		for c := range f.Columns() {
			v := f.Value(c, r)
			switch mapped := v.(type) {
			case string:
				v = strings.Clone(mapped)
			case []byte:
				v = bytes.Clone(mapped)
			}
			rows[r] = append(rows[r], v)
		}
	}
	return rows
}

func TestTrace(t *testing.T) {
	d := prepare(t, monsters(10))
	trace := makeTrace(t, d, transfer(), 50)
	rows := values(t, trace.Path)
	if trace.Length != 50 || len(rows) != 50 || trace.Parts != nil {
		t.Errorf("%+v of %d rows", trace, len(rows))
	}
	for i, row := range rows {
		a, b, c := row[0].(int64), row[1].(int64), row[2].(int64)
		if a < 1 || a > 100 || b < 1 || b > 10 || c < 2 || c > 200 || c%2 != 0 {
			t.Errorf("row %d: %v", i, row)
		}
	}
	other := prepare(t, monsters(10))
	if again := makeTrace(t, other, transfer(), 50); again.Digest != trace.Digest || read(t, again.Path) != read(t, trace.Path) {
		t.Error("two caches have different traces")
	}
	if longer := values(t, makeTrace(t, d, transfer(), 80).Path); !reflect.DeepEqual(longer[:50], rows) {
		t.Error("a longer trace does not begin with the shorter one")
	}
}

func TestTraceOfEveryType(t *testing.T) {
	d := prepare(t, monsters(10))
	all := func(column int) assay.Values {
		return assay.Values{Kind: assay.Expression, Query: "SELECT :i, 1.5, 'x', NULL, '', x'', 'k' || :i", Of: column}
	}
	op := assay.Operation{Name: "all", Steps: []assay.Step{{Args: []assay.Values{
		all(0), all(1), all(2), all(3), all(4), all(5), all(6),
	}}}}
	want := [][]any{{int64(1), 1.5, "x", nil, "", []byte{}, "k1"}, {int64(2), 1.5, "x", nil, "", []byte{}, "k2"}}
	if got := values(t, makeTrace(t, d, op, 2).Path); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	none := makeTrace(t, d, assay.Operation{Name: "none", Steps: []assay.Step{{SQL: "SELECT 1"}}}, 5)
	if got := values(t, none.Path); len(got) != 5 || len(got[0]) != 0 {
		t.Errorf("without arguments: %v", got)
	}
}

func TestTraceOfMix(t *testing.T) {
	d := prepare(t, monsters(10))
	const length = 1000
	mix := assay.Operation{Name: "app", Parts: []assay.Part{{Operation: byID(), Weight: 9}, {Operation: transfer(), Weight: 1}}}
	trace := makeTrace(t, d, mix, length)
	next := []int64{0, 0}
	for i, row := range values(t, trace.Path) {
		part := row[0].(int64)
		if row[1] != next[part] {
			t.Fatalf("row %d: %v, want occurrence %d", i, row, next[part])
		}
		next[part]++
	}
	if next[0] < 860 || next[0] > 940 || next[0]+next[1] != length {
		t.Errorf("parts occur %d times", next)
	}
	for i, part := range trace.Parts {
		own := makeTrace(t, d, mix.Parts[i].Operation, int(next[i]))
		if diff := cmp.Diff(*own, part); diff != "" {
			t.Errorf("part %d (-alone +in the mix)\n%s", i, diff)
		}
	}
}

// An operation without arguments has one position, in a mix too: workers refuse
// any other.
func TestTraceOfMixWithoutArguments(t *testing.T) {
	d := prepare(t, monsters(10))
	count := assay.Operation{Name: "count", Steps: []assay.Step{{SQL: "SELECT count(*) FROM monster", Query: true, Returns: []assay.Type{"int"}, Rows: 1}}}
	mix := assay.Operation{Name: "app", Parts: []assay.Part{{Operation: count, Weight: 1}, {Operation: byID(), Weight: 1}}}
	next := int64(0)
	for i, row := range values(t, makeTrace(t, d, mix, 100).Path) {
		want := int64(0)
		if row[0] == int64(1) {
			want = next
			next++
		}
		if row[1] != want {
			t.Fatalf("row %d: got %v, want position %d", i, row, want)
		}
	}
}

func TestTraceIsMadeAgainWhenDamaged(t *testing.T) {
	d := prepare(t, monsters(10))
	trace := makeTrace(t, d, byID(), 100)
	whole := read(t, trace.Path)
	for name, content := range map[string]string{"empty": "", "foreign": strings.Repeat("x", 500), "cut": whole[:100]} {
		must(t, os.WriteFile(trace.Path, []byte(content), 0o644))
		if again := makeTrace(t, d, byID(), 100); again.Digest != trace.Digest || read(t, again.Path) != whole {
			t.Errorf("%s: got the trace %s of %d bytes, want %s of %d as before", name, again.Digest, len(read(t, again.Path)), trace.Digest, len(whole))
		}
	}
}

// A trace that somebody has changed is whole and has the right length, but is
// not the one that was made: it is made again.
func TestTraceIsMadeAgainWhenChanged(t *testing.T) {
	d := prepare(t, monsters(10))
	trace := makeTrace(t, d, byID(), 100)
	made := read(t, trace.Path)
	builder := column.NewBuilder(column.Int)
	for range 100 {
		must(t, builder.Append(int64(1)))
	}
	must(t, builder.WriteFile(trace.Path))
	if again := makeTrace(t, d, byID(), 100); again.Digest != trace.Digest || read(t, again.Path) != made {
		t.Errorf("got the trace %s, with the arguments as they were made: %t; want %s, with them", again.Digest, read(t, again.Path) == made, trace.Digest)
	}
}

func TestTraceErrors(t *testing.T) {
	d := prepare(t, monsters(10))
	if _, err := d.Trace(t.Context(), byID(), -1); err == nil {
		t.Error("got a trace of a negative length")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Trace(ctx, byID(), 10); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if got := names(t, filepath.Dir(d.Path)); len(got) != 2 {
		t.Errorf("left behind: %q", fmt.Sprint(got))
	}
}
