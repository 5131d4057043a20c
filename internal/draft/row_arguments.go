package draft

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"assay/internal/plan"
)

// existing is what a row has: the row of the operation's number, so that other columns of the
// table are of the same row, and the next one where a column comes again.
func (g *drawer) existing(ctx context.Context, u use, f *stats, shift int) (string, error) {
	expression := u.text
	if expression == "" || !u.bare {
		expression = plain(u.column.name)
	}
	key := u.column.table.name + " " + expression + " " + string(u.role)
	shift += g.counted[key]
	g.counted[key]++
	r, err := g.schema.numbered(ctx, u.column.table)
	if err != nil {
		return "", err
	}
	where := ""
	if f.kind == "mixed" {
		where = fmt.Sprintf("typeof(%s) = '%s'", plain(u.column.name), f.most)
	} else if f.values < f.rows && (u.role == equal || u.role == oneOf) {
		where = plain(u.column.name) + " IS NOT NULL"
	}
	from := plain(u.column.table.name)
	if u.ref != nil && !strings.EqualFold(u.ref.alias, u.ref.table) {
		from += " AS " + plain(u.ref.alias)
	}
	return r.row(expression, from, where, shift), nil
}

// numberedRows says how the rows of a table are found by a number.
type numberedRows struct {
	key    string // an integer that each row has; empty: rows are counted
	low, n int64
	full   bool   // each number of the range is there
	order  string // of the rows that are counted
}

// sparse is how many numbers of a range belong to one row at most.
const sparse = 1_000_000

// numbered finds how the rows of a table are numbered.
func (s *schema) numbered(ctx context.Context, t *table) (r numberedRows, err error) {
	id := first(t.columns, func(c *column) bool { return c.rowid })
	if id == nil {
		f, err := s.stats(ctx, t.columns[0])
		if err != nil {
			return r, err
		}
		var order []string
		for _, key := range t.keys[:min(1, len(t.keys))] {
			for _, c := range key {
				order = append(order, plain(c.name))
			}
		}
		if order == nil {
			order = []string{"1"}
		}
		return numberedRows{n: max(1, f.rows), order: strings.Join(order, ", ")}, nil
	}
	f, err := s.stats(ctx, id)
	if err != nil {
		return r, err
	}
	r = numberedRows{key: plain(id.name), n: max(1, f.rows), full: f.full(), order: plain(id.name)}
	if low, high, ok := f.bounds(); ok && high-low >= 0 && (high-low)/sparse < f.rows {
		r.low, r.n = low, high-low+1
	} else {
		r.key = ""
	}
	return r, nil
}

// row is an expression of the row that an operation's number has.
func (r numberedRows) row(expression, from, where string, shift int) string {
	number := fmt.Sprintf("permute(:i%s, %d)", plus(int64(shift)), r.n)
	if r.key == "" {
		if where != "" {
			where = " WHERE " + where
		}
		return fmt.Sprintf("(SELECT value FROM (SELECT %s AS value, row_number() OVER (ORDER BY %s) AS n FROM %s%s) WHERE n = %s + 1)", expression, r.order, from, where, number)
	}
	number += plus(r.low)
	if r.full && expression == r.key {
		return number
	}
	if where != "" {
		where = " AND " + where
	}
	return fmt.Sprintf("(SELECT %s FROM %s WHERE %s >= %s%s LIMIT 1)", expression, from, r.key, number, where)
}

// plus adds a number to what is before it.
func plus(n int64) string {
	switch {
	case n == 0:
		return ""
	case n < 0:
		return fmt.Sprintf(" - %d", -n)
	}
	return fmt.Sprintf(" + %d", n)
}

// fromRows draws all arguments from rows of the tables that the statement compares: it finds
// the rows from which they are. Empty where the arguments are not of that kind.
func (g *drawer) fromRows(ctx context.Context) (string, error) {
	from := g.comparedRows()
	if from == "" {
		return "", nil
	}
	values, where := make([]string, len(g.all)), []string{}
	for i, u := range g.all {
		switch {
		case u.role == limit:
			values[i] = page
		case u.role == unknown || u.column == nil:
			values[i] = plan.ToDo
		}
		if values[i] != "" {
			continue
		}
		f, err := g.schema.stats(ctx, u.column)
		if err != nil || f.values == 0 {
			return "", err
		}
		values[i] = g.ofRow(u, f)
		switch {
		case f.kind == "mixed" && (u.role == equal || u.made(f) == ""):
			where = append(where, fmt.Sprintf("typeof(%s) = '%s'", g.inRow(u), f.most))
		case u.role == equal && f.values < f.rows:
			where = append(where, g.inRow(u)+" IS NOT NULL")
		}
	}
	text := "SELECT " + strings.Join(values, ", ") + " FROM " + from
	if len(where) > 0 {
		text += " WHERE " + strings.Join(where, " AND ")
	}
	if g.verb != "DELETE" {
		return text, nil
	}
	text = strings.Replace(text, "SELECT ", "SELECT DISTINCT ", 1) // one after the other
	g.draw = "in-order"
	var err error
	g.rows, err = g.schema.count(ctx, text)
	return text, err
}

// comparedRows says which rows have all values that are compared, as FROM has it; empty where
// no rows have them.
func (g *drawer) comparedRows() (from string) {
	var refs []*reference
	seen := map[string]bool{}
	for _, u := range g.all {
		switch u.role {
		case limit, unknown:
			continue
		case set:
			if u.column == nil || g.fresh[u.column] {
				return ""
			}
			continue
		case equal:
		default:
			return ""
		}
		if u.column == nil {
			continue
		}
		key := g.inRow(u) + u.text
		if u.ref == nil || seen[key] {
			return ""
		}
		seen[key] = true
		if !slices.Contains(refs, u.ref) {
			refs = append(refs, u.ref)
		}
	}
	if !g.alone || len(refs) == 0 {
		return ""
	}
	if slices.ContainsFunc(g.all, func(u use) bool { return u.role == set && (len(refs) > 1 || refs[0].table != g.target.name) }) {
		return ""
	}
	if len(refs) == 1 {
		from = plain(refs[0].table)
		if !strings.EqualFold(refs[0].alias, refs[0].table) {
			from += " AS " + plain(refs[0].alias)
		}
		return from
	}
	return g.clauseOf(refs)
}

// clauseOf is the text behind the FROM that has all of some tables, joined; empty where there is none.
func (g *drawer) clauseOf(refs []*reference) string {
	if slices.ContainsFunc(refs, func(r *reference) bool { return r.group != refs[0].group }) {
		return ""
	}
	inside := func(i int) bool { return g.group[i] == refs[0].group }
	from := slices.IndexFunc(indexes(len(g.tokens)), func(i int) bool { return inside(i) && g.tokens[i].Is("FROM") })
	if from < 0 || from+1 >= len(g.tokens) {
		return ""
	}
	end := from + 1
	for ; end < len(g.tokens) && g.tokens[end].Kind != ';' && !(refs[0].group >= 0 && end == g.match[refs[0].group]); end++ {
		t := g.tokens[end]
		if inside(end) && slices.ContainsFunc(afterFrom, t.Is) {
			break
		}
		if t.Parameter() || inside(end) && t.Kind == ',' {
			return ""
		}
	}
	return g.sql[g.tokens[from+1].From:g.tokens[end-1].To]
}

var afterFrom = strings.Fields("WHERE GROUP HAVING ORDER LIMIT WINDOW UNION EXCEPT INTERSECT RETURNING")

// inRow is what an argument is compared with.
func (g *drawer) inRow(u use) string {
	if u.text != "" && u.bare {
		return u.text
	}
	if u.ref != nil && len(g.refs) > 1 {
		return plain(u.ref.alias) + "." + plain(u.column.name)
	}
	return plain(u.column.name)
}

// ofRow is a value of a row, or for it.
func (g *drawer) ofRow(u use, f *stats) string {
	if u.role == equal {
		return g.inRow(u)
	}
	if text := u.made(f); text != "" {
		return text
	}
	other := "" // any other row's: SQLite writes nothing where nothing changes
	if id := first(u.column.table.columns, func(c *column) bool { return c.rowid }); id != nil {
		other = "ORDER BY hash(" + plain(id.name) + ")"
	}
	return fmt.Sprintf("coalesce(lead(%s) OVER (%s), %[1]s)", plain(u.column.name), other)
}
