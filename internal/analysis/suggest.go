package analysis

import (
	"maps"
	"slices"
	"strings"

	"assay"
	"assay/internal/stat"
)

// Suggestion is what to use for all operations together, for one class of
// durability.
type Suggestion struct {
	Durability  assay.Durability
	Best        []Candidate  // those that lead most often
	Members     int          // how many of the class were compared
	Leads       int          // comparisons in which each of Best has rank 1, shared or not
	Decided     int          // comparisons that order anything at all
	Open        int          // comparisons that do not yet
	Connections []Connection // of the best, ready to paste; none where none is ahead
}

// Ahead tells whether some driver and profile leads more often than others.
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

// Candidate is a driver with a profile, over all tables.
type candidate struct {
	row         *Row // the first of it, for its name and settings
	durability  assay.Durability
	ranked      bool
	best, other int // tables where it shares rank 1, and where it did not end ok
}

// suggest counts, per class of durability, which driver and profile shares
// the first rank most often.
func suggest(tables []*Table) []Suggestion {
	candidates := gather(tables)
	var all []Suggestion
	for _, d := range Strength {
		var members []*candidate
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
func gather(tables []*Table) []*candidate {
	byName := map[string]*candidate{}
	for _, t := range tables {
		for _, row := range t.Rows {
			if row.Cell.AsPublished {
				continue // literally what was published is to be looked at, not to be used
			}
			c := byName[row.Name()]
			if c == nil {
				c = &candidate{row: row}
				byName[row.Name()] = c
			}
			if row.Outcome != assay.OK && row.Outcome != assay.NotRun {
				c.other++
			} else if c.row.Outcome != assay.OK {
				c.row = row
			}
			c.durability = weaker(c.durability, row.Durability)
		}
		for _, k := range t.Rankings {
			for _, row := range k.Rows {
				if c := byName[row.Name()]; c != nil {
					c.ranked = true
					if k.leads(row) {
						c.best++
					}
				}
			}
		}
	}
	sorted := slices.Sorted(maps.Keys(byName))
	all := make([]*candidate, len(sorted))
	for i, name := range sorted {
		all[i] = byName[name]
	}
	return all
}

// leads tells whether a row is the best or tied with it: nobody beats it, and it
// beats somebody or is equivalent to one that does. One that is undecided against
// everybody leads nothing.
func (k *Ranking) leads(row *Row) bool {
	if row.Rank != 1 {
		return false
	}
	beats := func(a *Row) bool {
		return slices.ContainsFunc(k.Rows, func(b *Row) bool { return b != a && k.Compare(a, b).Verdict == stat.Faster })
	}
	return beats(row) || slices.ContainsFunc(k.Leaders(), func(other *Row) bool {
		return other != row && k.Compare(row, other).Verdict == stat.Equivalent && beats(other)
	})
}

// weaker returns the weaker of two classes that are known.
func weaker(a, b assay.Durability) assay.Durability {
	if a == "" || b != "" && slices.Index(Strength, b) > slices.Index(Strength, a) {
		return b
	}
	return a
}

// suggestClass is the suggestion for one class; false where nothing of it was
// compared.
func suggestClass(tables []*Table, d assay.Durability, members []*candidate) (Suggestion, bool) {
	of, open := contests(tables, members)
	if of == 0 {
		return Suggestion{}, false
	}
	s := Suggestion{Durability: d, Members: len(members), Decided: of, Open: open}
	s.Leads = slices.MaxFunc(members, func(a, b *candidate) int { return a.best - b.best }).best
	for _, m := range members {
		if m.best == s.Leads {
			s.Best = append(s.Best, Candidate{m.row, m.other})
		}
	}
	if s.Ahead() {
		for _, best := range s.Best {
			s.Connections = append(s.Connections, NewConnection(best.Row))
		}
	}
	return s, true
}

// Decided tells whether the ranking orders anything at all.
func (k *Ranking) Decided() bool {
	return slices.ContainsFunc(k.Rows, func(r *Row) bool { return r.Rank > k.Rows[0].Rank })
}

// contests counts the rankings of rows of which the candidates are some: those
// that decide something between them, and those that are open.
func contests(tables []*Table, members []*candidate) (decided, open int) {
	for _, t := range tables {
		for _, k := range t.Rankings {
			takesPart := slices.ContainsFunc(k.Rows, func(row *Row) bool {
				return slices.ContainsFunc(members, func(m *candidate) bool { return m.row.Name() == row.Name() })
			})
			switch {
			case takesPart && k.Decided():
				decided++
			case takesPart && len(k.Rows) > 1:
				open++
			}
		}
	}
	return decided, open
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
		s.Effective = Effective(settings, s.Name)
		s.Connection = ""
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b assay.Setting) int { return strings.Compare(a.Name, b.Name) })
	return all
}
