package analysis

import (
	"maps"
	"math"
	"slices"
	"strings"

	"assay"
	"assay/internal/stat"
)

// Suggestion is what to use for all operations together, for one class of
// durability.
type Suggestion struct {
	Durability  assay.Durability
	Best        []Candidate  // those that are recommended most often, of those that ended ok everywhere
	Unable      []Candidate  // those that are recommended as often or more, and did not end ok somewhere
	Open        []*Row       // candidates of rankings that do not show yet what is best
	Members     int          // how many of the class were compared
	Leads       int          // rankings that recommend each of Best
	Decided     int          // rankings that show what is best
	Undecided   int          // rankings that do not yet
	Connections []Connection // of the best, ready to paste; none where none is ahead
	// Loss is by which factor the best one is worse at most, at 95 %, than the
	// fastest of any ranking; NaN where it is not known, or not one.
	Loss float64
}

// Ahead reports whether some driver and profile leads more often than others.
func (s Suggestion) Ahead() bool {
	return s.Leads > 0 && (len(s.Best) == 1 || len(s.Best) < s.Members)
}

// Candidate is a driver with a profile, over all tables.
type Candidate struct {
	Row   *Row // the first of it, for its name and settings
	NotOK int  // tables in which it did not end ok
}

// Connection is how a target with a profile was opened.
type Connection struct {
	Name     string
	DSN      string   // with app.db for the file; empty where the driver has none
	Each     []string // SQL to run on every new connection
	Settings []assay.Setting
	cell     assay.Cell
}

// tally counts for a driver with a profile, over all tables.
type tally struct {
	row         *Row // the first of it, for its name and settings
	durability  assay.Durability
	ranked      bool
	best, notOK int // rankings that recommend it, and tables where it did not end ok
}

// suggest counts, per class of durability, which driver and profile is recommended
// most often. What cannot run every operation is no choice for all of them.
func suggest(tables []*Table) []Suggestion {
	candidates := gather(tables)
	var all []Suggestion
	for _, d := range slices.Backward(assay.Durabilities) {
		var members []*tally
		for _, c := range candidates {
			if c.durability == d && c.ranked {
				members = append(members, c)
			}
		}
		if s, ok := suggestClass(tables, d, members); ok {
			all = append(all, s)
		}
	}
	return all
}

// gather finds the candidates, in the order of names.
func gather(tables []*Table) []*tally {
	byName := map[string]*tally{}
	for _, t := range tables {
		for _, row := range t.Rows {
			if row.Cell.AsPublished {
				continue // literally what was published is to be looked at, not to be used
			}
			c := byName[row.Name()]
			if c == nil {
				c = &tally{row: row}
				byName[row.Name()] = c
			}
			if row.Outcome != assay.OK && row.Outcome != assay.NotRun {
				c.notOK++
			} else if c.row.Outcome != assay.OK {
				c.row = row
			}
			c.durability = weaker(c.durability, row.Durability)
		}
		for _, k := range t.Rankings {
			for _, row := range k.Rows {
				if c := byName[row.Name()]; c != nil {
					c.ranked = true
				}
			}
			for _, row := range k.Recommended() {
				if c := byName[row.Name()]; c != nil {
					c.best++
				}
			}
		}
	}
	sorted := slices.Sorted(maps.Keys(byName))
	all := make([]*tally, len(sorted))
	for i, name := range sorted {
		all[i] = byName[name]
	}
	return all
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
// not show yet which is: leaders that beat another row or are equivalent to one
// that does. What is undecided against every row is no candidate, whatever its
// rank: only its spread keeps it there.
func (k *Ranking) Candidates() []*Row {
	if len(k.Recommended()) > 0 {
		return nil
	}
	var all []*Row
	for _, row := range k.Leaders() {
		equal := func(other *Row) bool {
			return other != row && k.Compare(row, other).Verdict == stat.Equivalent && k.beatsOne(other)
		}
		if k.beatsOne(row) || slices.ContainsFunc(k.Leaders(), equal) {
			all = append(all, row)
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
func suggestClass(tables []*Table, d assay.Durability, members []*tally) (Suggestion, bool) {
	s := Suggestion{Durability: d, Members: len(members)}
	s.count(tables, members)
	if s.Decided == 0 && len(s.Open) == 0 {
		return Suggestion{}, false
	}
	for _, m := range members {
		if m.notOK == 0 {
			s.Leads = max(s.Leads, m.best)
		}
	}
	for _, m := range members {
		switch {
		case m.notOK > 0 && m.best > 0 && m.best >= s.Leads:
			s.Unable = append(s.Unable, Candidate{m.row, m.notOK})
		case m.notOK == 0 && m.best == s.Leads:
			s.Best = append(s.Best, Candidate{m.row, m.notOK})
		}
	}
	s.Loss = math.NaN()
	if len(s.Best) == 1 {
		s.Loss = loss(tables, s.Best[0].Row)
	}
	if s.Ahead() {
		for _, best := range s.Best {
			s.Connections = append(s.Connections, NewConnection(best.Row))
		}
	}
	return s, true
}

// loss is a target's and profile's, over all rankings that it takes part in.
func loss(tables []*Table, of *Row) float64 {
	var all []stat.Comparison
	for _, t := range tables {
		for _, k := range t.Rankings {
			i := slices.IndexFunc(k.Rows, func(row *Row) bool { return row.Name() == of.Name() })
			if i < 0 {
				continue
			}
			for j, other := range k.Rows {
				if j != i {
					all = append(all, k.Compare(k.Rows[i], other).Comparison)
				}
			}
		}
	}
	return stat.Loss(all)
}

// Decided reports whether the ranking orders anything at all.
func (k *Ranking) Decided() bool {
	return slices.ContainsFunc(k.Rows, func(r *Row) bool { return r.Rank > k.Rows[0].Rank })
}

// count counts the rankings of rows of which the members are some, and collects the
// candidates of those that are open.
func (s *Suggestion) count(tables []*Table, members []*tally) {
	byName := map[string]*tally{}
	for _, m := range members {
		byName[m.row.Name()] = m
	}
	known := map[*tally]bool{}
	for _, t := range tables {
		for _, k := range t.Rankings {
			takesPart := slices.ContainsFunc(k.Rows, func(row *Row) bool { return byName[row.Name()] != nil })
			switch {
			case !takesPart || len(k.Rows) < 2:
				continue
			case len(k.Recommended()) > 0:
				s.Decided++
			default:
				s.Undecided++
			}
			for _, row := range k.Candidates() {
				if m := byName[row.Name()]; m != nil && m.notOK == 0 && !known[m] {
					known[m] = true
					s.Open = append(s.Open, m.row)
				}
			}
		}
	}
}

// NewConnection is how a row was opened, ready to paste.
func NewConnection(row *Row) Connection {
	return Connection{
		cell:     row.Cell,
		Name:     row.Name(),
		DSN:      strings.ReplaceAll(row.DSN, "{{path}}", "app.db"),
		Each:     row.Each,
		Settings: JoinConnections(row.Settings),
	}
}

// JoinConnections keeps one entry a setting, with all effective values.
func JoinConnections(settings []assay.Setting) []assay.Setting {
	var all []assay.Setting
	for _, s := range settings {
		if slices.ContainsFunc(all, func(o assay.Setting) bool { return o.Name == s.Name }) {
			continue
		}
		s.Effective = assay.Effective(settings, s.Name)
		s.Connection = ""
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b assay.Setting) int { return strings.Compare(a.Name, b.Name) })
	return all
}
