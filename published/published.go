// Package published holds the figures of published benchmarks as data, and
// says by which cell of which built-in plan each is measured again.
//
// A source is two files: SOURCE.csv has its figures as they were printed, and
// SOURCE.yaml maps them to cells. Another source needs no code.
package published

import (
	"embed"
	"encoding/csv"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"assay"
)

//go:embed *.csv *.yaml
var files embed.FS

// Figure is one published figure.
type Figure struct {
	Source      string
	Case        string // what was measured, in the source's words, like all that follows
	Driver      string
	Config      string
	Parallelism string
	Pool        string // empty where the source does not say
	Metric      string
	Printed     string  // the value as it was printed
	Unit        string  // of Value
	Value       float64 // in Unit

	// Cell is where the figure is measured again. Its Plan is empty where that
	// cannot be, and Reason says why. Where a figure has both, it is no
	// measurement of what it is called, and the cell is one.
	Cell   Cell
	Reason string
}

// Cell is one cell of a built-in plan, and the metric of its figure.
type Cell struct {
	Plan   string
	Only   map[string][]string // coordinates that select the one cell
	Metric string              // name of an assay.Metric
	Share  bool                // the figure is the metric's share of all phases, in percent
}

// Sources returns the names of the published benchmarks, sorted.
func Sources() []string {
	names, err := fs.Glob(files, "*.csv")
	if err != nil {
		return nil // cannot be: the pattern is right
	}
	for i, name := range names {
		names[i] = strings.TrimSuffix(name, ".csv")
	}
	return names
}

// Figures returns all figures of a source, in the order of its file. It is an
// error that a figure has neither a cell nor a reason.
func Figures(source string) ([]Figure, error) {
	if known := Sources(); !slices.Contains(known, source) {
		return nil, fmt.Errorf("no published benchmark %q: there is %s", source, strings.Join(known, ", "))
	}
	table, err := files.ReadFile(source + ".csv")
	if err != nil {
		return nil, err
	}
	rules, err := files.ReadFile(source + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("figures of %s have no mapping: %w", source, err)
	}
	figures, err := read(string(table))
	if err != nil {
		return nil, fmt.Errorf("%s.csv: %w", source, err)
	}
	m, err := decode(rules)
	if err != nil {
		return nil, fmt.Errorf("%s.yaml: %w", source, err)
	}
	for i := range figures {
		if err := m.place(&figures[i]); err != nil {
			return nil, fmt.Errorf("%s.csv: line %d: %w", source, i+2, err)
		}
	}
	return figures, nil
}

// columns are the header of a file of figures.
var columns = []string{"source", "case", "driver", "config", "parallelism", "poolsize", "metric", "value", "unit", "value_num"}

func read(table string) ([]Figure, error) {
	rows, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 || !slices.Equal(rows[0], columns) {
		return nil, fmt.Errorf("the header is not %s", strings.Join(columns, ","))
	}
	var figures []Figure
	for i, r := range rows[1:] {
		value, err := strconv.ParseFloat(r[9], 64)
		if err != nil {
			return nil, fmt.Errorf("line %d: value_num: %w", i+2, err)
		}
		figures = append(figures, Figure{Source: r[0], Case: r[1], Driver: r[2], Config: r[3], Parallelism: r[4],
			Pool: r[5], Metric: r[6], Printed: r[7], Unit: r[8], Value: value})
	}
	return figures, nil
}

// column returns the value of one of the columns that a mapping can name; the
// second result is false where there is no such column.
func (f *Figure) column(name string) (string, bool) {
	switch name {
	case "case":
		return f.Case, true
	case "driver":
		return f.Driver, true
	case "config":
		return f.Config, true
	case "parallelism":
		return f.Parallelism, true
	case "poolsize":
		return f.Pool, true
	case "metric":
		return f.Metric, true
	}
	return "", false
}

func metric(name string) error {
	if _, ok := assay.MetricByName(name); !ok {
		return fmt.Errorf("there is no metric %q", name)
	}
	return nil
}
