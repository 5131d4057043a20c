package report

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"assay"
	"assay/internal/stat"
)

// Side is one side of a comparison that a user asks for: the cells of a run
// that have the coordinates.
type Side struct {
	Report *Report
	Name   string            // as the user called it
	Where  map[string]string // coordinates, or "version": the driver's; empty: all cells
}

// Versus is a comparison of two sides, cell by cell.
type Versus struct {
	A, B  Side
	Lines []VersusLine
	// OnlyA and OnlyB name the cells that have no counterpart.
	OnlyA, OnlyB []string
	// Doubts say what else differs between two runs.
	Doubts []string
}

// VersusLine is a pair of cells that are alike but for what is compared.
type VersusLine struct {
	Title      string // the operation with its coordinates
	Cell       string // what else the cells have in common: driver and profile
	Metric     assay.Metric
	A, B       *Row
	Comparison stat.Comparison // A / B
	Paired     bool            // by launch; otherwise what drifted between the launches is in the interval
	Unequal    string          // how their promises about the data differ; empty where they do not
}

// ErrUnlikeSides means that two sides of a run are not of a kind, such as a
// driver and a profile: it would not be said what is compared.
var ErrUnlikeSides = errors.New("they are not of a kind")

// ErrSameSide means that both sides are the same cells.
var ErrSameSide = errors.New("they are the same")

// NewVersus pairs the cells of two sides. Cells of one run are paired by
// launch where they were measured in the same launches; cells of two runs
// never are. It fails with ErrUnlikeSides or ErrSameSide.
func NewVersus(a, b Side) (*Versus, error) {
	if a.Report == b.Report && maps.Equal(a.Where, b.Where) {
		return nil, fmt.Errorf("%s and %s: %w", a.Name, b.Name, ErrSameSide)
	}
	if a.Report == b.Report && a.kind() != b.kind() {
		return nil, fmt.Errorf("%s is of the kind %s and %s of the kind %s: %w", a.Name, a.kind(), b.Name, b.kind(), ErrUnlikeSides)
	}
	v := &Versus{A: a, B: b, Doubts: doubts(a.Report, b.Report)}
	skip := skipped(a, b)
	left, right := apart(a, b), apart(b, a)
	partners := map[string]*Row{}
	for _, row := range right {
		partners[matchKey(row.Cell, skip)] = row
	}
	for _, row := range left {
		key := matchKey(row.Cell, skip)
		partner := partners[key]
		if partner == nil {
			v.OnlyA = append(v.OnlyA, row.fullName())
			continue
		}
		delete(partners, key)
		line, err := row.line(partner, row.table.Primary, skip)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", row.fullName(), err)
		}
		v.Lines = append(v.Lines, line)
	}
	for _, row := range right {
		if partners[matchKey(row.Cell, skip)] == row {
			v.OnlyB = append(v.OnlyB, row.fullName())
		}
	}
	return v, nil
}

// fullName is the row's name behind its table's.
func (r *Row) fullName() string { return r.table.Title + ": " + r.Name() }

func (s Side) rows() []*Row {
	var rows []*Row
	for _, table := range s.Report.Tables {
		for _, row := range table.Rows {
			if s.has(row.Cell) {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// kind is the coordinate that a side is named by. A version and options are a
// driver's.
func (s Side) kind() string {
	for name := range s.Where {
		if name != "version" && name != "options" {
			return name
		}
	}
	return "driver"
}

// apart are the cells of a side without those that the other side names more
// closely: against mattn@v1.14.37, mattn means its other version.
func apart(s, other Side) []*Row {
	return slices.DeleteFunc(s.rows(), func(r *Row) bool {
		return s.Report == other.Report && len(other.Where) > len(s.Where) && other.has(r.Cell)
	})
}

func (s Side) has(c assay.Cell) bool {
	for name, want := range s.Where {
		value, ok := coordinate(c, name)
		if !ok || value != want {
			return false
		}
	}
	return true
}

// coordinate is Cell.Coordinate with the two that name a build.
func coordinate(c assay.Cell, name string) (string, bool) {
	switch name {
	case "version":
		return c.DriverVersion, true
	case "options":
		return c.Options, true
	}
	return c.Coordinate(name)
}

// skipped are the coordinates in which two sides differ: those that the sides
// name, and what names the build, where that is not what they have in common.
func skipped(a, b Side) map[string]bool {
	skip := map[string]bool{}
	for _, side := range []Side{a, b} {
		for name := range side.Where {
			skip[name] = true
		}
	}
	if skip["driver"] || a.Report != b.Report {
		skip["version"], skip["options"] = true, true
	}
	return skip
}

// matchKey is what two cells have in common that are compared.
func matchKey(c assay.Cell, skip map[string]bool) string {
	names := []string{"plan", "workload", "operation", "driver", "version", "options", "profile", "clients", "pool", "idle",
		"statement", "transaction"}
	var key strings.Builder
	for _, name := range append(names, slices.Sorted(maps.Keys(c.Params))...) {
		if value, ok := coordinate(c, name); ok && !skip[name] {
			fmt.Fprintf(&key, "%s=%s|", name, value)
		}
	}
	return key.String()
}

// line compares the row with its counterpart. Where a profile is what differs, so
// may its promises about the data; where it does not, there is no verdict on
// unlike promises.
func (r *Row) line(partner *Row, metric assay.Metric, skip map[string]bool) (VersusLine, error) {
	line := VersusLine{Title: r.table.Title, Metric: metric, A: r, B: partner}
	if !skip["driver"] {
		line.Cell = r.Driver
	}
	if !skip["profile"] {
		line.Cell = strings.TrimSpace(line.Cell + " (" + r.Cell.Profile + ")")
	}
	if why := notCompared(r, partner); why != "" {
		line.Comparison = stat.Comparison{Verdict: stat.Undecided, Reason: why}
		return line, nil
	}
	var err error
	line.Comparison, line.Paired, err = r.Against(partner, line.Metric)
	line.Unequal = r.Unequal(partner)
	if line.Unequal != "" && r.Cell.Profile == partner.Cell.Profile {
		why := UnequalDurability + ": " + line.Unequal
		line.Comparison = stat.Comparison{Ratio: line.Comparison.Ratio, Verdict: stat.Undecided, Reason: why}
	}
	return line, err
}

func notCompared(rows ...*Row) string {
	for _, row := range rows {
		if !row.comparable() {
			return fmt.Sprintf("%s is %s: %s", row.Name(), row.Outcome, row.Reason)
		}
	}
	return ""
}

// Write prints the comparison as text or markdown.
func (v *Versus) Write(w io.Writer, format string) error {
	switch format {
	case "text":
		return writeText(w, v.document())
	case "markdown":
		return writeMarkdown(w, v.document())
	}
	return fmt.Errorf("unknown format %q: use text or markdown", format)
}

func (v *Versus) document() document {
	var d document
	d.add(heading, "%s against %s", v.A.Name, v.B.Name)
	for _, doubt := range v.Doubts {
		d.add(item, "%s", doubt)
	}
	counts := map[stat.Verdict]int{}
	g := &grid{header: []string{"operation", "cells", "A", "B", "A / B", "n", "verdict"}, right: []bool{2: true, 3: true, 4: true, 5: true, 6: false}}
	for _, l := range v.Lines {
		counts[l.Comparison.Verdict]++
		g.rows = append(g.rows, l.cells())
	}
	d.add(paragraph, "%s is faster in %d, slower in %d, equivalent in %d, undecided in %d of %s.", v.A.Name, counts[stat.Faster],
		counts[stat.Slower], counts[stat.Equivalent], counts[stat.Undecided], plural(len(v.Lines), "comparison"))
	d = append(d, block{kind: table, grid: g})
	v.addAlone(&d, v.A.Name, v.OnlyA)
	v.addAlone(&d, v.B.Name, v.OnlyB)
	return d
}

func (v *Versus) addAlone(d *document, name string, cells []string) {
	if len(cells) == 0 {
		return
	}
	d.add(paragraph, "Only %s has these %s, which are not compared:", name, plural(len(cells), "cell"))
	for _, cell := range cells {
		d.add(item, "%s", cell)
	}
}

func (l VersusLine) cells() []string {
	figures := [2]string{"-", "-"}
	for i, row := range []*Row{l.A, l.B} {
		if f, ok := row.Figure(l.Metric.Name); ok && f.Interval.N > 0 {
			figures[i] = human(f.Interval.Center, l.Metric.Unit)
		}
	}
	c := l.Comparison
	ratio, n := "-", "-"
	if c.Ratio.N > 0 {
		ratio, n = ratioText(c.Ratio), fmt.Sprint(c.Ratio.N)
		if !l.Paired {
			n += " unpaired"
		}
	}
	verdict := string(c.Verdict)
	if c.Reason != "" {
		verdict += ": " + c.Reason
	}
	if l.Unequal != "" && l.A.Cell.Profile != l.B.Cell.Profile {
		verdict += "; " + UnequalDurability + ": " + l.Unequal
	}
	return []string{clean(l.Title), clean(l.Cell), figures[0], figures[1], ratio, n, clean(verdict)}
}

// doubts are facts of the machine and of the plan that two runs do not share.
func doubts(a, b *Report) []string {
	if a == b {
		return nil
	}
	all := []string{"two runs: launches are not paired, and what changed between " + a.Run.Started.Format("2006-01-02 15:04") +
		" and " + b.Run.Started.Format("2006-01-02 15:04") + " is in every ratio, noise or not"}
	names := map[string]bool{}
	for name := range a.Run.Host {
		names[name] = true
	}
	for name := range b.Run.Host {
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if x, y := a.Run.Host[name], b.Run.Host[name]; x != y {
			all = append(all, fmt.Sprintf("%s: %s against %s", name, x, y))
		}
	}
	if a.Run.PlanText != b.Run.PlanText {
		all = append(all, "the text of the plan is not the same")
	}
	return all
}
