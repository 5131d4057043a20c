package audit_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay"
	"assay/internal/audit"
	"assay/published"
)

// own judges a source of one's own: a claim that a is faster than b, and a table of figures.
func own(t *testing.T, head, name, figures string, runs audit.Runs) audit.Finding {
	t.Helper()
	dir := t.TempDir()
	claims := head + "figures: " + name + "\n" + `claims:
  - name: c
    says: a is faster than b
    basis: sentence
    provenance: quoted
    compare:
      - {expect: faster, published: {a: {case: A}, b: {case: B}}}
`
	for file, text := range map[string]string{"claims.yaml": claims, name: figures,
		"cells.yaml": "plan: p\ncell: {operation: scan}\ncolumns: {case: {A: {driver: a}, B: {driver: b}}}\nmetrics: {time: ns/op}\n"} {
		must(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
	}
	s, err := published.Open(filepath.Join(dir, "claims.yaml"))
	must(t, err)
	findings, err := audit.Judge([]published.Source{s}, atHome(runs))
	if err != nil || len(findings) != 1 {
		t.Fatalf("%d findings, %v", len(findings), err)
	}
	return findings[0]
}

// A claim without a plan is held against the source's own figures: they may say so, contradict it,
// or be of two machines or days, or too uncertain, to tell.
func TestClaimsAgainstTheSourcesOwnFigures(t *testing.T) {
	table := func(a, b string) string {
		return "source,case,driver,config,parallelism,poolsize,metric,value,unit,value_num,machine,when\ns,A,,,,,time,1,ns," + a + "\ns,B,,,,,time,1,ns," + b + "\n"
	}
	benchmarks := func(a, b string) (text string) {
		for name, times := range map[string]string{"A": a, "B": b} {
			for _, ns := range strings.Fields(times) {
				text += "Benchmark" + name + " 1 " + ns + " ns/op\n"
			}
		}
		return text
	}
	benchstat := func(row string) string { return "│ x.txt │\n│ sec/op │\n" + row }
	for name, test := range map[string]struct {
		file, figures string
		want          audit.Verdict
		reason        string
	}{
		"say so":          {"f.csv", table("10,m,d", "20,m,d"), audit.Agrees, ""},
		"rates say so":    {"f.csv", strings.ReplaceAll(table("20,m,d", "10,m,d"), ",ns,", ",op/s,"), audit.Agrees, ""},
		"rates against":   {"f.csv", strings.ReplaceAll(table("10,m,d", "20,m,d"), ",ns,", ",req/sec,"), audit.Contradicted, "A / B is 0.5 by its figures"},
		"contradict it":   {"f.csv", table("20,m,d", "10,m,d"), audit.Contradicted, "A / B is 2 by its figures"},
		"two machines":    {"f.csv", table("10,m1,d", "20,m2,d"), audit.Unknown, "its figures are of different machines: m1, and m2"},
		"two days":        {"f.csv", table("20,m,monday", "10,m,"), audit.Unknown, "its figures are of different days: monday, and not stated"},
		"samples say so":  {"f.txt", benchmarks("10 11 10", "20 21 20"), audit.Agrees, ""},
		"samples against": {"f.txt", benchmarks("20 21 20", "10 11 10"), audit.Contradicted, "it is slower"},
		"samples spread":  {"f.txt", benchmarks("10 30 20", "15 20 25"), audit.Unknown, "undecided: A / B is 0.928 [0.289, 2.98] by its figures"},
		"samples tie":     {"f.txt", benchmarks("10 10 10", "10 10 10"), audit.Unknown, "they tie within 2 %, and the source states no size"},
		"benchstat":       {"f.txt", benchstat("A 1.000m ± 2%\nB 2.000m ± 2%\n"), audit.Agrees, ""},
		"against it":      {"f.txt", benchstat("A 2.000 ± 2%\nB 2.000m ± 2%\n"), audit.Contradicted, "it is slower"},
		"wide":            {"f.txt", benchstat("A 1.000m ± 9%\nB 1.010m ± 2%\n"), audit.Unknown, "undecided: A / B is 0.99 [0.906, 1.08] by its figures"},
	} {
		f := own(t, "", test.file, test.figures, reports(t))
		if f.Verdict != test.want || f.Reason != test.reason {
			t.Errorf("%s: got %s: %q, want %s: %q", name, f.Verdict, f.Reason, test.want, test.reason)
		}
		if f.Evidence[0].Against != (test.want == audit.Contradicted) {
			t.Errorf("%s: got contradicted %v, want what the verdict says", name, f.Evidence[0].Against)
		}
		if got := printed(t, f); !strings.Contains(got, "Of 1 claims, "+string(test.want)+": 1.") || strings.Contains(got, "No run has their cells") {
			t.Errorf("%s: want the verdict, and no advice to measure, in\n%s", name, got)
		}
	}
}

// With the cells of its figures, a source of one's own is measured again as the built-in ones are.
func TestOwnSourceIsRefuted(t *testing.T) {
	const figures = "source,case,driver,config,parallelism,poolsize,metric,value,unit,value_num\ns,A,,,,,time,10,ns,10\ns,B,,,,,time,20,ns,20\n"
	cells := map[string]assay.Trial{"a": trial(2000, "g"), "b": trial(1000, "g")}
	for head, want := range map[string]audit.Verdict{
		"mapping: cells.yaml\nconditions: {os: linux, arch: amd64}\nversions: {a: v1, b: v1}\n": audit.Fails,
		"mapping: cells.yaml\nconditions: {os: linux, arch: arm64}\nversions: {a: v1, b: v1}\n": audit.NotReproduced,
		"mapping: cells.yaml\n": audit.NotReproduced, // it does not state its conditions
	} {
		if f := own(t, head, "f.csv", figures, reports(t, cells)); f.Verdict != want || f.Evidence[0].Claimed != 0.5 {
			t.Errorf("%q: got %s (%s), published %v; want %s and 0.5", head, f.Verdict, f.Reason, f.Evidence[0].Claimed, want)
		}
	}
	if f := own(t, "mapping: cells.yaml\n", "f.csv", figures, reports(t)); f.Verdict != audit.Unknown || !strings.Contains(printed(t, f), "assay run p --only driver=a,b --only operation=scan") {
		t.Errorf("not measured: got %s, want that it cannot be told, and the command", f.Verdict)
	}
}

// Our readings of tables are counted and listed apart from what authors wrote.
func TestReadingsAreApart(t *testing.T) {
	runs := reports(t, map[string]assay.Trial{"a": trial(1000, "g"), "b": trial(2000, "g")})
	reading := claim(published.Faster, 0)
	reading.Basis, reading.Says = published.Reading, "our reading"
	all := []audit.Finding{judge(t, published.Source{Name: "s"}, claim(published.Faster, 0), runs), judge(t, published.Source{Name: "s"}, reading, runs)}
	got := printed(t, all...)
	for _, want := range []string{"Of 1 claims, holds here: 1. Of 1 readings of ours, which no author wrote, holds here: 1.",
		"| our reading of a source's tables, which no author wrote | source | verdict | doubts |\n| --- | --- | --- | --- |\n| our reading | s |"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	var screen strings.Builder
	if err := audit.WriteScreen(&screen, all, 80, "m", "e"); err != nil || !strings.Contains(screen.String(), "- our reading (s)\n") {
		t.Errorf("%v, screen:\n%s", err, screen.String())
	}
}
