// Package queryplan reads what SQLite's EXPLAIN QUERY PLAN prints.
package queryplan

import (
	"regexp"
	"strings"
)

// Step is how a query reaches the rows of a table.
type Step struct {
	Table string // or index, or subquery in parentheses
	Scan  bool   // from end to end; otherwise by a search
	// Index is the name of the index that the rows are reached by, "the primary key of
	// TABLE" of that one; empty where there is none with a name.
	Index     string
	Automatic bool // by an index that is made for this query
	Virtual   bool // of a virtual table, which has its own ways
}

// Unindexed reports whether a table is read from end to end without any index.
func (s Step) Unindexed() bool {
	return s.Scan && s.Index == "" && !s.Automatic && !s.Virtual && !strings.HasPrefix(s.Table, "(")
}

var (
	step      = regexp.MustCompile(`\b(SCAN|SEARCH) (?:TABLE )?(\S+)(.*)`)
	automatic = regexp.MustCompile(`USING AUTOMATIC (?:PARTIAL )?(?:COVERING )?INDEX`)
	named     = regexp.MustCompile(`USING (?:COVERING )?INDEX (\S+)`)
	primary   = regexp.MustCompile(`USING (?:INTEGER )?PRIMARY KEY`)
)

// Parse returns the steps of a plan, which has a line for each. Other lines, such as those of
// sorting, are left out.
func Parse(plan string) []Step {
	var steps []Step
	for line := range strings.Lines(plan) {
		m := step.FindStringSubmatch(line)
		if m == nil || strings.Contains(line, "CONSTANT ROW") {
			continue
		}
		s := Step{Table: m[2], Scan: m[1] == "SCAN", Automatic: automatic.MatchString(m[3]), Virtual: strings.Contains(m[3], "VIRTUAL TABLE")}
		if index := named.FindStringSubmatch(m[3]); index != nil {
			s.Index = index[1]
		} else if primary.MatchString(m[3]) {
			s.Index = "the primary key of " + m[2]
		}
		steps = append(steps, s)
	}
	return steps
}
