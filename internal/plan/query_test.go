package plan

import (
	"database/sql"
	"fmt"
	"regexp"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"assay/kit/kv"
)

const sqlPlan = `name: shop
drivers: [mattn]
workload:
  params: {rows: [1e5], word: ["it's"]}
  schema: |
    CREATE TABLE customer (id INTEGER PRIMARY KEY, mail TEXT NOT NULL UNIQUE);
    CREATE TABLE purchase (id INTEGER PRIMARY KEY, customer INTEGER NOT NULL REFERENCES customer(id), total REAL);
  data:
    customer: SELECT value, printf('user%d@example.com', value) FROM generate_series(1, :rows)
    purchase: SELECT value, random(1, :rows), random(1, 9999) / 100.0 FROM generate_series(1, 7, 1)
operations:
  by-mail:
    sql: SELECT id FROM customer WHERE mail = ?
    args: SELECT mail FROM customer              # drawn
    draw: zipfian
    rows: 1
  newest:
    sql: SELECT id, total FROM purchase WHERE customer = ? ORDER BY id DESC LIMIT 20
    args: SELECT random_zipfian(1, :rows, 1.07)
  buy:
    sql: INSERT INTO purchase VALUES (?, ?, ?)
    args: SELECT :rows * 3 + :i, :word, random(1, 9999) / 100.0
  several:
    sql: INSERT INTO purchase VALUES (?, ?, ?)
    batch: 2
    args: SELECT :i, 1, 2
  put:
    kv: put
    key: printf('%016x:%016x', random(), :i)
    value: blob(210)
`

// What is written for params and in keys, and how each argument is drawn.
func TestSQLValues(t *testing.T) {
	p, err := Decode("shop.yaml", []byte(sqlPlan))
	must(t, err)
	cases, err := p.Expand(nil)
	must(t, err)
	got := map[string]string{}
	for _, c := range cases {
		var args []string
		for _, s := range c.Operation.Steps {
			for _, v := range s.Args {
				args = append(args, fmt.Sprintf("%s %s %d %d+%d %q", v.Kind, v.Draw, v.Of, v.From, v.Step, v.Query))
			}
		}
		got[c.Cell.Operation] = strings.Join(args, "\n")
	}
	buy := `"SELECT 100000 * 3 + :i, 'it''s', random(1, 9999) / 100.0"`
	for operation, want := range map[string]string{
		"by-mail": `row zipf 0 0+0 "SELECT mail FROM customer"`,
		"newest":  `expression  0 0+0 "SELECT random_zipfian(1, 100000, 1.07)"`,
		"buy":     "expression  0 0+0 " + buy + "\nexpression  1 0+0 " + buy + "\nexpression  2 0+0 " + buy,
		"several": strings.ReplaceAll("expression  0 0+2 Q\nexpression  1 0+2 Q\nexpression  2 0+2 Q\nexpression  0 1+2 Q\nexpression  1 1+2 Q\nexpression  2 1+2 Q", "Q", `"SELECT :i, 1, 2"`),
		"put":     `key seq 0 0+0 "SELECT CAST((printf('%016x:%016x', hash(:i), :i)\n) AS BLOB)"` + "\n" + `expression  0 0+0 "SELECT CAST((blob(210)\n) AS BLOB)"`,
	} {
		if got[operation] != want {
			t.Errorf("%s: got\n%s\nwant\n%s", operation, got[operation], want)
		}
	}
	data := cases[0].Dataset
	if want := "SELECT value, printf('user%d@example.com', value) FROM generate_series(1, 100000)"; data.Tables[0].Select != want {
		t.Errorf("got %s, want %s", data.Tables[0].Select, want)
	}
	if !strings.HasSuffix(data.Schema, kv.Schema) {
		t.Errorf("the schema has no store: %s", data.Schema)
	}
}

// Scaling multiplies the rows of generate_series, by its param or as they are written.
func TestScaledSQL(t *testing.T) {
	p, err := Decode("shop.yaml", []byte(sqlPlan))
	must(t, err)
	cases, err := p.Scaled(Scale{Data: 4}).Expand(nil)
	must(t, err)
	for i, want := range []string{"generate_series(1, 400000)", "generate_series(1, (1) + max(1, CAST(round(((7) - (1) + 1) * 4) AS INTEGER)) - 1, 1)"} {
		if got := cases[0].Dataset.Tables[i].Select; !strings.HasSuffix(got, want) {
			t.Errorf("got %s, want %s at its end", got, want)
		}
	}
	if before := cases[0].Unscaled; before.Operation == "" {
		t.Error("a scaled cell has not the one that it was")
	}
}

// What is scaled is the number of rows, wherever a series begins, whatever its step.
func TestScaledSeries(t *testing.T) {
	db, err := sql.Open("sqlite", ":memory:")
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	arguments := regexp.MustCompile(`generate_series\((.*)\)$`)
	for series, want := range map[string]map[float64]string{
		"1001, 2000":        {4: "1001, 5000", 0.25: "1001, 1250"},
		"-5, 4":             {4: "-5, 34", 0.01: "-5, -5"},
		"0, 999, 10":        {4: "0, 3999, 10", 0.25: "0, 249, 10"},
		"(:from), 2000":     {4: "1001, 5000"},
		":from, :from + 99": {4: "1001, 1400"},
		"0, :n - 1, :step":  {4: "0, 39, 3"},
		":n, 1, -1":         {4: "40, 1, -1", 0.2: "2, 1, -1"},
		":n + :to, :to, -1": {4: "45, 5, -1"},
	} {
		p, err := Decode("p.yaml", []byte("name: p\ndrivers: [mattn]\nworkload:\n  params: {from: 1001, n: 10, step: 3, to: 5}\n"+
			"  schema: CREATE TABLE t (a INTEGER)\n  data: {t: \"SELECT value FROM generate_series("+series+")\"}\noperations: {one: {sql: SELECT a FROM t}}\n"))
		must(t, err)
		for by, want := range want {
			cases, err := p.Scaled(Scale{Data: by}).Expand(nil)
			must(t, err)
			scaled := arguments.FindStringSubmatch(cases[0].Dataset.Tables[0].Select)[1]
			var got string
			must(t, db.QueryRow("SELECT concat_ws(', ', "+scaled+")").Scan(&got))
			if got != want {
				t.Errorf("generate_series(%s) by %g: got %s from %s, want %s", series, by, got, scaled, want)
			}
		}
	}
	p, err := Decode("p.yaml", []byte("name: p\ndrivers: [mattn]\nworkload:\n  schema: CREATE TABLE t (a INTEGER)\n"+
		"  data: {t: \"SELECT value FROM generate_series(9, 1, -1)\"}\noperations: {one: {sql: SELECT a FROM t}}\n"))
	must(t, err)
	if cases, _ := p.Scaled(Scale{Data: 4}).Expand(nil); len(cases) > 0 {
		t.Errorf("a series that counts down was scaled: %s", cases[0].Dataset.Tables[0].Select)
	}
}

// A replay has no arguments: a plan that lacks some is read for it, and for nothing else.
func TestReplayNeedsNoArguments(t *testing.T) {
	text := []byte("name: p\ndrivers: [mattn]\nworkload:\n  schema: CREATE TABLE t (a TEXT)\n  data: {t: \"SELECT 'TODO'\"}\noperations:\n  one: {sql: SELECT a FROM t WHERE a = ?, args: SELECT TODO}\n")
	if _, err := Decode("p.yaml", text); err == nil {
		t.Error("a plan with a value that is to be written was decoded")
	}
	p, err := DecodeReplay("p.yaml", text)
	must(t, err)
	cases, err := p.Expand([]string{"mattn"})
	if err != nil || len(cases) != 1 || !strings.Contains(cases[0].Dataset.Tables[0].Select, "'TODO'") || p.Text != string(text) {
		t.Errorf("got %d cases of %q (%v), want one, of the text and the data as they are", len(cases), p.Text, err)
	}
	if _, err := DecodeReplay("p.yaml", append(text, "other: 1\n"...)); err == nil {
		t.Error("another mistake was decoded")
	}
}
