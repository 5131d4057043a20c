package draft

import (
	"slices"
	"strings"

	"assay/internal/plan/sqltext"
)

type reference struct {
	table string
	alias string // or the table's name
	group int    // the parenthesis that it stands in
}

// groups says, for each token, in which parenthesis it stands, and where a
// parenthesis ends. A parenthesis is known by the place of its opening token;
// -1 is around all.
func groups(tokens []sqltext.Token) (group, match []int) {
	group, match = make([]int, len(tokens)), make([]int, len(tokens))
	var open []int
	for i, t := range tokens {
		if t.Kind == ')' && len(open) > 0 {
			match[i], match[open[len(open)-1]] = open[len(open)-1], i
			open = open[:len(open)-1]
		}
		group[i] = -1
		if len(open) > 0 {
			group[i] = open[len(open)-1]
		}
		if t.Kind == '(' {
			open = append(open, i)
			match[i] = len(tokens) - 1 // unless it is closed
		}
	}
	return group, match
}

// notAlias are words that can follow a table's name and are no alias.
var notAlias = strings.Fields("ON USING WHERE JOIN LEFT RIGHT FULL INNER CROSS NATURAL OUTER GROUP ORDER LIMIT SET VALUES " +
	"SELECT DEFAULT UNION EXCEPT INTERSECT INDEXED NOT RETURNING HAVING WINDOW AS")

// references finds the tables behind FROM, JOIN, INTO and UPDATE.
func references(tokens []sqltext.Token) []reference {
	group, match := groups(tokens)
	var all []reference
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		if !t.Is("FROM") && !t.Is("JOIN") && !t.Is("INTO") && !(t.Is("UPDATE") && i+1 < len(tokens) && !tokens[i+1].Is("SET")) {
			continue
		}
		at := i + 1
		if t.Is("UPDATE") && at+1 < len(tokens) && tokens[at].Is("OR") {
			at += 2
		}
		for at < len(tokens) {
			ref, next := referenceAt(tokens, match, at)
			if ref.table != "" {
				ref.group = group[at]
				all = append(all, ref)
			}
			if next >= len(tokens) || tokens[next].Kind != ',' || !t.Is("FROM") {
				break
			}
			at = next + 1
		}
	}
	return all
}

// referenceAt reads a table with its alias, or skips a subquery, and returns
// what follows.
func referenceAt(tokens []sqltext.Token, match []int, at int) (reference, int) {
	is := func(i int, kind byte) bool { return i < len(tokens) && tokens[i].Kind == kind }
	var ref reference
	if is(at, '(') {
		at = match[at] + 1
	} else {
		name, ok := tokens[at].Name()
		if !ok || slices.ContainsFunc(notAlias, tokens[at].Is) {
			return ref, at + 1
		}
		at++
		if is(at, '.') && at+1 < len(tokens) { // main.table
			name, _ = tokens[at+1].Name()
			at += 2
		}
		if is(at, '(') && at > 0 && !tokens[at-1].Is("INTO") { // a function, or the columns of INSERT
			ref = reference{table: name, alias: name}
			return ref, match[at] + 1
		}
		ref = reference{table: name, alias: name}
	}
	if at < len(tokens) && tokens[at].Is("AS") {
		at++
	}
	if at < len(tokens) && !slices.ContainsFunc(notAlias, tokens[at].Is) {
		if alias, ok := tokens[at].Name(); ok {
			ref.alias = alias
			at++
		}
	}
	return ref, at
}
