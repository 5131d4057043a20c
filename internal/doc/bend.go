package doc

import (
	"fmt"

	"assay/internal/analysis/wording"
	"assay/internal/doc/chart"
)

// Bend says what the first curve does, and where it is flat: there its intervals overlap with that
// of its best point.
func Bend(l *chart.Lines, higherBetter bool) string {
	points := l.Series[0].Points
	last, best := len(points)-1, 0
	for i, p := range points {
		if gain := p.Y.Center - points[best].Y.Center; higherBetter && gain > 0 || !higherBetter && gain < 0 {
			best = i
		}
	}
	from, to := best, best
	for from > 0 && overlap(points[from-1].Y, points[best].Y) {
		from--
	}
	for to < last && overlap(points[to+1].Y, points[best].Y) {
		to++
	}
	at := func(i int) string { return l.X.Tick(points[i].X) }
	text := fmt.Sprintf("%sx from %s to %s", wording.Significant(points[last].Y.Center/points[0].Y.Center, 2), at(0), at(last))
	switch {
	case from == 0 && to == last:
		return text + ": undecided"
	case from > 0 && to < last && from == to:
		return "best at " + at(best)
	case from > 0 && to < last:
		return "best from " + at(from) + " to " + at(to)
	case from < to && from > 0:
		text += ", flat from " + at(from)
	case from < to:
		text += ", flat up to " + at(to)
	}
	return text
}

// overlap reports whether two intervals have a value in common, or one of them is unknown.
func overlap(a, b chart.Interval) bool {
	return !(a.High < b.Low || b.High < a.Low)
}
