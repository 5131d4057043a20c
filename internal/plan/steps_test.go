package plan

import (
	"errors"
	"strings"
	"testing"

	"assay"

	"github.com/google/go-cmp/cmp"
)

const shop = `name: shop
drivers: [mattn]
workload:
  schema: |
    CREATE TABLE user (id INTEGER PRIMARY KEY, mail TEXT);
    CREATE TABLE article (id INTEGER PRIMARY KEY, user INTEGER, author INTEGER);
    CREATE TABLE comment (id INTEGER PRIMARY KEY, article INTEGER, text TEXT);
  data:
    user: SELECT value, text(8) FROM generate_series(1, 10)
operations:
`

// What repeated steps draw counts on with the repetitions, also within others.
func TestRepeatedSteps(t *testing.T) {
	p, err := Decode("shop.yaml", []byte(shop+`  o:
    steps:
      - {sql: "INSERT INTO user VALUES (?, ?)", args: "SELECT :i, 'x'", rows: 1}
      - repeat: 2
        steps:
          - {sql: "INSERT INTO article VALUES (?, ?, ?)", args: "SELECT :i, 2, 3", rows: 1}
          - {repeat: 3, sql: "INSERT INTO comment (id) VALUES (?)", batch: 2, args: SELECT :i}
`))
	must(t, err)
	cases, err := p.Expand(nil)
	must(t, err)
	steps := cases[0].Operation.Steps
	if len(steps) != 1+2*(1+3) || !cases[0].Operation.Changes {
		t.Fatalf("got %d steps and changes %v, want 9 and true", len(steps), cases[0].Operation.Changes)
	}
	value := func(query string, of int, from, step int64) assay.Values {
		return assay.Values{Kind: assay.Expression, Query: query, Of: of, From: from, Step: step}
	}
	want := map[int][]assay.Values{
		0: {value("SELECT :i, 'x'", 0, 0, 0), value("SELECT :i, 'x'", 1, 0, 0)},
		1: {value("SELECT :i, 2, 3", 0, 0, 2), value("SELECT :i, 2, 3", 1, 0, 2), value("SELECT :i, 2, 3", 2, 0, 2)},
		2: {value("SELECT :i", 0, 0, 12), value("SELECT :i", 0, 1, 12)},
		4: {value("SELECT :i", 0, 4, 12), value("SELECT :i", 0, 5, 12)},
		5: {value("SELECT :i, 2, 3", 0, 1, 2), value("SELECT :i, 2, 3", 1, 1, 2), value("SELECT :i, 2, 3", 2, 1, 2)},
		8: {value("SELECT :i", 0, 10, 12), value("SELECT :i", 0, 11, 12)},
	}
	for i, args := range want {
		if diff := cmp.Diff(args, steps[i].Args); diff != "" {
			t.Errorf("step %d has the arguments (-want +got)\n%s", i+1, diff)
		}
	}
}

func TestRepeatMistakes(t *testing.T) {
	for _, c := range []struct{ steps, want string }{
		{`[{repeat: 0, sql: SELECT 1}]`, "repeat must be 1 to 5000, not 0"},
		{`[{repeat: 100, steps: [{repeat: 100, sql: SELECT 1}]}]`, "the operation has 10000 statements or more when all is repeated"},
		{`[{repeat: 2}]`, "a step needs sql or steps"},
		{`[{steps: [{sql: SELECT 1}]}]`, "steps needs repeat beside it"},
		{`[{repeat: 2, sql: SELECT 1, steps: [{sql: SELECT 1}]}]`, "sql does not go with steps"},
		{`[{repeat: 2, steps: [{sql: SELECT 1, returns: integer}]}]`, `unknown value of returns "integer"`},
	} {
		_, err := Decode("shop.yaml", []byte(shop+"  o: {steps: "+c.steps+"}\n"))
		var found Errors
		if !errors.As(err, &found) || len(found) != 1 || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q alone", c.steps, err, c.want)
		}
	}
}
