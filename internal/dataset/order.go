package dataset

import (
	"fmt"
	"slices"
	"strings"

	"assay"
	"assay/internal/plan/sqltext"
)

// InOrder returns an operation whose queries order their rows by all columns behind their
// own ORDER BY: the rows that the SQL leaves in any order, and those that a LIMIT chooses
// among them, are then the same for every engine and query plan. It is false where no query
// can be written so.
func InOrder(op assay.Operation, descending bool) (assay.Operation, bool) {
	op.Steps = slices.Clone(op.Steps)
	any := false
	for i, step := range op.Steps {
		if !step.Query {
			continue
		}
		sql, can := inOrder(step.SQL, len(step.Returns), descending)
		if can {
			op.Steps[i].SQL = sql
			any = true
		}
	}
	return op, any
}

// QueryInOrder is InOrder of one query.
func QueryInOrder(q assay.Query, descending bool) (assay.Query, bool) {
	sql, can := inOrder(q.SQL, len(q.Returns), descending)
	q.SQL = sql
	return q, can
}

func inOrder(sql string, columns int, descending bool) (string, bool) {
	tokens, whole := sqltext.Scan(sql)
	if !whole || columns == 0 || !selects(tokens) {
		return sql, false
	}
	direction := " NULLS FIRST"
	if descending {
		direction = " DESC NULLS LAST"
	}
	terms := make([]string, columns)
	for i := range terms {
		terms[i] = fmt.Sprint(i+1, direction)
	}
	ordered, end := orderOf(tokens)
	before := " ORDER BY "
	if ordered {
		before = ", "
	}
	return sql[:end] + before + strings.Join(terms, ", ") + " " + sql[end:], true
}

func selects(tokens []sqltext.Token) bool {
	return len(tokens) > 0 && (tokens[0].Is("SELECT") || tokens[0].Is("WITH")) &&
		!slices.ContainsFunc(tokens, func(t sqltext.Token) bool { return t.Depth == 0 && t.Is("RETURNING") })
}

// orderOf reports whether a query has an ORDER BY of its own, and where its terms end or
// would stand.
func orderOf(tokens []sqltext.Token) (ordered bool, end int) {
	for i, t := range tokens {
		switch {
		case t.Depth > 0:
		case t.Is("ORDER") && i+1 < len(tokens) && tokens[i+1].Is("BY"):
			ordered = true
		case t.Is("LIMIT") || t.Kind == ';':
			return ordered, t.From
		}
		end = t.To
	}
	return ordered, end
}

// unordered reports whether a query leaves the order of its rows open.
func unordered(sql string) bool {
	tokens, _ := sqltext.Scan(sql)
	ordered, _ := orderOf(tokens)
	return !ordered
}

// TextVaries reports whether SQL may rightly do or answer something else when it is run
// again.
func TextVaries(sql string) bool {
	tokens, _ := sqltext.Scan(sql)
	found, _ := sqltext.Varying(tokens)
	return found != ""
}

// Varies reports whether an operation without parts may rightly answer otherwise when
// it is run again.
func Varies(op assay.Operation) bool {
	return slices.ContainsFunc(op.Steps, func(step assay.Step) bool {
		return TextVaries(step.SQL) || slices.ContainsFunc(step.Args, func(v assay.Values) bool {
			return strings.Contains(strings.ToLower(v.Query), "'now'")
		})
	})
}
