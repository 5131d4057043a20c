package dataset

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"assay"

	"github.com/google/go-cmp/cmp"
)

// towns is a dataset with values that no generator would draw.
func towns(t *testing.T) *Data {
	t.Helper()
	return prepare(t, assay.Dataset{Workload: "towns", Seed: 3, Schema: `
		CREATE TABLE town (name TEXT, zip INT, height REAL, seal BLOB, founded DATE, mixed, PRIMARY KEY (name, zip)) WITHOUT ROWID;
		INSERT INTO town VALUES ('Ulm', 1, 478, x'00', '1181-01-01', 1), ('Köln', 2, 52.5, x'01ff', '0050-01-01', 'a'), ('Jena', 3, NULL, x'02', NULL, 2.5);
		CREATE VIEW high AS SELECT name AS "the name" FROM town WHERE height > 100;
		CREATE TABLE empty (a)`})
}

// from is column number of of a drawn row.
func from(query string, of int) assay.Values {
	return assay.Values{Kind: assay.Row, Query: query, Of: of}
}

func selecting(name string, args ...assay.Values) assay.Operation {
	sql := "SELECT ?" + strings.Repeat(", ?", len(args)-1)
	return assay.Operation{Name: name, Steps: []assay.Step{{SQL: sql, Query: true, Rows: -1, Args: args}}}
}

// tally counts the rows of a trace by what is in them.
func tally(rows [][]any) map[string]int {
	counts := map[string]int{}
	for _, row := range rows {
		counts[fmt.Sprint(row...)]++
	}
	return counts
}

func TestFrom(t *testing.T) {
	d := towns(t)
	for name, c := range map[string]struct {
		args []assay.Values
		want []string
	}{
		"one column":   {[]assay.Values{from("SELECT name FROM town", 0)}, []string{"Jena", "Köln", "Ulm"}},
		"whole floats": {[]assay.Values{from("SELECT height, zip FROM town", 0), from("SELECT height, zip FROM town", 1)}, []string{"478 1", "52.5 2", "<nil> 3"}},
		"blob, date":   {[]assay.Values{from("SELECT seal, founded FROM town WHERE founded NOT NULL", 0), from("SELECT seal, founded FROM town WHERE founded NOT NULL", 1)}, []string{"[0]1181-01-01", "[1 255]0050-01-01"}},
		"view":         {[]assay.Values{from("SELECT * FROM high", 0)}, []string{"Ulm"}},
	} {
		t.Run(name, func(t *testing.T) {
			counts := tally(values(t, makeTrace(t, d, selecting("op", c.args...), 300).Path))
			got := []string{}
			for text, n := range counts {
				got = append(got, text)
				if share := 300 / len(c.want); n < share*7/10 || n > share*14/10 {
					t.Errorf("%s comes %d times of 300", text, n)
				}
			}
			slices.Sort(got)
			if slices.Sort(c.want); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestFromOracle(t *testing.T) {
	d := towns(t)
	op := assay.Operation{Name: "by-name", Steps: []assay.Step{{SQL: "SELECT zip, founded FROM town WHERE name = ? AND zip = ?", Query: true, Rows: 1,
		Args: []assay.Values{from("SELECT name, zip FROM town", 0), from("SELECT name, zip FROM town", 1)}}}}
	op, err := d.Resolve(t.Context(), op)
	if want := []assay.Type{"int", "text?"}; err != nil && !strings.Contains(err.Error(), errUntyped.Error()) || len(op.Steps[0].Returns) != len(want) {
		t.Fatalf("types %v, %v", op.Steps[0].Returns, err)
	}
	found, err := d.Expect(t.Context(), op, makeTrace(t, d, op, 30), 0, 30)
	if err != nil || found.Rows != 30 {
		t.Errorf("%+v, %v; want a row each time", found, err)
	}
}

func TestFromErrors(t *testing.T) {
	d := towns(t)
	for query, want := range map[string]string{
		"SELECT name FROM city":  "SQL logic error: no such table: city (1)",
		"SELECT nmae FROM town":  "SQL logic error: no such column: nmae (1)",
		"SELECT a FROM empty":    "it gives no row to draw",
		"SELECT mixed FROM town": "column 1 has values of several types",
	} {
		if _, err := d.Trace(t.Context(), selecting("op", from(query, 0)), 5); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", query, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Trace(ctx, selecting("op", from("SELECT zip FROM town", 0)), 5); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Try counts the rows of each step, on a copy that the next one does not see.
// What is tried on a copy that is kept is undone: each operation finds the data as
// they are, and nothing is copied again.
func TestTryOnKeptCopy(t *testing.T) {
	d := towns(t)
	kept := filepath.Join(t.TempDir(), "kept.db")
	must(t, d.KeepCopy(t.Context(), kept))
	before, err := fileSum(kept)
	must(t, err)
	clear := assay.Operation{Name: "clear", Changes: true, Steps: []assay.Step{{SQL: "DELETE FROM town WHERE zip = ?", Rows: -1, Args: []assay.Values{from("SELECT zip FROM town", 0)}}}}
	var found []TriedStep
	for range 2 {
		tried, err := d.Try(t.Context(), clear, makeTrace(t, d, clear, 200), 200, time.Minute, false)
		if err != nil || tried.Times != 200 || tried.Steps[0].Found == 0 {
			t.Fatalf("got %+v and error %v, want 200 times and rows that are deleted", tried, err)
		}
		found = append(found, tried.Steps[0])
	}
	if diff := cmp.Diff(found[0], found[1]); diff != "" {
		t.Errorf("the second time (-want +got)\n%s", diff)
	}
	fails := assay.Operation{Name: "fails", Changes: true, Steps: []assay.Step{clear.Steps[0], {SQL: "INSERT OR ROLLBACK INTO town (zip) VALUES (json('{'))", Rows: -1}}}
	if _, err := d.Try(t.Context(), fails, makeTrace(t, d, fails, 10), 10, time.Minute, false); err == nil || strings.Contains(err.Error(), "rollback") {
		t.Errorf("an operation that fails: got %v, want its own error alone", err)
	}
	after, err := fileSum(kept)
	if err != nil || after != before {
		t.Errorf("the copy has changed: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.KeepCopy(ended, kept+"2"); !errors.Is(err, context.Canceled) {
		t.Errorf("copying without time: got %v, want %v", err, context.Canceled)
	}
	if _, err := os.Stat(kept + "2"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("half a copy is left: %v", err)
	}
}

func TestTry(t *testing.T) {
	d := towns(t)
	zip := from("SELECT zip FROM town", 0)
	op := assay.Operation{Name: "op", Changes: true, Steps: []assay.Step{
		{SQL: "SELECT name FROM town WHERE zip >= ?", Query: true, Rows: -1, Args: []assay.Values{zip}, Returns: []assay.Type{"text"}},
		{SQL: "UPDATE town SET height = 1 WHERE zip = ? AND height IS NULL", Rows: -1, Args: []assay.Values{zip}},
	}}
	tried, err := d.Try(t.Context(), op, makeTrace(t, d, op, 100), 100, time.Minute, false)
	must(t, err)
	total := tried.Steps[0].Total // of as many rows as the draw found, one to three each time
	if total <= 100 || total >= 300 {
		t.Errorf("the first step had %d rows in all, want between 100 and 300", total)
	}
	want := []TriedStep{{Min: 1, Max: 3, Total: total, Found: 100}, {Min: 0, Max: 1, Total: 1, Found: 1}}
	if tried.Times != 100 || !reflect.DeepEqual(tried.Steps, want) || tried.Took <= 0 {
		t.Errorf("got %+v, want 100 times with %+v", tried, want)
	}
	if tried, err = d.Try(t.Context(), op, makeTrace(t, d, op, 100), 100, 0, false); err != nil || tried.Times != 1 {
		t.Errorf("without time: got %+v and error %v, want it done once", tried, err)
	}

	for name, op := range map[string]assay.Operation{
		"what changes data": op,
		"what only reads": {Name: "reads", Steps: []assay.Step{
			{SQL: "SELECT name FROM town WHERE zip >= ?", Query: true, Rows: -1, Args: []assay.Values{zip}, Returns: []assay.Type{"text"}},
			{SQL: "SELECT name FROM town WHERE zip = ?", Query: true, Rows: -1, Args: []assay.Values{zip}, Returns: []assay.Type{"text"}},
		}},
	} {
		each, err := d.Try(t.Context(), op, makeTrace(t, d, op, 100), 100, time.Minute, false)
		must(t, err)
		once, err := d.Try(t.Context(), op, makeTrace(t, d, op, 100), 100, time.Minute, true)
		must(t, err)
		if each.Times != once.Times || !reflect.DeepEqual(each.Steps, once.Steps) {
			t.Errorf("%s, with each of its arguments once: got %+v, want %+v", name, once, each)
		}
	}
}
