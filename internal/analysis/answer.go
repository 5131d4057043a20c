package analysis

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"assay"
	"assay/internal/stat"
)

// Answer is a run in one matrix: what to use, how all tables compare, and what
// is still open.
type Answer struct {
	Columns  []Column
	Baseline int // the column that the others are compared with; -1: no table has one
	Lines    []Line
	Excluded []Candidate // recommended most often, but cannot run every operation
	Picks    []Suggestion
	Leaning  []Suggestion // of the classes of durability of which it is not shown what is the best
	Even     []Suggestion // of the classes of which nobody is ahead
	Only     *Candidate   // without picks: the one that ran every operation; nil where several did
	Decided  int          // tables in which something is decided
	Open     []*Table     // tables that were asked for in which something is undecided that may matter
	// Decidable holds the tables that a run with a budget of Needs is likely to decide; 0 where
	// there are none.
	Decidable  []*Table
	Needs      time.Duration
	Near       []*Table // undecided tables that differ so little that it hardly matters
	Apart      float64  // by which factor they differ at most in these
	NotRun     int      // cells for which the budget had no time
	NoCgo      *Alternative
	OneProcess bool // no table has several processes of SQLite
}

// Column is a target with a profile.
type Column struct{ Driver, Profile string }

// Column is the driver and the profile of the row.
func (r *Row) Column() Column { return Column{r.Driver, r.Cell.Profile} }

// Name returns how sentences call it.
func (c Column) Name() string {
	if c.Profile == "" {
		return c.Driver
	}
	return c.Driver + " (" + c.Profile + ")"
}

// Line is a table as the matrix has it: one entry a column.
type Line struct {
	Table   *Table
	Entries []Entry
}

// Entry is a cell of the matrix.
type Entry struct {
	Row      *Row // nil: the table has no such cell
	Standing Standing
	// Apart says that the row promises something else than the baseline: they are not
	// compared, and it is open where it is against the reference of its own profile.
	Apart bool
	// Cost is the time that the row takes, or the inverse of its throughput, over
	// the baseline's; nil where they are not compared.
	Cost *stat.Interval
}

// Standing says how a row stands in its table.
type Standing int

// The standings.
const (
	Missing     Standing = iota // there is no such cell, or it was not run
	Bad                         // it did not end ok
	Behind                      // decidedly slower than the fastest
	Open                        // undecided against the baseline or the fastest
	Tied                        // equivalent to the fastest
	Fastest                     // decidedly faster than all others
	NotCompared                 // there is nothing to compare it with
)

// Alternative is the best target without cgo, against a pick with it.
type Alternative struct {
	Name string
	Cost stat.Interval // geometric mean over N tables; its ends are those of all intervals
}

// Answer condenses the result.
func (r *Result) Answer() Answer {
	a := Answer{Baseline: -1}
	a.pick(r)
	a.only(r)
	a.columns(r)
	for _, t := range r.Tables {
		a.Lines = append(a.Lines, a.line(t))
	}
	for row := range r.Rows() {
		if row.Outcome == assay.NotRun {
			a.NotRun++
		}
	}
	for _, l := range a.Lines {
		if l.Table.settles() {
			a.Decided++
		}
		if !l.open() || l.Table.ForSum {
			continue
		}
		if apart := l.maxDifference(); apart <= closeTo {
			a.Near, a.Apart = append(a.Near, l.Table), max(a.Apart, apart)
		} else {
			a.Open = append(a.Open, l.Table)
		}
	}
	a.dropEmpty()
	a.Decidable, a.Needs = decidable(r.Tables, a.Open, r.Run.MinTime)
	a.withoutCgo(r)
	candidates := gather(r.Tables)
	a.OneProcess = len(candidates) > 0 && !slices.ContainsFunc(candidates, func(c *Candidate) bool { return !c.OneProcess() })
	return a
}

// open reports whether a comparison of the table is undecided, or nothing of it was measured.
func (l Line) open() bool {
	return slices.ContainsFunc(l.Entries, func(e Entry) bool { return e.Standing == Open }) || l.Empty()
}

// maxDifference is by which factor those of the table differ at most that are not decided; infinite
// where that is not known.
func (l Line) maxDifference() float64 {
	var open []stat.Comparison
	for _, c := range l.Table.undecided() {
		open = append(open, c.Comparison)
	}
	apart := stat.Apart(open)
	if len(open) == 0 || math.IsNaN(apart) {
		return math.Inf(1)
	}
	return apart
}

// Empty reports whether nothing of the table was measured.
func (l Line) Empty() bool {
	return !slices.ContainsFunc(l.Entries, func(e Entry) bool { return e.Standing != Missing })
}

// dropEmpty takes away the columns of which nothing was measured, unless nothing
// was at all.
func (a *Answer) dropEmpty() {
	var kept []int
	for i := range a.Columns {
		if slices.ContainsFunc(a.Lines, func(l Line) bool { return l.Entries[i].Standing != Missing }) {
			kept = append(kept, i)
		}
	}
	if len(kept) == 0 {
		return
	}
	a.Columns = choose(a.Columns, kept)
	a.Baseline = slices.Index(kept, a.Baseline)
	for i := range a.Lines {
		a.Lines[i].Entries = choose(a.Lines[i].Entries, kept)
	}
}

func choose[T any](all []T, kept []int) []T {
	var chosen []T
	for _, i := range kept {
		chosen = append(chosen, all[i])
	}
	return chosen
}

// Ranked reports whether some row can be ranked.
func (a Answer) Ranked() bool {
	return slices.ContainsFunc(a.Lines, func(l Line) bool { return len(l.Table.Rankings) > 0 })
}

// pick takes the suggestions that name somebody, and those that may yet.
func (a *Answer) pick(r *Result) {
	for _, s := range r.Suggestions {
		a.Excluded = append(a.Excluded, s.Unable...)
		switch {
		case s.Shown():
			a.Picks = append(a.Picks, s)
		case s.Leaning():
			a.Leaning = append(a.Leaning, s)
		default:
			a.Even = append(a.Even, s)
		}
	}
	slices.SortStableFunc(a.Leaning, func(x, y Suggestion) int { return (y.Decided + y.Undecided) - (x.Decided + x.Undecided) })
	slices.SortStableFunc(a.Picks, func(x, y Suggestion) int { return y.wins - x.wins }) // the stronger class first where they are recommended as often
}

// Lead returns what is to be used, or most likely is; nil where that is open.
func (a Answer) Lead() *Row {
	switch {
	case len(a.Picks) > 0:
		return a.Picks[0].Best[0].Row
	case a.Only != nil:
		return a.Only.Row
	case len(a.Leaning) > 0:
		return a.Leaning[0].Open[0].Row
	}
	return nil
}

// only finds the one that ran every operation, where everything else failed in one: what the
// budget left out may run it.
func (a *Answer) only(r *Result) {
	candidates := gather(r.Tables)
	able := slices.DeleteFunc(slices.Clone(candidates), func(c *Candidate) bool { return c.NotOK > 0 })
	if len(a.Picks) == 0 && len(able) == 1 && len(candidates) > 1 && able[0].ranked && able[0].notRun == 0 {
		a.Only, a.Leaning = able[0], nil
	}
}

// columns lists targets and profiles in the order of the run, and chooses the
// baseline: the reference with the profile of the one that leads, or with its first.
func (a *Answer) columns(r *Result) {
	baselines := map[Column]bool{}
	position := map[Column]int{}
	measured := map[string]int{} // rows with figures, by profile
	for row := range r.Rows() {
		c := row.Column()
		measured[c.Profile] += min(1, len(row.Figures))
		baselines[c] = baselines[c] || row.Reference == row && row.Comparable()
		if _, seen := position[c]; seen {
			continue
		}
		position[c] = slices.IndexFunc(r.Run.Targets, func(t assay.Target) bool { return t.Name() == row.Cell.Target() })
		a.Columns = append(a.Columns, c)
	}
	wanted := ""
	if lead := a.Lead(); lead != nil {
		wanted = lead.Cell.Profile
	}
	slices.SortStableFunc(a.Columns, func(x, y Column) int {
		first := func(c Column) int {
			if c.Profile == wanted {
				return 0
			}
			return 1
		}
		return cmp.Or(first(x)-first(y), measured[y.Profile]-measured[x.Profile], strings.Compare(x.Profile, y.Profile), position[x]-position[y], strings.Compare(x.Driver, y.Driver))
	})
	a.Baseline = slices.IndexFunc(a.Columns, func(c Column) bool { return baselines[c] })
}

// LineAgainst is the line of a table with another of the columns as the baseline.
func (a Answer) LineAgainst(baseline int, t *Table) Line {
	a.Baseline = baseline
	return a.line(t)
}

// line compares the rows of a table with the baseline.
func (a *Answer) line(t *Table) Line {
	l := Line{Table: t, Entries: make([]Entry, len(a.Columns))}
	for i, c := range a.Columns {
		l.Entries[i].Row = first(t.Rows, func(r *Row) bool { return r.Column() == c })
	}
	var baseline *Row
	if a.Baseline >= 0 {
		baseline = l.Entries[a.Baseline].Row
	}
	for i := range l.Entries {
		l.Entries[i].stand(t, baseline)
	}
	return l
}

// stand fills in an entry.
func (e *Entry) stand(t *Table, baseline *Row) {
	row := e.Row
	switch {
	case row == nil || row.Outcome == assay.NotRun:
		return
	case !row.Comparable():
		e.Standing = Bad
		return
	case len(row.Figures) == 0:
		return
	}
	ranking := first(t.Rankings, func(k *Ranking) bool { return slices.Contains(k.Rows, row) }) // nil where none has it
	e.Standing = ranking.Standing(row)
	if baseline == nil || row == baseline || !baseline.Comparable() {
		return
	}
	if row.Unequal(baseline) != nil {
		e.Apart, e.Standing = true, NotCompared
		if c, has := row.comparison(); has && c.Verdict == stat.Undecided && c.Unlike == nil {
			e.Standing = Open
		}
		return
	}
	c, _, err := row.Against(baseline, t.Primary)
	if err != nil || c.Ratio.N == 0 {
		e.Standing = Open
		return
	}
	e.Cost = new(Cost(c.Ratio, t.Primary))
	if c.Verdict == stat.Undecided && e.Standing != Fastest {
		e.Standing = Open
	}
}

// Cost is a ratio of times, or the inverse of one of throughputs.
func Cost(ratio stat.Interval, of assay.Metric) stat.Interval {
	if of.HigherBetter {
		return ratio.Inverse()
	}
	return ratio
}

// settles reports whether the table's rankings order anything, or show rows to be
// equivalent.
func (t *Table) settles() bool {
	return slices.ContainsFunc(t.Rankings, func(k *Ranking) bool {
		return k.Decided() || len(k.Rows) > 1 && k.Standing(k.Rows[0]) == Tied
	})
}

// Standing returns how a row stands among those that are ranked with it.
func (k *Ranking) Standing(row *Row) Standing {
	if k == nil {
		return NotCompared
	}
	leaders := k.Leaders()
	standing, against, decided := Fastest, k.Rows, stat.Faster
	if len(leaders) > 1 {
		standing, against, decided = Tied, leaders, stat.Equivalent
	}
	unopposed := true
	for _, other := range k.Rows {
		if other == row {
			continue
		}
		unopposed = false
		if slices.Contains(against, other) && k.Compare(row, other).Verdict != decided {
			standing = Open
		}
	}
	switch {
	case unopposed:
		return NotCompared
	case row.Rank > k.Rows[0].Rank:
		return Behind
	}
	return standing
}

// withoutCgo finds the best target without cgo where the pick has it: that with the least
// cost, whether or not it is shown to differ from the pick, among those that are compared
// in the most tables.
func (a *Answer) withoutCgo(r *Result) {
	pick := a.Lead()
	if pick == nil {
		return
	}
	cgo := map[string]string{}
	for _, t := range r.Run.Targets {
		cgo[t.Name()] = t.Facts["cgo"]
	}
	if cgo[pick.Cell.Target()] != "true" {
		return
	}
	for _, c := range a.Columns {
		if c.Profile != pick.Cell.Profile {
			continue
		}
		rows := r.rowsOf(c)
		if len(rows) == 0 || cgo[rows[0].Cell.Target()] != "false" {
			continue
		}
		cost, ok := r.overall(c, pick.Column())
		if best := a.NoCgo; ok && (best == nil || cost.N > best.Cost.N || cost.N == best.Cost.N && cost.Center < best.Cost.Center) {
			a.NoCgo = &Alternative{rows[0].Driver, cost}
		}
	}
}

func (r *Result) rowsOf(c Column) []*Row {
	var rows []*Row
	for row := range r.Rows() {
		if row.Column() == c {
			rows = append(rows, row)
		}
	}
	return rows
}

// overall is the geometric mean of what one column costs over another, over the tables in
// which both promise alike. The ends are the means of the intervals' ends, so that the
// interval holds however the errors of the tables depend on each other. It is false where
// there are none, and where one of the two did not end ok in a table of the column.
func (r *Result) overall(c, other Column) (stat.Interval, bool) {
	var low, center, high float64
	n := 0
	partners := map[*Table]*Row{}
	for _, row := range r.rowsOf(other) {
		partners[row.Table] = row
	}
	for _, row := range r.rowsOf(c) {
		partner := partners[row.Table]
		if partner == nil || !row.Comparable() || !partner.Comparable() {
			return stat.Interval{}, false
		}
		if row.Unequal(partner) != nil {
			continue
		}
		comparison, _, err := row.Against(partner, row.Table.Primary)
		if err != nil || !comparison.Ratio.Known() {
			return stat.Interval{}, false
		}
		ratio := Cost(comparison.Ratio, row.Table.Primary)
		low, center, high = low+math.Log(ratio.Low), center+math.Log(ratio.Center), high+math.Log(ratio.High)
		n++
	}
	return stat.Interval{N: n, Center: math.Exp(center / float64(n)), Low: math.Exp(low / float64(n)), High: math.Exp(high / float64(n))}, n > 0
}
