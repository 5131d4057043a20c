package dataset

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"assay"
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
