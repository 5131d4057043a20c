package gate

import (
	"cmp"
	"slices"
	"strings"

	"assay/internal/analysis/wording"
	"assay/internal/dataset/queryplan"
	"assay/internal/stat"
)

// access says how a query plan reaches its rows.
type access struct {
	indexes   []string // by name; a primary key by its table's
	repeated  int      // scans from end to end for each row of an outer loop or query
	scans     int      // of tables or indexes from end to end
	tables    int      // scans of whole tables, without an index
	automatic int      // indexes that are made for one query
}

// accessOf reads the lines of EXPLAIN QUERY PLAN.
func accessOf(plan string) access {
	var a access
	for _, step := range queryplan.Parse(plan) {
		if step.Scan {
			a.scans++
		}
		if step.Scan && step.Repeated {
			a.repeated++
		}
		switch {
		case step.Automatic:
			a.automatic++
		case step.Index != "":
			a.indexes = append(a.indexes, step.Index)
		case step.Scan:
			a.tables++
		}
	}
	return a
}

// worse reports whether a plan reads more than the one before. A scan for each row of an
// outer loop outweighs all that happens once, such as making an index.
func (a access) worse(before access) bool {
	if repeated := cmp.Compare(a.repeated, before.repeated); repeated != 0 {
		return repeated > 0
	}
	return a.scans > before.scans || a.tables > before.tables || a.automatic > before.automatic
}

// without are the elements of a that b does not have as often.
func without(a, b []string) []string {
	left := slices.Clone(b)
	var missing []string
	for _, name := range a {
		if i := slices.Index(left, name); i >= 0 {
			left = slices.Delete(left, i, i+1)
		} else {
			missing = append(missing, name)
		}
	}
	return missing
}

// difference returns what two plans do not share; where only the order of their lines differs,
// the lines that have moved.
func difference(base, head string) string {
	was, is := planLines(base), planLines(head)
	gone, added := without(was, is), without(is, was)
	if len(gone)+len(added) == 0 {
		for len(was) > 0 && was[0] == is[0] {
			was, is = was[1:], is[1:]
		}
		for len(was) > 0 && was[len(was)-1] == is[len(is)-1] {
			was, is = was[:len(was)-1], is[:len(is)-1]
		}
		gone, added = was, is
	}
	return joined(gone) + " -> " + joined(added)
}

func planLines(plan string) []string {
	var lines []string
	for line := range strings.Lines(plan) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

func joined(lines []string) string {
	if len(lines) == 0 {
		return "nothing"
	}
	return wording.Clean(strings.Join(lines, "; "))
}

// queryPlan compares how the rows are reached. A plan that reads more is worse, unless the
// figures show the opposite. Any other change is said and fails nothing: the figures show
// what it is worth. So a plan may need fewer indexes, such as one for all terms of an OR.
func (c *Cell) queryPlan(base, head string) {
	if slices.Equal(planLines(base), planLines(head)) {
		return
	}
	was, is := accessOf(base), accessOf(head)
	change := difference(base, head)
	if strings.ContainsRune(head, '│') { // a drawing of trees side by side
		change = "assay report --format json has both"
	}
	if c.Cost.N > 0 {
		change += "; time of the head / time of the base: " + wording.Times(c.Cost)
	}
	if !is.worse(was) || faster(c.Cost) {
		c.Notes = append(c.Notes, "the query plan changed: "+change)
		return
	}
	if lost := without(was.indexes, is.indexes); len(lost) > 0 {
		c.suspect(QueryPlan, "the query plan lost %s: %s", strings.Join(lost, ", "), change)
		return
	}
	c.suspect(QueryPlan, "the query plan is worse: %s", change)
}

// faster reports whether a cost shows that the head takes less time. Half the time is
// enough where launches are too few for an interval.
func faster(cost stat.Interval) bool {
	if cost.Known() {
		return cost.High < 1
	}
	return cost.N > 0 && cost.Center < 0.5
}
