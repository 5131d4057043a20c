package plan

import (
	"errors"
	"slices"
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
    user: {rows: 10, columns: {id: seq, mail: {seq: 1, format: "user%08d@example.com"}}}
operations:
`

// A continued column, a row of the data and an argument belong to the repetition in
// which they are first drawn.
func TestRepeatedSteps(t *testing.T) {
	p, err := Decode("shop.yaml", []byte(shop+`  o:
    steps:
      - {sql: "INSERT INTO user VALUES (?, ?)", args: [{next: user.id}, {derive: {of: 1, format: "u%d"}}], rows: 1}
      - repeat: 2
        steps:
          - {sql: "INSERT INTO article VALUES (?, ?, ?)", args: [{seq: 1}, {next: user.id}, {from: user.id, draw: once}], rows: 1}
          - {repeat: 3, sql: "INSERT INTO comment VALUES (?, ?, ?)", args: [{seq: 1}, {derive: {of: 3}}, {derive: {of: 6, format: "c%d"}}], rows: 1}
`))
	must(t, err)
	cases, err := p.Expand(nil)
	must(t, err)
	steps := cases[0].Operation.Steps
	if len(steps) != 1+2*(1+3) || !cases[0].Operation.Changes {
		t.Fatalf("got %d steps and changes %v, want 9 and true", len(steps), cases[0].Operation.Changes)
	}
	want := map[int][]assay.Values{
		0: {{Kind: assay.Seq, From: 11, Step: 1}, {Kind: assay.Derive, Of: 0, Mul: 1, Format: "u%d"}},
		1: {{Kind: assay.Seq, From: 1, Step: 2}, {Kind: assay.Seq, From: 11, Step: 1}, {Kind: assay.From, Table: "user", Column: "id", Draw: assay.Once, Step: 2}},
		2: {{Kind: assay.Seq, From: 1, Step: 6}, {Kind: assay.Derive, Of: 2, Mul: 1}, {Kind: assay.Derive, Of: 5, Mul: 1, Format: "c%d"}},
		4: {{Kind: assay.Seq, From: 3, Step: 6}, {Kind: assay.Derive, Of: 2, Mul: 1}, {Kind: assay.Derive, Of: 11, Mul: 1, Format: "c%d"}},
		5: {{Kind: assay.Seq, From: 2, Step: 2}, {Kind: assay.Seq, From: 11, Step: 1}, {Kind: assay.From, Table: "user", Column: "id", Draw: assay.Once, From: 1, Step: 2, Of: 1}},
		8: {{Kind: assay.Seq, From: 6, Step: 6}, {Kind: assay.Derive, Of: 14, Mul: 1}, {Kind: assay.Derive, Of: 23, Mul: 1, Format: "c%d"}},
	}
	for i, args := range want {
		if diff := cmp.Diff(args, steps[i].Args); diff != "" {
			t.Errorf("step %d has the arguments (-want +got)\n%s", i+1, diff)
		}
	}
}

// A column that repeated steps continue has one value for each repetition, also in the
// steps within, so that rows refer to each other.
func TestRepeatedNext(t *testing.T) {
	p, err := Decode("shop.yaml", []byte(shop+`  o:
    steps:
      - repeat: 2
        steps:
          - {sql: "INSERT INTO user VALUES (?, 'x')", args: [{next: user.id}]}
          - {repeat: 2, sql: "INSERT INTO article (user) VALUES (?)", args: [{next: user.id}]}
`))
	must(t, err)
	cases, err := p.Expand(nil)
	must(t, err)
	var got []int64
	for _, s := range cases[0].Operation.Steps {
		got = append(got, s.Args[0].From, s.Args[0].Step)
	}
	if want := []int64{11, 2, 11, 2, 11, 2, 12, 2, 12, 2, 12, 2}; !slices.Equal(got, want) {
		t.Errorf("the users are %v, want %v", got, want)
	}
}

func TestRepeatMistakes(t *testing.T) {
	for _, c := range []struct{ steps, want string }{
		{`[{repeat: 2, sql: "INSERT INTO article (id) VALUES (?)", args: [{next: user.id}]}, {sql: "INSERT INTO comment (article) VALUES (?)", args: [{next: user.id}]}]`,
			"user.id is drawn by earlier, repeated steps, and this step is not one of them: it is unclear which of their values is meant"},
		{`[{repeat: 2, sql: "INSERT INTO article (id) VALUES (?)", args: [{seq: 1}]}, {sql: "INSERT INTO comment (article) VALUES (?)", args: [{derive: {of: 1}}]}]`,
			"argument 1 belongs to repeated steps, and this step is not one of them: it is unclear which of its values is meant"},
		{`[{repeat: 0, sql: SELECT 1}]`, "repeat must be 1 to 5000, not 0"},
		{`[{repeat: 100, steps: [{repeat: 100, sql: SELECT 1}]}]`, "the operation has 10000 statements when all is repeated, more than 5000"},
		{`[{repeat: 2}]`, "a step needs sql, a script, or steps to repeat"},
		{`[{steps: [{sql: SELECT 1}]}]`, "steps within a step are repeated together: say how many times, as in repeat: 20"},
		{`[{repeat: 2, sql: SELECT 1, steps: [{sql: SELECT 1}]}]`, "sql belongs to the steps that are repeated"},
		{`[{repeat: 2, steps: [{sql: SELECT 1, returns: integer}]}]`, `unknown type "integer"`},
	} {
		_, err := Decode("shop.yaml", []byte(shop+"  o: {steps: "+c.steps+"}\n"))
		var found Errors
		if !errors.As(err, &found) || len(found) != 1 || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q alone", c.steps, err, c.want)
		}
	}
}

func TestFormatMistakes(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{`[{uniform: [1, 9], format: "%s"}]`, "the format needs %d, or %08d for eight digits, where the number goes"},
		{`[{text: 3, format: "%d"}]`, "format belongs to whole numbers: seq, uniform, zipf, next; of another column or argument, write {derive: {of: ..., format: ...}}"},
		{`[{uniform: user.mail}]`, "user.mail has a format: draw from a seq column without one, and give the argument the same format"},
		{`[{seq: 1, format: "%d"}, {derive: {of: 1}}]`, "derive computes from whole numbers, and 1 is none"},
	} {
		sql := "SELECT " + strings.TrimSuffix(strings.Repeat("?, ", strings.Count(c.args, "{")-strings.Count(c.args, "derive")), ", ")
		_, err := Decode("shop.yaml", []byte(shop+"  o: {sql: \""+sql+"\", args: "+c.args+"}\n"))
		var found Errors
		if !errors.As(err, &found) || len(found) != 1 || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q alone", c.args, err, c.want)
		}
	}
}
