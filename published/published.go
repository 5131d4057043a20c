// Package published holds the figures of published benchmarks as data, and
// says by which cell of which built-in plan each is measured again.
//
// A source is two files: SOURCE.csv has its figures as they were printed, and
// SOURCE.yaml maps them to cells. Another source needs no code.
package published

import (
	"bytes"
	"embed"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
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
	// Machine and When tell on which machine and on which day it was measured, where the source
	// says that of each figure.
	Machine, When string
	// Samples are the values that Value is the centre of. Where the source has no values, but the
	// half-width of an interval, that is Half, as a fraction, of N values.
	Samples []float64
	Half    float64
	N       int

	// Cell is where the figure is measured again. Its Plan is empty where that
	// cannot be, and Reason says why. Where a figure has both, it is no
	// measurement of what it is called, and the cell is one.
	Cell   Cell
	Reason string

	At string // file:line:column
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
	figures, err := read(source+".csv", table)
	if err != nil {
		return nil, err
	}
	return figures, place(figures, source+".yaml", rules)
}

// place gives figures their cells, by the text of a mapping.
func place(figures []Figure, file string, rules []byte) error {
	m, err := decode(file, rules)
	if err != nil {
		return err
	}
	for i := range figures {
		if err := m.place(&figures[i]); err != nil {
			return fmt.Errorf("%s: %w", figures[i].At, err)
		}
	}
	return nil
}

// columns are the header of a file of figures, and optional what may follow.
var (
	columns  = []string{"source", "case", "driver", "config", "parallelism", "poolsize", "metric", "value", "unit", "value_num"}
	optional = []string{"machine", "when"}
)

func read(file string, table []byte) ([]Figure, error) {
	in := csv.NewReader(bytes.NewReader(table))
	head, err := in.Read()
	if more := len(head) - len(columns); err != nil || more < 0 || more > len(optional) || !slices.Equal(head, slices.Concat(columns, optional[:max(0, more)])) {
		return nil, fmt.Errorf("%s:1:1: the header is not %s, perhaps with %s", file, strings.Join(columns, ","), strings.Join(optional, ","))
	}
	var figures []Figure
	for {
		r, err := in.Read()
		if errors.Is(err, io.EOF) {
			return figures, nil
		}
		if wrong := new(csv.ParseError); errors.As(err, &wrong) {
			return nil, fmt.Errorf("%s:%d:%d: %w", file, wrong.Line, wrong.Column, wrong.Err)
		}
		if err != nil {
			return nil, err
		}
		value, err := strconv.ParseFloat(r[9], 64)
		if line, column := in.FieldPos(9); err != nil || math.IsNaN(value) || math.IsInf(value, 0) {
			return nil, fmt.Errorf("%s:%d:%d: value_num %q is no number", file, line, column, r[9])
		}
		line, column := in.FieldPos(0)
		r = append(r, "", "")
		figures = append(figures, Figure{Source: r[0], Case: r[1], Driver: r[2], Config: r[3], Parallelism: r[4],
			Pool: r[5], Metric: r[6], Printed: r[7], Unit: r[8], Value: value, Machine: r[10], When: r[11], At: fmt.Sprintf("%s:%d:%d", file, line, column)})
	}
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
	case "machine":
		return f.Machine, true
	case "when":
		return f.When, true
	}
	return "", false
}

func metric(name string) error {
	if _, ok := assay.MetricByName(name); !ok {
		return fmt.Errorf("there is no metric %q", name)
	}
	return nil
}
