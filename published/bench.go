package published

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"assay/internal/sys/file"

	"golang.org/x/perf/benchfmt"
)

// ownFigures reads a file of figures: a table as CSV, what go test -bench prints, or the tables
// that benchstat makes of that.
func ownFigures(path string) ([]Figure, error) {
	text, err := file.Read(path, maxSize)
	switch {
	case err != nil:
		return nil, err
	case strings.EqualFold(filepath.Ext(path), ".csv"):
		return read(path, text)
	case bytes.ContainsRune(text, '│'):
		return readBenchstat(path, string(text))
	}
	return readBenchmarks(path, text)
}

// readBenchmarks reads what go test -bench prints. Lines of one name, package and machine are the
// samples of one figure for each unit.
func readBenchmarks(path string, text []byte) ([]Figure, error) {
	var figures []Figure
	byKey := map[string]int{}
	in := benchfmt.NewReader(bytes.NewReader(text), path)
	for in.Scan() {
		switch record := in.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, fmt.Errorf("%s:%d:1: %s", path, record.Line, record.Msg)
		case *benchfmt.Result:
			_, line := record.Pos()
			for _, v := range record.Values {
				value, unit := v.Value, v.Unit
				if v.OrigUnit != "" {
					value, unit = v.OrigValue, v.OrigUnit
				}
				f := Figure{Case: string(record.Name.Full()), Config: record.GetConfig("pkg"), Metric: unit, Unit: unit,
					Machine: machineOf(record.GetConfig), When: record.GetConfig("when"), At: fmt.Sprintf("%s:%d:1", path, line)}
				key := strings.Join([]string{f.Case, f.Config, f.Metric, f.Machine, f.When}, "\x00")
				i, seen := byKey[key]
				if !seen {
					i, figures = len(figures), append(figures, f)
					byKey[key] = i
				}
				figures[i].Samples = append(figures[i].Samples, value)
			}
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(figures) == 0 {
		return nil, fmt.Errorf("%s:1:1: there is no benchmark in it", path)
	}
	for i := range figures {
		figures[i].center()
	}
	return figures, nil
}

// center is the geometric mean of the samples, or the mean where one is not above zero.
func (f *Figure) center() {
	logs, sum := 0.0, 0.0
	for _, v := range f.Samples {
		logs, sum = logs+math.Log(v), sum+v
	}
	n := float64(len(f.Samples))
	if f.Value = math.Exp(logs / n); !(f.Value > 0) || math.IsNaN(logs) {
		f.Value = sum / n
	}
	f.N, f.Printed = len(f.Samples), strconv.FormatFloat(f.Value, 'g', 5, 64)
}

// machineOf says by its configuration on which machine a benchmark ran; empty where it does not
// say so.
func machineOf(config func(string) string) string {
	words := []string{config("machine"), config("goos"), config("goarch"), config("cpu")}
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}

// benchstatValue is a figure of benchstat: 13.62m ± 2%. Where the interval is unknown, it is
// ± ∞ and a note.
var benchstatValue = regexp.MustCompile(`([0-9.]+)([a-zA-Zµ]*) ± +([0-9]+%|∞)`)

// prefixes holds the prefixes of units.
var prefixes = map[string]float64{"": 1, "n": 1e-9, "µ": 1e-6, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12,
	"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40}

// benchstatN is of how many values a comparison of benchstat is.
var benchstatN = regexp.MustCompile(`\bn=([0-9]+)`)

// readBenchstat reads the tables of benchstat: of each row, a figure for each file that is
// compared, whose name is its configuration.
func readBenchstat(path, text string) ([]Figure, error) {
	var figures []Figure
	var t benchstatTable
	for i, line := range strings.Split(text, "\n") {
		switch {
		case strings.ContainsRune(line, '│'):
			t.head(line)
		case benchstatValue.MatchString(line):
			read, err := t.row(line)
			if err != nil {
				return nil, fmt.Errorf("%s:%d:1: %w", path, i+1, err)
			}
			for _, f := range read {
				f.At = fmt.Sprintf("%s:%d:1", path, i+1)
				figures = append(figures, f)
			}
		default:
			t.configure(line)
		}
	}
	if len(figures) == 0 {
		return nil, fmt.Errorf("%s:1:1: there is no figure in it", path)
	}
	return figures, nil
}

// benchstatTable holds what lines above a row say.
type benchstatTable struct {
	config  map[string]string
	files   []string
	unit    string
	waiting bool // the line of units comes next
}

// configure reads a line such as goos: linux.
func (t *benchstatTable) configure(line string) {
	if key, value, is := strings.Cut(line, ": "); is && !strings.ContainsAny(key, " \t") {
		if t.config == nil {
			t.config = map[string]string{}
		}
		t.config[key] = strings.TrimSpace(value)
	}
}

// head reads the two lines above a table: the files, and the unit.
func (t *benchstatTable) head(line string) {
	var words []string
	for _, cell := range strings.Split(line, "│")[1:] {
		if fields := strings.Fields(cell); len(fields) > 0 {
			words = append(words, fields[0])
		}
	}
	switch {
	case !t.waiting:
		t.files = words
	case len(words) > 0:
		t.unit = words[0]
	}
	t.waiting = !t.waiting
}

func (t *benchstatTable) row(line string) ([]Figure, error) {
	name := strings.Fields(line)[0]
	found := benchstatValue.FindAllStringSubmatch(line, -1)
	if t.unit == "" || len(found) > len(t.files) {
		return nil, errors.New("a row of benchstat has more figures than the head of its table has files")
	}
	n := 0
	if m := benchstatN.FindStringSubmatch(line); m != nil {
		n, _ = strconv.Atoi(m[1]) // digits
	}
	var figures []Figure
	for i, m := range found {
		value, err := strconv.ParseFloat(m[1], 64)
		scale, known := prefixes[m[2]]
		if err != nil || !known {
			return nil, fmt.Errorf("%s%s is no figure of benchstat", m[1], m[2])
		}
		half := 0.0
		if percent, err := strconv.ParseFloat(strings.TrimSuffix(m[3], "%"), 64); err == nil {
			half = percent / 100
		}
		figures = append(figures, Figure{Case: name, Config: t.files[i], Metric: t.unit, Unit: t.unit, Printed: m[0],
			Value: value * scale, Half: half, N: n, Machine: machineOf(func(key string) string { return t.config[key] }), When: t.config["when"]})
	}
	return figures, nil
}
