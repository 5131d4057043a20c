package draft

import (
	"slices"
	"strings"

	"assay/internal/plan/sqltext"
)

type role string

const (
	unknown role = "unknown"
	equal   role = "equal"  // the column has this value, or one of a list
	limit   role = "limit"  //
	insert  role = "insert" // the column of a new row
	set     role = "set"    // the column of a changed row
)

// use says what an argument is for, and the column that it is used with.
type use struct {
	role   role
	column *column    // nil where it is not known
	ref    *reference // that a compared column is of
	text   string     // what is compared, where it is computed from the column
}

// reference is a table that a statement names.
type reference struct {
	table string
	alias string // or the table's name
	group int    // the parenthesis that it stands in
}

// analysis finds out what a statement's arguments are for: those that stand alone beside an
// equality, in a list of values or behind LIMIT. Of all others it says nothing.
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
	if i := slices.IndexFunc(a.refs, func(ref reference) bool { return ref.group == -1 }); q.changes() && i >= 0 {
		a.target = s.table(a.refs[i].table)
		a.listed = a.insertColumns()
	}
	return a
}

// groups says, for each token, in which parenthesis it stands, and where a
// parenthesis ends. A parenthesis is known by the place of its opening token;
// -1 is around all.
func groups(tokens []sqltext.Token) (group, match []int) {
	group, match = make([]int, len(tokens)), make([]int, len(tokens))
	open := []int{-1}
	for i, t := range tokens {
		if last := len(open) - 1; t.Kind == ')' && last > 0 {
			match[i], match[open[last]] = open[last], i
			open = open[:last]
		}
		group[i] = open[len(open)-1]
		if t.Kind == '(' {
			open = append(open, i)
			match[i] = len(tokens) - 1 // unless it is closed
		}
	}
	return group, match
}

// references finds the tables behind FROM, JOIN, INTO and UPDATE. A table's name may be a
// keyword, so that its place tells it, and an alias is what stands before a dot elsewhere.
func references(tokens []sqltext.Token) (all []reference) {
	group, match := groups(tokens)
	kind := func(i int) byte { return kindAt(tokens, i) }
	from := map[int]bool{} // groups whose FROM goes on: a comma brings another table
	for i, t := range tokens {
		switch {
		case slices.ContainsFunc(clauses, t.Is), t.Is("JOIN"):
			from[group[i]] = t.Is("FROM") || t.Is("JOIN")
		}
		at := i + 1
		if !t.Is("FROM") && !t.Is("JOIN") && !t.Is("INTO") && !t.Is("UPDATE") && !(t.Kind == ',' && from[group[i]]) {
			continue
		}
		if t.Is("UPDATE") && kind(at) != 0 && tokens[at].Is("OR") {
			at += 2
		}
		if kind(at) == '(' {
			at++ // of joined tables; a subquery is no name
		}
		if kind(at+1) == '.' { // main.table
			at += 2
		}
		if at >= len(tokens) || slices.ContainsFunc(clauses, tokens[at].Is) {
			continue
		}
		name, ok := tokens[at].Name()
		if !ok {
			continue
		}
		ref := reference{table: name, alias: name, group: group[i]}
		if at++; kind(at) == '(' && !t.Is("INTO") { // arguments of a function
			at = match[at] + 1
		}
		if kind(at) != 0 && tokens[at].Is("AS") {
			at++
		}
		if alias, ok := nameAt(tokens, at); ok && qualifies(tokens, alias) {
			ref.alias = alias
		}
		all = append(all, ref)
	}
	return all
}

func nameAt(tokens []sqltext.Token, at int) (string, bool) {
	if at >= len(tokens) {
		return "", false
	}
	return tokens[at].Name()
}

// qualifies reports whether a name stands before a dot.
func qualifies(tokens []sqltext.Token, name string) bool {
	for i := 1; i < len(tokens); i++ {
		if before, ok := tokens[i-1].Name(); tokens[i].Kind == '.' && ok && strings.EqualFold(before, name) {
			return true
		}
	}
	return false
}

// insertColumns returns the columns listed behind INTO, or all.
func (a *analysis) insertColumns() (columns []*column) {
	if a.target == nil || a.verb != "INSERT" && a.verb != "REPLACE" {
		return nil
	}
	for i := max(a.top("INTO"), 0); i < len(a.tokens) && !a.tokens[i].Is("VALUES") && !a.tokens[i].Is("SELECT"); i++ {
		if a.tokens[i].Kind != '(' {
			continue
		}
		for j := i + 1; j < a.match[i]; j++ {
			if name, ok := a.tokens[j].Name(); ok {
				columns = append(columns, a.target.column(name))
			}
		}
		return columns
	}
	return slices.DeleteFunc(slices.Clone(a.target.columns), func(c *column) bool { return c.hidden })
}

// uses returns what each argument is for. One that stands in several places is
// known by the first that tells.
func (a *analysis) uses() []use {
	all := make([]use, len(a.args))
	for i, t := range a.tokens {
		if n := a.argument[i]; t.Parameter() && all[n].column == nil && all[n].role != limit {
			all[n] = a.at(i)
		}
	}
	return all
}

// at returns what the argument at a place is for. What is computed from it is not known.
func (a *analysis) at(i int) use {
	begins := a.kind(i-1) == '(' || a.kind(i-1) == ','
	ends := i+1 == len(a.tokens) || a.kind(i+1) == ')' || a.kind(i+1) == ',' || a.kind(i+1) == ';'
	clause := a.clause(i)
	switch open := a.group[i]; {
	case clause == "LIMIT" && a.kind(i+1) != ',' && (a.tokens[i-1].Is("LIMIT") || a.kind(i-1) == ','):
		return use{role: limit}
	case begins && ends && open > 0:
		return a.element(open, a.position(open, i))
	case a.listed != nil && open == -1 && clause == "SELECT" && (begins || a.tokens[i-1].Is("SELECT")) && (ends || a.tokens[i+1].Kind == sqltext.Word):
		start := i
		for !(a.group[start] == -1 && a.tokens[start].Is("SELECT")) {
			start--
		}
		return a.inserted(a.position(start, i))
	}
	if operator, left := a.operatorEnding(i - 1); equality(operator) && left >= 0 && (ends || a.tokens[i+1].Kind == sqltext.Word) {
		if clause == "SET" && a.target != nil && (left == 0 || a.kind(left-1) == ',' || a.tokens[left-1].Is("SET")) {
			name, _ := a.tokens[left].Name()
			return use{role: set, column: a.target.column(name)}
		}
		if clause != "SET" {
			return a.with(left)
		}
	}
	n := i + 1
	for a.kind(n) == '=' {
		n++
	}
	if n > i+1 && n < len(a.tokens) && clause != "SET" && (begins || i > 0 && a.tokens[i-1].Kind == sqltext.Word) {
		for a.kind(n+1) == '.' {
			n += 2
		}
		if a.kind(n+1) == '(' {
			n = a.match[n+1]
		}
		return a.with(min(n, len(a.tokens)-1))
	}
	return use{role: unknown}
}

func (a *analysis) kind(i int) byte { return kindAt(a.tokens, i) }

// kindAt returns the kind of a token; 0 where there is none.
func kindAt(tokens []sqltext.Token, i int) byte {
	if i < 0 || i >= len(tokens) {
		return 0
	}
	return tokens[i].Kind
}

func equality(operator string) bool { return operator == "=" || operator == "==" || operator == "IS" }

// operatorEnding reads an operator backwards and returns what is before it.
func (a *analysis) operatorEnding(p int) (operator string, left int) {
	if p >= 0 && a.tokens[p].Is("IS") {
		return "IS", p - 1
	}
	for p >= 0 && strings.IndexByte("<>=!", a.tokens[p].Kind) >= 0 {
		operator = a.tokens[p].Text + operator
		p--
	}
	return operator, p
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

// clauses are words that cannot be names.
var clauses = strings.Fields("SELECT FROM WHERE SET VALUES LIMIT HAVING ON RETURNING USING")

// inserted is a value of a new row, by its position.
func (a *analysis) inserted(i int) use {
	if i >= len(a.listed) {
		return use{role: unknown}
	}
	return use{role: insert, column: a.listed[i]}
}

// position counts the commas between two places of the same parentheses.
func (a *analysis) position(start, end int) (n int) {
	for p := start; p < end; p++ {
		if a.tokens[p].Kind == ',' && a.group[p] == a.group[end] {
			n++
		}
	}
	return n
}

// element returns what number i of a list in parentheses is for: of VALUES, of IN, or of a row that
// is compared with another or stored in it.
func (a *analysis) element(open, i int) use {
	before := open - 1
	switch {
	case a.listed != nil && a.group[open] == -1 && a.clause(open) == "VALUES":
		return a.inserted(i)
	case a.tokens[before].Is("IN") && before > 0 && !a.tokens[before-1].Is("NOT"):
		return a.with(before - 1)
	}
	operator, end := a.operatorEnding(before)
	if !equality(operator) || a.kind(end) != ')' {
		return use{role: unknown}
	}
	for p := a.match[end] + 1; p < end; p++ {
		if a.group[p] != a.match[end] || a.position(a.match[end], p) != i || a.kind(p+1) == '.' || a.kind(p) == '.' {
			continue
		}
		if name, ok := a.tokens[p].Name(); ok && a.clause(end) == "SET" && a.target != nil {
			return use{role: set, column: a.target.column(name)}
		}
		return a.with(p)
	}
	return use{role: unknown}
}

// with is an equality with the column that ends at a place, or with a function of it.
func (a *analysis) with(end int) use {
	u := use{role: equal}
	if end >= 2 && a.tokens[end-1].Is("COLLATE") {
		end -= 2
	}
	if end < 0 {
		return use{role: unknown}
	}
	if a.kind(end) != ')' {
		u.ref, u.column = a.columnEnding(end)
		return u
	}
	open := a.match[end]
	if open == 0 || a.kind(open-1) != sqltext.Word ||
		slices.ContainsFunc(a.tokens[open:end], func(t sqltext.Token) bool { return t.Parameter() || t.Is("SELECT") }) {
		return use{role: unknown}
	}
	u.text = a.sql[a.tokens[open-1].From:a.tokens[end].To]
	for p := open + 1; p < end && u.column == nil; p++ {
		u.ref, u.column = a.columnEnding(p)
	}
	return u
}

// columnEnding finds the column whose name ends at a place, of the table that stands before it
// or of one of those around it.
func (a *analysis) columnEnding(end int) (*reference, *column) {
	name, ok := a.tokens[end].Name()
	if !ok {
		return nil, nil
	}
	qualifier := ""
	if a.kind(end-1) == '.' {
		qualifier, _ = nameAt(a.tokens, end-2)
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
