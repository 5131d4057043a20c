package dataset

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay"
	"assay/kit/column"
)

// What is recorded is a schema of its own for data and arguments, and belongs to the identity
// of the data.
func TestRecorded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.recorded.db")
	record := func(name string) {
		t.Helper()
		must(t, os.RemoveAll(path))
		execute(t, path, "CREATE TABLE q1 (at INTEGER, a1, a2); INSERT INTO q1 VALUES (2, 7, 'b'), (1, 9007199254740993, '"+name+"')")
	}
	record("a")
	ds := shop(1)
	ds.Recorded = path
	ds.Tables = append(ds.Tables[:1:1], assay.Table{Name: "purchase", Select: "SELECT at, at, 0.5 FROM recorded.q1"})
	for _, ds := range []assay.Dataset{ds, {Workload: "shop", File: prepare(t, ds).Path, Recorded: path}} {
		record("a")
		d := prepare(t, ds)
		op := asking(assay.Row, assay.InOrder, "SELECT a1, a2 FROM recorded.q1 ORDER BY at", 2, 1)
		rows, types := drawnRows(t, d, op, 3)
		if want := []string{"9007199254740993 a", "7 b", "9007199254740993 a"}; !slices.Equal(rows, want) || !slices.Equal(types, []column.Type{column.Int, column.Text}) {
			t.Errorf("got %v of types %v, want %v", rows, types, want)
		}
		must(t, d.Compile(t.Context(), op))
		if got := queryAll(t, d.Path, "SELECT count(*) FROM purchase"); !strings.Contains(got, "2") {
			t.Errorf("got %s rows from what was recorded, want 2", got)
		}
		info, err := os.Stat(d.recorded)
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("others may read what was recorded: %v, %v", info.Mode(), err)
		}
		derived, err := (Cache{Dir: filepath.Dir(filepath.Dir(d.Path))}).Derive(t.Context(), d, []string{"CREATE INDEX c ON customer (mail)"})
		must(t, err)
		if rows, _ := drawnRows(t, derived, op, 1); !slices.Equal(rows, []string{"9007199254740993 a"}) {
			t.Errorf("with another index: got %v", rows)
		}
		record("other")
		other := prepare(t, ds)
		if rows, _ := drawnRows(t, other, op, 1); other.Digest == d.Digest || !slices.Equal(rows, []string{"9007199254740993 other"}) {
			t.Errorf("of another recording: got %v and the same digest: %v", rows, other.Digest == d.Digest)
		}
	}
	ds.Recorded = ""
	if _, err := (Cache{Dir: t.TempDir()}).Prepare(t.Context(), ds); err == nil || !strings.Contains(err.Error(), "recorded.q1") {
		t.Errorf("without a recording: got %v, want that there is no recorded.q1", err)
	}
}
