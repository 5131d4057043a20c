package dataset

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay"
	"assay/kit/column"
)

func shop(seed uint64) assay.Dataset {
	return assay.Dataset{Workload: "shop", Seed: seed, Schema: "CREATE TABLE customer (id INTEGER PRIMARY KEY, mail TEXT, day DATE); CREATE TABLE purchase (id INTEGER PRIMARY KEY, customer INTEGER, total REAL)",
		Tables: []assay.Table{
			{Name: "customer", Select: "SELECT value, printf('user%d@example.com', value), date(86400 * value, 'unixepoch') FROM generate_series(1, 50)"},
			{Name: "purchase", Select: "SELECT value, random(1, 50), random(1, 9999) / 100.0 FROM generate_series(1, 100)"}}}
}

// asking is an operation whose one step takes so many columns of SQL.
func asking(kind assay.ValueKind, draw assay.ValueKind, query string, columns, repeat int) assay.Operation {
	var args []assay.Values
	for j := range repeat {
		for i := range columns {
			v := assay.Values{Kind: kind, Draw: draw, Query: query, Of: i}
			if repeat > 1 {
				v.From, v.Step = int64(j), int64(repeat)
			}
			if draw == assay.Zipf {
				v.Theta = 0.99
			}
			args = append(args, v)
		}
	}
	return assay.Operation{Name: "op", Steps: []assay.Step{{SQL: "SELECT ?", Args: args}}}
}

// drawnRows are the rows of an operation's trace, as text.
func drawnRows(t *testing.T, d *Data, op assay.Operation, n int) (rows []string, types []column.Type) {
	t.Helper()
	trace, err := d.Trace(t.Context(), op, n)
	must(t, err)
	file, err := column.Open(trace.Path)
	must(t, err)
	defer file.Close()
	for c := range file.Columns() {
		types = append(types, file.Type(c))
	}
	for row := range file.Rows() {
		var values []string
		for c := range file.Columns() {
			values = append(values, fmt.Sprint(file.Value(c, row)))
		}
		rows = append(rows, strings.Join(values, " "))
	}
	return rows, types
}

// Equal seeds give equal files, and others others.
func TestSelectedData(t *testing.T) {
	one, again, other := prepare(t, shop(1)), prepare(t, shop(1)), prepare(t, shop(2))
	if one.Digest != again.Digest || one.Digest == other.Digest {
		t.Errorf("digests %s, %s and of another seed %s", one.Digest, again.Digest, other.Digest)
	}
	if got := queryAll(t, one.Path, "SELECT count(*), count(DISTINCT customer), sum(typeof(total) = 'real') FROM purchase"); !strings.Contains(got, "100") || strings.Contains(got, " 1 ") {
		t.Errorf("got %s", got)
	}
}

func TestExpressionArguments(t *testing.T) {
	d := prepare(t, shop(1))
	op := asking(assay.Expression, "", "SELECT 100 + :i, (SELECT max(id) FROM customer), random(1, 3), text(2), NULL, :i / 2.0", 6, 1)
	rows, types := drawnRows(t, d, op, 5)
	if want := []column.Type{column.Int, column.Int, column.Int, column.Text, column.Int, column.Real}; !slices.Equal(types, want) {
		t.Errorf("types %v, want %v", types, want)
	}
	for i, row := range rows {
		if !strings.HasPrefix(row, fmt.Sprintf("%d 50 ", 101+i)) || !strings.HasSuffix(row, fmt.Sprintf(" <nil> %v", float64(i+1)/2)) {
			t.Errorf("operation %d: %s", i+1, row)
		}
	}
	if longer, _ := drawnRows(t, d, op, 50); !slices.Equal(longer[:5], rows) {
		t.Errorf("a longer trace begins with %v, want %v", longer[:5], rows)
	}
	several, _ := drawnRows(t, d, asking(assay.Expression, "", "SELECT :i", 1, 3), 2)
	if want := []string{"1 2 3", "4 5 6"}; !slices.Equal(several, want) {
		t.Errorf("three rows to an operation: %v, want %v", several, want)
	}
}

// The columns of a drawn row belong together, and come as they are stored.
func TestRowArguments(t *testing.T) {
	d := prepare(t, shop(1))
	const query = "SELECT id, mail, day FROM customer ORDER BY id"
	for _, c := range []struct {
		draw  assay.ValueKind
		most  int // times that the most frequent of 1000 comes, at least
		least int // and at most
	}{{"", 20, 60}, {assay.InOrder, 20, 20}, {assay.Zipf, 100, 600}} {
		rows, _ := drawnRows(t, d, asking(assay.Row, c.draw, query, 3, 1), 1000)
		counts, most := map[string]int{}, 0
		for i, row := range rows {
			var id, day int
			if _, err := fmt.Sscanf(strings.Replace(row, "@", " ", 1), "%d user%d", &id, &day); err != nil || id != day || !strings.Contains(row, " 1970-0") {
				t.Fatalf("%q: got %q", c.draw, row)
			}
			if c.draw == assay.InOrder && id != i%50+1 {
				t.Errorf("operation %d has row %d, want %d", i, id, i%50+1)
			}
			counts[row]++
			most = max(most, counts[row])
		}
		if most < c.most || most > c.least || len(counts) < 40 {
			t.Errorf("%q draws %d rows of 50, the most frequent %d times, want %d to %d", c.draw, len(counts), most, c.most, c.least)
		}
	}
	rows, _ := drawnRows(t, d, asking(assay.Row, assay.InOrder, "VALUES (1, 'a'), (2, NULL), (3, 'c')", 2, 1), 4)
	if want := []string{"1 a", "2 <nil>", "3 c", "1 a"}; !slices.Equal(rows, want) {
		t.Errorf("got %v, want %v", rows, want)
	}
	if got, err := d.Choices(t.Context(), asking(assay.Row, "", query, 3, 1), 9); err != nil || got != 50 {
		t.Errorf("%d rows to draw, %v, want 50", got, err)
	}
	if got, err := d.Choices(t.Context(), asking(assay.Expression, "", "SELECT random(1, 5)", 1, 1), 9); err != nil || got != 100 {
		t.Errorf("an expression names %d rows, %v, want as many as the largest table has", got, err)
	}
}

func TestRefusedArguments(t *testing.T) {
	d := prepare(t, shop(1))
	for query, kind := range map[string]assay.ValueKind{
		"SELECT mail":         assay.Expression,
		"SELECT random(2, 1)": assay.Expression,
		"SELECT CASE WHEN :i > 9 THEN 'a' ELSE 1 END": assay.Expression,
		"SELECT id FROM customer WHERE id > 100":      assay.Row,
		"SELECT id, mail FROM customer":               assay.Row,
		"VALUES (1), ('a')":                           assay.Row,
	} {
		if _, err := d.Trace(t.Context(), asking(kind, "", query, 1, 1), 20); err == nil || !IsRefusal(err) || !strings.Contains(err.Error(), query) {
			t.Errorf("%s: got %v, want a refusal with the SQL", query, err)
		}
	}
	late := "SELECT CASE WHEN :i > 1500 THEN 'a' ELSE 1 END" // behind the rows that tell the type
	if _, err := d.Trace(t.Context(), asking(assay.Expression, "", late, 1, 1), 2000); err == nil || !IsRefusal(err) || !strings.Contains(err.Error(), "CAST") {
		t.Errorf("%s: got %v, want a refusal that says what helps", late, err)
	}
}
