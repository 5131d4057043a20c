package report

import (
	"bytes"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/analysistest"
	"assay/internal/analysis/wording"
	"assay/internal/doc"
	"assay/internal/doc/chart"
)

// chartOf returns the rows of the chart with that name, by their names.
func chartOf(t *testing.T, r *Report, name string) (*chart.Rows, map[string]chart.Row) {
	t.Helper()
	for _, named := range r.Charts() {
		if rows, ok := named.Chart.Body.(*chart.Rows); ok && named.Name == name {
			byName := map[string]chart.Row{}
			for _, row := range rows.Rows {
				byName[row.Name] = row
			}
			return rows, byName
		}
	}
	t.Fatalf("no chart %s", name)
	return nil, nil
}

// A chart has the table's rows in its order, with the table's figures.
func TestFigureChart(t *testing.T) {
	run, trials := analysistest.SampleRun()
	r := mustReport(t, run, trials)
	rows, _ := chartOf(t, r, "chart-point-read-1k-rows-1-client")
	var got []string
	for _, row := range rows.Rows {
		got = append(got, row.Group+"|"+row.Name)
	}
	want := []string{"1 =|mattn (web)", "1 =|mattn (tuned)", "3|modernc (tuned), reference", "4 =|modernc (web), reference", "4 =|glebarez (web)", "|modernc (web), again"}
	for i, row := range r.Tables[slices.IndexFunc(r.Tables, func(t *analysis.Table) bool { return t.Title == "point-read, 1k rows, 1 client" })].WithTwins() {
		f, _ := row.Figure(assay.NsPerOp)
		cell := rows.Rows[i].Cells[0]
		if cell.Marks[0] != doc.Drawable(f.Interval) || len(cell.Dots) != f.Interval.N || cell.Text != wording.Human(f.Interval.Center, "ns") {
			t.Errorf("%s: %+v is not %+v", row.Name(), cell, f.Interval)
		}
		ratio := rows.Rows[i].Cells[1]
		if (f.Comparison != nil) != (len(ratio.Marks) == 1) || f.Comparison != nil && ratio.Marks[0] != doc.Drawable(f.Comparison.Ratio) {
			t.Errorf("%s: the ratio %+v is not %+v", row.Name(), ratio, f.Comparison)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("rows %q, want %q", got, want)
	}
	if p := rows.Panels[1]; p.Line != 1 || p.BandLow != 1/1.02 || p.BandHigh != 1.02 || p.Label != "ratio to modernc with the same profile: below 1 is faster; band: within 2 %" {
		t.Errorf("the ratio's panel is %+v", p)
	}
}

// Whatever did not end ok is in its place, with its outcome and reason.
func TestOutcomesInChart(t *testing.T) {
	run, trials := analysistest.SampleRun()
	_, rows := chartOf(t, mustReport(t, run, trials), "chart-scan-1k-rows-1-client")
	for name, want := range map[string]string{
		"mattn (web)":                "not-applied: mmap_size requested 268435456, effective 0",
		"glebarez (web)":             "unsupported: no such option",
		"modernc (tuned), reference": "wrong-answer: row 3 differs",
		"glebarez (tuned)":           "timed-out: no answer in 60s",
		"modernc (late), reference":  "not-run: the budget ended",
	} {
		if row := rows[name]; row.Text != want || len(row.Cells) > 0 {
			t.Errorf("%s: %q with %d cells, want %q", name, row.Text, len(row.Cells), want)
		}
	}
	if row := rows["mattn (tuned)"]; !strings.HasPrefix(row.Text, "failed: worker died") {
		t.Errorf("failed: %q", row.Text)
	}
}

func TestDurabilityInChart(t *testing.T) {
	run, trials := analysistest.SampleRun()
	rows, _ := chartOf(t, mustReport(t, run, trials), "chart-insert-1k-rows-1-client")
	var sections []string
	for _, row := range rows.Rows {
		sections = append(sections, row.Section)
	}
	if want := []string{"durability power", "durability power", "durability consistent", "durability consistent", "durability consistent"}; !slices.Equal(sections, want) {
		t.Errorf("sections %q, want %q", sections, want)
	}
}

// Several clients: throughput, where more is better, and latencies.
func TestLatencyChart(t *testing.T) {
	run, trials := analysistest.SampleRun()
	r := mustReport(t, run, trials)
	figures, _ := chartOf(t, r, "chart-mixed-1k-rows-8-clients-pool-4-transaction-100")
	if label := figures.Panels[0].Label; label != "operations per second (op/s): more is better" {
		t.Errorf("panel %q", label)
	}
	rows, byName := chartOf(t, r, "chart-mixed-1k-rows-8-clients-pool-4-transaction-100-latency")
	marks := byName["mattn (tuned)"].Cells[0].Marks
	if !slices.Equal(rows.Marks, []string{"p50", "p99"}) || marks[0].Center != 9000 || marks[1].Center != 4.2e6 || !rows.Panels[0].Log {
		t.Errorf("%q: %+v", rows.Marks, marks)
	}
}

// The interval of a stack is that of the sum of its parts in each launch.
func TestPhaseChart(t *testing.T) {
	run, _ := analysistest.SampleRun()
	r := mustReport(t, run, samplePhases())
	rows, byName := chartOf(t, r, "chart-phased-1k-rows-1-client-phases")
	cell := byName["mattn (web)"].Cells[0]
	sum := 0.0
	for _, v := range cell.Parts {
		sum += v
	}
	total := cell.Marks[0]
	if len(rows.Parts) != len(assay.PhaseMetrics) || !(total.Low < total.Center && total.Center < total.High) || math.Abs(sum/total.Center-1) > 0.001 {
		t.Errorf("%d parts of %g, the sum is %+v", len(rows.Parts), sum, total)
	}
}

// Curves are over numeric axes with several values, a series for each driver
// and profile that has two of them.
func TestCurves(t *testing.T) {
	run, trials := analysistest.SampleRun()
	for _, clients := range []int{2, 16} {
		for i, driver := range []string{"modernc", "mattn"} {
			c := analysistest.Cell("point-read", driver, "web")
			c.Clients, c.Pool, c.Idle = clients, clients, clients
			trials = append(trials, analysistest.Launches(c, 6, 5000*float64(clients+i), 1)...)
		}
	}
	r := mustReport(t, run, trials)
	curves := map[string]*chart.Lines{}
	got := map[string][]float64{}
	for _, named := range r.Charts() {
		facets, ok := named.Chart.Body.(*chart.Facets)
		if !ok {
			continue
		}
		for _, panel := range facets.Panels {
			curves[named.Name] = panel.Lines
			for _, s := range panel.Series {
				for _, p := range s.Points {
					name := named.Name + ": " + panel.Title + ": " + s.Name
					got[name] = append(got[name], p.X)
				}
			}
		}
	}
	want := map[string][]float64{
		"chart-ns-op-by-rows: point-read, 1 client: mattn (web) 1.9x from 1000 to 100000: mattn (web)":   {1000, 100000},
		"chart-ns-op-by-rows: point-read, 1 client: mattn (web) 1.9x from 1000 to 100000: modernc (web)": {1000, 100000},
		"chart-ns-op-by-clients: point-read, 1k rows: mattn (web) 11x from 1 to 16: mattn (web)":         {1, 2, 16},
		"chart-ns-op-by-clients: point-read, 1k rows: mattn (web) 11x from 1 to 16: modernc (web)":       {1, 2, 16},
	}
	if len(got) != len(want) {
		t.Errorf("curves %v, want %v", got, want)
	}
	for name, xs := range want {
		if !slices.Equal(got[name], xs) {
			t.Errorf("%s: %v, want %v; got %v", name, got[name], xs, got)
		}
	}
	if x := curves["chart-ns-op-by-clients"].X; !x.Log || x.Label != "clients at the same time" {
		t.Errorf("axis %+v", x)
	}
}

// With too many series the first are drawn, and the title says so.
func TestManyCurves(t *testing.T) {
	var trials []assay.Trial
	for i := range 10 {
		for _, rows := range []string{"10", "20"} {
			c := analysistest.Cell("get", "mattn", "p"+string(rune('a'+i)))
			c.Params = map[string]string{"rows": rows}
			trials = append(trials, analysistest.Launches(c, 6, 1000*float64(i+1), 1)...)
		}
	}
	named := mustReport(t, assay.Run{}, trials).Charts()[0]
	if n := len(named.Chart.Body.(*chart.Facets).Panels[0].Series); n != chart.Series || !strings.Contains(named.Chart.Title, "(at most 8 rows are drawn, and 2 more are in the tables)") {
		t.Errorf("%d series: %s", n, named.Chart.Title)
	}
}

func TestWriteCharts(t *testing.T) {
	run, trials := analysistest.SampleRun()
	r := mustReport(t, run, trials)
	dir := filepath.Join(t.TempDir(), "a", "b")
	svg, err := Formats.Named("svg")
	must(t, err)
	paths, err := svg.Files(dir, r)
	if err != nil || len(paths) != len(r.Charts()) {
		t.Fatalf("%d of %d files, %v", len(paths), len(r.Charts()), err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		must(t, err)
		if !bytes.HasPrefix(data, []byte("<svg ")) || !bytes.Contains(data, []byte("<style>")) {
			t.Errorf("%s is no SVG that stands alone", path)
		}
	}
	file := filepath.Join(dir, "file")
	must(t, os.WriteFile(file, nil, 0o644))
	if _, err := svg.Files(file, r); err == nil || !strings.Contains(err.Error(), "write charts: ") {
		t.Errorf("into a file: %v", err)
	}
	for _, name := range []string{"gif", "svg"} {
		if err := r.Write(io.Discard, name); err == nil {
			t.Errorf("%s: got no error, want one: it is no format of one file", name)
		}
	}
}

// Names are safe whatever the plan calls its operations, and unique.
func TestChartNames(t *testing.T) {
	safe := regexp.MustCompile(`^chart-[a-z0-9-]*[a-z0-9]$`)
	seen := map[string]bool{}
	for _, named := range hostileReport(t).Charts() {
		if !safe.MatchString(named.Name) || len(named.Name) > longestName+12 || seen[named.Name] {
			t.Errorf("name %q", named.Name)
		}
		seen[named.Name] = true
	}
	for words, want := range map[string]string{"../../etc/passwd": "etc-passwd", "-rf": "rf", "Größe": "gr-e", "...": ""} {
		if got := fileName(words, ""); got != want {
			t.Errorf("%s: %q, want %q", words, got, want)
		}
	}
}
