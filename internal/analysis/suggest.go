package analysis

import (
	"maps"
	"math"
	"slices"
	"strings"

	"assay"
	"assay/internal/stat"
)

// Suggestion says what to use for all operations together, of what promises one class of
// durability: the others are not compared with it, in reads neither, since who chooses among
// them does not choose by speed.
type Suggestion struct {
	Durability  assay.Durability
	Syncs       bool         // each commit: one of a class that does is not ranked with one that does not
	Best        []Candidate  // those that are recommended most often, of those that ended ok everywhere
	Unable      []Candidate  // those that are recommended as often or more, and did not end ok somewhere
	Open        []Candidate  // where it is not shown what is the best: those that are recommended or may turn out to be it, the most often ahead first
	Others      []OtherClass // with which nothing of this one is compared
	Members     int          // how many of the class were compared
	Leads       int          // rankings that recommend each of Best
	Decided     int          // rankings that show what is best
	Undecided   int          // rankings that do not yet
	Connections []Connection // of the best, ready to paste; none where none is ahead
	// Chance is that nobody is faster than the first of Open, over all rankings, by more than the
	// margin; NaN where that cannot be told.
	Chance float64
	// Partial says that the first of Open takes no part in some of the rankings.
	Partial bool
	// Apart is by which factor two of Open differ at most, at 95 %, in any ranking; NaN where that
	// is not known, or Open is one.
	Apart float64
	// Loss is by which factor any of Best is worse at most, at 95 %, than the fastest of any
	// ranking; NaN where that is not known of one of them.
	Loss     float64
	wins     int // rankings of whatever class that recommend the first of Best
	runnerUp int // rankings that recommend the candidate recommended most often after Best
}

// OtherClass counts the targets and profiles that promise another durability, or of the same
// class sync otherwise.
type OtherClass struct {
	Durability assay.Durability
	Syncs      bool
	Members    int
}

// Ahead reports whether some driver and profile leads more often than others.
func (s Suggestion) Ahead() bool {
	return s.Leads > 0 && (len(s.Best) == 1 || len(s.Best) < s.Members)
}

// Shown reports whether the best are so whatever is still undecided: nobody else can lead
// more often then.
func (s Suggestion) Shown() bool { return s.Ahead() && s.Leads >= s.runnerUp+s.Undecided }

// Leaning reports whether what is still undecided may show who is the best.
func (s Suggestion) Leaning() bool { return !s.Shown() && s.Undecided > 0 && len(s.Open) > 0 }

// closeTo is by which factor candidates differ at most that are too close for most to matter.
const closeTo = 1.1

// Close reports whether it hardly matters which of several candidates is taken.
func (s Suggestion) Close() bool { return s.Leaning() && s.Apart <= closeTo }

// Candidates are the best or, where it is not shown what is, those that may turn out to be it.
func (s Suggestion) Candidates() []Candidate {
	if s.Shown() {
		return s.Best
	}
	return s.Open
}

// Uses are the rows of what is to be used, or most likely will be.
func (s Suggestion) Uses() (rows []*Row) {
	for i, c := range s.Candidates() {
		if s.Shown() || s.Leaning() && i == 0 {
			rows = append(rows, c.Row)
		}
	}
	return rows
}

// Candidate is a driver with a profile, over all tables.
type Candidate struct {
	Row   *Row // the first of it, for its name and settings
	NotOK int  // tables in which it did not end ok
	Ahead int  // rankings of its class in which its figure is the best, decided or not
	Best  int  // of these and of ties, those that recommend it
	// Processes is how many shared the database at most.
	Processes int

	durability assay.Durability
	syncs      bool // each commit
	ranked     bool
	notRun     int // tables for which the budget left it no time
	open       bool
}

// Connection says how a target with a profile was opened.
type Connection struct {
	Name     string
	DSN      string   // with app.db for the file; empty where the driver has none
	Each     []string // SQL to run on every new connection
	Settings []assay.Setting
	cell     assay.Cell
}

// suggest counts, per class of durability, which driver and profile is recommended
// most often. What cannot run every operation is no choice for all of them.
func suggest(tables []*Table) []Suggestion {
	candidates := slices.DeleteFunc(gather(tables), func(c *Candidate) bool { return !c.ranked })
	var all []Suggestion
	for _, class := range classesOf(candidates) {
		members := slices.DeleteFunc(slices.Clone(candidates), func(c *Candidate) bool { return !c.isOf(class) })
		others := slices.DeleteFunc(slices.Clone(candidates), func(c *Candidate) bool { return c.isOf(class) })
		if s, ok := suggestClass(tables, members, others); ok {
			s.Durability, s.Syncs = class.Durability, class.Syncs
			all = append(all, s)
		}
	}
	return all
}

func (c *Candidate) isOf(class OtherClass) bool {
	return c.durability == class.Durability && c.syncs == class.Syncs
}

// gather finds the candidates, in the order of names.
func gather(tables []*Table) []*Candidate {
	byName := map[string]*Candidate{}
	for _, t := range tables {
		for _, row := range t.Rows {
			if row.Cell.AsPublished {
				continue // literally what was published is to be looked at, not to be used
			}
			c := byName[row.Name()]
			if c == nil {
				c = &Candidate{Row: row}
				byName[row.Name()] = c
			}
			if row.Outcome == assay.NotRun {
				c.notRun++
			}
			if row.Outcome != assay.OK && row.Outcome != assay.NotRun {
				c.NotOK++
			} else if c.Row.Outcome != assay.OK {
				c.Row = row
			}
			if row.Outcome == assay.OK {
				c.Processes = max(c.Processes, row.Cell.Processes)
			}
			c.durability = weaker(c.durability, row.Durability)
			c.syncs = c.syncs || row.Durability != "" && row.syncs()
		}
		for _, k := range t.Rankings {
			for _, row := range k.Rows {
				if c := byName[row.Name()]; c != nil {
					c.ranked = true
				}
			}
		}
	}
	return slices.SortedFunc(maps.Values(byName), func(a, b *Candidate) int { return strings.Compare(a.Row.Name(), b.Row.Name()) })
}

// Recommended are the rows that the ranking shows to be the best: its only leader,
// or leaders of which each two are equivalent. There are none where that is open.
func (k *Ranking) Recommended() []*Row {
	leaders := k.Leaders()
	_, open := k.Equivalent(leaders)
	behind := len(leaders) < len(k.Rows)
	if len(k.Rows) < 2 || len(open) > 0 || behind && !slices.ContainsFunc(leaders, k.beatsOne) {
		return nil
	}
	return leaders
}

// Candidates are the rows that may turn out to be the best, where the ranking does
// not show yet which is: all that share the best rank.
func (k *Ranking) Candidates() []*Row {
	if len(k.Recommended()) > 0 {
		return nil
	}
	return k.Leaders()
}

// without is the ranking without the rows of some candidates.
func (k *Ranking) without(others []*Candidate) *Ranking {
	left := *k
	left.Rows = slices.DeleteFunc(slices.Clone(k.Rows), func(row *Row) bool { return of(others, row) != nil })
	return &left
}

// classesOf counts candidates by class, the strongest first.
func classesOf(candidates []*Candidate) (all []OtherClass) {
	for _, d := range slices.Backward(assay.Durabilities) {
		for _, syncs := range []bool{true, false} {
			class := OtherClass{Durability: d, Syncs: syncs}
			for _, c := range candidates {
				if c.isOf(class) {
					class.Members++
				}
			}
			if class.Members > 0 {
				all = append(all, class)
			}
		}
	}
	return all
}

// beatsOne reports whether a row is faster than some other. In a circle, leaders
// may beat nobody.
func (k *Ranking) beatsOne(row *Row) bool {
	return slices.ContainsFunc(k.Rows, func(other *Row) bool { return other != row && k.Compare(row, other).Verdict == stat.Faster })
}

// weaker returns the weaker of two classes that are known.
func weaker(a, b assay.Durability) assay.Durability {
	if a == "" || b == "" {
		return a + b
	}
	return a.Weaker(b)
}

// suggestClass is the suggestion for one class; false where nothing of it was
// compared.
func suggestClass(tables []*Table, members, others []*Candidate) (Suggestion, bool) {
	s := Suggestion{Others: classesOf(others), Members: len(members), Loss: 1, Chance: math.NaN(), Apart: math.NaN()}
	rankings := rankingsOf(tables, members, others)
	s.count(rankings, members)
	if s.Decided+s.Undecided == 0 {
		return Suggestion{}, false
	}
	for _, m := range members {
		if m.NotOK == 0 {
			s.Leads = max(s.Leads, m.Best)
		}
	}
	for _, m := range members {
		switch {
		case m.NotOK > 0 && m.Best > 0 && m.Best >= s.Leads:
			s.Unable = append(s.Unable, *m)
		case m.NotOK == 0 && m.Best == s.Leads:
			s.Best = append(s.Best, *m)
		case m.NotOK == 0:
			s.runnerUp = max(s.runnerUp, m.Best)
		}
		if m.NotOK == 0 && (m.open || m.Best > 0) {
			s.Open = append(s.Open, *m)
		}
	}
	slices.SortStableFunc(s.Open, func(a, b Candidate) int { return b.Ahead - a.Ahead })
	for _, best := range s.Best {
		s.Loss = max(s.Loss, stat.Loss(against(rankings, best.Row, func(*Row) bool { return true })))
		if !inAll(rankings, best.Row) {
			s.Loss = math.NaN()
		}
	}
	for _, t := range tables {
		for _, k := range t.Rankings {
			if len(s.Best) > 0 && slices.ContainsFunc(k.Recommended(), func(row *Row) bool { return row.Name() == s.Best[0].Row.Name() }) {
				s.wins++
			}
		}
	}
	s.weigh(rankings, members)
	if s.Shown() {
		s.Open = nil
		for _, best := range s.Best {
			s.Connections = append(s.Connections, NewConnection(best.Row))
		}
	}
	return s, true
}

// weigh says of those that may turn out to be the best how likely the first is, and how much it
// matters which.
func (s *Suggestion) weigh(rankings []*Ranking, members []*Candidate) {
	if !s.Leaning() {
		return
	}
	leader := s.Open[0].Row
	if s.Chance, s.Partial = 1, !inAll(rankings, leader); s.Partial {
		s.Chance = math.NaN()
	}
	for _, m := range members {
		if all := against(rankings, leader, m.is); m.Row.Name() != leader.Name() && len(all) > 0 {
			s.Chance -= 1 - stat.Chance(all)
		}
	}
	if len(s.Open) > 1 {
		s.Apart = 1
	}
	for i, c := range s.Open {
		if !inAll(rankings, c.Row) {
			s.Apart = math.NaN()
		}
		for _, other := range s.Open[:i] {
			s.Apart = max(s.Apart, stat.Apart(against(rankings, c.Row, other.is)))
		}
	}
}

// OneProcess reports whether a target of SQLite was measured with one process only.
func (c Candidate) OneProcess() bool { return c.Row.Cell.OfSQLite() && c.Processes <= 1 }

func (c Candidate) is(row *Row) bool { return row.Name() == c.Row.Name() }

// rankingsOf are the rankings of all tables in which candidates of a class take part, without
// those of other classes.
func rankingsOf(tables []*Table, members, others []*Candidate) []*Ranking {
	var all []*Ranking
	for _, t := range tables {
		for _, k := range t.Rankings {
			left := k.without(others)
			takesPart := slices.ContainsFunc(left.Rows, func(row *Row) bool { return of(members, row) != nil })
			if takesPart && len(left.Rows) > 1 {
				all = append(all, left)
			}
		}
	}
	return all
}

// of is the candidate that a row is of; nil where it is of none.
func of(members []*Candidate, row *Row) *Candidate {
	return first(members, func(m *Candidate) bool { return m.is(row) })
}

// against are the comparisons of a target and profile with some others, in all rankings that it
// takes part in.
func against(rankings []*Ranking, one *Row, others func(*Row) bool) []stat.Comparison {
	var all []stat.Comparison
	for _, k := range rankings {
		i := slices.IndexFunc(k.Rows, func(row *Row) bool { return row.Name() == one.Name() })
		for j, other := range k.Rows {
			if i >= 0 && j != i && others(other) {
				all = append(all, k.Compare(k.Rows[i], other).Comparison)
			}
		}
	}
	return all
}

// inAll reports whether a target and profile takes part in all of some rankings: elsewhere nothing
// bounds what it costs.
func inAll(rankings []*Ranking, one *Row) bool {
	return !slices.ContainsFunc(rankings, func(k *Ranking) bool {
		return !slices.ContainsFunc(k.Rows, func(row *Row) bool { return row.Name() == one.Name() })
	})
}

// Decided reports whether the ranking orders anything at all.
func (k *Ranking) Decided() bool {
	return slices.ContainsFunc(k.Rows, func(r *Row) bool { return r.Rank > k.Rows[0].Rank })
}

// count counts the rankings of the members, and for each member what they say of it.
func (s *Suggestion) count(rankings []*Ranking, members []*Candidate) {
	each := func(rows []*Row, count func(*Candidate)) {
		for _, row := range rows {
			if m := of(members, row); m != nil { // what is literally as published is none
				count(m)
			}
		}
	}
	for _, k := range rankings {
		recommended := k.Recommended()
		if len(recommended) > 0 {
			s.Decided++
		} else {
			s.Undecided++
		}
		each(recommended, func(m *Candidate) { m.Best++ })
		each(k.Candidates(), func(m *Candidate) { m.open = true })
		each([]*Row{k.ahead()}, func(m *Candidate) { m.Ahead++ })
	}
}

// ahead is the row with the best figure.
func (k *Ranking) ahead() *Row {
	return slices.MinFunc(k.Rows, func(a, b *Row) int { return byFigure(a, b, k.Table.Primary) })
}

// NewConnection returns how a row was opened, ready to paste.
func NewConnection(row *Row) Connection {
	return Connection{
		cell:     row.Cell,
		Name:     row.Name(),
		DSN:      strings.ReplaceAll(row.DSN, "{{path}}", "app.db"),
		Each:     row.Each,
		Settings: JoinConnections(row.Settings),
	}
}

// JoinConnections keeps one entry a setting, with all effective values; it is applied where it is on
// every connection.
func JoinConnections(settings []assay.Setting) []assay.Setting {
	var all []assay.Setting
	for _, s := range settings {
		if i := slices.IndexFunc(all, func(o assay.Setting) bool { return o.Name == s.Name }); i >= 0 {
			all[i].Applied = all[i].Applied && s.Applied
			continue
		}
		s.Effective = assay.Effective(settings, s.Name)
		s.Connection = ""
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b assay.Setting) int { return strings.Compare(a.Name, b.Name) })
	return all
}
