package oracle

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"assay/internal/plan/sqltext"
)

// writing is what a statement makes of a column's value.
type writing int

const (
	assigned writing = iota // a value that follows from arguments alone
	added                   // a number more or less: the order of several does not matter
	computed                // anything else
)

// effect is what a statement does to a table, as far as its text says that.
type effect struct {
	table string
	// decided tells that the order decides which rows it changes, or that nobody
	// knows. Keyless is an INSERT whose rows get their keys from the engine, in the
	// order of the statements.
	decided, keyless bool
	// counted tells that it changes the number of rows by the same, whatever else
	// is done.
	counted bool
	// conditions are the columns that decide which rows it changes; sets are those
	// of rows that are there already.
	conditions []string
	sets       []setting
	replaces   bool // it may remove other rows that a unique index has
	// kept are the columns of an INSERT that a conflict leaves as they are.
	kept []string
}

// setting is a column that is set, from others.
type setting struct {
	column string
	how    writing
	from   []string
}

// effectsOf reads what statements do. It fails where not even the table can be
// told. Null tells which arguments may be NULL.
func effectsOf(tokens []sqltext.Token, table func(name string) *table, null func(argument int) bool) ([]effect, error) {
	var all []effect
	for _, statement := range sqltext.Statements(tokens) {
		p := &reader{tokens: statement, table: table, null: null}
		switch verb := sqltext.Verb(statement); {
		case verb == "SELECT", verb == "VALUES", verb == "SAVEPOINT", verb == "RELEASE":
			continue
		case statement[0].Is("WITH"): // what it defines can be anything
		case verb == "INSERT" || verb == "REPLACE":
			p.insert()
		case verb == "UPDATE":
			p.update()
		case verb == "DELETE":
			p.delete()
		}
		if p.effect.table == "" {
			return nil, errors.New("it cannot be told what the statement changes: " + statement[0].Text)
		}
		all = append(all, p.effect)
	}
	return all, nil
}

// reader reads one statement from its beginning.
type reader struct {
	tokens    []sqltext.Token
	arguments int                      // that were passed, without a number of their own
	table     func(name string) *table // nil: it holds no rows of its own
	null      func(argument int) bool
	effect    effect
}

// word passes a word, if it is next.
func (r *reader) word(word string) bool {
	if len(r.tokens) == 0 || !r.tokens[0].Is(word) {
		return false
	}
	r.tokens = r.tokens[1:]
	return true
}

// target passes the name of the table.
func (r *reader) target() {
	if len(r.tokens) > 2 && r.tokens[0].Is("main") && r.tokens[1].Kind == '.' {
		r.tokens = r.tokens[2:]
	}
	if len(r.tokens) == 0 {
		return
	}
	if name, ok := r.tokens[0].Name(); ok {
		r.effect.table, r.tokens = strings.ToLower(name), r.tokens[1:]
	}
}

// until passes what stands before the first of some words, outside of parentheses.
func (r *reader) until(words ...string) []sqltext.Token {
	end := slices.IndexFunc(r.tokens, func(t sqltext.Token) bool {
		return t.Depth == 0 && slices.ContainsFunc(words, t.Is)
	})
	if end < 0 {
		end = len(r.tokens)
	}
	passed := r.tokens[:end]
	r.tokens = r.tokens[end:]
	return passed
}

// list passes what stands in parentheses, parted at its commas.
func (r *reader) list() (items [][]sqltext.Token, ok bool) {
	if len(r.tokens) == 0 || r.tokens[0].Kind != '(' {
		return nil, false
	}
	depth := r.tokens[0].Depth
	end := slices.IndexFunc(r.tokens, func(t sqltext.Token) bool { return t.Kind == ')' && t.Depth == depth })
	if end < 0 {
		return nil, false
	}
	inside := r.tokens[1:end]
	r.tokens = r.tokens[end+1:]
	return parted(inside, depth+1), true
}

// names are the items that are names, in small letters; others are empty.
func names(items [][]sqltext.Token) []string {
	all := make([]string, len(items))
	for i, item := range items {
		if len(item) == 1 {
			name, _ := item[0].Name()
			all[i] = strings.ToLower(name)
		}
	}
	return all
}

func (r *reader) keys() (names []string) {
	if t := r.table(r.effect.table); t != nil {
		for _, c := range t.key {
			names = append(names, strings.ToLower(t.columns[c]))
		}
	}
	return names
}

// parted parts tokens at the commas of a depth.
func parted(tokens []sqltext.Token, depth int) (items [][]sqltext.Token) {
	start := 0
	for i := range len(tokens) + 1 {
		if i == len(tokens) || tokens[i].Kind == ',' && tokens[i].Depth == depth {
			items = append(items, tokens[start:i])
			start = i + 1
		}
	}
	return items
}

// update reads UPDATE table SET column = value, ... WHERE condition.
func (r *reader) update() {
	if r.word("UPDATE"); r.word("OR") {
		r.effect.decided = true
		r.tokens = r.tokens[min(1, len(r.tokens)):]
	} else {
		r.effect.counted = true
	}
	r.target()
	if !r.word("SET") {
		r.effect.decided = true
		return
	}
	r.set()
	r.where()
}

// set passes assignments.
func (r *reader) set() {
	for _, one := range parted(r.until("WHERE", "FROM", "RETURNING", "ORDER", "LIMIT"), 0) {
		name, ok := "", len(one) > 2 && one[1].Kind == '='
		if ok {
			name, ok = one[0].Name()
		}
		if !ok {
			r.effect.decided = true
			return
		}
		how, from := valueOf(name, one[2:])
		r.effect.sets = append(r.effect.sets, setting{strings.ToLower(name), how, from})
	}
}

// where passes the condition and what answers rows. Anything else behind them
// chooses rows by more than they are.
func (r *reader) where() {
	if r.word("WHERE") {
		condition, ok := columnsOf(r.until("RETURNING", "ORDER", "LIMIT"))
		r.effect.conditions = condition
		r.effect.decided = r.effect.decided || !ok
	}
	if len(r.tokens) > 0 && !r.tokens[0].Is("RETURNING") {
		r.effect.decided = true
	}
}

func (r *reader) delete() {
	if r.word("DELETE"); r.word("FROM") {
		r.target()
		r.where()
	}
}

// insert reads INSERT INTO table (columns) VALUES (values), ... ON CONFLICT (key)
// DO UPDATE SET column = value, ...
func (r *reader) insert() {
	e := &r.effect
	e.counted = true
	if e.replaces = r.word("REPLACE"); !e.replaces && r.word("INSERT") && r.word("OR") {
		e.replaces = r.word("REPLACE")
		e.decided = !e.replaces && !r.word("ABORT")
		r.until("INTO")
	}
	if e.replaces || e.decided {
		e.counted = false
	}
	r.word("INTO")
	r.target()
	var columns []string
	if t := r.table(e.table); t != nil {
		columns = t.inserted()
	}
	if items, ok := r.list(); ok {
		columns = names(items)
	}
	if !r.word("VALUES") { // of a query, or DEFAULT VALUES
		e.decided, e.counted = true, false
		return
	}
	for {
		items, ok := r.list()
		if !ok {
			e.decided, e.counted = true, false
			return
		}
		r.row(columns, items)
		if len(r.tokens) == 0 || r.tokens[0].Kind != ',' {
			break
		}
		r.tokens = r.tokens[1:]
	}
	r.conflict(columns)
}

func (r *reader) row(columns []string, values [][]sqltext.Token) {
	keys, given := r.keys(), 0
	for i, value := range values {
		if read, ok := columnsOf(value); !ok || len(read) > 0 {
			r.effect.decided = true
		}
		if i < len(columns) && slices.Contains(keys, columns[i]) && !r.mayBeNull(value) {
			given++
		}
		r.arguments += parameters(value)
	}
	if given < len(keys) {
		r.effect.keyless = true
	}
}

func parameters(tokens []sqltext.Token) (count int) {
	for _, t := range tokens {
		if t.Kind == sqltext.Numbered && t.Text == "?" {
			count++
		}
	}
	return count
}

// mayBeNull reports whether a key may be missing, so that the engine gives one.
func (r *reader) mayBeNull(value []sqltext.Token) bool {
	passed := r.arguments
	return slices.ContainsFunc(value, func(t sqltext.Token) bool {
		if t.Kind != sqltext.Numbered {
			return t.Kind == sqltext.Word || t.Kind == sqltext.Named
		}
		if number, err := strconv.Atoi(t.Text[1:]); err == nil {
			return r.null(number - 1)
		}
		passed++
		return r.null(passed - 1)
	})
}

// conflict reads what becomes of a row that is there already.
func (r *reader) conflict(columns []string) {
	e := &r.effect
	if !r.word("ON") {
		e.decided = e.decided || len(r.tokens) > 0 && !r.tokens[0].Is("RETURNING")
		return
	}
	e.counted = false
	r.word("CONFLICT")
	items, _ := r.list()
	target, keys := names(items), r.keys()
	if len(target) != len(keys) || slices.ContainsFunc(target, func(c string) bool { return !slices.Contains(keys, c) }) ||
		!r.word("DO") || !r.word("UPDATE") || !r.word("SET") {
		e.decided = true
		return
	}
	r.set()
	e.decided = e.decided || len(r.tokens) > 0 && !r.tokens[0].Is("RETURNING")
	for _, c := range columns {
		set := slices.ContainsFunc(e.sets, func(s setting) bool { return s.column == c })
		if !set && !slices.Contains(keys, c) {
			e.kept = append(e.kept, c)
		}
	}
}

// valueOf reads what a column is set to.
func valueOf(column string, value []sqltext.Token) (writing, []string) {
	from, ok := columnsOf(value)
	switch {
	case !ok:
		return computed, nil
	case adds(column, value):
		return added, nil
	}
	return assigned, from
}

// adds recognises column + number, column - number and number + column, where a
// number is an argument, a literal or what was to be inserted.
func adds(column string, value []sqltext.Token) bool {
	if len(value) == 5 && value[2].Is("excluded") {
		value = []sqltext.Token{value[0], value[1], {Kind: sqltext.Number}}
	}
	if len(value) != 3 {
		return false
	}
	first, sign, last := value[0], value[1].Kind, value[2]
	if sign == '+' && (first.Parameter() || first.Kind == sqltext.Number) {
		first, last = last, first
	}
	name, ok := first.Name()
	return ok && strings.EqualFold(name, column) && (sign == '+' || sign == '-') && (last.Parameter() || last.Kind == sqltext.Number)
}

// operators are the words of an expression that are no names, with those behind
// which a name stands that is no column.
var operators = map[string]bool{"NULL": false, "NOT": false, "AND": false, "OR": false, "IS": false, "IN": false, "BETWEEN": false, "LIKE": false,
	"GLOB": false, "ESCAPE": false, "CASE": false, "WHEN": false, "THEN": false, "ELSE": false, "END": false, "CAST": false, "TRUE": false,
	"FALSE": false, "ISNULL": false, "NOTNULL": false, "DISTINCT": false, "FROM": false, "AS": true, "COLLATE": true}

// columnsOf lists the columns that an expression reads of its own row, in small
// letters. It is false where it may read anything else.
func columnsOf(expression []sqltext.Token) (columns []string, own bool) {
	for i := 0; i < len(expression); i++ {
		t := expression[i]
		follows := func(kind byte) bool { return i+1 < len(expression) && expression[i+1].Kind == kind }
		name, is := t.Name()
		named, operator := operators[strings.ToUpper(name)]
		switch {
		case !is:
		case t.Kind == sqltext.Word && operator:
			if named {
				i++
			}
			if t.Is("IN") && !follows('(') {
				return nil, false // a table
			}
		case t.Is("SELECT"), t.Is("WITH"), t.Is("VALUES"), t.Is("EXISTS"), t.Is("RAISE"), t.Is("new"), t.Is("old"):
			return nil, false
		case follows('('): // a function
		case follows('.'):
			i += 2
			if i == len(expression) {
				return nil, false
			}
			if of, ok := expression[i].Name(); ok && !t.Is("excluded") {
				columns = append(columns, strings.ToLower(of))
			}
		default:
			columns = append(columns, strings.ToLower(name))
		}
	}
	return columns, true
}
