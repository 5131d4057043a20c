package oracle

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"assay"
	"assay/internal/plan/sqltext"
)

// dropSeveralRows forgets the answers that several rows make, which change at the same
// time: their least value, or their first by an order, may be the same at each moment
// of two orders and another one in a third.
func (b *answerFinder) dropSeveralRows(positions []int) (err error) {
	choice, err := b.Trace.Choice(b.Operation)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, choice.Close()) }()
	for i, position := range positions {
		if part, _ := choice.At(position); !b.single[part] {
			b.told[i] = ""
		}
	}
	return nil
}

// singles tells of each part of a mix whether all of its queries read one row at most
// of the tables that change. A view may hide one of them.
func singles(ctx context.Context, conn *sql.Conn, op assay.Operation, changed []*table) ([]bool, error) {
	var views []string
	err := query(ctx, conn, "SELECT name FROM main.sqlite_schema WHERE type = 'view'", func(row []any) { views = append(views, fmt.Sprint(row[0])) })
	if err != nil {
		return nil, err
	}
	var all []bool
	for _, part := range op.Parts {
		several := slices.ContainsFunc(part.Operation.Steps, func(s assay.Step) bool { return s.Query && !single(s.SQL, changed, views) })
		all = append(all, !several)
	}
	return all, nil
}

// single reports whether a query reads no table that changes, or one row of one: SELECT
// ... FROM table WHERE key = parameter AND ..., with all columns of the key.
func single(text string, changed []*table, views []string) bool {
	tokens, whole := sqltext.Scan(text)
	names := func(name string) func(sqltext.Token) bool {
		return func(t sqltext.Token) bool {
			named, is := t.Name()
			return is && strings.EqualFold(named, name)
		}
	}
	if !whole || slices.ContainsFunc(views, func(v string) bool { return slices.ContainsFunc(tokens, names(v)) }) {
		return false
	}
	read := slices.DeleteFunc(slices.Clone(changed), func(t *table) bool { return !slices.ContainsFunc(tokens, names(t.name)) })
	if len(read) == 0 {
		return true
	}
	r := &reader{tokens: tokens}
	if len(read) > 1 || len(read[0].key) == 0 || count(tokens, "SELECT") != 1 || count(tokens, "FROM") != 1 || !r.word("SELECT") {
		return false
	}
	r.until("FROM")
	r.word("FROM")
	if r.target(); r.effect.table != strings.ToLower(read[0].name) || !r.word("WHERE") {
		return false
	}
	return wholeKey(read[0], r.until("GROUP", "ORDER", "LIMIT", "WINDOW"))
}

func count(tokens []sqltext.Token, word string) (n int) {
	for _, t := range tokens {
		if t.Is(word) {
			n++
		}
	}
	return n
}

// wholeKey reports whether a condition has key = parameter for all columns of a key, all
// of them joined by AND.
func wholeKey(t *table, condition []sqltext.Token) bool {
	r := &reader{tokens: condition}
	if others := []string{"OR", "NOT", "BETWEEN", "CASE", "UNION", "INTERSECT", "EXCEPT"}; slices.ContainsFunc(condition, func(t sqltext.Token) bool { return slices.ContainsFunc(others, t.Is) }) {
		return false
	}
	fixed := map[string]bool{}
	for len(r.tokens) > 0 {
		one := r.until("AND")
		r.word("AND")
		if len(one) != 3 || one[1].Kind != '=' {
			continue
		}
		if one[0].Parameter() {
			one = []sqltext.Token{one[2], one[1], one[0]}
		}
		if name, is := one[0].Name(); is && one[2].Parameter() {
			fixed[strings.ToLower(name)] = true
		}
	}
	return !slices.ContainsFunc(t.key, func(c int) bool { return !fixed[strings.ToLower(t.columns[c])] })
}
