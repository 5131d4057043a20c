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

func from(column string, row int) assay.Values {
	table, column, _ := strings.Cut(column, ".")
	return assay.Values{Kind: assay.From, Table: table, Column: column, Of: row}
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
		"one column":   {[]assay.Values{from("town.name", 0)}, []string{"Jena", "Köln", "Ulm"}},
		"whole floats": {[]assay.Values{from("town.height", 0), from("town.zip", 0)}, []string{"478 1", "52.5 2"}},
		"blob, date":   {[]assay.Values{from("town.seal", 0), from("town.founded", 0)}, []string{"[0]1181-01-01", "[1 255]0050-01-01"}},
		"view":         {[]assay.Values{from("high.the name", 0)}, []string{"Ulm"}},
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

func TestFromRows(t *testing.T) {
	d := towns(t)
	counts := tally(values(t, makeTrace(t, d, selecting("op", from("town.zip", 0), from("town.zip", 1)), 900).Path))
	for a := 1; a <= 3; a++ {
		for b := 1; b <= 3; b++ {
			if n := counts[fmt.Sprint(a, b)]; n < 60 || n > 140 {
				t.Errorf("%d and %d come together %d times of 900, want about 100", a, b, n)
			}
		}
	}
	nulls := from("town.zip", 0)
	nulls.Null = 1
	op := selecting("op", from("town.zip", 0), nulls)
	long, short := values(t, makeTrace(t, d, op, 50).Path), values(t, makeTrace(t, d, op, 20).Path)
	if !reflect.DeepEqual(long[:20], short) || long[0][1] != nil {
		t.Errorf("20 rows %v\nof 50 rows %v", short, long)
	}
}

func TestFromOracle(t *testing.T) {
	d := towns(t)
	op := assay.Operation{Name: "by-name", Steps: []assay.Step{{SQL: "SELECT zip, founded FROM town WHERE name = ? AND zip = ?", Query: true, Rows: 1,
		Args: []assay.Values{from("town.name", 0), from("town.zip", 0)}}}}
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
	for column, want := range map[string]string{
		"city.name":  `draw from table "city": SQL logic error: no such table: city (1)`,
		"town.nmae":  `draw from table "town": SQL logic error: no such column: town.nmae (1)`,
		"empty.a":    `draw from table "empty": it has no row with a value in a`,
		"town.mixed": `draw from table "town": column "mixed" has values of several types, integer and text, and an argument is of one`,
		"town.":      `step 1, argument 1: row 0 of "town"."" is nothing to draw from`,
	} {
		_, err := d.Trace(t.Context(), selecting("op", from(column, 0)), 5)
		if want = `trace of operation "op": ` + want; err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	_, err := d.Trace(t.Context(), selecting("op", from("town.zip", 0), assay.Values{Kind: assay.Derive, Of: 0}), 5)
	if err == nil || !strings.Contains(err.Error(), "which is no integer") {
		t.Errorf("derived: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Trace(ctx, selecting("op", from("town.zip", 0)), 5); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// drawing is from, with a way to draw the row.
func drawing(column string, draw assay.ValueKind, theta float64) assay.Values {
	v := from(column, 0)
	v.Draw, v.Theta = draw, theta
	return v
}

func TestFromQuery(t *testing.T) {
	d := towns(t)
	low := from("low.name", 0)
	low.Query = "SELECT name, zip FROM town WHERE height < 100 OR height IS NULL ORDER BY zip -- a comment"
	zip := from("low.zip", 0)
	zip.Query = low.Query
	counts := tally(values(t, makeTrace(t, d, selecting("op", low, zip), 300).Path))
	if len(counts) != 2 || counts["Köln2"]+counts["Jena3"] != 300 || counts["Köln2"] < 100 || counts["Jena3"] < 100 {
		t.Errorf("got %v, want Köln with 2 and Jena with 3, about 150 times each", counts)
	}
}

func TestFromOnce(t *testing.T) {
	d := prepare(t, assay.Dataset{Workload: "once", Seed: 3, Schema: "CREATE TABLE n (i INTEGER PRIMARY KEY)",
		Tables: []assay.Table{{Name: "n", Rows: 1000, Columns: []assay.Column{{Name: "i", Values: assay.Values{Kind: assay.Seq, From: 1}}}}}})
	rows := values(t, makeTrace(t, d, selecting("op", drawing("n.i", assay.Once, 0)), 2000).Path)
	near := 0
	for i, row := range rows[1:1000] {
		if gap := row[0].(int64) - rows[i][0].(int64); gap >= -10 && gap <= 10 {
			near++
		}
	}
	if counts := tally(rows[:1000]); len(counts) != 1000 || near > 0 {
		t.Errorf("got %d of 1000 rows in 1000 draws, and %d draws near the one before; want all, and none", len(counts), near)
	}
	if !reflect.DeepEqual(rows[:1000], rows[1000:]) {
		t.Error("after the last row, the rows come in another order")
	}
}

// Several rows of one operation are also drawn once each.
func TestFromOnceRepeated(t *testing.T) {
	d := prepare(t, assay.Dataset{Workload: "once", Seed: 3, Schema: "CREATE TABLE n (i INTEGER PRIMARY KEY)",
		Tables: []assay.Table{{Name: "n", Rows: 1000, Columns: []assay.Column{{Name: "i", Values: assay.Values{Kind: assay.Seq, From: 1}}}}}})
	first, second := drawing("n.i", assay.Once, 0), drawing("n.i", assay.Once, 0)
	first.Step, second.Step, second.From, second.Of = 2, 2, 1, 1
	counts := map[any]int{}
	for _, row := range values(t, makeTrace(t, d, selecting("op", first, second), 500).Path) {
		counts[row[0]]++
		counts[row[1]]++
	}
	if len(counts) != 1000 {
		t.Errorf("500 operations of two rows each draw %d of 1000 rows, want all", len(counts))
	}
}

func TestFromSkewed(t *testing.T) {
	d := prepare(t, assay.Dataset{Workload: "skewed", Seed: 3, Schema: "CREATE TABLE n (i INTEGER PRIMARY KEY)",
		Tables: []assay.Table{{Name: "n", Rows: 1000, Columns: []assay.Column{{Name: "i", Values: assay.Values{Kind: assay.Seq, From: 1}}}}}})
	for draw, want := range map[assay.ValueKind]string{assay.Latest: "1000", assay.Zipf: fmt.Sprint(1 + scatteredOver(1000)(1))} {
		counts := tally(values(t, makeTrace(t, d, selecting("op", drawing("n.i", draw, 0.99)), 10_000).Path))
		// With a theta of 0.99, the first of 1000 has 1/zeta = 12.9 %.
		if n := counts[want]; n < 1100 || n > 1500 {
			t.Errorf("%s: row %s comes %d times of 10000, want about 1290", draw, want, n)
		}
	}
}

func TestFromOneRowDrawnTwice(t *testing.T) {
	d := towns(t)
	_, err := d.Trace(t.Context(), selecting("op", from("town.zip", 0), drawing("town.name", assay.Once, 0)), 5)
	if err == nil || !strings.Contains(err.Error(), "town.zip and town.name are of one row, and are not drawn alike") {
		t.Errorf("got %v, want an error that both are of one row", err)
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
	clear := assay.Operation{Name: "clear", Changes: true, Steps: []assay.Step{{SQL: "DELETE FROM town WHERE zip = ?", Rows: -1, Args: []assay.Values{from("town.zip", 0)}}}}
	var found []TriedStep
	for range 2 {
		tried, err := d.Try(t.Context(), clear, makeTrace(t, d, clear, 200), 200, time.Minute)
		if err != nil || tried.Times != 200 || tried.Steps[0].Found == 0 {
			t.Fatalf("got %+v and error %v, want 200 times and rows that are deleted", tried, err)
		}
		found = append(found, tried.Steps[0])
	}
	if diff := cmp.Diff(found[0], found[1]); diff != "" {
		t.Errorf("the second time (-want +got)\n%s", diff)
	}
	fails := assay.Operation{Name: "fails", Changes: true, Steps: []assay.Step{clear.Steps[0], {SQL: "INSERT OR ROLLBACK INTO town (zip) VALUES (json('{'))", Rows: -1}}}
	if _, err := d.Try(t.Context(), fails, makeTrace(t, d, fails, 10), 10, time.Minute); err == nil || strings.Contains(err.Error(), "rollback") {
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
	zip := from("town.zip", 0)
	op := assay.Operation{Name: "op", Changes: true, Steps: []assay.Step{
		{SQL: "SELECT name FROM town WHERE zip >= ?", Query: true, Rows: -1, Args: []assay.Values{zip}, Returns: []assay.Type{"text"}},
		{SQL: "UPDATE town SET height = 1 WHERE zip = ? AND height IS NULL", Rows: -1, Args: []assay.Values{zip}},
	}}
	tried, err := d.Try(t.Context(), op, makeTrace(t, d, op, 100), 100, time.Minute)
	must(t, err)
	total := tried.Steps[0].Total // of as many rows as the draw found, one to three each time
	if total <= 100 || total >= 300 {
		t.Errorf("the first step had %d rows in all, want between 100 and 300", total)
	}
	want := []TriedStep{{Min: 1, Max: 3, Total: total, Found: 100}, {Min: 0, Max: 1, Total: 1, Found: 1}}
	if tried.Times != 100 || !reflect.DeepEqual(tried.Steps, want) || tried.Took <= 0 {
		t.Errorf("got %+v, want 100 times with %+v", tried, want)
	}
	if tried, err = d.Try(t.Context(), op, makeTrace(t, d, op, 100), 100, 0); err != nil || tried.Times != 1 {
		t.Errorf("without time: got %+v and error %v, want it done once", tried, err)
	}
}

// What continues a column of the data begins behind its greatest value, whatever that is.
func TestContinues(t *testing.T) {
	d := prepare(t, assay.Dataset{Workload: "next", Seed: 3, Schema: `
		CREATE TABLE t (id INTEGER PRIMARY KEY, r REAL, e INT); INSERT INTO t VALUES (7, 1.5, NULL), (3, -2, NULL);
		CREATE TABLE ends (id INTEGER PRIMARY KEY); INSERT INTO ends VALUES (9223372036854775807)`})
	next := func(column string, add int64) assay.Values {
		table, column, _ := strings.Cut(column, ".")
		return assay.Values{Kind: assay.Seq, Table: table, Column: column, From: add}
	}
	got := values(t, makeTrace(t, d, selecting("op", next("t.id", 0), next("t.id", 100), next("t.r", 0), next("t.e", 0)), 2).Path)
	want := [][]any{{int64(8), int64(108), int64(2), int64(1)}, {int64(9), int64(109), int64(3), int64(2)}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if _, err := d.Trace(t.Context(), selecting("full", next("ends.id", 0)), 2); err == nil || !strings.Contains(err.Error(), "leaves no room") {
		t.Errorf("got %v, want that there is no room", err)
	}
}
