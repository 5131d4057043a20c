package plan

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"assay"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestExpand compares expansions with golden files: each case by its cell,
// and in full where it differs in more than its cell from the one before.
func TestExpand(t *testing.T) {
	files, err := filepath.Glob("testdata/expand/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no plans: %v", err)
	}
	for _, file := range files {
		got := golden(t, expandFile(t, file))
		name := strings.TrimSuffix(file, ".yaml") + ".golden"
		if *update {
			must(t, os.WriteFile(name, got, 0o644))
		}
		want, err := os.ReadFile(name)
		must(t, err)
		if !bytes.Equal(got, want) {
			t.Errorf("%s expands to\n%s\nwant\n%s", file, got, want)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func decodeFile(t *testing.T, file string) *Plan {
	t.Helper()
	data, err := os.ReadFile(file)
	must(t, err)
	p, err := Decode(file, data)
	must(t, err)
	return p
}

func expandFile(t *testing.T, file string) []assay.Case {
	t.Helper()
	cases, err := decodeFile(t, file).Expand(nil)
	must(t, err)
	return cases
}

func golden(t *testing.T, cases []assay.Case) []byte {
	t.Helper()
	var b bytes.Buffer
	var last assay.Case
	for _, c := range cases {
		published := ""
		if c.Cell.AsPublished {
			published = " as published"
		}
		fmt.Fprintf(&b, "%s count=%d%s\n", c.Cell.Key(), c.Operation.Count, published)
		cell, count := c.Cell, c.Operation.Count
		c.Cell, c.Operation.Count, c.Operation.Statement, c.Operation.Transaction = assay.Cell{}, 0, "", 0
		if reflect.DeepEqual(c, last) {
			continue
		}
		last = c
		c.Operation.Statement, c.Operation.Transaction, c.Operation.Count = cell.Statement, cell.Transaction, count
		text, err := json.MarshalIndent(nonzero(t, c), "  ", " ")
		must(t, err)
		fmt.Fprintf(&b, "  %s\n", text)
	}
	return b.Bytes()
}

// nonzero turns a value to maps without the fields that are zero.
func nonzero(t *testing.T, v any) any {
	t.Helper()
	text, err := json.Marshal(v)
	must(t, err)
	var tree any
	must(t, json.Unmarshal(text, &tree))
	return prune(tree)
}

func prune(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			switch value = prune(value); {
			case value == nil || value == "" || value == 0.0 || value == false:
				delete(v, key)
			default:
				v[key] = value
			}
		}
		if len(v) == 0 {
			return nil
		}
		return v
	case []any:
		for i := range v {
			v[i] = prune(v[i])
		}
	}
	return v
}

func TestDecode(t *testing.T) {
	text := `name: p
about: What it is for
seed: 3
budget: 90s
precision: 0.01
margin: 5%
launches: 1e1
timeout: 2m
drivers: [mattn, modernc@v1]
reference: modernc
clients: [1, 8]
pool: [2, {open: 8, idle: 3}]
profiles: {b: {}, a: {synchronous: off}}
workload: {name: w, file: f, params: {z: [1e3], a: [x, y]}}
operations: {o: {sql: SELECT 1}}
`
	p, err := Decode("p.yaml", []byte(text))
	must(t, err)
	if len(p.Workloads) != 1 {
		t.Fatalf("got %d workloads, want 1", len(p.Workloads))
	}
	w := p.Workloads[0]
	if want := []Axis{{Name: "z", Values: []string{"1000"}}, {Name: "a", Values: []string{"x", "y"}}}; w.Name != "w" || !reflect.DeepEqual(w.Params, want) {
		t.Errorf("workload %s has params %v, want w with %v", w.Name, w.Params, want)
	}
	p.Workloads = nil
	want := &Plan{
		Name: "p", About: "What it is for", Text: text, Seed: 3, Budget: 90 * time.Second,
		Precision: 0.01, Margin: 0.05, Launches: 10, Timeout: 2 * time.Minute,
		Drivers: []string{"mattn", "modernc@v1"}, Baseline: assay.ParseBaseline("modernc"),
		Clients: []int{1, 8}, Processes: []int{1}, Pools: []Pool{{2, 2}, {8, 3}},
		Profiles: []assay.Profile{{Name: "b"}, {Name: "a", Settings: map[string]string{"synchronous": "0"}}},
		file:     "p.yaml", prepared: map[string]map[string]string{}, drivers: map[string][]string{},
	}
	if diff := cmp.Diff(want, p, unexported); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestDecodeDefaults(t *testing.T) {
	const text = `{name: p, workload: {file: f}, operations: {o: {sql: SELECT 1}}}`
	p, err := Decode("p.yaml", []byte(text))
	must(t, err)
	if p.Workloads[0].Name != "p" {
		t.Errorf("the workload's name is %q, want the plan's", p.Workloads[0].Name)
	}
	p.Workloads = nil
	want := &Plan{
		Name: "p", Text: text, Seed: 1, Precision: 0.02, Margin: 0.02, Launches: 3, Timeout: time.Minute,
		Clients: []int{1}, Processes: []int{1}, Pools: []Pool{{}}, Profiles: []assay.Profile{{Name: "default"}}, file: "p.yaml",
	}
	if diff := cmp.Diff(want, p, unexported); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestExpandDrivers(t *testing.T) {
	p, err := Decode("p.yaml", []byte(`{name: p, workload: {file: f}, operations: {o: {sql: SELECT 1}}}`))
	must(t, err)
	wanted := []string{"mattn", "mattn@v1.14.0", "mattn:DQS=0:USE_ALLOCA"}
	cases, err := p.Expand([]string{"mattn", "mattn@v1.14.0", "mattn:USE_ALLOCA:DQS=0"})
	if err != nil || len(cases) != len(wanted) {
		t.Fatalf("got %d cases, %v, want %d", len(cases), err, len(wanted))
	}
	for i, want := range wanted {
		if got := cases[i].Cell.Target(); got != want {
			t.Errorf("case %d: got %s, want %s", i, got, want)
		}
	}
	for want, drivers := range map[string][]string{
		"plan p names no drivers: say which to measure":                nil,
		`a driver is NAME[@VERSION][:OPTION[=VALUE]...], not "Mattn@"`: {"Mattn@"},
		`driver "mattn" is listed twice`:                               {"mattn", "mattn"},
		`driver "mattn:B:A" is listed twice`:                           {"mattn:A:B", "mattn:B:A"},
	} {
		if _, err := p.Expand(drivers); err == nil || err.Error() != want {
			t.Errorf("Expand(%q): got %v, want %s", drivers, err, want)
		}
	}
}

// TestServe: the load is an axis of clients or of rates.
func TestServe(t *testing.T) {
	for text, want := range map[string][]string{
		"serve: http":                        {"3 0", "4 0"},
		"serve: http, clients: 7":            {"7 0"},
		"serve: http, clients: [2, 50]":      {"2 0", "50 0"},
		"serve: http, rate: [100, 2e3]":      {"3 100", "3 2000", "4 100", "4 2000"},
		"serve: http, rate: 100, clients: 9": {"9 100"},

		"serve: http, rate: 100, arrivals: even, clients: 9":            {"9 100 even"},
		"serve: http, rate: 100, arrivals: [even, poisson], clients: 9": {"9 100 even", "9 100"},
		"serve: http, rate: 100, transaction: 1":                        {"3 100", "4 100"},
	} {
		p, err := Decode("p.yaml", []byte(`{name: p, drivers: [d], clients: [3, 4], workload: {file: f}, operations: {o: {sql: SELECT 1, `+text+`}}}`))
		must(t, err)
		cases, err := p.Expand(nil)
		must(t, err)
		var got []string
		for _, c := range cases {
			way, open := c.Cell.Coordinate(assay.ArrivalsParam)
			if open != (c.Cell.Rate > 0) {
				t.Errorf("%s: arrivals are %q", text, way)
			}
			got = append(got, strings.TrimSpace(fmt.Sprint(c.Cell.Clients, " ", c.Cell.Rate, " ", strings.TrimPrefix(way, "poisson"))))
			if !c.Operation.Serve {
				t.Errorf("%s: it is not served", text)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: clients and rates %q, want %q", text, got, want)
		}
	}
}

func TestServeMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"{sql: SELECT 1, serve: http, rate: [1, 1]}": "rate 1 is listed twice",
		"{sql: SELECT 1, rate: 1}":                   "rate needs serve beside it",

		"{sql: SELECT 1, serve: http, rate: 1, arrivals: evn}":                       `unknown value of arrivals "evn" (did you mean "even"?)`,
		"{sql: SELECT 1, serve: http, rate: 1, arrival: even}":                       `unknown key of an operation "arrival" (did you mean "arrivals"?)`,
		"{sql: SELECT 1, serve: http, rate: 1, arrivals: burst}":                     `unknown value of arrivals "burst": there is poisson, even`,
		"{sql: SELECT 1, serve: http, rate: 1, arrivals: [even, even]}":              `"even" is listed twice`,
		"{sql: SELECT 1, serve: http, arrivals: even}":                               "arrivals needs rate beside it",
		"{sql: SELECT 1, serve: http, rate: 1, params: {arrivals: [even, poisson]}}": "arrivals is a param of the operation already",
		"{sql: SELECT 1, serve: http, phases: true}":                                 "phases does not go with serve",
		"{sql: SELECT 1, serve: http, cache: cold}":                                  "cache does not go with serve",
		"{sql: SELECT 1, serve: http, per: row, rows: 1}":                            "per does not go with serve",
		"{sql: DELETE FROM t, serve: http, transaction: 10}":                         "a request is one operation: with serve, transaction is none or 1",
		"{sql: SELECT 1, serve: http}, m: {mix: {o: 1}, serve: http}":                "o is served by itself: serve belongs to the mix",
	} {
		_, err := Decode("p.yaml", []byte("{name: p, drivers: [d], workload: {file: f}, operations: {o: "+text+"}}"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// A profile is for the build that it names, however the command line orders its options,
// and not for another build.
func TestProfileOfABuild(t *testing.T) {
	const text = `name: p
drivers: [mattn, "mattn:DQS=0:USE_ALLOCA"]
profiles: {all: {}, one: {drivers: ["mattn:DQS=0:USE_ALLOCA"]}}
workload: {file: f}
operations: {o: {sql: SELECT 1}}
`
	p, err := Decode("p.yaml", []byte(text))
	must(t, err)
	cases, err := p.Expand([]string{"mattn", "mattn:USE_ALLOCA:SQLITE_DQS=0"})
	must(t, err)
	var got []string
	for _, c := range cases {
		got = append(got, c.Cell.Target()+" "+c.Cell.Profile)
	}
	if want := []string{"mattn all", "mattn:DQS=0:USE_ALLOCA all", "mattn:DQS=0:USE_ALLOCA one"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestCPUs holds that :cpus is the machine's number of processors, and
// that what it gives twice on some machine is no mistake.
func TestCPUs(t *testing.T) {
	const text = `name: p
drivers: [mattn]
clients: [":cpus", %d, ":cpus * 100"]
pool: [1, ":cpus", {open: ":cpus", idle: 1}, {open: ":cpus", idle: 1000}]
workload: {file: f}
operations: {o: {sql: "SELECT :cpus"}}
`
	cpus := runtime.NumCPU()
	p, err := Decode("p.yaml", fmt.Appendf(nil, text, cpus))
	must(t, err)
	pools := []Pool{{1, 1}, {cpus, cpus}, {cpus, 1}}
	if cpus == 1 {
		pools = pools[:1]
	}
	if want := []int{cpus, 100 * cpus}; !reflect.DeepEqual(p.Clients, want) || !reflect.DeepEqual(p.Pools, pools) {
		t.Errorf("clients %v, pools %v; want %v, %v", p.Clients, p.Pools, want, pools)
	}
	cases, err := p.Expand(nil)
	must(t, err)
	if got, want := cases[0].Operation.Steps[0].SQL, fmt.Sprintf("SELECT %d", cpus); got != want || cases[0].Cell.Params != nil {
		t.Errorf("SQL %q with params %v, want %q and none", got, cases[0].Cell.Params, want)
	}
}

// TestCount holds that each client has ten operations to do, or ten
// transactions, and that a whole transaction is all of a block.
func TestCount(t *testing.T) {
	for _, test := range []struct {
		operation string
		want      [2]int // transaction and count
	}{
		{"clients: 8, count: 100", [2]int{0, 100}},
		{"clients: 8, count: 10", [2]int{0, 80}},
		{"clients: 8, count: 1000, transaction: 100", [2]int{100, 8000}},
		{"clients: 1, count: 1000, transaction: 300", [2]int{300, 3000}},
		{"clients: 1, count: 1001, transaction: 100", [2]int{100, 1100}},
		{"count: 500, transaction: whole", [2]int{500, 500}},
		{"count: 3, transaction: whole", [2]int{10, 10}},
	} {
		p, err := Decode("p.yaml", fmt.Appendf(nil, `{name: p, drivers: [d], workload: {file: f}, operations: {o: {sql: DELETE FROM t, %s}}}`, test.operation))
		must(t, err)
		cases, err := p.Expand(nil)
		must(t, err)
		if got := [2]int{cases[0].Cell.Transaction, cases[0].Operation.Count}; got != test.want {
			t.Errorf("%s: got transaction and count %v, want %v", test.operation, got, test.want)
		}
	}
}

// unexported has cmp compare fields that are not exported, too.
var unexported = cmp.Exporter(func(reflect.Type) bool { return true })

// A byte order mark before the plan is no part of it.
func TestByteOrderMark(t *testing.T) {
	const text = "name: marked\ndrivers: [d]\nworkload: {schema: CREATE TABLE t (id INTEGER PRIMARY KEY)}\noperations: {a: {sql: SELECT id FROM t}}\n"
	p, err := Decode("plan.yaml", []byte("\ufeff"+text))
	if err != nil || p.Name != "marked" {
		t.Errorf("got %v, %v; want the plan", p, err)
	}
	if _, err := Decode("plan.yaml", []byte("\ufeffnme: marked\n"+text)); err == nil || !strings.Contains(err.Error(), "plan.yaml:1:1: ") {
		t.Errorf("got %v, want a mistake in the first column", err)
	}
}

// A param that is quoted is a text, with all that it is written with; cells name it as before.
func TestQuotedParams(t *testing.T) {
	p, err := Decode("own.yaml", []byte(`
name: own
drivers: [mattn]
workload: {params: {zip: ["01234", '12e5', "7", 1e3, 1.5]}, schema: CREATE TABLE t (zip TEXT)}
operations:
  all: {sql: "SELECT zip FROM t WHERE zip = :zip"}
  some: {sql: "SELECT zip FROM t WHERE zip = :zip AND :n", params: {zip: ["01234"], n: ['2', 3]}}
`))
	must(t, err)
	cases, err := p.Expand(p.Drivers)
	must(t, err)
	got := map[string][]string{}
	for _, c := range cases {
		_, where, _ := strings.Cut(c.Operation.Steps[0].SQL, "WHERE ")
		got[c.Cell.Params["zip"]] = append(got[c.Cell.Params["zip"]], where)
	}
	want := map[string][]string{
		"01234": {"zip = '01234'", "zip = '01234' AND '2'", "zip = '01234' AND 3"},
		"12e5":  {"zip = '12e5'"}, "7": {"zip = '7'"}, "1000": {"zip = 1000"}, "1.5": {"zip = 1.5e+00"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A param that says a size is a number, quoted or not, and is scaled as one.
func TestQuotedSizes(t *testing.T) {
	p, err := Decode("own.yaml", []byte(`
name: own
drivers: [mattn]
workload: {params: {n: ["1000"], zip: ["7"]}, schema: CREATE TABLE t (a TEXT), data: {t: "SELECT :zip FROM generate_series(1, :n)"}}
operations:
  all: {sql: "SELECT a FROM t LIMIT :n"}
`))
	must(t, err)
	for by, want := range map[float64]string{0: "1000", 4: "4000"} {
		cases, err := p.Scaled(Scale{Data: by}).Expand(p.Drivers)
		must(t, err)
		got := []string{cases[0].Dataset.Tables[0].Select, cases[0].Operation.Steps[0].SQL}
		if diff := cmp.Diff([]string{"SELECT '7' FROM generate_series(1, " + want + ")", "SELECT a FROM t LIMIT " + want}, got); diff != "" {
			t.Errorf("by %g: %s", by, diff)
		}
	}
}

// An operation can be measured at some of the values of its workload's params.
func TestSomeValuesOfTheWorkload(t *testing.T) {
	p, err := Decode("some.yaml", []byte(`
name: some
drivers: [mattn]
workload: {params: {rows: [10, 20]}, schema: CREATE TABLE t (a INTEGER PRIMARY KEY), data: {t: "SELECT value FROM generate_series(1, :rows)"}}
operations:
  all: {sql: SELECT a FROM t WHERE a = 1, rows: 1}
  some: {sql: SELECT a FROM t WHERE a = 1, rows: 1, params: {rows: [20], n: [1, 2]}}
`))
	must(t, err)
	cases, err := p.Expand(p.Drivers)
	must(t, err)
	var got []string
	for _, c := range cases {
		got = append(got, c.Cell.Operation+" "+c.Cell.ParamString())
	}
	slices.Sort(got)
	if want := []string{"all rows=10", "all rows=20", "some n=1;rows=20", "some n=2;rows=20"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
