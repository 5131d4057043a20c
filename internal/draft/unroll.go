package draft

import (
	"fmt"
	"math"
	"slices"
)

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
