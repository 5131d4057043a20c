package draft

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"testing"
)

// comparing is a statement whose arguments are used so.
func comparing(verb string, uses ...use) *guesser {
	g := &guesser{analysis: &analysis{query: &query{verb: verb}}, rows: &[]newRow{}, all: uses}
	for i := range uses {
		drawn := ""
		if uses[i].column != nil {
			drawn = "{from: " + uses[i].column.String() + "}"
		}
		g.args = append(g.args, argument{written: ":a" + strconv.Itoa(i), yaml: drawn})
	}
	return g
}

// A page has as many rows as the log has at most, where there is one and the statement reads.
func TestPageOfRows(t *testing.T) {
	for name, c := range map[string]struct {
		verb string
		step *loggedStep
		want string
	}{
		"of a log":                {"SELECT", &loggedStep{most: 7}, "{const: 7}"},
		"without one":             {"SELECT", nil, "{const: 20}"},
		"of a log without rows":   {"SELECT", &loggedStep{}, "{const: 20}"},
		"of rows that it changes": {"DELETE", &loggedStep{most: 7}, "{const: 20}"},
	} {
		g := comparing(c.verb, use{role: limit})
		g.step = c.step
		if got, _, err := g.argumentAt(t.Context(), 0); got != c.want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, c.want)
		}
	}
}

// Arguments are compared together that a row of one table has, each column once; a key is no
// group.
func TestComparedTogether(t *testing.T) {
	task, other := &table{name: "task"}, &table{name: "other"}
	project, state := &column{table: task, name: "project"}, &column{table: task, name: "state"}
	id, owner := &column{table: task, name: "id"}, &column{table: other, name: "owner"}
	task.keys = [][]*column{{id}, {project, state}}
	is := func(c *column) use { return use{role: equal, table: c.table, column: c} }
	for name, c := range map[string]struct {
		uses []use
		want map[int]*column
	}{
		"two of a table":        {[]use{is(project), is(state)}, map[int]*column{0: project, 1: state}},
		"two tables":            {[]use{is(project), is(owner)}, nil},
		"one twice":             {[]use{is(project), is(project)}, nil},
		"a key":                 {[]use{is(project), is(id)}, nil},
		"what is in a function": {[]use{is(project), {role: equal, table: task, column: state, function: "lower"}}, map[int]*column{0: project}},
		"what is no column":     {[]use{is(project), {role: limit}}, map[int]*column{0: project}},
		"what is inserted":      {[]use{is(project), {role: insert, table: task, column: state}}, map[int]*column{0: project}},
	} {
		if got := comparing("SELECT", c.uses...).comparedTogether(); !maps.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

// Beside a key that a row is found by are the other columns of the same table that are
// compared with values of the statement.
func TestBesideAKey(t *testing.T) {
	task, other := &table{name: "task"}, &table{name: "other"}
	id, tenant, owner := &column{table: task, name: "id"}, &column{table: task, name: "tenant"}, &column{table: other, name: "owner"}
	is := func(c *column) use { return use{role: equal, table: c.table, column: c} }
	within := is(tenant)
	within.function = "lower"
	for name, c := range map[string]struct {
		root any
		key  parent
		uses []use
		want map[any]*column
	}{
		"another column":          {":a0", parent{"task", "id"}, []use{is(id), is(tenant)}, map[any]*column{":a1": tenant}},
		"names in capitals":       {":a0", parent{"TASK", "ID"}, []use{is(id), is(tenant)}, map[any]*column{":a1": tenant}},
		"another value's key":     {":a1", parent{"task", "id"}, []use{is(id), is(tenant)}, nil},
		"a key that is not there": {":a0", parent{"task", "number"}, []use{is(id), is(tenant)}, nil},
		"another table's":         {":a0", parent{"task", "id"}, []use{is(id), is(owner)}, map[any]*column{}},
		"in a function":           {":a0", parent{"task", "id"}, []use{is(id), within}, map[any]*column{}},
		"inserted":                {":a0", parent{"task", "id"}, []use{is(id), {role: insert, table: task, column: tenant}}, map[any]*column{}},
	} {
		if got := comparing("SELECT", c.uses...).beside(c.root, c.key); !maps.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
	g := comparing("SELECT", is(id), is(tenant))
	g.args[1].written = "?"
	if got := g.beside(":a0", parent{"task", "id"}); len(got) > 0 {
		t.Errorf("a value that nothing names: got %v, want nothing", got)
	}
}

// The skew of values is that of zipfian draws which repeat as often; few values tell nothing,
// and a little skew is none.
func TestTheta(t *testing.T) {
	const items = 100
	drawn := func(theta float64) *loggedArgument { // as often as such draws have each item
		a := &loggedArgument{tags: map[string]int{}}
		for i := range items {
			n := int(math.Round(1e6 * math.Pow(float64(i+1), -theta) / harmonic(items, theta)))
			a.tags[strconv.Itoa(i)] = n
			a.values += n
		}
		return a
	}
	few := &loggedArgument{values: minDraws - 1, tags: map[string]int{"a": minDraws - 1}}
	enough := &loggedArgument{values: minDraws, tags: map[string]int{"a": minDraws}}
	different := &loggedArgument{values: minDraws, tags: map[string]int{}}
	for i := range minDraws {
		different.tags[strconv.Itoa(i)] = 1
	}
	for _, c := range []struct {
		name string
		of   *loggedArgument
		n    int64
		want float64
	}{
		{"half", drawn(0.5), items, 0.5}, {"nine tenths", drawn(0.9), items, 0.9}, {"a fifth", drawn(0.2), items, 0.2},
		{"less than a fifth", drawn(0.19), items, 0}, {"none", drawn(0), items, 0}, {"as much as can be", drawn(1.5), items, 0.99},
		{"no value twice", different, 10_000, 0},
		{"too few values", few, items, 0}, {"just enough", enough, items, 0.99}, {"one item", drawn(0.5), 1, 0}, {"two items", enough, 2, 0.99}, {"nothing in the log", nil, items, 0},
	} {
		if got := c.of.theta(c.n); got != c.want {
			t.Errorf("%s: got %g, want %g", c.name, got, c.want)
		}
	}
}

// The tail of the sum is near that of the sum itself.
func TestHarmonic(t *testing.T) {
	const n = 50_000
	for _, s := range []float64{0.5, 1, 1.5} {
		var terms []float64
		for i := range n {
			terms = append(terms, math.Pow(float64(i+1), -s))
		}
		slices.Reverse(terms)
		want := 0.0
		for _, term := range terms {
			want += term
		}
		if got := harmonic(n, s); !(math.Abs(got-want) <= 0.01) { // NaN is not near
			t.Errorf("with exponent %g: got %g, want %g", s, got, want)
		}
	}
}
