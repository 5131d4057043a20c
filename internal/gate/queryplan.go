package gate

import (
	"slices"
	"strings"

	"assay/internal/queryplan"
)

// access is how a query plan reaches its rows.
type access struct {
	indexes   []string // by name; a primary key by its table's
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

// queryPlan compares how the rows are reached. A plan that scans more tables or
// indexes, scans a table instead of an index, or makes more indexes for one query
// is worse. Any other change is said and fails nothing: the figures show what it
// is worth. So a plan may need fewer indexes, such as one for all terms of an OR.
func (c *Cell) queryPlan(base, head string) {
	if base == head {
		return
	}
	was, is := accessOf(base), accessOf(head)
	change := flat(base) + " -> " + flat(head)
	if is.scans <= was.scans && is.tables <= was.tables && is.automatic <= was.automatic {
		c.Notes = append(c.Notes, "the query plan changed: "+change)
		return
	}
	if lost := without(was.indexes, is.indexes); len(lost) > 0 {
		c.suspect(QueryPlan, "the query plan lost %s: %s", strings.Join(lost, ", "), change)
		return
	}
	c.suspect(QueryPlan, "the query plan is worse: %s", change)
}
