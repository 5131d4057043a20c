package draft

import (
	"slices"
	"strings"

	"assay/internal/plan/sqltext"
)

type role string

const (
	unknown role = "unknown"
	equal   role = "equal"  // the column has this value
	oneOf   role = "one of" // the column has this value, or another one of a list
	limit   role = "limit"
	insert  role = "insert" // the column of a new row
	set     role = "set"    // the column of a changed row
)

// use is what an argument is for, and the column that it is used with.
type use struct {
	role   role
	table  *table // nil where it is not known
	column *column
	ref    *reference // that a compared column is of; nil where it is not known
	text   string     // what is compared, where it is computed from the column
	bare   bool       // nothing is computed from the argument before it is used
}

// analysis finds out what a statement's arguments are for. It reads tokens, not
// grammar: what it finds are guesses.
type analysis struct {
	*query
	schema *schema
	group  []int
	match  []int
	refs   []reference
	target *table    // of INSERT, UPDATE and DELETE
	listed []*column // that INSERT fills
}

func analyse(q *query, s *schema) *analysis {
	a := &analysis{query: q, schema: s, refs: references(q.tokens)}
	a.group, a.match = groups(q.tokens)
	if q.changes() && len(a.refs) > 0 {
		a.target = s.table(a.mainReference().table)
		a.listed = a.insertColumns()
	}
	return a
}

// mainReference is the table behind the statement's verb, not one of WITH.
func (a *analysis) mainReference() reference {
	for _, ref := range a.refs {
		if ref.group == -1 {
			return ref
		}
	}
	return a.refs[0]
}

// insertColumns are those listed behind INTO, or all.
func (a *analysis) insertColumns() []*column {
	if a.target == nil || a.verb != "INSERT" && a.verb != "REPLACE" {
		return nil
	}
	for i := max(a.top("INTO"), 0); i < len(a.tokens) && !a.tokens[i].Is("VALUES") && !a.tokens[i].Is("SELECT"); i++ {
		if a.tokens[i].Kind != '(' {
			continue
		}
		var columns []*column
		for j := i + 1; j < a.match[i]; j++ {
			if name, ok := a.tokens[j].Name(); ok {
				columns = append(columns, a.target.column(name))
			}
		}
		return columns
	}
	var columns []*column
	for _, c := range a.target.columns {
		if !c.hidden {
			columns = append(columns, c)
		}
	}
	return columns
}

// uses returns what each argument is for. One that stands in several places is
// known by the first that tells.
func (a *analysis) uses() []use {
	all := make([]use, len(a.args))
	for i := range all {
		all[i].role = unknown
	}
	for i, t := range a.tokens {
		if !t.Parameter() {
			continue
		}
		n := a.argument[i]
		if all[n].role == unknown {
			all[n] = a.around(i, i)
		}
	}
	return all
}

// around looks at what is beside an expression, then beside the parentheses or
// the function that it stands in.
func (a *analysis) around(from, to int) use {
	bare := from == to
	for {
		for _, look := range []func(int, int) use{a.before, a.after, a.assigned, a.inserted} {
			if u := look(from, to); u.role != "" {
				u.bare = bare && a.alone(from, to)
				return u
			}
		}
		open := a.group[from]
		if open < 0 {
			return use{role: unknown}
		}
		if u := a.listedIn(open, from); u.role != "" {
			u.bare = bare && a.alone(from, to)
			return u
		}
		from, to, bare = open, a.match[open], false
		if from > 0 && a.tokens[from-1].Kind == sqltext.Word && !a.keyword(from-1) {
			from--
		}
	}
}

// alone reports whether nothing but commas and parentheses is beside.
func (a *analysis) alone(from, to int) bool {
	beside := func(i int) bool {
		return i < 0 || i >= len(a.tokens) || strings.IndexByte("(),=", a.tokens[i].Kind) >= 0 || a.keyword(i)
	}
	return beside(from-1) && beside(to+1)
}

var keywords = strings.Fields("SELECT FROM WHERE SET VALUES LIMIT OFFSET HAVING ON BY RETURNING USING DO AND OR NOT IN IS LIKE GLOB MATCH " +
	"REGEXP BETWEEN ORDER GROUP CASE WHEN THEN ELSE END AS DISTINCT ALL UNION EXCEPT INTERSECT EXISTS ESCAPE JOIN")

func (a *analysis) keyword(i int) bool { return slices.ContainsFunc(keywords, a.tokens[i].Is) }

// before looks at the operator to the left.
func (a *analysis) before(from, _ int) use {
	p := from - 1
	for a.inGroup(p-2, from) && a.tokens[p].Kind == '|' && a.tokens[p-1].Kind == '|' { // '%' || ?
		p -= 3
	}
	if !a.inGroup(p, from) {
		return use{}
	}
	t := a.tokens[p]
	switch {
	case t.Is("LIMIT") && from+1 < len(a.tokens) && a.tokens[from+1].Kind == ',':
		return use{role: unknown}
	case t.Is("LIMIT"), t.Kind == ',' && a.clause(from) == "LIMIT":
		return use{role: limit}
	case t.Is("IS"):
		return a.with(equal, p-1)
	case slices.ContainsFunc([]string{"OFFSET", "LIKE", "GLOB", "MATCH", "BETWEEN", "NOT"}, t.Is):
		return use{role: unknown}
	}
	operator, left := a.operatorEnding(p)
	return a.compared(operator, left)
}

// compared is a column on the left of an operator.
func (a *analysis) compared(operator string, left int) use {
	if operator == "" || a.clause(left) == "SET" {
		return use{}
	}
	return a.with(roles[operator], left)
}

var roles = map[string]role{"=": equal, "==": equal, "<>": unknown, "!=": unknown, "<": unknown, "<=": unknown, ">": unknown, ">=": unknown}

// operatorEnding reads an operator backwards and returns what is before it.
func (a *analysis) operatorEnding(p int) (string, int) {
	operator := ""
	for p >= 0 && strings.IndexByte("<>=!", a.tokens[p].Kind) >= 0 {
		operator = a.tokens[p].Text + operator
		p--
	}
	return operator, p
}

// after looks at the operator to the right.
func (a *analysis) after(_, to int) use {
	n := to + 1
	if !a.inGroup(n, to) {
		return use{}
	}
	operator := ""
	for a.inGroup(n, to) && strings.IndexByte("<>=!", a.tokens[n].Kind) >= 0 {
		operator += a.tokens[n].Text
		n++
	}
	if r := roles[operator]; r != "" && a.clause(to) != "SET" {
		return a.withNext(r, n)
	}
	return use{}
}

// inGroup reports whether a place is in the same parentheses as another.
func (a *analysis) inGroup(p, other int) bool {
	return p >= 0 && p < len(a.tokens) && a.group[p] == a.group[other]
}

// clause is the word that begins the part of a statement that a token is in.
func (a *analysis) clause(at int) string {
	for p := at; p >= 0; p-- {
		if a.group[p] == a.group[at] && slices.ContainsFunc(clauses, a.tokens[p].Is) {
			return strings.ToUpper(a.tokens[p].Text)
		}
	}
	return ""
}

var clauses = strings.Fields("SELECT FROM WHERE SET VALUES LIMIT HAVING ON BY RETURNING USING DO")

// assigned finds the column of a part of SET, such as a = ? or a = a + ?.
func (a *analysis) assigned(from, _ int) use {
	if a.clause(from) != "SET" || a.target == nil {
		return use{}
	}
	p := from
	for p > 0 && !(a.group[p] == a.group[from] && (a.tokens[p].Kind == ',' || a.tokens[p].Is("SET"))) {
		p--
	}
	name, _ := a.tokens[p+1].Name()
	return use{role: set, table: a.target, column: a.target.column(name)}
}

// inserted finds the column that a value of INSERT ... SELECT is for.
func (a *analysis) inserted(from, _ int) use {
	if a.listed == nil || a.group[from] != -1 || a.clause(from) != "SELECT" {
		return use{}
	}
	start := from
	for start > 0 && !(a.group[start] == -1 && a.tokens[start].Is("SELECT")) {
		start--
	}
	return a.newValue(a.position(start, from))
}

func (a *analysis) newValue(i int) use {
	if i >= len(a.listed) {
		return use{}
	}
	return use{role: insert, table: a.target, column: a.listed[i]}
}

// position counts the commas between two places of the same parentheses.
func (a *analysis) position(start, end int) int {
	n := 0
	for p := start; p < end; p++ {
		if a.tokens[p].Kind == ',' && a.group[p] == a.group[end] {
			n++
		}
	}
	return n
}

// listedIn finds what an element of a list in parentheses is for: of VALUES, of
// IN, or of a row that is compared with another.
func (a *analysis) listedIn(open, element int) use {
	if open == 0 {
		return use{}
	}
	before := open - 1
	i := a.position(open, element)
	if a.listed != nil && a.group[open] == -1 && a.clause(open) == "VALUES" {
		return a.newValue(i)
	}
	if a.tokens[before].Is("IN") {
		if before > 0 && a.tokens[before-1].Is("NOT") {
			return use{role: unknown}
		}
		return a.with(oneOf, before-1)
	}
	operator, left := a.operatorEnding(before)
	if roles[operator] == "" || left < 0 || a.tokens[left].Kind != ')' {
		return use{}
	}
	return a.inRow(operator, left, i)
}

// inRow is the column number i of a row, which ends at end: (a, b) = (?, ?).
func (a *analysis) inRow(operator string, end, i int) use {
	for p := a.match[end] + 1; p < end; p++ {
		if a.position(a.match[end], p) != i || a.group[p] != a.match[end] {
			continue
		}
		if a.clause(end) == "SET" && a.target != nil {
			name, _ := a.tokens[p].Name()
			return use{role: set, table: a.target, column: a.target.column(name)}
		}
		return a.withNext(roles[operator], p)
	}
	return use{}
}

// with is a use with the column that ends at a place.
func (a *analysis) with(r role, end int) use {
	u := use{role: r}
	if end >= 1 && a.tokens[end-1].Is("COLLATE") {
		end -= 2
	}
	if end < 0 {
		return u
	}
	if a.tokens[end].Kind == ')' {
		open := a.match[end]
		if open == 0 || a.tokens[open-1].Kind != sqltext.Word || a.keyword(open-1) ||
			slices.ContainsFunc(a.tokens[open:end], func(t sqltext.Token) bool { return t.Parameter() || t.Is("SELECT") }) {
			return use{role: unknown}
		}
		u.text = a.sql[a.tokens[open-1].From:a.tokens[end].To]
		for p := open + 1; p < end && u.column == nil; p++ {
			u.ref, u.column = a.columnEnding(p)
		}
	} else {
		u.ref, u.column = a.columnEnding(end)
	}
	if u.column != nil {
		u.table = u.column.table
	}
	return u
}

// withNext is a use with the column that begins at a place.
func (a *analysis) withNext(r role, start int) use {
	end := start
	for end+2 < len(a.tokens) && a.tokens[end+1].Kind == '.' {
		end += 2
	}
	if end+1 < len(a.tokens) && a.tokens[end+1].Kind == '(' {
		end = a.match[end+1]
	}
	if end >= len(a.tokens) {
		return use{role: r}
	}
	return a.with(r, end)
}

// columnEnding finds the column whose name ends at a place, of the table that stands before it
// or of one of those around it.
func (a *analysis) columnEnding(end int) (*reference, *column) {
	name, ok := a.tokens[end].Name()
	if !ok {
		return nil, nil
	}
	qualifier := ""
	if end >= 2 && a.tokens[end-1].Kind == '.' {
		qualifier, _ = a.tokens[end-2].Name()
	}
	for group := a.group[end]; ; group = a.group[group] {
		for i, ref := range a.refs {
			if ref.group != group || qualifier != "" && !strings.EqualFold(ref.alias, qualifier) {
				continue
			}
			if t := a.schema.table(ref.table); t != nil && t.column(name) != nil {
				return &a.refs[i], t.column(name)
			}
		}
		if group < 0 {
			return nil, nil
		}
	}
}
