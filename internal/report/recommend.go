package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"assay"
	"assay/internal/stat"
)

// mostNamed is how many rows a sentence names before it only counts them.
const mostNamed = 4

// recommend says in one sentence what a ranking shows, and nothing that it
// does not show.
func (t *Table) recommend(k *Ranking) string {
	return clean(t.conditions(k.Durability) + ": " + t.verdict(k))
}

// conditions is what a recommendation holds for.
func (t *Table) conditions(d assay.Durability) string {
	if t.Changes {
		return t.Title + ", durability " + class(d)
	}
	if _, stated := t.cell().Params["cache"]; stated {
		return t.Title
	}
	return t.Title + ", warm cache"
}

// verdict is the sentence's second half.
func (t *Table) verdict(k *Ranking) string {
	leaders := k.leaders()
	first := leaders[0]
	rest := k.Rows[len(leaders):]
	if len(k.Rows) == 1 {
		return "only " + first.Name() + " can be ranked; there is nothing to compare it with"
	}
	if len(leaders) == 1 {
		return "use " + with(first) + ": " + strings.Join(t.clauses(k, first, rest, ""), "; ")
	}
	clauses := t.clauses(k, first, rest, first.Name()+" is ")
	return strings.Join(append([]string{t.tie(k, leaders)}, clauses...), "; ")
}

// tie says what is known about rows that share the best rank.
func (t *Table) tie(k *Ranking, leaders []*Row) string {
	equal, open := k.equivalent(leaders)
	against := append(leaders[:1:1], open...)
	switch {
	case len(open) == 0:
		return names(equal) + " are equivalent: take any of them"
	case len(equal) == 1:
		return names(against) + " cannot be told apart yet: " + t.wouldDecide(k, against)
	}
	return names(equal) + " are equivalent, and cannot be told apart from " + names(open) + " yet: " + t.wouldDecide(k, against)
}

// leaders returns the rows that share the best rank. Where results go in a
// circle nobody has rank 1, and the whole circle shares another.
func (k *Ranking) leaders() []*Row {
	n := 0
	for n < len(k.Rows) && k.Rows[n].Rank == k.Rows[0].Rank {
		n++
	}
	return k.Rows[:n]
}

// equivalent splits rows into the first with those of which each two are
// equivalent, and the others.
func (k *Ranking) equivalent(rows []*Row) (equal, open []*Row) {
	for _, row := range rows {
		differs := func(other *Row) bool { return k.compare(row, other).Verdict != stat.Equivalent }
		if slices.ContainsFunc(equal, differs) {
			open = append(open, row)
		} else {
			equal = append(equal, row)
		}
	}
	return equal, open
}

// clauses says how one row compares with others; is comes before what it is.
func (t *Table) clauses(k *Ranking, row *Row, others []*Row, is string) []string {
	groups := map[stat.Verdict][]*Row{}
	for _, other := range others {
		verdict := k.compare(row, other).Verdict
		groups[verdict] = append(groups[verdict], other)
	}
	var all []string
	if beaten := groups[stat.Faster]; len(beaten) > 0 {
		all = append(all, is+t.fasterThan(k, row, beaten))
		is = ""
	}
	if equal := groups[stat.Equivalent]; len(equal) > 0 {
		all = append(all, is+"equivalent to "+names(equal))
		is = ""
	}
	if open := groups[stat.Undecided]; len(open) > 0 {
		all = append(all, is+"undecided against "+names(open)+": "+t.wouldDecide(k, append([]*Row{row}, open...)))
	}
	return all
}

// fasterThan gives the ratio to the closest of the beaten, to the closest
// with another driver, and to the reference of the same profile.
func (t *Table) fasterThan(k *Ranking, row *Row, beaten []*Row) string {
	say := func(other *Row) string {
		return speedText(k.compare(row, other).Ratio, t.Primary) + " faster than " + other.Name()
	}
	foreign := slices.IndexFunc(beaten, func(other *Row) bool { return other.Driver != row.Driver })
	var parts []string
	for i, other := range beaten {
		if i == 0 || i == foreign || other == row.Reference {
			parts = append(parts, say(other))
		}
	}
	if more := len(beaten) - len(parts); more > 0 {
		parts = append(parts, fmt.Sprintf("faster than %d more", more))
	}
	return list(parts)
}

// wouldDecide says what it takes to decide between the first row and the
// others: time, where that can be estimated, otherwise the reason.
func (t *Table) wouldDecide(k *Ranking, rows []*Row) string {
	more, reason := 0, ""
	for _, other := range rows[1:] {
		c := k.compare(rows[0], other)
		if c.Verdict != stat.Undecided {
			continue
		}
		reason = cmp.Or(reason, c.Reason)
		if c.MoreLaunches == 0 {
			more = 0
			break
		}
		more = max(more, c.MoreLaunches)
	}
	if more == 0 || t.Launch == 0 {
		return cmp.Or(reason, "results go in a circle")
	}
	unit := about(time.Duration(more) * t.Launch)
	number, noun, _ := strings.Cut(unit, " ")
	return "about " + number + " more " + noun + " would decide"
}

// names lists rows, the first few by name.
func names(rows []*Row) string {
	var all []string
	for i, row := range rows {
		if i == mostNamed && len(rows) > mostNamed+1 {
			all = append(all, fmt.Sprintf("%d more", len(rows)-i))
			break
		}
		all = append(all, row.Name())
	}
	return list(all)
}

// with is a row as advice names it.
func with(r *Row) string {
	if r.Cell.Profile == "" {
		return r.Driver
	}
	return r.Driver + " with profile " + r.Cell.Profile
}
