package plan

import (
	"maps"
	"slices"
	"testing"

	"assay"
)

func TestSelect(t *testing.T) {
	cases := expandFile(t, "testdata/expand/axes.yaml")
	for name, c := range map[string]struct {
		only map[string][]string
		want int
	}{
		"everything":  {nil, 40},
		"driver":      {map[string][]string{"driver": {"mattn"}}, 20},
		"operation":   {map[string][]string{"operation": {"read"}}, 16},
		"two values":  {map[string][]string{"statement": {"once", "never"}}, 40},
		"two keys":    {map[string][]string{"operation": {"insert"}, "transaction": {"none"}}, 8},
		"number":      {map[string][]string{"clients": {"4"}}, 8},
		"param":       {map[string][]string{"rows": {"1000"}}, 20},
		"param short": {map[string][]string{"rows": {"1e3"}}, 20},
	} {
		got, err := Select(cases, c.only)
		if err != nil || len(got) != c.want {
			t.Errorf("%s: got %d cases, %v, want %d", name, len(got), err, c.want)
		}
		if !slices.IsSortedFunc(got, func(a, b assay.Case) int { return index(cases, a) - index(cases, b) }) {
			t.Errorf("%s: the order is not kept", name)
		}
	}
}

// Of what is selected, only what is on one of the sides is measured.
func TestSelectSides(t *testing.T) {
	cases := expandFile(t, "testdata/expand/axes.yaml")
	side := func(driver, operation string) map[string][]string {
		return map[string][]string{"driver": {driver}, "operation": {operation}}
	}
	got, err := SelectToMeasure(cases, map[string][]string{"rows": {"1000"}}, side("mattn", "read"), side("modernc", "insert"))
	if err != nil || len(got) == 0 {
		t.Fatalf("got %d cases, %v", len(got), err)
	}
	count := map[string]int{}
	for _, c := range got {
		count[c.Cell.Driver+" "+c.Cell.Operation]++
	}
	both, _ := Select(cases, map[string][]string{"rows": {"1000"}, "driver": {"mattn"}, "operation": {"read"}})
	other, _ := Select(cases, map[string][]string{"rows": {"1000"}, "driver": {"modernc"}, "operation": {"insert"}})
	if want := map[string]int{"mattn read": len(both), "modernc insert": len(other)}; !maps.Equal(count, want) {
		t.Errorf("got %v, want %v", count, want)
	}
}

// Beside versions of it, a driver's name selects the worker's own; a version and options
// are named as everywhere.
func TestSelectBuilds(t *testing.T) {
	p, err := Decode("p.yaml", []byte("name: p\ndrivers: [mattn@v1.14.37, mattn, 'mattn:DQS=0']\nworkload: {schema: CREATE TABLE t (id)}\noperations: {read: {sql: SELECT 1}}\n"))
	must(t, err)
	cases, err := p.Expand(nil)
	must(t, err)
	for driver, want := range map[string][]string{
		"mattn": {"mattn", "mattn:DQS=0"}, "mattn@v1.14.37": {"mattn@v1.14.37"}, "mattn:SQLITE_DQS=0": {"mattn:DQS=0"}, "mattn@v1.14.99": nil,
	} {
		selected, _ := Select(cases, map[string][]string{"driver": {driver}})
		var got []string
		for _, c := range selected {
			got = append(got, c.Cell.Target())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", driver, got, want)
		}
	}
}

func index(cases []assay.Case, c assay.Case) int {
	return slices.IndexFunc(cases, func(o assay.Case) bool { return o.Cell.Key() == c.Cell.Key() })
}

func TestSelectNothing(t *testing.T) {
	cases := expandFile(t, "testdata/expand/axes.yaml")
	for want, only := range map[string]map[string][]string{
		`unknown key of a cell "drivers" (did you mean "driver"?)`: {"drivers": {"mattn"}},
		`unknown key of a cell "engine": there is plan, workload, operation, driver, options, profile, clients, processes, pool, idle, statement, transaction, ...`: {"engine": {"sqlite"}},
		`unknown driver "matn" (did you mean "mattn"?)`:                                             {"driver": {"modernc", "matn"}},
		`unknown begin "deferd": there is none`:                                                     {"begin": {"deferd"}},
		`unknown clients "9": there is 1, 4`:                                                        {"clients": {"9"}},
		"unknown profile \"x\": there is default, big-pages\nunknown rows \"7\": there is 10, 1000": {"rows": {"7"}, "profile": {"x"}},
		"no cell has all of operation=read transaction=64,100":                                      {"operation": {"read"}, "transaction": {"64", "100"}},
	} {
		if got, err := Select(cases, only); err == nil || err.Error() != want {
			t.Errorf("%v: got %d cases, %v\nwant %s", only, len(got), err, want)
		}
	}
}

// A sum is measured with the calls that it sums.
func TestSelectOfASum(t *testing.T) {
	p, err := Decode("calls.yaml", []byte(`name: calls
drivers: [activerecord]
profiles: {plain: {}, tuned: {synchronous: normal}}
workload: {name: app, params: {n: 3}}
operations:
  create: {call: create, answer: "SELECT 1", changes: true, count: 2}
  save: {call: save, answer: "SELECT 1", transaction: 1}
  total: {sum: calls}
`))
	must(t, err)
	all, err := p.Expand(nil)
	must(t, err)
	for operation, want := range map[string][]string{"total": {"create", "save", "total"}, "save": {"save"}} {
		selected, err := SelectToMeasure(all, map[string][]string{"operation": {operation}, "profile": {"tuned"}})
		must(t, err)
		var got []string
		for _, c := range selected {
			got = append(got, c.Cell.Operation)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", operation, got, want)
		}
	}
}
