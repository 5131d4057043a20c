// Package history follows cells over runs: the ratio to the baseline of the same
// run, and where it shifts. Times of different days are never compared.
package history

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"assay"
	"assay/internal/analysis"
	"assay/internal/stat"
)

// Series is one cell over the runs of one class of machines, against one baseline.
type Series struct {
	Title    string // the operation with its coordinates
	Metric   string // of the ratio
	Driver   string // with compile options; with its version where its runs have several
	Profile  string
	Baseline string // with its version
	Plan     string
	Points   []Point // the oldest first
	Changes  []Change
	words    []string // that select its cells
}

// Point holds what one run says.
type Point struct {
	Run     string
	Started time.Time
	Version string        // of the driver
	Cost    stat.Interval // time / the baseline's time, of this run
}

// Change says where the ratio shifts.
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
		if !c.Has(key, want, nil) {
			return false
		}
	}
	return true
}

// Class names the class of the machine that made a run, by all that decides how fast it is; empty
// where nothing is known of it.
func Class(run assay.Run) string {
	parts := []string{run.Machine()}
	for _, fact := range []string{"virtualization", "filesystem"} {
		if value := run.Host[fact]; value != "" {
			parts = append(parts, fact+" "+value)
		}
	}
	return strings.TrimPrefix(strings.Join(parts, ", "), ", ")
}

// SameClass reports whether two runs were made by machines of one class.
func SameClass(a, b assay.Run) bool { return Class(a) == Class(b) }

// History collects series run by run.
type History struct {
	filter Filter
	series map[string]*Series
}

// Finished are the finished runs of the plan that the filter names, of any plan where
// it names none.
func (f Filter) Finished(runs []assay.Run) []assay.Run {
	return slices.DeleteFunc(slices.Clone(runs), func(r assay.Run) bool {
		return r.Status != assay.Finished || f["plan"] != "" && f["plan"] != r.Plan
	})
}

// OfClass are the runs of machines like that of the first one.
func OfClass(runs []assay.Run) []assay.Run {
	return slices.DeleteFunc(slices.Clone(runs), func(r assay.Run) bool { return !SameClass(r, runs[0]) })
}

// New follows the cells of a filter.
func New(filter Filter) *History { return &History{filter, map[string]*Series{}} }

// Entry holds what one run says of one cell.
type Entry struct {
	Cell  assay.Cell
	Point Point
	key   string
	of    Series // without points

	comparison   *analysis.Comparison
	higherBetter bool
}

// Entries are the cells of a run that are compared with a baseline.
func Entries(r *analysis.Result) []Entry {
	var rows []*analysis.Row
	versions := map[string][]string{} // that the run has of a driver
	for row := range r.Rows() {
		if !hasRatio(row) {
			continue
		}
		rows = append(rows, row)
		if driver := driver(row.Cell); !slices.Contains(versions[driver], row.Cell.DriverVersion) {
			versions[driver] = append(versions[driver], row.Cell.DriverVersion)
		}
	}
	var all []Entry
	for _, row := range rows {
		name := driver(row.Cell)
		if len(versions[name]) > 1 { // a series has one point of each run
			name = row.Cell.Target()
		}
		all = append(all, newEntry(row, name, r.Run))
	}
	return all
}

// hasRatio reports whether a row is compared with a baseline: what promises another durability
// is not.
func hasRatio(row *analysis.Row) bool {
	f, has := row.Figure(row.Table.Primary.Name)
	return has && f.Comparison != nil && f.Comparison.Ratio.Known() && f.Comparison.Unlike == nil
}

// driver is a cell's, with compile options and without its version.
func driver(c assay.Cell) string {
	return assay.DriverName{Name: c.Driver, Options: c.Options}.String()
}

// newEntry finds the series of a row's ratio: of the same metric, plan text, target but for
// the version, and baseline with its version. What is another baseline or plan is
// another series, since its ratios mean something else.
func newEntry(row *analysis.Row, driver string, run assay.Run) Entry {
	f, _ := row.Figure(row.Table.Primary.Name)
	p := Point{Run: run.ID, Started: run.Started, Version: row.Cell.DriverVersion, Cost: f.Comparison.Ratio}
	if row.Table.Primary.HigherBetter {
		p.Cost = p.Cost.Inverse()
	}
	baseline := row.Reference.Cell.Target()
	if profile := row.Reference.Cell.Profile; profile != row.Cell.Profile {
		baseline += " (" + profile + ")"
	}
	metric := row.Table.Primary.Name // which depends on the run: CPU time on a busy machine
	key := strings.Join([]string{row.Cell.Peer(), metric, driver, row.Cell.Profile, baseline, run.PlanText}, "\x00")
	of := Series{Title: row.Table.Title, Metric: metric, Driver: driver, Profile: row.Cell.Profile, Baseline: baseline, Plan: run.Plan, words: words(row.Cell)}
	return Entry{row.Cell, p, key, of, f.Comparison, row.Table.Primary.HigherBetter}
}

// words name the coordinates of a cell that NewFilter reads.
func words(c assay.Cell) []string {
	var all []string
	add := func(name, value string) {
		if value != "" && !strings.ContainsFunc(name+value, unicode.IsSpace) { // a space separates words
			all = append(all, name+"="+value)
		}
	}
	for _, k := range assay.Coordinates {
		add(k.Name, k.Value(c))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Params)) {
		add(name, c.Params[name])
	}
	return all
}

// Filter selects the cells of the series, as NewFilter reads its words.
func (s *Series) Filter() string { return strings.Join(s.words, " ") }

// Add takes the cells of one run.
func (h *History) Add(entries []Entry) {
	for _, e := range entries {
		if !h.filter.has(e.Cell) {
			continue
		}
		s := h.series[e.key]
		if s == nil {
			s = new(e.of)
			h.series[e.key] = s
		}
		s.Points = append(s.Points, e.Point)
	}
}

// Series are all series with their change points, those of most runs first.
func (h *History) Series() []*Series {
	all := h.List()
	for _, s := range all {
		s.FindChanges()
	}
	return all
}

// List is Series without change points.
func (h *History) List() []*Series {
	var all []*Series
	for _, s := range h.series {
		slices.SortFunc(s.Points, func(a, b Point) int {
			return cmp.Or(a.Started.Compare(b.Started), strings.Compare(a.Run, b.Run), strings.Compare(a.Version, b.Version))
		})
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *Series) int {
		return cmp.Or(len(b.Points)-len(a.Points), strings.Compare(a.Name(), b.Name()), b.Points[0].Started.Compare(a.Points[0].Started))
	})
	return all
}

// FindChanges finds the change points of the series.
func (s *Series) FindChanges() {
	logs := make([]float64, len(s.Points))
	for i, p := range s.Points {
		logs[i] = math.Log(p.Cost.Center)
	}
	for _, c := range stat.ChangePoints(logs) {
		s.Changes = append(s.Changes, Change{c.At, math.Exp(c.Before), math.Exp(c.After), c.P})
	}
}

// Name is the series in a line.
func (s *Series) Name() string {
	name := s.Title
	if s.Metric != assay.NsPerOp && s.Metric != assay.OpPerS {
		name += ", " + s.Metric
	}
	name += ": " + s.Driver
	if s.Profile != "" {
		name += " (" + s.Profile + ")"
	}
	return name + " / " + s.Baseline
}
