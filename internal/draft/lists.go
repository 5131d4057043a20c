package draft

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"assay/internal/plan/sqltext"
)

// A program that asks for the tags of twenty rows writes IN (?, ?, ...), with as many
// parameters as it has rows: each length is another statement in a log. They are one
// operation, of which a plan has the length that is the nearest to the mean.

// literal begins the names of the parameters that a log has in the place of literals.
const literal = ":literal"

var (
	listed  = `(?:\?|:literal)`
	inList  = regexp.MustCompile(`(?i)\bIN ?\( ?` + listed + `(?: ?, ?` + listed + `)* ?\)`)
	rowList = regexp.MustCompile(`(?i)(\bVALUES ?)(\([^()]*\))(?: ?, ?\([^()]*\))+`)
)

// anyLength is the text of a statement without the lengths of its lists.
func anyLength(text string) string {
	text = inList.ReplaceAllString(unnamed(text), "IN (...)")
	return rowList.ReplaceAllString(text, "$1$2")
}

// unnamed is the text of a statement whose parameters are all written alike.
func unnamed(text string) string {
	return replaced(text, func(t sqltext.Token) string {
		if strings.HasPrefix(t.Text, literal) {
			return literal
		}
		return "?"
	})
}

// anyLengths is a key of several statements; what follows itself is one, as in a shape.
func anyLengths(all []string) string {
	short := make([]string, len(all))
	for i, text := range all {
		short[i] = anyLength(text)
	}
	return strings.Join(slices.Compact(short), "\n")
}

// mergeLists makes one shape of those that differ in the lengths of lists alone: the one
// whose length is the nearest to the mean stands for all.
func mergeLists(all []*shape) []*shape {
	groups := map[string][]*shape{}
	for _, s := range all {
		key := anyLengths(s.texts)
		groups[key] = append(groups[key], s)
	}
	var merged []*shape
	for _, group := range groups {
		chosen := nearestLength(group)
		for _, other := range group {
			if other != chosen {
				chosen.lengths++
				chosen.others += other.count
				chosen.nanos += other.nanos
			}
		}
		merged = append(merged, chosen)
	}
	place := map[*shape]int{}
	for i, s := range all {
		place[s] = i
	}
	slices.SortFunc(merged, func(a, b *shape) int { return cmp.Or(b.all()-a.all(), place[a]-place[b]) })
	return merged
}

// nearMean is how far from the mean length, in proportion, a shape may be.
const nearMean = 0.1

// nearestLength is the shape whose texts are the nearest to the mean length.
func nearestLength(group []*shape) *shape {
	total, count := 0.0, 0.0
	for _, s := range group {
		total += float64(s.count * s.length())
		count += float64(s.count)
	}
	mean := total / count
	off := func(s *shape) float64 {
		away := math.Abs(float64(s.length()) - mean)
		if away < nearMean*mean {
			return 0 // of these, the most frequent
		}
		return away
	}
	return slices.MinFunc(group, func(a, b *shape) int { return cmp.Or(cmp.Compare(off(a), off(b)), b.count-a.count) })
}

// length returns the length of the texts of a shape.
func (s *shape) length() (n int) {
	for _, text := range s.texts {
		n += len(text)
	}
	return n
}

// all returns how often a shape comes, with those for which it stands.
func (s *shape) all() int { return s.count + s.others }

// maxUnrolled is how often a statement of a log stands in an operation at most.
const maxUnrolled = 10

// unroll has statements of a log in an operation as often as they follow themselves
// there, as the lines of an order do: each with arguments of its own. It comes after
// the literals, which all of them have alike.
func (s *script) unroll() {
	if s.line > 0 || s.shape == nil || len(s.queries) != len(s.shape.steps) {
		return
	}
	var all []*query
	for i, step := range s.shape.steps {
		each := float64(step.times) / float64(s.shape.count)
		n := min(maxUnrolled, max(1, int(math.Round(each))))
		if math.Abs(each-float64(n)) > 0.05 {
			s.notes = append(s.notes, fmt.Sprintf("Statement %d comes %.3g times in a row in the log, and %s here.", i+1, each, times(n)))
		}
		all = append(all, s.queries[i])
		for range n - 1 {
			again := *s.queries[i]
			again.args, again.notes = slices.Clone(again.args), slices.Clone(again.notes)
			all = append(all, &again)
		}
	}
	s.queries = all
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
