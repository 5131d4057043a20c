// Package history follows cells over runs: the ratio to the baseline of the same
// run, and where it shifts. Times of different days are never compared.
package history

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"assay"
	"assay/internal/analysis"
	"assay/internal/stat"
)

// Series is one cell over the runs of one class of machines, against one baseline.
type Series struct {
	Title    string // the operation with its coordinates
	Driver   string // with compile options, without its version
	Profile  string
	Baseline string // with its version
	Plan     string
	Points   []Point // the oldest first
	Changes  []Change
}

// Point is what one run says.
type Point struct {
	Run     string
	Started time.Time
	Version string        // of the driver
	Cost    stat.Interval // time / the baseline's time, of this run
}

// Change is where the ratio shifts.
type Change struct {
	At            int     // the first point behind it
	Before, After float64 // geometric means of the ratios on both sides
	P             float64
}

// Filter says which cells are followed: the value of each coordinate.
type Filter map[string]string

// NewFilter reads words: an operation, or KEY=VALUE for any coordinate.
func NewFilter(words []string) (Filter, error) {
	f := Filter{}
	for _, word := range words {
		key, value, named := strings.Cut(word, "=")
		if !named {
			key, value = "operation", word
		}
		if key == "" || value == "" {
			return nil, fmt.Errorf("%q: want an operation or KEY=VALUE", word)
		}
		if _, twice := f[key]; twice {
			return nil, fmt.Errorf("%s is named twice", key)
		}
		f[key] = value
	}
	if len(f) == 0 {
		return nil, errors.New("name a cell: an operation, or KEY=VALUE")
	}
	return f, nil
}

func (f Filter) has(c assay.Cell) bool {
	for key, want := range f {
		if value, ok := c.Coordinate(key); !ok || value != want {
			return false
		}
	}
	return true
}

// classFacts are what the machines of a class share.
var classFacts = []string{"cpu", "cores", "memory", "virtualization", "filesystem"}

// SameClass tells whether two runs were made by machines of one class.
func SameClass(a, b assay.Run) bool {
	return !slices.ContainsFunc(classFacts, func(fact string) bool { return a.Host[fact] != b.Host[fact] })
}

// History collects series run by run.
type History struct {
	filter Filter
	series map[string]*Series
}

// New follows the cells of a filter.
func New(filter Filter) *History { return &History{filter, map[string]*Series{}} }

// Add takes the cells of one run.
func (h *History) Add(r *analysis.Result) {
	for _, t := range r.Tables {
		for _, row := range t.Rows {
			if !h.filter.has(row.Cell) || row.Reference == nil || row.Reference == row || !row.Comparable() {
				continue
			}
			f, has := row.Figure(t.Primary.Name)
			if !has || f.Comparison == nil || !f.Comparison.Ratio.Known() {
				continue
			}
			p := Point{Run: r.Run.ID, Started: r.Run.Started, Version: row.Cell.DriverVersion, Cost: f.Comparison.Ratio}
			if t.Primary.HigherBetter {
				p.Cost = analysis.Inverse(p.Cost)
			}
			h.add(row, r.Run, p)
		}
	}
}

// add puts a point into its series: of the same plan text, target but for the
// version, and baseline with its version. What is another baseline or plan is
// another series, since its ratios mean something else.
func (h *History) add(row *analysis.Row, run assay.Run, p Point) {
	driver := row.Cell.Driver
	if row.Cell.Options != "" {
		driver += ":" + row.Cell.Options
	}
	baseline := row.Reference.Cell.Target()
	if profile := row.Reference.Cell.Profile; profile != row.Cell.Profile {
		baseline += " (" + profile + ")"
	}
	key := strings.Join([]string{row.Cell.Peer(), driver, row.Cell.Profile, baseline, run.PlanText}, "\x00")
	s := h.series[key]
	if s == nil {
		s = &Series{Title: row.Table.Title, Driver: driver, Profile: row.Cell.Profile, Baseline: baseline, Plan: run.Plan}
		h.series[key] = s
	}
	s.Points = append(s.Points, p)
}

// Series are all series with their change points, those of most runs first.
func (h *History) Series() []*Series {
	var all []*Series
	for _, s := range h.series {
		slices.SortFunc(s.Points, func(a, b Point) int {
			return cmp.Or(a.Started.Compare(b.Started), strings.Compare(a.Run, b.Run), strings.Compare(a.Version, b.Version))
		})
		s.findChanges()
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *Series) int {
		return cmp.Or(len(b.Points)-len(a.Points), strings.Compare(a.name(), b.name()), b.Points[0].Started.Compare(a.Points[0].Started))
	})
	return all
}

func (s *Series) findChanges() {
	logs := make([]float64, len(s.Points))
	for i, p := range s.Points {
		logs[i] = math.Log(p.Cost.Center)
	}
	for _, c := range stat.ChangePoints(logs) {
		s.Changes = append(s.Changes, Change{c.At, math.Exp(c.Before), math.Exp(c.After), c.P})
	}
}

// name is the series in a line.
func (s *Series) name() string {
	name := s.Title + ": " + s.Driver
	if s.Profile != "" {
		name += " (" + s.Profile + ")"
	}
	return name + " / " + s.Baseline
}
