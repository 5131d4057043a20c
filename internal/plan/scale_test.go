package plan

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"assay"

	gocmp "github.com/google/go-cmp/cmp"
)

const scalable = `
name: own
drivers: [mattn]
clients: [1, 8]
workloads:
  table:
    params: {size: [100, 1000], width: [5]}
    schema: CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT); CREATE TABLE u (id INTEGER PRIMARY KEY); CREATE TABLE v (id INTEGER PRIMARY KEY)
    data:
      t: SELECT value, text(:width) FROM generate_series(1, :size)
      u: SELECT value FROM generate_series(1, 10)
    operations:
      read: {sql: SELECT a FROM t WHERE id = ?, args: "SELECT random(1, :size)"}
      all: {sql: "INSERT INTO v VALUES (?)", args: SELECT :i, transaction: whole, clients: 1, count: 50}
  store:
    records: {n: 50, key: "printf('k%016x', :i)", value: blob(10)}
    operations:
      get: {kv: get, pool: 2, clients: [2, 3]}
  empty:
    schema: CREATE TABLE w (id INTEGER PRIMARY KEY)
    operations:
      append: {sql: "INSERT INTO w VALUES (NULL)", clients: 1}
`

// A scaled plan has the cells that other data or other clients change, each with the one
// that it was.
func TestScaled(t *testing.T) {
	p, err := Decode("own.yaml", []byte(scalable))
	must(t, err)
	for _, c := range []struct {
		by   Scale
		want []string
	}{
		{Scale{Data: 4}, []string{
			"table/read size=400;width=5 1 clients 1 pool 440 rows, was size=100;width=5 1 clients 1 pool",
			"table/read size=400;width=5 8 clients 8 pool 440 rows, was size=100;width=5 8 clients 8 pool",
			"table/all size=400;width=5 1 clients 1 pool 440 rows, was size=100;width=5 1 clients 1 pool",
			"table/read size=4000;width=5 1 clients 1 pool 4040 rows, was size=1000;width=5 1 clients 1 pool",
			"table/read size=4000;width=5 8 clients 8 pool 4040 rows, was size=1000;width=5 8 clients 8 pool",
			"table/all size=4000;width=5 1 clients 1 pool 4040 rows, was size=1000;width=5 1 clients 1 pool",
			"store/get  2 clients 2 pool 200 rows, was  2 clients 2 pool",
			"store/get  3 clients 2 pool 200 rows, was  3 clients 2 pool",
		}},
		{Scale{Data: 0.001}, []string{
			"table/read size=1;width=5 1 clients 1 pool 2 rows, was size=100;width=5 1 clients 1 pool",
			"table/read size=1;width=5 8 clients 8 pool 2 rows, was size=100;width=5 8 clients 8 pool",
			"table/all size=1;width=5 1 clients 1 pool 2 rows, was size=100;width=5 1 clients 1 pool",
			"store/get  2 clients 2 pool 1 rows, was  2 clients 2 pool",
			"store/get  3 clients 2 pool 1 rows, was  3 clients 2 pool",
		}},
		{Scale{Clients: 0.5}, []string{
			"table/read size=100;width=5 4 clients 4 pool 110 rows, was size=100;width=5 8 clients 8 pool",
			"table/read size=1000;width=5 4 clients 4 pool 1010 rows, was size=1000;width=5 8 clients 8 pool",
			"store/get  1 clients 2 pool 50 rows, was  2 clients 2 pool",
			"store/get  2 clients 2 pool 50 rows, was  3 clients 2 pool",
		}},
	} {
		scaled := p.Scaled(c.by)
		cases, err := scaled.Expand(nil)
		if err != nil {
			t.Errorf("%+v: %v", c.by, err)
			continue
		}
		var got []string
		for _, one := range cases {
			got = append(got, fmt.Sprintf("%s %d rows, was %s", shape(one.Cell), rowsIn(one.Dataset), strings.TrimPrefix(shape(one.Unscaled), one.Cell.Workload+"/"+one.Cell.Operation+" ")))
		}
		if diff := gocmp.Diff(c.want, got); diff != "" {
			t.Errorf("%+v: (-want +got)\n%s", c.by, diff)
		}
		if scaled.Text == p.Text {
			t.Errorf("%+v: the text is that of the plan that it scales: a run would be taken for one of it", c.by)
		}
	}
	if cases, err := p.Expand(nil); err != nil || slices.ContainsFunc(cases, func(c assay.Case) bool { return c.Unscaled.Workload != "" }) {
		t.Errorf("got %v, and cells that were scaled in a plan that is not", err)
	}
}

func shape(c assay.Cell) string {
	return fmt.Sprintf("%s/%s %s %d clients %d pool", c.Workload, c.Operation, c.ParamString(), c.Clients, c.Pool)
}

func rowsIn(d assay.Dataset) int {
	n := 0
	for _, table := range d.Tables {
		n += table.Rows
		if found := seriesOf.FindStringSubmatch(table.Select); found != nil {
			rows, _ := strconv.ParseFloat(found[1]+found[2], 64)
			by, _ := strconv.ParseFloat(cmp.Or(found[3], "1"), 64)
			n += max(1, int(math.Round(rows*by)))
		}
	}
	return n
}

// seriesOf takes apart how many rows a table has.
var seriesOf = regexp.MustCompile(`generate_series\(1, ?(?:(\d+)|\(1\) \+ max\(1, CAST\(round\(\(\((\d+)\) - \(1\) \+ 1\) \* ([^)]+)\) AS INTEGER\)\) - 1)\)`)

// What scaling makes impossible is an error that names it.
func TestScaledTooFar(t *testing.T) {
	p, err := Decode("own.yaml", []byte(scalable))
	must(t, err)
	if _, err := p.Scaled(Scale{Data: 1e9}).Expand(nil); err == nil || !strings.Contains(err.Error(), "n must be 1 to 1000000000") {
		t.Errorf("got %v, want that there are too many records", err)
	}
}

// A profile with another use of the driver has cells that say so, and the plan's text,
// by which a run is found again, names it.
func TestUsing(t *testing.T) {
	p, err := Decode("own.yaml", []byte(`
name: own
drivers: [mattn]
clients: [4]
profiles: {now: {}, then: {}}
workload:
  schema: CREATE TABLE t (id INTEGER PRIMARY KEY)
  data: {t: "SELECT value FROM generate_series(1, 5)"}
operations:
  write: {sql: "INSERT INTO t VALUES (?)", args: SELECT 5 + :i, statement: each, count: 405}
`))
	must(t, err)
	other := p.Using(map[string]assay.Use{"then": {Statement: "once", Pool: 2, Transaction: 10}})
	cases, err := other.Expand(p.Drivers)
	must(t, err)
	var got []string
	for _, c := range cases {
		got = append(got, fmt.Sprint(c.Cell.Profile, " ", c.Cell.Statement, " ", c.Cell.Pool, " ", c.Cell.Idle, " ", c.Cell.Transaction, ", ", c.Operation.Count))
	}
	if want := []string{"now each 4 4 0, 405", "then once 2 2 10, 410"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if want := p.Text + "#   then: statement: once, pool: 2, transaction: 10\n"; other.Text != want {
		t.Errorf("got the text %q, want %q", other.Text, want)
	}
}
