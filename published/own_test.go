package published

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// folder holds files of a source of one's own.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

const ownClaim = `figures: FILE
claims:
  - name: c
    says: a is faster
    basis: sentence
    provenance: quoted
    compare:
      - expect: faster
        published: {a: {case: A}, b: {case: B}}
`

const ownTable = header + "s,A,,,,,time,10,ns/op,10\ns,B,,,,,time,20,ns/op,20\n"

func TestOpen(t *testing.T) {
	for name, test := range map[string]struct {
		file, text string
		a, b       Figure // what is to be there of them
	}{
		"a table":               {"f.csv", ownTable, Figure{Value: 10, Unit: "ns/op"}, Figure{Value: 20, Unit: "ns/op"}},
		"a table with machines": {"f.csv", strings.Replace(header, "\n", ",machine,when\n", 1) + "s,A,,,,,time,10,ns,10,m1,2024-01-01\ns,B,,,,,time,20,ns,20,m2,\n", Figure{Value: 10, Unit: "ns", Machine: "m1", When: "2024-01-01"}, Figure{Value: 20, Unit: "ns", Machine: "m2"}},
		"benchmarks":            {"f.txt", "goos: linux\ngoarch: amd64\ncpu: X\nBenchmarkA 5 10 ns/op\nBenchmarkA 5 40 ns/op\nBenchmarkB 5 20 ns/op\n", Figure{Value: 20, Unit: "ns/op", Machine: "linux amd64 X", N: 2}, Figure{Value: 20, Unit: "ns/op", Machine: "linux amd64 X", N: 1}},
	} {
		dir := folder(t, map[string]string{"blog-claims.yaml": strings.Replace(ownClaim, "FILE", test.file, 1), test.file: test.text})
		s, err := Open(filepath.Join(dir, "blog-claims.yaml"))
		if err != nil || s.Name != "blog" {
			t.Errorf("%s: %q, %v", name, s.Name, err)
			continue
		}
		a, b, known, err := s.Ratio(s.Claims[0].Compare[0])
		if err != nil || !known {
			t.Errorf("%s: %v, %v", name, known, err)
		}
		for i, got := range []Figure{a, b} {
			want := []Figure{test.a, test.b}[i]
			if math.Abs(got.Value-want.Value) > 1e-9 || got.Unit != want.Unit || got.Machine != want.Machine || got.When != want.When || got.N != want.N {
				t.Errorf("%s: got %+v, want in it %+v", name, got, want)
			}
		}
	}
}

// What benchstat prints: two files side by side, in units with a prefix.
func TestBenchstat(t *testing.T) {
	const text = `goos: linux
goarch: amd64
pkg: example.com/x
cpu: Some CPU
          │   old.txt   │              new.txt               │
          │   sec/op    │   sec/op     vs base               │
Read-8      13.62m ± 2%   11.75µ ± 1%  -13.73% (p=0.000 n=10)
Write-8     2.000 ± ∞ ¹   3.000 ± ∞ ¹  ~ (p=0.500 n=2)
geomean     165.0m        5.937m       -96.40%

          │   old.txt    │            new.txt            │
          │     B/op     │     B/op      vs base         │
Read-8      1.500Ki ± 0%   1.500Ki ± 0%  ~ (p=1.000 n=10)
`
	got, err := readBenchstat("x.txt", text)
	if err != nil || len(got) != 6 {
		t.Fatalf("%d figures, %v; want 6", len(got), err)
	}
	for i, want := range []Figure{
		{Case: "Read-8", Config: "old.txt", Unit: "sec/op", Value: 0.01362, Half: 0.02, N: 10}, {Case: "Read-8", Config: "new.txt", Unit: "sec/op", Value: 11.75e-6, Half: 0.01, N: 10},
		{Case: "Write-8", Config: "old.txt", Unit: "sec/op", Value: 2, N: 2}, {Case: "Write-8", Config: "new.txt", Unit: "sec/op", Value: 3, N: 2},
		{Case: "Read-8", Config: "old.txt", Unit: "B/op", Value: 1536, N: 10}, {Case: "Read-8", Config: "new.txt", Unit: "B/op", Value: 1536, N: 10},
	} {
		f := got[i]
		if f.Case != want.Case || f.Config != want.Config || f.Unit != want.Unit || f.Metric != want.Unit || math.Abs(f.Value/want.Value-1) > 1e-9 || f.Half != want.Half || f.N != want.N || f.Machine != "linux amd64 Some CPU" {
			t.Errorf("figure %d: got %+v, want in it %+v", i, f, want)
		}
	}
}

// A comparison without cells has those of its figures, by the mapping.
func TestCellsOfMappedFigures(t *testing.T) {
	dir := folder(t, map[string]string{"c.yaml": "mapping: m.yaml\n" + strings.Replace(ownClaim, "FILE", "f.csv", 1), "f.csv": ownTable,
		"m.yaml": "plan: p\ncell: {driver: d}\ncolumns: {case: {A: {operation: a}, B: {operation: b}}}\nmetrics: {time: p50}\n"})
	s, err := Open(filepath.Join(dir, "c.yaml"))
	must(t, err)
	c := s.Claims[0]
	if p := c.Compare[0]; c.Plan != "p" || c.Metric != "p50" || p.A["operation"] != "a" || p.B["operation"] != "b" || p.A["driver"] != "d" {
		t.Errorf("got the plan %q, metric %q, cells %v and %v", c.Plan, c.Metric, p.A, p.B)
	}
}

// Every mistake says where it is.
func TestMistakesOfOwnSources(t *testing.T) {
	table := strings.Replace(ownClaim, "FILE", "f.csv", 1)
	text := strings.Replace(ownClaim, "FILE", "f.txt", 1)
	for name, test := range map[string]struct {
		files map[string]string
		want  string
	}{
		"no YAML":            {map[string]string{"c.yaml": "claims: [\n"}, "c.yaml:1:9: "},
		"aliases":            {map[string]string{"c.yaml": "about: &a [x, x]\nclaims: [*a, *a]\n"}, "c.yaml:1:8: anchors, aliases"},
		"nested":             {map[string]string{"c.yaml": "about: " + strings.Repeat("[", 200)}, "c.yaml:1:108: it is nested over 100 times"},
		"nested in lines":    {map[string]string{"c.yaml": "about:\n  " + strings.Repeat("- ", 200)}, "c.yaml:2:203: it is nested over 100 times"},
		"no claims":          {map[string]string{"c.yaml": "about: x\n"}, "c.yaml:1:6: there are no claims"},
		"a key":              {map[string]string{"c.yaml": "claims:\n  - name: c\n    syas: a\n"}, `c.yaml:3:5: unknown field "syas"`},
		"a type":             {map[string]string{"c.yaml": "claims:\n  - name: [c]\n"}, "c.yaml:2:11: "},
		"an expectation":     {map[string]string{"c.yaml": strings.Replace(table, "faster\n        pub", "better\n        pub", 1), "f.csv": ownTable}, `c.yaml:3:9: claim "c": expect "better"`},
		"a name twice":       {map[string]string{"c.yaml": table + table[strings.Index(table, "  - name"):], "f.csv": ownTable}, `c.yaml:10:11: two claims are named "c"`},
		"no figure":          {map[string]string{"c.yaml": strings.Replace(table, "case: B", "case: C", 1), "f.csv": ownTable}, `c.yaml:8:15: claim "c": 0 published figures have case C, not one: case is A or B`},
		"two figures":        {map[string]string{"c.yaml": table, "f.csv": ownTable + "s,A,,x,,,p99,30,ns,30\n"}, `claim "c": 2 published figures have case A, not one: metric is time or p99`},
		"a value":            {map[string]string{"c.yaml": table, "f.csv": header + "s,A,,,,,time,10,ns/op,ten\n"}, `f.csv:2:23: value_num "ten" is no number`},
		"a value not finite": {map[string]string{"c.yaml": table, "f.csv": header + "s,A,,,,,time,10,ns/op,NaN\n"}, `f.csv:2:23: value_num "NaN" is no number`},
		"a header":           {map[string]string{"c.yaml": table, "f.csv": "a,b\n"}, "f.csv:1:1: the header is not source,case"},
		"a quote":            {map[string]string{"c.yaml": table, "f.csv": header + "s,\"A,,,,,time,10,ns/op,ten\n"}, "f.csv:2:28: "},
		"a benchmark":        {map[string]string{"c.yaml": text, "f.txt": "BenchmarkA 5 ten ns/op\n"}, "f.txt:1:1: "},
		"no benchmark":       {map[string]string{"c.yaml": text, "f.txt": "ok\n"}, "f.txt:1:1: there is no benchmark in it"},
		"benchstat":          {map[string]string{"c.yaml": text, "f.txt": "│ a.txt │\n│ sec/op │\nA 1m ± 2% 2m ± 2%\n"}, "f.txt:3:1: a row of benchstat has more figures"},
		"a mapping":          {map[string]string{"c.yaml": "mapping: m.yaml\n" + table, "f.csv": ownTable, "m.yaml": "plan: p\nmetrics: {time: x}\n"}, `m.yaml:2:10: there is no metric "x"`},
		"no mapped value":    {map[string]string{"c.yaml": "mapping: m.yaml\n" + table, "f.csv": ownTable, "m.yaml": "plan: p\nmetrics: {}\n"}, `f.csv:2:1: metric "time" is not mapped`},
		"no file of figures": {map[string]string{"c.yaml": table}, "f.csv"},
	} {
		dir := folder(t, test.files)
		_, err := Open(filepath.Join(dir, "c.yaml"))
		if err == nil || !errors.As(err, new(*InputError)) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want an input error with %s", name, err, test.want)
		}
	}
}
