package published

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"assay"
	"assay/internal/plan"
	"assay/plans"

	"github.com/google/go-cmp/cmp"
)

// cases expands a built-in plan.
// expanded holds the cases of each built-in plan: expanding one takes a while.
var expanded = map[string][]assay.Case{}

func cases(t *testing.T, name string) []assay.Case {
	t.Helper()
	if all, ok := expanded[name]; ok {
		return all
	}
	text, ok := plans.Read(name)
	if !ok {
		t.Fatalf("no built-in plan %q", name)
	}
	p, err := plan.Decode(name+".yaml", text)
	must(t, err)
	all, err := p.Expand(nil)
	must(t, err)
	expanded[name] = all
	return all
}

// TestEveryFigureHasOneCell holds every mapping against the plans.
func TestEveryFigureHasOneCell(t *testing.T) {
	expanded := map[string][]assay.Case{}
	for _, source := range Sources() {
		figures, err := Figures(source)
		if err != nil {
			t.Error(err)
		}
		taken := map[string]Figure{}
		for _, f := range figures {
			if f.Source != source {
				t.Errorf("%+v stands in the file of %s", f, source)
			}
			if f.Cell.Plan == "" {
				continue // it has a reason
			}
			if expanded[f.Cell.Plan] == nil {
				expanded[f.Cell.Plan] = cases(t, f.Cell.Plan)
			}
			selected, err := plan.Select(expanded[f.Cell.Plan], f.Cell.Only)
			if err != nil || len(selected) != 1 {
				t.Fatalf("%+v: %d cells, %v", f, len(selected), err)
			}
			key := fmt.Sprint(selected[0].Cell.Key(), " ", f.Cell.Metric, f.Cell.Share, f.Metric) // a source can measure one cell twice, under two names
			other, twice := taken[key]
			if again := other.Printed == f.Printed; twice && !again { // a source can print one figure in several tables
				t.Errorf("two figures have %s:\n%+v\n%+v", key, other, f)
			}
			taken[key] = f
		}
	}
}

func TestGoSQLitePerformance(t *testing.T) {
	figures, err := Figures("go-sqlite-performance")
	if err != nil || len(figures) != 276 {
		t.Fatalf("%d figures, %v; want 276", len(figures), err)
	}
	want := Figure{Source: "go-sqlite-performance", Case: "SelectAll", Driver: "glebarez/go-sqlite", Config: "P9: メモリDB",
		Parallelism: "1000", Metric: "Avg allocs/op", Printed: "9,999", Unit: "allocs/op", Value: 9999, At: "go-sqlite-performance.csv:277:1",
		Cell: Cell{Plan: "monster", Metric: "allocs/op", Only: map[string][]string{
			"workload": {"monster"}, "operation": {"SelectAll"}, "driver": {"glebarez"}, "profile": {"P9-published"},
			"clients": {"1000"}, "pool": {"100"}}}}
	if diff := cmp.Diff(want, figures[275]); diff != "" {
		t.Errorf("the last is (-want +got)\n%s", diff)
	}
	metrics := map[string]int{}
	for _, f := range figures {
		metrics[f.Cell.Metric]++
		if f.Unit != f.Cell.Metric {
			t.Errorf("%+v: its unit is not that of %s", f, f.Cell.Metric)
		}
	}
	if want := map[string]int{"ns/op": 92, "B/op": 92, "allocs/op": 92}; !reflect.DeepEqual(metrics, want) {
		t.Errorf("figures by metric: %v, want %v", metrics, want)
	}
}

// All figures of sqlite-on-rails have a cell; those that measured nothing say so.
func TestSQLiteOnRails(t *testing.T) {
	figures, err := Figures("sqlite-on-rails")
	if err != nil || len(figures) != 195 {
		t.Fatalf("%d figures, %v; want 195", len(figures), err)
	}
	doubted := 0
	for _, f := range figures {
		if f.Cell.Plan != "rails" || f.Cell.Metric != "ns/op" {
			t.Errorf("%+v", f)
		}
		if f.Reason != "" {
			doubted++
		}
	}
	if doubted != 6*5+2 {
		t.Errorf("%d figures are no measurements, want six rows of five tables and two of PostgreSQL's", doubted)
	}
}

func TestUnknownSource(t *testing.T) {
	const want = `no published benchmark "x": there is go-kv-qiita, go-sqlite-performance`
	if _, err := Figures("x"); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

const header = "source,case,driver,config,parallelism,poolsize,metric,value,unit,value_num\n"

func TestRead(t *testing.T) {
	got, err := read("x.csv", []byte(header+`s,c,d,"a, b",8,4,ns/op,"1,5",ns,1.5`+"\n"))
	want := []Figure{{Source: "s", Case: "c", Driver: "d", Config: "a, b", Parallelism: "8", Pool: "4",
		Metric: "ns/op", Printed: "1,5", Unit: "ns", Value: 1.5, At: "x.csv:2:1"}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v, (-want +got)\n%s", err, diff)
	}
	for text, want := range map[string]string{
		"":                                    "x.csv:1:1: the header is not source,case,",
		"a,b\n":                               "x.csv:1:1: the header is not source,case,",
		header + "s\n":                        "x.csv:2:1: wrong number of fields",
		header + "s,c,d,e,8,4,ns/op,1,ns,x\n": `x.csv:2:24: value_num "x" is no number`,
	} {
		if _, err := read("x.csv", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

func TestMapping(t *testing.T) {
	m, err := decode("x.yaml", []byte(`
plan: p
cell: {workload: w, operation: read}
columns:
  case: {a: {}, b: {operation: write, clients: "4"}}
metrics: {t: ns/op}
shares: {s: query-ns/op}
except:
  - {where: {case: b, driver: none}, reason: it did nothing}
  - {where: {case: a, driver: little}, beside: true, reason: it did little}
`))
	must(t, err)
	cell := func(operation string, more map[string][]string) Figure {
		only := map[string][]string{"workload": {"w"}, "operation": {operation}}
		for key, values := range more {
			only[key] = values
		}
		return Figure{Cell: Cell{Plan: "p", Only: only, Metric: "ns/op"}}
	}
	for _, c := range []struct {
		figure, want Figure
		err          string
	}{
		{figure: Figure{Case: "a", Metric: "t"}, want: cell("read", nil)},
		{figure: Figure{Case: "b", Metric: "t"}, want: cell("write", map[string][]string{"clients": {"4"}})},
		{figure: Figure{Case: "b", Driver: "none", Metric: "t"}, want: Figure{Reason: "it did nothing"}},
		{figure: Figure{Case: "a", Driver: "little", Metric: "t"}, want: Figure{Cell: cell("read", nil).Cell, Reason: "it did little"}},
		{figure: Figure{Case: "a", Metric: "s"}, want: Figure{Cell: Cell{Plan: "p", Only: cell("read", nil).Cell.Only, Metric: "query-ns/op", Share: true}}},
		{figure: Figure{Case: "c", Metric: "t"}, err: `case "c" is not mapped`},
		{figure: Figure{Case: "a", Metric: "u"}, err: `metric "u" is not mapped`},
	} {
		got := c.figure
		err := m.place(&got)
		if (err != nil) != (c.err != "") || err != nil && err.Error() != c.err {
			t.Errorf("%+v: got %v, want %q", c.figure, err, c.err)
		}
		if diff := cmp.Diff(c.want.Cell, got.Cell); diff != "" || got.Reason != c.want.Reason {
			t.Errorf("%+v: got the reason %q, want %q; cell (-want +got)\n%s", c.figure, got.Reason, c.want.Reason, diff)
		}
	}
}

func TestMappingMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"plan: [1]":                "x.yaml:1:7: ",
		"plans: p":                 `x.yaml:1:1: unknown field "plans"`,
		"metrics: {a: ns}":         `there is no metric "ns"`,
		"plan: p\nshares: {a: ns}": `x.yaml:2:9: there is no metric "ns"`,
		"columns: {cases: {}}":     `there is no column "cases"`,
		"except: [{where: {cases: a}, reason: r}]":      `there is no column "cases"`,
		"except: [{where: {case: a}}]":                  "an exception needs where and reason",
		"except: [{where: {}, reason: it did nothing}]": "an exception needs where and reason",
	} {
		if _, err := decode("x.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

// TestSQLiteHTTPServer: every figure is of the condition as published, and so
// are the pools.
func TestSQLiteHTTPServer(t *testing.T) {
	figures, err := Figures("sqlite-http-server")
	if err != nil || len(figures) != 20 {
		t.Fatalf("%d figures, %v; want 20", len(figures), err)
	}
	all := cases(t, "http")
	idle := map[int]int{}
	for _, f := range figures {
		selected, err := plan.Select(all, f.Cell.Only)
		if err != nil || len(selected) != 1 || f.Cell.Metric != assay.OpPerS {
			t.Fatalf("%+v: %d cells, %v", f, len(selected), err)
		}
		c := selected[0].Cell
		idle[c.Pool] = c.Idle
		if !c.AsPublished || fmt.Sprint(c.Pool) != f.Pool || c.Clients != 50 || c.Statement != "never" {
			t.Errorf("%+v is measured in %+v", f, c)
		}
	}
	if want := map[int]int{1: 1, 4: 2, 8: 2, 50: 2, 100: 2}; !reflect.DeepEqual(idle, want) {
		t.Errorf("idle connections by pool: %v, want %v", idle, want)
	}
}
