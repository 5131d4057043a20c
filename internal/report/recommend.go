package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"assay/internal/analysis"
	"assay/internal/analysis/wording"
	"assay/internal/stat"
)

// maxNamed is how many rows a sentence names before it only counts them.
const maxNamed = 4

// Sentence says what a ranking shows, and nothing that it does not show.
func Sentence(k *analysis.Ranking) string {
	return wording.Clean(holdsFor(k) + ": " + verdictWords(k.Table, k))
}

func holdsFor(k *analysis.Ranking) string {
	t := k.Table
	if t.Changes {
		return t.Title + ", durability " + cmp.Or(k.Promise(), analysis.Class(k.Durability))
	}
	if _, stated := t.Cell().Params["cache"]; stated {
		return t.Title
	}
	return t.Title + ", warm cache"
}

// verdictWords is the sentence's second half.
func verdictWords(t *analysis.Table, k *analysis.Ranking) string {
	leaders := k.Leaders()
	first := leaders[0]
	rest := k.Rows[len(leaders):]
	if len(k.Rows) == 1 {
		return "only " + first.Name() + " can be ranked; there is nothing to compare it with"
	}
	if len(leaders) == 1 {
		return "use " + with(first) + ": " + strings.Join(clauses(t, k, first, rest, ""), "; ")
	}
	clauses := clauses(t, k, first, rest, first.Name()+" is ")
	return strings.Join(append([]string{tieWords(t, k, leaders)}, clauses...), "; ")
}

// tieWords says what is known about rows that share the best rank.
func tieWords(t *analysis.Table, k *analysis.Ranking, leaders []*analysis.Row) string {
	equal, open := k.Equivalent(leaders)
	switch {
	case len(open) == 0:
		return names(equal) + " are equivalent: take any of them"
	case len(equal) == 1:
		return names(append(equal, open...)) + " are undecided: " + wouldDecide(t, k, equal, open)
	}
	return names(equal) + " are equivalent, and undecided against " + names(open) + ": " + wouldDecide(t, k, equal, open)
}

// clauses says how one row compares with others; is comes before what it is.
func clauses(t *analysis.Table, k *analysis.Ranking, row *analysis.Row, others []*analysis.Row, is string) []string {
	groups := map[stat.Verdict][]*analysis.Row{}
	for _, other := range others {
		verdict := k.Compare(row, other).Verdict
		groups[verdict] = append(groups[verdict], other)
	}
	var all []string
	if beaten := groups[stat.Faster]; len(beaten) > 0 {
		all = append(all, is+fasterThan(t, k, row, beaten))
		is = ""
	}
	if equal := groups[stat.Equivalent]; len(equal) > 0 {
		all = append(all, is+"equivalent to "+names(equal))
		is = ""
	}
	if open := groups[stat.Undecided]; len(open) > 0 {
		all = append(all, is+"undecided against "+names(open)+": "+wouldDecide(t, k, []*analysis.Row{row}, open))
	}
	return all
}

// fasterThan gives the ratio to the closest of the beaten, to the closest
// with another driver, and to the reference of the same profile.
func fasterThan(t *analysis.Table, k *analysis.Ranking, row *analysis.Row, beaten []*analysis.Row) string {
	say := func(other *analysis.Row) string {
		return speedText(k.Compare(row, other).Ratio, t.Primary) + " faster than " + other.Name()
	}
	foreign := slices.IndexFunc(beaten, func(other *analysis.Row) bool { return other.Driver != row.Driver })
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

// wouldDecide says what it takes to decide between each of some rows and each of the others:
// launches, where a person would wait for them, otherwise the reason.
func wouldDecide(t *analysis.Table, k *analysis.Ranking, some, others []*analysis.Row) string {
	more, reason, told := 0, "", true
	for _, row := range some {
		for _, other := range others {
			c := k.Compare(row, other)
			if c.Verdict != stat.Undecided {
				continue
			}
			reason = cmp.Or(reason, Why(c))
			launches := c.LaunchesToDecide()
			more, told = max(more, launches), told && launches > 0
		}
	}
	if !told || more == 0 || t.Launch == 0 || time.Duration(more)*t.Launch > analysis.Patience {
		return cmp.Or(reason, "the results contradict each other: A beats B, B beats C, C beats A")
	}
	return fmt.Sprintf("about %d more launches would decide", more)
}

// names lists rows, the first few by name.
func names(rows []*analysis.Row) string {
	var all []string
	for _, row := range rows {
		all = append(all, row.Name())
	}
	if len(all) > maxNamed+1 {
		return wording.FirstFew(all, maxNamed)
	}
	return list(all)
}

// with is a row as advice names it.
func with(r *analysis.Row) string {
	if r.Cell.Profile == "" {
		return r.Driver
	}
	return r.Driver + " with profile " + r.Cell.Profile
}
