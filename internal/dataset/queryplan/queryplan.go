// Package queryplan reads what SQLite's EXPLAIN QUERY PLAN prints.
package queryplan

import (
	"regexp"
	"strings"

	"assay/internal/plan/sqltext"
)

// Step says how a query reaches the rows of a table.
type Step struct {
	Table string // or index, or subquery in parentheses
	Scan  bool   // from end to end; otherwise by a search
	// Index is the name of the index that the rows are reached by, "the primary key of
	// TABLE" of that one; empty where there is none with a name.
	Index     string
	Automatic bool // by an index that is made for this query
	Virtual   bool // of a virtual table, which has its own ways
	Repeated  bool // once for each row of an outer loop or of the query around it
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

// Loops that are nested in each other follow one another. These lines begin other loops.
var (
	block      = regexp.MustCompile(`^\W*(?:\w[\w-]*: )?(?:CORRELATED )?(?:SCALAR SUBQUERY|LIST SUBQUERY|COMPOUND QUERY|LEFT-MOST SUBQUERY|UNION|INTERSECT|EXCEPT|MERGE|LEFT\s*$|RIGHT\s*$|SETUP|RECURSIVE STEP|USE TEMP B-TREE|CO-ROUTINE|MATERIALIZE|EXECUTE)`)
	correlated = regexp.MustCompile(`\bCORRELATED (?:SCALAR|LIST) SUBQUERY`)
	source     = regexp.MustCompile(`\b(?:CO-ROUTINE|MATERIALIZE) (\S+)`)
)

// Parse returns the steps of a plan, which has a line for each. Other lines, such as those of
// sorting, are left out.
func Parse(plan string) []Step {
	var steps []Step
	made, making := map[string]bool{}, false // what the plan makes rows of before it reads them; whether it still does
	outer, inside := 0, false                // loops of the block so far; whether it runs for each row of the query around it
	for line := range strings.Lines(plan) {
		if block.MatchString(line) {
			outer, inside, making = 0, correlated.MatchString(line), false
			if m := source.FindStringSubmatch(line); m != nil {
				made[m[1]], making = true, true
			}
		}
		m := step.FindStringSubmatch(line)
		if m == nil || strings.Contains(line, "CONSTANT ROW") {
			continue
		}
		s := Step{Table: m[2], Scan: m[1] == "SCAN", Automatic: automatic.MatchString(m[3]), Virtual: strings.Contains(m[3], "VIRTUAL TABLE")}
		if making && made[s.Table] { // they are made, and the query around begins to read them
			outer, making = 0, false
		}
		s.Repeated = outer > 0 || inside
		outer++
		if index := named.FindStringSubmatch(m[3]); index != nil {
			s.Index = index[1]
		} else if primary.MatchString(m[3]) {
			s.Index = "the primary key of " + m[2]
		}
		steps = append(steps, s)
	}
	return steps
}

// Tables are names of what a step may read, the likeliest first: those that stand in its query
// before the step's name, as a table does before its alias, and that name itself.
func Tables(query, name string) (all []string) {
	tokens, _ := sqltext.Scan(query)
	before := ""
	for _, token := range tokens {
		word, _ := token.Name()
		if before != "" && strings.EqualFold(word, name) {
			all = append(all, before)
		}
		if !token.Is("AS") {
			before = word
		}
	}
	return append(all, name)
}
