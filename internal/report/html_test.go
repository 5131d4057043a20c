package report

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/analysistest"
	"assay/internal/analysis/wording"
	"assay/internal/doc"
	"assay/internal/stat"
	"assay/internal/sys/guard"
	"assay/published"
)

// mustHTML writes a report as HTML and parses it.
func mustHTML(t *testing.T, r *Report) (text []byte, root *html.Node) {
	t.Helper()
	var out bytes.Buffer
	must(t, r.Write(&out, "html"))
	root, err := html.Parse(bytes.NewReader(out.Bytes()))
	must(t, err)
	return out.Bytes(), root
}

// Every figure of the CSV is in the HTML, in the CSV's order, and no other.
func TestHTMLAndCSVAgree(t *testing.T) {
	run, trials := analysistest.SampleRun()
	trials = append(trials, samplePhases()...)
	r := mustReport(t, run, trials)
	_, root := mustHTML(t, r)
	var figures []map[string]string
	for _, row := range parseCSV(t, r) {
		if row["metric"] != "" && row["without"] == "" {
			figures = append(figures, row)
		}
	}
	i := 0
	for _, details := range find(root, "details") {
		summary := wordsOf(find(details, "summary")[0])
		if attribute(details, "id") == "" || strings.HasSuffix(summary, ", again") {
			continue // twins are not in the CSV
		}
		for _, table := range find(details, ".metrics") {
			for _, line := range find(table, "tr")[1:] {
				want := figures[i]
				i++
				var got []string
				for _, cell := range find(line, "td") {
					got = append(got, wordsOf(cell))
				}
				got = append(got, attribute(find(line, "td")[1], "data-exact"), summary[:len(want["driver"])])
				if wanted := htmlFigure(want); !slices.Equal(got, wanted) {
					t.Errorf("%s: HTML %q, CSV %q", summary, got, wanted)
				}
			}
		}
	}
	if i != len(figures) || i < 80 {
		t.Errorf("%d figures in HTML, %d in CSV", i, len(figures))
	}
}

// htmlFigure is a record of the CSV as the HTML shows it.
func htmlFigure(row map[string]string) []string {
	unit, interval, ratio := row["unit"], "?", ""
	if row["ci_low"] != "" {
		interval = wording.Human(float(row["ci_low"]), unit) + " to " + wording.Human(float(row["ci_high"]), unit)
	}
	if row["ratio"] != "" {
		ratio = ratioText(intervalOf(row, "ratio", "ratio_low", "ratio_high"))
	}
	return []string{row["metric"], wording.Human(float(row["median"]), unit), interval, row["n"], ratio, row["verdict"], row["median"], row["driver"]}
}

// float reads a figure of the CSV.
func float(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// intervalOf reads three columns of the CSV.
func intervalOf(row map[string]string, center, low, high string) stat.Interval {
	return stat.Interval{N: 2, Center: float(row[center]), Low: float(row[low]), High: float(row[high])}
}

// samplePhases are launches whose phases were timed.
func samplePhases() []assay.Trial {
	var trials []assay.Trial
	for i, driver := range []string{"mattn", "modernc"} {
		trials = append(trials, analysistest.Change(analysistest.Launches(analysistest.Cell("phased", driver, "web"), 6, 5000, 1+i), func(t *assay.Trial) {
			for k, name := range assay.PhaseMetrics {
				t.Figures[name] = 100 * float64(k+1+i) * analysistest.Wobble(t.Launch, k)
			}
		})...)
	}
	return trials
}

// The main tables have the text format's cells.
func TestHTMLTables(t *testing.T) {
	run, trials := analysistest.SampleRun()
	r := mustReport(t, run, trials)
	_, root := mustHTML(t, r)
	tables := find(root, ".figures")
	if len(tables) != len(r.Tables) {
		t.Fatalf("%d tables, want %d", len(tables), len(r.Tables))
	}
	for i, table := range r.Tables {
		columns := columnsOf(table)
		lines := find(tables[i], "tr")[1:]
		for k, row := range table.WithTwins() {
			var got []string
			for _, cell := range find(lines[k], "td") {
				got = append(got, wordsOf(cell))
			}
			for j, want := range tableCells(table, row, columns) {
				if got[j] != want {
					t.Errorf("%s, %s: %q, want %q", table.Title, row.Name(), got[j], want)
				}
			}
			if row.Outcome != assay.OK && len(row.Figures) == 0 && !strings.HasPrefix(got[2], string(row.Outcome)+": ") {
				t.Errorf("%s, %s says %q", table.Title, row.Name(), got[2])
			}
			for _, w := range row.Warnings {
				if !strings.Contains(got[len(got)-1], w.Code) {
					t.Errorf("%s, %s: no warning %s beside the figure", table.Title, row.Name(), w.Code)
				}
			}
		}
	}
}

// Links within the page lead somewhere.
func TestHTMLAnchors(t *testing.T) {
	run, trials := analysistest.SampleRun()
	_, root := mustHTML(t, mustReport(t, run, trials))
	links := 0
	for _, a := range find(root, "a") {
		if to, local := strings.CutPrefix(attribute(a, "href"), "#"); local {
			links++
			if len(find(root, "#"+to)) != 1 {
				t.Errorf("%q leads to %d places", to, len(find(root, "#"+to)))
			}
		}
	}
	if links < 10 {
		t.Errorf("%d links", links)
	}
}

func TestHTMLDownloads(t *testing.T) {
	run, trials := analysistest.SampleRun()
	r := mustReport(t, run, trials)
	_, root := mustHTML(t, r)
	var whole bytes.Buffer
	must(t, r.Write(&whole, "csv"))
	var links []*html.Node
	for _, a := range find(root, "a") {
		if attribute(a, "download") != "" {
			links = append(links, a)
		}
	}
	if len(links) != len(r.Tables)+1 {
		t.Fatalf("%d downloads for %d tables", len(links), len(r.Tables))
	}
	last := links[len(links)-1]
	if attribute(last, "download") != run.ID+".csv" || !bytes.Equal(content(t, last), whole.Bytes()) {
		t.Errorf("%s is not the CSV", attribute(last, "download"))
	}
	for i, table := range r.Tables {
		checkSamples(t, table, content(t, links[i]))
	}
}

// checkSamples demands every launch with its figures and samples.
func checkSamples(t *testing.T, table *analysis.Table, text []byte) {
	t.Helper()
	records, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	must(t, err)
	i := 0
	for _, row := range table.WithTwins() {
		for _, trial := range row.Trials {
			i++
			record := map[string]string{}
			for k, name := range records[0] {
				record[name] = records[i][k]
			}
			if record["launch"] != fmt.Sprint(trial.Launch) || record["outcome"] != string(trial.Outcome) || record["samples"] != rawSamples(trial.Samples) {
				t.Errorf("%s: %v is not of %+v", table.Title, record, trial)
			}
			for name, v := range trial.Figures.All() {
				if math.Abs(float(record[name])-v) > 1e-8*v {
					t.Errorf("%s: %s is %s, want %g", table.Title, name, record[name], v)
				}
			}
		}
	}
	if len(records) != i+1 {
		t.Errorf("%s: %d records, want %d", table.Title, len(records)-1, i)
	}
}

// A large report is compressed, and complete.
func TestHTMLOfMonster(t *testing.T) {
	run, trials := planRun(t, "monster", "mattn", "modernc", "glebarez")
	r := mustReport(t, run, trials)
	text, root := mustHTML(t, r)
	if len(text) > 8000*len(trials)/planLaunches { // bytes for each cell
		t.Errorf("%d bytes", len(text))
	}
	rows := 0
	for _, d := range find(root, "details") {
		if attribute(d, "id") != "" {
			rows++
		}
	}
	if rows != len(trials)/planLaunches {
		t.Errorf("%d rows, want %d", rows, len(trials)/planLaunches)
	}
	var whole bytes.Buffer
	must(t, r.Write(&whole, "csv"))
	for _, a := range find(find(root, "#downloads")[0], "a") {
		if !strings.HasSuffix(attribute(a, "download"), ".csv.gz") || !bytes.Equal(content(t, a), whole.Bytes()) {
			t.Errorf("%s is not the CSV", attribute(a, "download"))
		}
	}
	t.Logf("%d cells, %d bytes", rows, len(text))
}

// The policy allows the page's own style sheet and script by their digests, and nothing in
// the page needs more.
func TestHTMLPolicy(t *testing.T) {
	run, trials := analysistest.SampleRun()
	_, root := mustHTML(t, mustReport(t, run, trials))
	styles := find(root, "style")
	scripts := slices.DeleteFunc(find(root, "script"), func(n *html.Node) bool { return attribute(n, "type") != "" })
	if len(scripts) != 1 || scripts[0].FirstChild.Data != Script {
		t.Errorf("%d scripts; the policy does not have the digest of the first", len(scripts))
	}
	if len(styles) != 1 || attribute(find(root, "meta")[1], "content") != doc.NewHead("", "", "'none'", nil, Script).Policy || styles[0].FirstChild.Data != string(doc.NewHead("", "", "", nil, "").Style) {
		t.Errorf("%d style sheets; the policy does not have the digest of the first", len(styles))
	}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && slices.Contains([]string{"img", "iframe", "object", "base", "link"}, n.Data) && attribute(n, "rel") != "icon" {
			t.Errorf("there is an element %s", n.Data)
		}
		for _, a := range n.Attr {
			if a.Key == "style" || strings.HasPrefix(a.Key, "on") {
				t.Errorf("%s has the attribute %s", n.Data, a.Key)
			}
			if (a.Key == "href" || a.Key == "src") && !strings.HasPrefix(a.Val, "#") && !strings.HasPrefix(a.Val, "data:") {
				t.Errorf("%s leads to %s", n.Data, a.Val)
			}
		}
	}
}

// Charts have both widths and words for who does not see them.
func TestHTMLCharts(t *testing.T) {
	run, trials := analysistest.SampleRun()
	r := mustReport(t, run, append(trials, samplePhases()...))
	_, root := mustHTML(t, r)
	figures := find(root, "figure")
	if len(figures) != len(r.Charts()) {
		t.Errorf("%d figures, want %d", len(figures), len(r.Charts()))
	}
	for _, f := range figures {
		label := attribute(f, "aria-label")
		drawings := find(f, "svg")
		if label == "" || attribute(f, "tabindex") != "0" || len(drawings) != 2 {
			t.Errorf("%q: %d drawings", label, len(drawings))
		}
		for _, d := range drawings {
			if attribute(d, "role") != "img" || wordsOf(find(d, "title")[0]) != label || len(wordsOf(find(d, "desc")[0])) < 20 {
				t.Errorf("%q has no words instead of it", label)
			}
		}
	}
}

// The page of a published plan has each of its relations in a section of the table that measures it.
func TestHTMLPublishedPlan(t *testing.T) {
	run, trials := planRun(t, "statements", "mattn")
	_, root := mustHTML(t, mustReport(t, run, trials))
	relations, err := published.Relations(run.Plan)
	must(t, err)
	var want, got []string
	for _, r := range relations {
		want = append(want, r.A.What(r.B)+" / "+r.B.What(r.A))
	}
	for _, section := range publishedSections(root) {
		for _, table := range find(section, "table") {
			for _, row := range find(table, "tr")[1:] {
				if wordsOf(find(table, "th")[0]) == "time of" {
					got = append(got, wordsOf(find(row, "td")[0]))
				}
			}
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); len(want) == 0 || diff != "" {
		t.Error(diff)
	}
}

// publishedSections are the parts of a page with what was published.
func publishedSections(root *html.Node) (all []*html.Node) {
	for _, heading := range find(root, "h3") {
		if strings.HasPrefix(wordsOf(heading), "As published by ") {
			all = append(all, heading.Parent)
		}
	}
	return all
}

// What a source says is text, however it is spelt.
func TestHTMLPublished(t *testing.T) {
	run, trials := analysistest.SampleRun()
	figure := func(name, printed string, value float64, driver string) published.Figure {
		return published.Figure{Case: name, Printed: printed, Unit: "ns/op", Value: value, Cell: published.Cell{Metric: assay.NsPerOp,
			Only: map[string][]string{"operation": {"point-read"}, "rows": {"1000"}, "driver": {driver}, "profile": {"web"}}}}
	}
	page := mustReport(t, run, trials).page()
	page.published = []published.Relation{
		{Source: "a blog", Machine: "a laptop", A: figure("fast <b>", "1,500", 1500, "mattn"), B: figure("slow", "3,000", 3000, "modernc")},
		{Source: "a blog", A: figure("no cell", "", 0, "nobody"), B: figure("slow", "", 1, "mattn")}}
	var out bytes.Buffer
	must(t, parsedPage.ExecuteTemplate(&out, "report", page))
	root, err := html.Parse(&out)
	must(t, err)
	sections := publishedSections(root)
	if len(sections) != 1 {
		t.Fatalf("%d sections", len(sections))
	}
	text := wordsOf(sections[0])
	for _, want := range []string{"As published by a blog, and as measured here", "there on a laptop, here on cpu AMD EPYC 7K62, filesystem ext4", "fast <b> / slow", "0.500", "1,500 / 3,000 ns/op", "0.667 [0.666, 0.668]", "faster"} {
		if !strings.Contains(text, want) || strings.Contains(text, "no cell") {
			t.Errorf("has no %q:\n%s", want, text)
		}
	}
}

// Settings: alike ones are one line, unlike ones are marked, and what nobody
// asked for is counted.
func TestHTMLSettings(t *testing.T) {
	setting := func(name, requested, effective string, applied bool) assay.Setting {
		return assay.Setting{Name: name, Connection: "reader-1", Requested: requested, Issued: "PRAGMA", Effective: effective, Applied: applied}
	}
	var trials []assay.Trial
	for i, driver := range []string{"mattn", "modernc"} {
		trials = append(trials, analysistest.Change(analysistest.Launches(analysistest.Cell("get", driver, "web"), 6, 1000, 1), func(t *assay.Trial) {
			t.Settings = []assay.Setting{setting("cache_size", "100", "100", true), setting("synchronous", "1", fmt.Sprint(1+i), i == 0),
				setting("temp_store", "", fmt.Sprint(i), true), setting("encoding", "", "UTF-8", true)}
		})...)
	}
	d := mustReport(t, assay.Run{}, trials).settings()
	if got := d[2].Text; got != "1 more settings were read back; no profile asks for them and they are alike everywhere." {
		t.Errorf("got %q, want that one setting is not listed", got)
	}
	profile := d[3]
	want := [][]string{
		{"cache_size", "100", "PRAGMA", "100", "", "mattn, modernc"},
		{"synchronous", "NORMAL", "PRAGMA", "FULL", "not applied", "modernc"},
		{"synchronous", "NORMAL", "PRAGMA", "NORMAL", "differs", "mattn"},
		{"temp_store", "-", "PRAGMA", "DEFAULT", "differs", "mattn"},
		{"temp_store", "-", "PRAGMA", "FILE", "differs", "modernc"},
	}
	if diff := cmp.Diff(want, profile.Folded[0].Grid.Rows); profile.Text != "web: 5 lines, 2 differ" || diff != "" {
		t.Errorf("%s (-want +got)\n%s", profile.Text, diff)
	}
}

func TestHTMLConditions(t *testing.T) {
	run, trials := analysistest.SampleRun()
	got := mustReport(t, run, trials).holds()
	want := []string{"clients 1, 8", "connections 1, 4", "durability consistent, power", "cache warm", "rows 1000, 100000", "cpu AMD EPYC 7K62, filesystem ext4"}
	if !slices.Equal(got, want) {
		t.Errorf("holds for %q, want %q", got, want)
	}
}

func TestHTMLOfEmptyRun(t *testing.T) {
	_, root := mustHTML(t, mustReport(t, assay.Run{}, nil))
	if text := wordsOf(root); !strings.Contains(text, "The run has no trials") {
		t.Errorf("says %s", text)
	}
}

// A fault in what makes a part of the page is an error of writing it, with its place.
func TestPanicInHTML(t *testing.T) {
	run, trials := analysistest.SampleRun()
	r := mustReport(t, run, trials)
	broken := func() *pageView {
		v := r.page()
		v.packer = nil // which makes the downloads of all tables, and of the page
		return v
	}
	for name, c := range map[string]struct {
		write func(v *pageView) error
		stack string
	}{
		"the page": {func(v *pageView) error { return parsedPage.ExecuteTemplate(io.Discard, "report", v) }, "report.(*packer).download"},
		"a table": {func(v *pageView) error {
			_, err := v.Operations[0].Tables[0].View()
			return err
		}, "report.viewTable"},
		"the figures": {func(v *pageView) error {
			_, err := v.CSV()
			return err
		}, "report.(*pageView).CSV"},
	} {
		err := c.write(broken())
		var fault *guard.Panic
		if !errors.As(err, &fault) || !strings.Contains(string(fault.Stack), c.stack) {
			t.Errorf("%s: got %v, want the panic of a page without a packer", name, err)
		}
	}
}
