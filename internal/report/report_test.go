package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/analysistest"
)

// plainFormats are those of a golden file: of one file, and no page.
var plainFormats = slices.DeleteFunc(Formats.Names(), func(name string) bool {
	f, err := Formats.Named(name)
	return err != nil || f.Files != nil || name == "html"
})

var update = flag.Bool("update", false, "write the golden files anew")

func TestGolden(t *testing.T) {
	run, trials := analysistest.SampleRun()
	r := mustReport(t, run, trials)
	for _, format := range plainFormats {
		t.Run(format, func(t *testing.T) {
			var out bytes.Buffer
			must(t, r.Write(&out, format))
			golden := filepath.Join("testdata", "sample."+format)
			if *update {
				must(t, os.WriteFile(golden, out.Bytes(), 0o644))
			}
			want, err := os.ReadFile(golden)
			must(t, err)
			if !bytes.Equal(out.Bytes(), want) {
				t.Errorf("%s differs from %s; got:\n%s", format, golden, out.Bytes())
			}
		})
	}
}

// On a terminal the paragraphs of a report are as wide as it, up to 100 columns; the other
// lines, and what is no terminal, do not change.
func TestWriteText(t *testing.T) {
	run, trials := analysistest.SampleRun()
	r := mustReport(t, run, trials)
	text := func(columns int) string {
		var out strings.Builder
		must(t, r.WriteText(&out, columns))
		return out.String()
	}
	piped := text(0)
	if text(100) != piped || text(200) != piped {
		t.Error("a wide terminal changes the text")
	}
	for _, columns := range []int{60, 80} {
		narrow := text(columns)
		if a, b := strings.Fields(narrow), strings.Fields(piped); !slices.Equal(a, b) {
			t.Errorf("%d columns: other words:\n%s", columns, narrow)
		}
		kept := strings.Split(piped, "\n")
		for line := range strings.SplitSeq(narrow, "\n") {
			if utf8.RuneCountInString(line) > columns && !slices.Contains(kept, line) && strings.Contains(strings.TrimSpace(line), " ") {
				t.Errorf("wider than %d columns: %s", columns, line)
			}
		}
	}
}

// A block in process whose pool reopens connections has the columns of a block in
// process; those of requests would be empty.
func TestColumnsWithAPool(t *testing.T) {
	for clients, want := range map[int][]string{
		1:  {"driver", "profile", "ns/op", "reopens/op", "ratio, <1 is faster"},
		16: {"driver", "profile", "op/s", "p50", "p99", "busy/op", "reopens/op", "ratio, >1 is faster"},
	} {
		cell := analysistest.Cell("get", "mattn", "web")
		cell.Clients, cell.Pool, cell.Idle = clients, 100, 2
		trials := analysistest.Change(analysistest.Launches(cell, 3, 100, 1), func(t *assay.Trial) {
			t.Mode, t.Figures[assay.ReopensOp], t.Figures[assay.PoolWaitPerOp] = assay.Blocks, 0.5, 10
		})
		var got []string
		for _, c := range columnsOf(mustReport(t, analysistest.PlainRun, trials).Tables[0]) {
			got = append(got, c.name)
		}
		if got = got[:min(len(want), len(got))]; !slices.Equal(got, want) {
			t.Errorf("%d clients: got the columns %q, want %q", clients, got, want)
		}
	}
}

// Percentiles of a saturated closed loop in one process are left out; over HTTP, with few
// clients and where the processors are not known, they stay.
func TestSaturatedClosedLoop(t *testing.T) {
	for _, c := range []struct {
		cores   string
		clients int
		served  bool
		want    bool
	}{{"2", 8, false, false}, {"8", 8, false, true}, {"", 8, false, true}, {"2", 8, true, true}} {
		cell := analysistest.Cell("get", "mattn", "web")
		cell.Clients, cell.Pool, cell.Idle = c.clients, c.clients, c.clients
		run := analysistest.PlainRun
		run.Host = map[string]string{"cores": c.cores}
		r := mustReport(t, run, analysistest.Change(analysistest.Launches(cell, 3, 100, 1), func(t *assay.Trial) {
			t.Mode, t.Figures[assay.P50], t.Figures[assay.P99] = assay.Blocks, 9000, 4e6
			if c.served {
				t.Figures[assay.LimitPerS] = 1e6
			}
		}))
		_, figure := r.Tables[0].Rows[0].Figure(assay.P99)
		column := slices.ContainsFunc(columnsOf(r.Tables[0]), func(c column) bool { return c.name == assay.P99 })
		if figure != c.want || column != c.want {
			t.Errorf("%+v: got a p99 %v and its column %v", c, figure, column)
		}
	}
}

// The order in which a store returns trials must not matter.
func TestOrderOfTrials(t *testing.T) {
	run, trials := analysistest.SampleRun()
	reversed := make([]assay.Trial, len(trials))
	for i, trial := range trials {
		reversed[len(trials)-1-i] = trial
	}
	for _, format := range plainFormats {
		var a, b bytes.Buffer
		must(t, mustReport(t, run, trials).Write(&a, format))
		must(t, mustReport(t, run, reversed).Write(&b, format))
		if a.String() != b.String() {
			t.Errorf("%s depends on the order of trials", format)
		}
	}
}

func TestNewTakesNothingFromTheCaller(t *testing.T) {
	run, trials := analysistest.SampleRun()
	mustReport(t, run, trials)
	if trials[0].Histogram == nil || trials[0].DSN == "" || len(trials[0].Each) == 0 {
		t.Error("New changed the caller's trials")
	}
}

func TestErrors(t *testing.T) {
	_, err := analysis.New(assay.Run{ID: "r1"}, analysistest.Broken)
	if err == nil || err.Error() != "report on run r1: reading its trials: disk on fire" {
		t.Errorf("got %v", err)
	}
	r := mustReport(t, assay.Run{}, nil)
	err = r.Write(&bytes.Buffer{}, "xml")
	want := `unknown format "xml": use one of text, markdown, csv, json, benchfmt, html, svg`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestEmptyRun(t *testing.T) {
	r := mustReport(t, assay.Run{}, nil)
	for _, format := range plainFormats {
		if err := r.Write(&bytes.Buffer{}, format); err != nil {
			t.Errorf("%s: %v", format, err)
		}
	}
}

func TestFailed(t *testing.T) {
	for outcome, want := range map[assay.Outcome]bool{
		assay.OK: false, assay.Unsupported: false, assay.NotRun: false,
		assay.Failed: true, assay.WrongAnswer: true, assay.TimedOut: true, assay.NotApplied: true,
	} {
		trial := analysistest.Ended(analysistest.Cell("scan", "mattn", "web"), outcome, "")
		if got := mustReport(t, assay.Run{}, []assay.Trial{trial}).Failed(); got != want {
			t.Errorf("%s: got %v, want %v", outcome, got, want)
		}
		trial.Cell.AsPublished = true
		if mustReport(t, assay.Run{}, []assay.Trial{trial}).Failed() {
			t.Errorf("%s: counts though the fault is published", outcome)
		}
	}
}

func TestOutcome(t *testing.T) {
	tests := []struct {
		outcomes []assay.Outcome
		want     assay.Outcome
		reason   string
	}{
		{[]assay.Outcome{assay.NotRun}, assay.NotRun, "not-run 0"},
		{[]assay.Outcome{assay.NotRun, assay.OK}, assay.OK, "ok 1"},
		{[]assay.Outcome{assay.OK, assay.TimedOut, assay.NotApplied, assay.NotApplied}, assay.NotApplied, "not-applied 2"},
		{[]assay.Outcome{assay.Failed, assay.WrongAnswer}, assay.Failed, "failed 0"},
	}
	for _, test := range tests {
		var trials []analysis.Trial
		for i, o := range test.outcomes {
			trials = append(trials, analysis.Trial{Outcome: o, Reason: string(o) + " " + string(rune('0'+i))})
		}
		got, reason := analysis.Outcome(trials)
		if got != test.want || reason != test.reason {
			t.Errorf("%v: got %s, %q", test.outcomes, got, reason)
		}
	}
}

// benchfmtLine is a line of the Go benchmark format: a key begins without capitals, and ends at the colon.
var benchfmtLine = regexp.MustCompile(`^(\n|Unit |Benchmark|[^\s:A-Z]+: )`)

// Hostile text stands in every place that a user or a worker can write to.
func TestHostileText(t *testing.T) {
	const evil = "x|y\n\r\t\x1b[2J<script>`*_\u2028\u202e\xff \"q\",;:= /z"
	c := analysistest.Cell(evil, evil, evil)
	c.Plan, c.Workload, c.Engine, c.Statement = evil, evil, evil, evil
	c.Params = map[string]string{evil: evil}
	trials := analysistest.Change(analysistest.Launches(c, 2, 1000, 1), func(t *assay.Trial) {
		t.DSN, t.Each = evil, []string{evil}
		t.Warnings = []assay.Warning{{Code: evil, Evidence: evil, Advice: evil}}
		t.Settings = []assay.Setting{{Name: evil, Requested: evil, Effective: evil}}
		t.Figures[evil] = 3
	})
	other := c
	other.Driver = "other"
	trials = append(trials, analysistest.Ended(other, assay.Failed, evil))
	run := assay.Run{ID: evil, Plan: evil, Baseline: assay.ParseBaseline(evil), Host: map[string]string{evil: evil}, Version: evil,
		Targets: []assay.Target{{Driver: evil, Engine: evil, EngineVersion: evil, Facts: map[string]string{evil: evil}, CompileOptions: []string{evil}}}}
	r := mustReport(t, run, trials)
	for _, format := range plainFormats {
		var out bytes.Buffer
		must(t, r.Write(&out, format))
		for _, bad := range []string{"\x1b", "\r", "\t", "\u2028", "\u202e", "\xff"} {
			if format != "json" && strings.Contains(out.String(), bad) {
				t.Errorf("%s has %q in it", format, bad)
			}
		}
		if format == "markdown" {
			checkMarkdown(t, out.String())
		}
		if format == "benchfmt" {
			for line := range strings.Lines(out.String()) {
				if !benchfmtLine.MatchString(line) {
					t.Errorf("no line of benchfmt: %q", line)
				}
			}
			if got := readBenchfmt(t, &out); len(got) != 2 {
				t.Errorf("%d benchmark lines, want 2", len(got))
			}
		}
	}
}

// checkMarkdown counts the columns of tables and looks for tags.
func checkMarkdown(t *testing.T, doc string) {
	columns := 0
	for line := range strings.Lines(doc) {
		if strings.HasPrefix(line, "    ") {
			continue
		}
		if strings.Contains(line, "<") {
			t.Errorf("a tag in %q", line)
		}
		n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		if strings.HasPrefix(line, "|") && columns > 0 && n != columns {
			t.Errorf("%d columns, not %d, in %q", n, columns, line)
		}
		columns = n
	}
}
