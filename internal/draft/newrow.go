package draft

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"assay/internal/plan/sqltext"
)

// newRow is a row that a statement of a transaction inserts, whose id is an argument.
type newRow struct {
	table  *table
	number int                // of that argument in the operation, counted from 1
	values map[*column]string // how its other columns are drawn, where the same row gives the same value again
}

// giveIDs makes an argument of the id that SQLite would give to a new row, where a
// later statement of the transaction has an argument for that row: the program asks
// for the id in between, and a plan cannot. All other statements that insert into
// such a table get an id too, so that SQLite gives none that is drawn later.
func (d *drafter) giveIDs(ctx context.Context, scripts []*script) error {
	wanted := map[*table]bool{}
	for _, s := range scripts {
		if s.leftOut != "" || !s.transaction {
			continue
		}
		for i, q := range s.queries {
			if t := q.withoutID(d.schema); t != nil && d.laterName(t, s.queries[i+1:]) {
				wanted[t] = true
			}
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	if err := d.keepTriggers(ctx, wanted); err != nil {
		return err
	}
	inserts := map[*table][]*query{}
	for _, s := range scripts {
		for _, q := range s.queries {
			if t := q.withoutID(d.schema); wanted[t] && !q.canGiveID() {
				delete(wanted, t)
			} else if wanted[t] {
				inserts[t] = append(inserts[t], q)
			}
		}
	}
	for t := range wanted {
		for _, q := range inserts[t] {
			q.giveID(t.rowID())
		}
	}
	return nil
}

// keepTriggers leaves out tables into which a trigger inserts.
func (d *drafter) keepTriggers(ctx context.Context, wanted map[*table]bool) error {
	rows, err := texts(ctx, d.schema.db, "SELECT sql FROM sqlite_schema WHERE type = 'trigger'")
	if err != nil {
		return err
	}
	for _, row := range rows {
		tokens, _ := sqltext.Scan(row[0])
		for i, t := range tokens[:max(0, len(tokens)-1)] {
			if name, ok := tokens[i+1].Name(); t.Is("INTO") && ok {
				delete(wanted, d.schema.table(name))
			}
		}
	}
	return nil
}

// laterName reports whether an argument of the statements is compared with the id of a
// table's row, or stored as one. A row that joins the new one with a row which must
// belong to it, as to the same tenant, is left as it is: of rows that are there, both
// can be drawn together.
func (d *drafter) laterName(t *table, queries []*query) bool {
	named := false
	for _, q := range queries {
		all := analyse(q, d.schema).uses()
		if !slices.ContainsFunc(all, func(u use) bool { return u.names(t) }) {
			continue
		}
		named = true
		for _, u := range all {
			if u.role != insert || u.column == nil || u.names(t) || t.refersTo(u.column.parent) != nil {
				continue
			}
			if joined, _ := common(d.schema.table(u.column.parent.table), t); joined != nil {
				return false
			}
		}
	}
	return named
}

// refersTo is the column of a table that refers to another one; nil where none does.
func (t *table) refersTo(to parent) *column {
	return first(t.columns, func(c *column) bool { return to.table != "" && c.parent == to })
}

func (u use) names(t *table) bool {
	if u.column == nil || u.function != "" || u.role != insert && u.role != equal && u.role != set {
		return false
	}
	id := t.rowID()
	return u.role == equal && u.column == id || strings.EqualFold(u.column.parent.table, t.name) && strings.EqualFold(u.column.parent.column, id.name)
}

// rowID is the INTEGER PRIMARY KEY of a table; nil where it has none with a name.
func (t *table) rowID() *column {
	return first(t.columns, func(c *column) bool { return c.rowid && !c.hidden })
}

// withoutID is the table into which a statement inserts rows whose id SQLite gives;
// nil for any other statement.
func (q *query) withoutID(s *schema) *table {
	if q.verb != "INSERT" && q.verb != "REPLACE" {
		return nil
	}
	a := analyse(q, s)
	if a.target == nil || a.target.view != "" || a.target.rowID() == nil || slices.Contains(a.listed, a.target.rowID()) {
		return nil
	}
	return a.target
}

// canGiveID reports whether giveID understands a statement: one row of VALUES behind
// a list of columns, and arguments that stand in one place each.
func (q *query) canGiveID() bool {
	list, values := q.lists()
	return q.verb == "INSERT" && !q.upsert() && list >= 0 && values >= 0 &&
		!slices.ContainsFunc(q.tokens, func(t sqltext.Token) bool { return t.Parameter() && t.Text != "?" }) &&
		!slices.ContainsFunc(q.tokens[values+1:], func(t sqltext.Token) bool { return t.Kind == '(' && t.Depth == 0 })
}

// lists are the places of the parentheses behind INTO, and behind VALUES; -1 where
// there are none.
func (q *query) lists() (columns, values int) {
	columns, values = -1, -1
	into, rows := false, false
	for i, t := range q.tokens {
		switch {
		case t.Is("INTO"):
			into = true
		case t.Is("VALUES"):
			rows = true
		case t.Is("SELECT"):
			return columns, values
		case t.Kind == '(' && rows && values < 0:
			values = i
		case t.Kind == '(' && into && !rows && columns < 0:
			columns = i
		}
	}
	return columns, values
}

// giveID puts an id before the other columns.
func (q *query) giveID(id *column) {
	list, values := q.lists()
	a, b := q.tokens[list].To, q.tokens[values].To
	before := q.args
	q.rewrite(q.sql[:a] + plain(id.name) + ", " + q.sql[a:b] + "?, " + q.sql[b:])
	q.args = append([]argument{{written: "?", added: true}}, before...)
	q.notes = append(q.notes, fmt.Sprintf("The program lets SQLite choose %s; here it is an argument, so that later statements can name the new row.", id))
}

// born keeps the new row of a statement that has been guessed.
func (g *guesser) born() {
	for i, u := range g.all {
		if u.role != insert || u.column == nil || u.column.table.rowID() != u.column || g.keys[u.column] != g.first+i {
			continue
		}
		row := newRow{table: u.table, number: g.first + i, values: map[*column]string{}}
		for j, other := range g.all {
			if yaml, ok := g.repeated(j); ok && other.role == insert && other.bare && other.column != nil {
				row.values[other.column] = yaml
			}
		}
		*g.rows = append(*g.rows, row)
	}
}

// repeated is how an argument is drawn so that it has the same value as another one of
// its operation; false where it cannot.
func (g *guesser) repeated(i int) (string, bool) {
	switch yaml := g.args[i].yaml; {
	case strings.HasPrefix(yaml, "{from:"), strings.HasPrefix(yaml, "{const:"):
		return yaml, true
	case strings.HasPrefix(yaml, "{uniform:"), strings.HasPrefix(yaml, "{seq:"), strings.HasPrefix(yaml, "{next:"):
		return fmt.Sprintf("{derive: {of: %d}}", g.first+i), true
	}
	return "", false
}

// ofNewRow draws an argument that names a row which an earlier statement inserts, or
// that is compared with another column of it; empty where it is neither.
func (g *guesser) ofNewRow(i int) (yaml, note string) {
	u := g.all[i]
	for _, row := range slices.Backward(*g.rows) {
		if u.names(row.table) {
			return fmt.Sprintf("{derive: {of: %d}}", row.number), fmt.Sprintf("the row of %s that is inserted before", row.table.name)
		}
	}
	if yaml, note = g.besideNewRow(u); yaml != "" {
		return yaml, note
	}
	for _, row := range slices.Backward(*g.rows) {
		compared := func(other use) bool { return other.role == equal && other.column == row.table.rowID() }
		if u.role == equal && row.values[u.column] != "" && slices.ContainsFunc(g.all, compared) {
			return row.values[u.column], fmt.Sprintf("%s of the row that is inserted before", u.column)
		}
	}
	return "", ""
}

// besideNewRow draws what a row refers to that refers to a new row too: the same as
// that one does. Of other tables the draw stays what it is.
func (g *guesser) besideNewRow(u use) (yaml, note string) {
	if u.role != insert || u.column == nil {
		return "", ""
	}
	for _, row := range slices.Backward(*g.rows) {
		c := row.table.refersTo(u.column.parent)
		if c == nil || row.values[c] == "" || !slices.ContainsFunc(g.all, func(other use) bool { return other.names(row.table) }) {
			continue
		}
		return row.values[c], fmt.Sprintf("%s as in the row of %s that is inserted before", u.column, row.table.name)
	}
	return "", ""
}

// afterNewRow reports whether an argument of the statement belongs to a new row.
func (g *guesser) afterNewRow() bool {
	for i := range g.all {
		if yaml, _ := g.ofNewRow(i); yaml != "" {
			return true
		}
	}
	return false
}

// resize makes texts and blobs that are stored as long as those of the log, where others
// can be made: not values that come again, that refer to others, or that look like JSON.
func (g *guesser) resize(i int) {
	u, a, logged := g.all[i], &g.args[i], g.inLog(i)
	if logged == nil || logged.texts == 0 || u.column == nil || u.role != insert && u.role != set || !u.bare ||
		g.source.has(i) || u.column.parent.table != "" || u.column.found == nil {
		return
	}
	f := u.column.found
	mean := float64(logged.bytes) / float64(logged.texts)
	made := strings.HasPrefix(a.yaml, "{text: ") || strings.HasPrefix(a.yaml, "{blob: ")
	drawn := strings.HasPrefix(a.yaml, "{from: ") && (f.kind == "text" || f.kind == "blob") && !f.few() && !formatted(f)
	if !made && !drawn || drawn && !differs(float64(f.average), mean) {
		return
	}
	least, kind := 1.0, "text"
	if drawn && f.kind == "blob" || strings.HasPrefix(a.yaml, "{blob: ") {
		kind = "blob"
	}
	if g.fresh[u.column] {
		least = 12 // so that none comes twice
	}
	_, null, _ := strings.Cut(strings.TrimSuffix(a.yaml, "}"), ", null:")
	if null != "" {
		null = ", null:" + null
	}
	a.yaml = fmt.Sprintf("{%s: %.0f%s}", kind, max(least, mean), null)
	a.note += "; as long as in the log"
}
