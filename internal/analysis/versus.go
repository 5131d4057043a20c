package analysis

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"assay"
)

// Side is one side of a comparison that a user asks for: the cells of a run
// that have the coordinates.
type Side struct {
	Result *Result
	Name   string            // as the user called it
	Where  map[string]string // coordinates; empty: all cells
}

// Versus is a comparison of two sides, cell by cell.
type Versus struct {
	A, B  Side
	Lines []VersusLine
	// OnlyA and OnlyB name the cells that have no counterpart.
	OnlyA, OnlyB []string
	// Runs is what else differs between two runs; nil where both sides are of one.
	Runs *RunDifference
}

// RunDifference holds what two runs do not share beside what is compared. They never
// share their time: launches are not paired, and what changed between the two is in
// every ratio.
type RunDifference struct {
	Started [2]time.Time
	Host    []HostDifference // sorted by name
	Plan    bool             // the texts of their plans differ
}

// HostDifference is a fact of the machine that two runs do not share.
type HostDifference struct {
	Name   string
	Values [2]string
}

// VersusLine is a pair of cells that are alike but for what is compared.
type VersusLine struct {
	Title      string // the operation with its coordinates
	Cell       string // what else the cells have in common: driver and profile
	Metric     assay.Metric
	A, B       *Row
	Comparison Comparison // A / B
	Basis      Basis
	Unequal    *UnlikePromises // nil where their promises about the data do not differ
}

// ErrUnlikeSides means that two sides of a run are not of a kind, such as a
// driver and a profile: it would not be said what is compared.
var ErrUnlikeSides = errors.New("they are not of a kind")

// ErrSeveralBuilds means that a side is several builds of one driver: it would not be
// said which is compared.
var ErrSeveralBuilds = errors.New("these are several builds of one driver, name one")

// ErrSameSide means that both sides are the same cells.
var ErrSameSide = errors.New("they are the same")

// NewVersus pairs the cells of two sides. Cells of one run are paired by
// launch where they were measured in the same launches; cells of two runs
// never are. It fails with ErrUnlikeSides, ErrSeveralBuilds or ErrSameSide.
func NewVersus(a, b Side) (*Versus, error) {
	if a.Result == b.Result && maps.Equal(a.Where, b.Where) {
		return nil, fmt.Errorf("%s and %s: %w", a.Name, b.Name, ErrSameSide)
	}
	if a.Result == b.Result && a.kind() != b.kind() {
		return nil, fmt.Errorf("%s is of the kind %s and %s of the kind %s: %w", a.Name, a.kind(), b.Name, b.kind(), ErrUnlikeSides)
	}
	v := &Versus{A: a, B: b, Runs: compareRuns(a.Result, b.Result)}
	left, right := cellsOf(a, b), cellsOf(b, a)
	skip, err := skipped(a, b, left, right)
	if err != nil {
		return nil, err
	}
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
		metric := row.Table.Primary
		if _, has := partner.Figure(metric.Name); !has { // CPU time of a busy run, a percentile of a long one
			metric = partner.Table.Primary
		}
		line, err := row.Line(partner, metric, skip)
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
func (r *Row) fullName() string { return r.Table.Title + ": " + r.Name() }

func (s Side) Rows() []*Row {
	var rows []*Row
	for row := range s.Result.Rows() {
		if s.has(row.Cell) {
			rows = append(rows, row)
		}
	}
	return rows
}

// kind is the coordinate that a side is named by. Options are a driver's.
func (s Side) kind() string {
	for name := range s.Where {
		if name != "options" {
			return name
		}
	}
	return "driver"
}

// cellsOf are the cells of a side without those that the other side names more
// closely: against mattn@v1.14.37, mattn means its other version.
func cellsOf(s, other Side) []*Row {
	return slices.DeleteFunc(s.Rows(), func(r *Row) bool {
		return s.Result == other.Result && other.closeness() > s.closeness() && other.has(r.Cell)
	})
}

// closeness returns how much a side says of its cells.
func (s Side) closeness() int {
	n := len(s.Where)
	if assay.ParseDriverName(s.Where["driver"]).Version != "" {
		n++
	}
	return n
}

func (s Side) has(c assay.Cell) bool {
	names := assay.ParseDriverNames(s.Result.Run.Options.Drivers)
	for name, want := range s.Where {
		if !c.Has(name, want, names) {
			return false
		}
	}
	return true
}

// skipped are the coordinates in which two sides differ: those that the sides
// name, and what names the build, where that is not what they have in common. The
// builds of two runs are matched where one of them has several of a driver.
func skipped(a, b Side, left, right []*Row) (map[string]bool, error) {
	skip := map[string]bool{}
	for _, side := range []Side{a, b} {
		for name := range side.Where {
			skip[name] = true
		}
	}
	if !skip["driver"] && a.Result == b.Result {
		return skip, nil
	}
	skip["version"], skip["options"] = true, true
	for i, rows := range [][]*Row{left, right} {
		builds := severalBuilds(rows, skip)
		switch {
		case builds == nil:
		case skip["driver"]:
			name := []Side{a, b}[i].Name
			return nil, fmt.Errorf("%s means %s here: %w", name, strings.Join(builds, " and "), ErrSeveralBuilds)
		default:
			delete(skip, "version")
			delete(skip, "options")
			return skip, nil
		}
	}
	return skip, nil
}

// severalBuilds names the first builds whose cells are matched as one; nil where none are.
func severalBuilds(rows []*Row, skip map[string]bool) []string {
	seen := map[string]*Row{}
	for _, row := range rows {
		key := matchKey(row.Cell, skip)
		if before := seen[key]; before != nil && before.Cell.Driver == row.Cell.Driver {
			return []string{before.Cell.Target(), row.Cell.Target()}
		}
		seen[key] = row
	}
	return nil
}

// notMatched are coordinates that cells need not share to be compared.
var notMatched = map[string]bool{"engine": true, "without": true}

// matchKey returns what two cells have in common that are compared.
func matchKey(c assay.Cell, skip map[string]bool) string {
	var key strings.Builder
	write := func(name, value string) {
		if !skip[name] {
			fmt.Fprintf(&key, "%s=%s|", name, value)
		}
	}
	for _, k := range assay.Coordinates {
		if !notMatched[k.Name] {
			write(k.Name, k.Value(c))
		}
	}
	write("version", c.DriverVersion)
	for _, name := range slices.Sorted(maps.Keys(c.Params)) {
		write(name, c.Params[name])
	}
	return key.String()
}

// Line compares the row with its counterpart. Where a profile is what differs, so
// may its promises about the data; where it does not, there is no verdict on
// unlike promises.
func (r *Row) Line(partner *Row, metric assay.Metric, skip map[string]bool) (VersusLine, error) {
	line := VersusLine{Title: r.Table.Title, Metric: metric, A: r, B: partner}
	if !skip["driver"] {
		line.Cell = r.Driver
	}
	if !skip["profile"] {
		line.Cell = strings.TrimSpace(line.Cell + " (" + r.Cell.Profile + ")")
	}
	for _, row := range []*Row{r, partner} {
		if !row.Comparable() {
			line.Comparison = undecided(NotOK)
			line.Comparison.NotOK = row
			return line, nil
		}
	}
	var err error
	line.Comparison, line.Basis, err = r.Against(partner, line.Metric)
	line.Unequal = r.Unequal(partner)
	if line.Unequal != nil {
		line.Comparison = line.Comparison.unlike(line.Unequal)
	}
	return line, err
}

// compareRuns is nil where both are the same run.
func compareRuns(a, b *Result) *RunDifference {
	if a == b {
		return nil
	}
	d := &RunDifference{Started: [2]time.Time{a.Run.Started, b.Run.Started}, Plan: a.Run.PlanText != b.Run.PlanText}
	names := map[string]string{}
	maps.Copy(names, a.Run.Host)
	maps.Copy(names, b.Run.Host)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if x, y := a.Run.Host[name], b.Run.Host[name]; x != y {
			d.Host = append(d.Host, HostDifference{name, [2]string{x, y}})
		}
	}
	return d
}

// NewSide returns the cells of a run that a name means: a driver, with or
// without version and compile options, a profile, or KEY=VALUE for any
// coordinate. It fails where the run has none.
func NewSide(r *Result, name string) (Side, error) {
	for _, where := range meanings(name) {
		side := Side{Result: r, Name: name, Where: where}
		if len(side.Rows()) > 0 {
			return side, nil
		}
	}
	return Side{}, fmt.Errorf("it has no driver, profile or coordinate %q", name)
}

// meanings are the coordinates that a name can stand for.
func meanings(name string) []map[string]string {
	build := map[string]string{"driver": name, "options": assay.ParseDriverName(name).Options}
	all := []map[string]string{build, {"driver": name}, {"profile": name}}
	if key, value, has := strings.Cut(name, "="); has {
		all = append(all, map[string]string{key: value})
	}
	return all
}

// SideNames lists the drivers and profiles of a run, for people who look for
// one.
func SideNames(r *Result) []string {
	names := map[string]bool{}
	for _, row := range (Side{Result: r}).Rows() {
		names[row.Cell.Target()] = true
		names[row.Cell.Profile] = true
	}
	return slices.Sorted(maps.Keys(names))
}
