package plan

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestMistakes decodes plans in which each mistake is announced at the end of
// its line: " #! COLUMN: message".
func TestMistakes(t *testing.T) {
	files, err := filepath.Glob("testdata/mistakes/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no plans with mistakes: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			must(t, err)
			want := announced(file, string(data))
			_, err = Decode(file, data)
			var found Errors
			if !errors.As(err, &found) {
				t.Fatalf("got %v, want Errors", err)
			}
			for _, e := range found {
				if !slices.Contains(want, e.Error()) {
					t.Errorf("not announced: %s", e)
				}
			}
			got := strings.Split(err.Error(), "\n")
			for _, w := range want {
				if !slices.Contains(got, w) {
					t.Errorf("not found: %s", w)
				}
			}
			if !slices.IsSortedFunc(found, func(a, b *Error) int { return a.Line - b.Line }) {
				t.Error("mistakes are not in the order of the file")
			}
		})
	}
}

func announced(file, text string) []string {
	var want []string
	for i, line := range strings.Split(text, "\n") {
		for _, message := range strings.Split(line, " #! ")[1:] {
			want = append(want, fmt.Sprintf("%s:%d:%s", file, i+1, message))
		}
	}
	return want
}

// TestAllAtOnce holds the promise that a plan with many different mistakes
// gives a message for each of them.
func TestAllAtOnce(t *testing.T) {
	const text = `name: "all at once"
sed: 1
budget: soon
margin: 200%
launches: 1
timeout: -1s
drivers: [mattn, mattn]
reference: modernc
clients: 0
pool: {open: 1, idle: 2}
profiles:
  p: {journal_mode: wall}
  q: {cache: 1}
  unused: {}
workload:
  params: {n: [1, 1], driver: [x]}
  schema: CREATE TABLE t (id INTEGER PRIMARY KEY)
  data:
    t: SELECT :rows
    u: SELECT 1
operations:
  a: {sql: SELEKT 1, profiles: [p, q]}
  b: {sql: "SELECT :m", profiles: p}
  c: {sql: "SELECT ?", profiles: p, returns: number}
  d: {mix: {e: 1}, profiles: p}
  b: {sql: SELECT 1, profiles: p}
  f: {sql: SELECT 1, count: 0, statement: twice, transaction: all, profiles: p}
`
	_, err := Decode("all.yaml", []byte(text))
	var found Errors
	if !errors.As(err, &found) {
		t.Fatalf("got %v, want Errors", err)
	}
	lines := map[int]bool{}
	for _, e := range found {
		lines[e.Line] = true
	}
	for i := range strings.Count(text, "\n") {
		line := i + 1
		clean := slices.Contains([]int{11, 15, 17, 18, 21}, line)
		if clean == lines[line] {
			t.Errorf("line %d: mistake found is %v, want %v", line, lines[line], !clean)
		}
	}
	if len(found) < 25 {
		t.Errorf("found %d mistakes, want 25 or more:\n%v", len(found), err)
	}
	var first *Error
	if !errors.As(err, &first) || first.Line != 1 {
		t.Errorf("the first mistake is %v, want one of line 1", first)
	}
}

func TestUnreadable(t *testing.T) {
	deep := strings.Repeat("[", 50)
	for name, c := range map[string]struct{ text, want string }{
		"empty":            {"", "p.yaml:1:1: the plan is empty"},
		"comment":          {"# nothing\n", "p.yaml:1:1: the plan is empty"},
		"list":             {"- 1\n", "p.yaml:1:1: a plan is a map, not a list"},
		"word":             {"quick\n", `p.yaml:1:1: a plan is a map, not "quick"`},
		"syntax":           {"a: [1, 2\nb: 3\n", "p.yaml:2:1: not YAML: ',' or ']' must be specified"},
		"not UTF-8":        {"a: \xff\n", "p.yaml:1:1: the plan is not UTF-8 text"},
		"two documents":    {"about: 1\n---\na: 2\n", "p.yaml:2:1: a plan is one YAML document, and a second one starts here"},
		"anchor and alias": {"a: &x 1\nb: *x\n", "p.yaml:1:4: anchors, aliases and merge keys are not part of the format: write the value out\np.yaml:2:4: anchors, aliases and merge keys are not part of the format: write the value out"},
		"tag":              {"a: !!str 1\n", "p.yaml:1:4: YAML tags are not part of the format: leave !!str out"},
		"merge key":        {"a: {<<: {b: 1}}\n", "p.yaml:1:5: anchors, aliases and merge keys are not part of the format: write the value out"},
		"tab":              {"a:\n\tb: 1\n", "p.yaml:2:1: not YAML: "},
		"mark":             {"\ufeffsed: 1\n", `p.yaml:1:1: unknown key "sed" (did you mean "seed"?)`},
		"duplicate":        {"name: p\nname: q\n", `p.yaml:2:1: "name" appears twice in the map, first in line 1`},
		"no word":          {"{[a]: 1}\n", "p.yaml:1:5: not YAML: found an invalid key for this map"},
		"list of maps":     {"workload: [{}]\n", "p.yaml:1:11: a workload is a map, not a list"},
		"no duration":      {"budget: 9999999999h\n", `p.yaml:1:9: want a duration above zero such as 90s or 2m, not "9999999999h"`},
		"short duration":   {"budget: 0.1ns\n", `p.yaml:1:9: want a duration above zero such as 90s or 2m, not "0.1ns"`},
		"quoted number":    {"launches: '3'\n", `p.yaml:1:11: want a number, not "3"`},
		"deep":             {"a: " + deep, "p.yaml:1:44: nested more than 40 deep"},
		"deep in a line":   {strings.Repeat("- ", 50) + "1", "p.yaml:1:81: nested more than 40 deep"},
		"long":             {strings.Repeat("#", 1<<20+1), "p.yaml:1:1: the plan has 1048577 bytes, more than 1048576"},
		"many tokens":      {"a: [" + strings.Repeat("1,", 20_000) + "]", "p.yaml:1:1: the plan has 40004 YAML tokens, more than 30000"},
		"nothing needed":   {"about: x\n", "p.yaml:1:1: a plan needs name\np.yaml:1:1: a plan needs workload or workloads"},
	} {
		_, err := Decode("p.yaml", []byte(c.text))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) && !strings.Contains(err.Error(), "\n"+c.want) {
			t.Errorf("%s: got %v\nwant %s", name, err, c.want)
		}
	}
}

func TestTooManyCells(t *testing.T) {
	text := `{name: p, drivers: [a, b], workload: {file: f}, operations: {o: {sql: SELECT 1, params: {a: [%s], b: [%[1]s]}}}}`
	var values []string
	for i := range 101 {
		values = append(values, fmt.Sprint(i))
	}
	_, err := Decode("p.yaml", fmt.Appendf(nil, text, strings.Join(values, ", ")))
	want := "p.yaml:1:1: the plan has 20402 cells, more than 20000: leave values out"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	p, err := Decode("p.yaml", fmt.Appendf(nil, text, strings.Join(values[:100], ", ")))
	must(t, err)
	want = "the plan has 30000 cells, more than 20000: leave values out"
	if _, err = p.Expand([]string{"a", "b", "c"}); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
