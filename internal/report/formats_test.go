package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"assay/internal/analysis/analysistest"

	"github.com/google/go-cmp/cmp"
)

// key names a cell of one operation, with its coordinates, in any format.
func key(fields ...string) string { return strings.Join(fields, "|") }

// parseCSV returns the records by column name.
func parseCSV(t *testing.T, r *Report) []map[string]string {
	t.Helper()
	var out bytes.Buffer
	must(t, r.Write(&out, "csv"))
	records, err := csv.NewReader(&out).ReadAll()
	must(t, err)
	var header []string
	for _, c := range CSVColumns {
		header = append(header, c.Name)
	}
	if diff := cmp.Diff(header, records[0]); diff != "" {
		t.Fatalf("header (-want +got)\n%s", diff)
	}
	var all []map[string]string
	for _, record := range records[1:] {
		row := map[string]string{}
		for i, name := range header {
			row[name] = record[i]
		}
		all = append(all, row)
	}
	return all
}

// parseJSON decodes with the standard library into plain maps, as another
// program would.
func parseJSON(t *testing.T, r *Report) map[string]any {
	t.Helper()
	var out bytes.Buffer
	must(t, r.Write(&out, "json"))
	var doc map[string]any
	must(t, json.Unmarshal(out.Bytes(), &doc))
	return doc
}

func TestCSVAndJSONAgree(t *testing.T) {
	run, trials := analysistest.SampleRun()
	r := mustReport(t, run, trials)
	want := map[string]map[string]string{}
	for _, row := range parseCSV(t, r) {
		want[key(row["operation"], row["params"], row["driver"], row["profile"], row["metric"])] = row
	}
	text := func(v any) string {
		switch v := v.(type) {
		case float64:
			return strconv.FormatFloat(v, 'g', -1, 64)
		case string:
			return v
		}
		return ""
	}
	seen := 0
	for _, table := range parseJSON(t, r)["tables"].([]any) {
		for _, row := range table.(map[string]any)["rows"].([]any) {
			row := row.(map[string]any)
			figures := row["figures"].([]any)
			if len(figures) == 0 {
				figures = []any{map[string]any{"metric": ""}}
			}
			for _, figure := range figures {
				figure := figure.(map[string]any)
				ratio, _ := figure["ratio"].(map[string]any)
				params := "rows=" + row["params"].(map[string]any)["rows"].(string)
				line := want[key(text(row["operation"]), params, text(row["driver"]), text(row["profile"]), text(figure["metric"]))]
				for column, value := range map[string]any{
					"outcome": row["outcome"], "durability": row["durability"], "reference": row["reference"],
					"median": figure["center"], "ci_low": figure["low"], "ci_high": figure["high"],
					"ratio": ratio["center"], "ratio_low": ratio["low"], "ratio_high": ratio["high"], "verdict": figure["verdict"],
				} {
					if line == nil || line[column] != text(value) {
						t.Errorf("%s of %v %v %v: CSV %q, JSON %q", column, row["operation"], row["driver"], figure["metric"], line[column], text(value))
					}
				}
				seen++
			}
		}
	}
	if seen != len(want) {
		t.Errorf("JSON has %d figures, CSV %d", seen, len(want))
	}
}

// The text rounds; everything else in its tables must be the CSV's.
func TestTextAndCSVAgree(t *testing.T) {
	run, trials := analysistest.SampleRun()
	r := mustReport(t, run, trials)
	var out bytes.Buffer
	must(t, r.Write(&out, "text"))
	tables := textTables(t, out.String())
	checked := 0
	for _, row := range parseCSV(t, r) {
		title := row["operation"] + ", " + row["params"] + ", "
		var line map[string]string
		for name, rows := range tables {
			if strings.HasPrefix(name, title) {
				line = rows[row["driver"]+" "+row["profile"]]
			}
		}
		if line == nil {
			t.Errorf("no line for %s %s %s", title, row["driver"], row["profile"])
			continue
		}
		checked += compareLine(t, line, row)
	}
	if checked < 20 {
		t.Errorf("only %d figures of the text were checked", checked)
	}
}

// compareLine compares a line of text with a record of the CSV and returns
// how many figures it found in both.
func compareLine(t *testing.T, line, row map[string]string) int {
	if row["metric"] == "" {
		if !strings.HasPrefix(line["rest"], row["outcome"]) {
			t.Errorf("%s: text says %q", row["outcome"], line["rest"])
		}
		return 1
	}
	shown, has := line[row["metric"]]
	if !has || shown == "-" {
		return 0
	}
	near(t, shown, row["median"], row["unit"])
	if row["ratio"] != "" && strings.Contains(shown, "±") {
		near(t, line["ratio"], row["ratio"], "")
		if line["verdict"] != row["verdict"] || line["n"] != row["n"] {
			t.Errorf("verdict %s and n %s in text, %s and %s in CSV", line["verdict"], line["n"], row["verdict"], row["n"])
		}
	}
	return 1
}

// near compares a figure as people read it with the exact one.
func near(t *testing.T, shown, exact, unit string) {
	t.Helper()
	factors := map[string]float64{"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9, "/s": 1, "k/s": 1e3, "M/s": 1e6}
	fields := strings.Fields(shown)
	v, err := strconv.ParseFloat(fields[0], 64)
	must(t, err)
	if (unit == "ns" || unit == "1/s") && len(fields) > 1 {
		v *= factors[fields[1]]
	}
	want, err := strconv.ParseFloat(exact, 64)
	must(t, err)
	if math.Abs(v-want) > 0.0051*math.Abs(want) {
		t.Errorf("text shows %q, CSV %s %s", shown, exact, unit)
	}
}

var gap = regexp.MustCompile(` {2,}`)

// textTables reads the tables of the text: title, then driver and profile,
// then column.
func textTables(t *testing.T, doc string) map[string]map[string]map[string]string {
	t.Helper()
	lines := strings.Split(doc, "\n")
	tables := map[string]map[string]map[string]string{}
	for i, line := range lines {
		if !strings.HasPrefix(line, "---") {
			continue
		}
		title := lines[i-1]
		tables[title] = map[string]map[string]string{}
		header := gap.Split(strings.TrimSpace(lines[i+2]), -1)
		for _, text := range lines[i+3:] {
			if text == "" || strings.HasPrefix(text, "[") {
				break
			}
			cells := gap.Split(strings.TrimSpace(text), -1)
			if strings.HasPrefix(text, " ") || len(cells) < 3 || slices.Contains(cells, "A/A") {
				continue
			}
			row := map[string]string{"rest": cells[2]}
			for j, cell := range cells {
				name, _, _ := strings.Cut(header[j], ",")
				row[name] = cell
			}
			tables[title][cells[0]+" "+cells[1]] = row
		}
	}
	return tables
}

var benchLinePattern = regexp.MustCompile(`^Benchmark\S+-\d+ \d+( [-+0-9.e]+ \S+)+$`)

// checkBenchfmt holds the output against the grammar of the format.
func checkBenchfmt(t *testing.T, out string, want int) {
	t.Helper()
	got := 0
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		config, _, _ := strings.Cut(line, ": ")
		switch {
		case line == "" || strings.HasPrefix(line, "Unit "):
		case benchLinePattern.MatchString(line):
			got++
		case config == line || strings.ContainsAny(config, " :") || config != strings.ToLower(config):
			t.Errorf("not in the format: %q", line)
		}
	}
	if got != want {
		t.Errorf("%d benchmark lines, want %d", got, want)
	}
}

// TestBenchfmt counts the trials that are ok and not disqualified.
func TestBenchfmt(t *testing.T) {
	run, trials := analysistest.SampleRun()
	r := mustReport(t, run, trials)
	var out bytes.Buffer
	must(t, r.Write(&out, "benchfmt"))
	want := 5*8 - 1 + 3 + 2*6 + 5*6 + 2*6 + 6
	checkBenchfmt(t, out.String(), want)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
