package doctor

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"assay/internal/dataset/queryplan"
	"assay/internal/plan/sqltext"
)

// manyRows is where the right index begins to matter.
const manyRows = 1000

// schema reads tables and indexes.
func (p *patient) schema(ctx context.Context) error {
	names, err := p.texts(ctx, "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name")
	if err != nil {
		return err
	}
	for _, row := range names {
		t := table{name: row[0]}
		if t.rows, err = p.number(ctx, "SELECT count(*) FROM "+sqltext.Quote(t.name)); err == nil {
			t.indexes, err = p.indexes(ctx, t.name)
		}
		if err == nil {
			p.tables = append(p.tables, t)
		}
		if err := p.skip("the table", t.name, err); err != nil {
			return err
		}
	}
	return nil
}

func (p *patient) indexes(ctx context.Context, name string) ([]index, error) {
	rows, err := p.texts(ctx, `SELECT l.name, l."unique", l.origin, iif(l.partial, s.sql, '') FROM pragma_index_list(?) l LEFT JOIN sqlite_schema s ON s.name = l.name AND s.type = 'index'`, name)
	if err != nil {
		return nil, err
	}
	var all []index
	for _, row := range rows {
		x := index{name: row[0], unique: row[1] == "1", made: row[2] == "c", partial: condition(row[3])}
		columns, err := p.texts(ctx, `SELECT coalesce(name, '(expression)') || CASE WHEN "desc" THEN ' DESC' ELSE '' END || ' ' || coll
			FROM pragma_index_xinfo(?) WHERE key ORDER BY seqno`, x.name)
		if err != nil {
			return nil, err
		}
		for _, column := range columns {
			x.columns = append(x.columns, column[0])
		}
		all = append(all, x)
	}
	return all, nil
}

// condition is the WHERE of a CREATE INDEX; empty where there is none.
func condition(sql string) string {
	tokens, _ := sqltext.Scan(sql)
	for _, t := range tokens {
		if t.Depth == 0 && t.Is("where") {
			return strings.Join(strings.Fields(sql[t.To:]), " ")
		}
	}
	return ""
}

var where = regexp.MustCompile(`(?i)\bwhere\b`)

func (p *patient) table(name string) (table, bool) {
	i := slices.IndexFunc(p.tables, func(t table) bool { return strings.EqualFold(t.name, name) })
	if i < 0 {
		return table{}, false
	}
	return p.tables[i], true
}

// findBy is SQLite's plan of finding rows by columns.
func (t table) findBy(ctx context.Context, p *patient, columns []string) (string, error) {
	var where []string
	for _, c := range columns {
		where = append(where, sqltext.Quote(c)+" = ?")
	}
	return p.plan(ctx, "SELECT 1 FROM "+sqltext.Quote(t.name)+" WHERE "+strings.Join(where, " AND "))
}

// indexedBy reports whether rows are found by columns without a scan.
func (t table) indexedBy(ctx context.Context, p *patient, columns []string) bool {
	plan, err := t.findBy(ctx, p, columns)
	return err != nil || !strings.Contains(plan, "SCAN ")
}

// statistics looks at what ANALYZE has left.
func (p *patient) statistics(ctx context.Context) error {
	exists, err := p.number(ctx, "SELECT count(*) FROM sqlite_schema WHERE name = 'sqlite_stat1'")
	if err != nil {
		return err
	}
	known := map[string]int64{}
	if exists > 0 {
		rows, err := p.texts(ctx, "SELECT tbl, stat FROM sqlite_stat1")
		if err != nil {
			return err
		}
		for _, row := range rows {
			first, _, _ := strings.Cut(row[1], " ")
			if n, err := strconv.ParseInt(first, 10, 64); err == nil {
				known[row[0]] = max(n, known[row[0]])
			}
		}
	}
	var missing, stale []string
	for _, t := range p.tables {
		n, there := known[t.name]
		switch {
		case t.rows < manyRows || len(t.indexes) == 0:
		case !there:
			missing = append(missing, fmt.Sprintf("%s (%d rows)", t.name, t.rows))
		case t.rows > 10*n || n > 10*t.rows:
			stale = append(stale, fmt.Sprintf("%s had %d rows, has %d", t.name, n, t.rows))
		}
	}
	const says = "the planner guesses which index is best"
	if len(missing) > 0 {
		p.add("statistics", says, "sqlite_stat1 has nothing about "+strings.Join(missing, ", "), p.sqlite3("ANALYZE")+", later PRAGMA optimize before connections are closed")
	}
	if len(stale) > 0 {
		p.add("stale-statistics", says, "since the last ANALYZE: "+strings.Join(stale, "; "), p.sqlite3("ANALYZE"))
	}
	return nil
}

// duplicates looks for indexes that are the beginning of another one.
func (p *patient) duplicates(context.Context) error {
	for _, t := range p.tables {
		for i, x := range t.indexes {
			for j, y := range t.indexes {
				if same := len(x.columns) == len(y.columns); i == j || same && !y.unique && i < j {
					continue
				}
				if y.replaces(x) {
					t.indexes[i].spare = true
					p.add("duplicate-index", "each write keeps an index that another one makes superfluous",
						fmt.Sprintf("%s(%s) is the beginning of %s(%s) on %s", x.name, short(x.columns), y.name, short(y.columns), t.name),
						p.sqlite3("DROP INDEX "+sqltext.Quote(x.name)))
					break
				}
			}
		}
	}
	return nil
}

// replaces reports whether x is superfluous beside y.
func (y index) replaces(x index) bool {
	return x.made && !x.unique && x.partial == "" && y.partial == "" && len(x.columns) <= len(y.columns) &&
		slices.Equal(x.columns, y.columns[:len(x.columns)]) && !slices.ContainsFunc(x.columns, isExpression)
}

func isExpression(column string) bool { return strings.HasPrefix(column, "(expression)") }

// short is columns without their collation.
func short(columns []string) string {
	var all []string
	for _, c := range columns {
		all = append(all, c[:strings.LastIndex(c, " ")])
	}
	return strings.Join(all, ", ")
}

// plan is SQLite's plan of a query, a line for each step. Values are unknown.
func (p *patient) plan(ctx context.Context, query string) (string, error) {
	return p.planWith(ctx, query, nil)
}

// planWith is the plan where all parameters have a value.
func (p *patient) planWith(ctx context.Context, query string, value any) (string, error) {
	var args []any
	query = sqltext.Replace(query, func(t sqltext.Token) (string, bool) {
		if t.Parameter() {
			args = append(args, value)
		}
		return "?", t.Parameter()
	})
	rows, err := p.texts(ctx, "EXPLAIN QUERY PLAN "+query, args...)
	var lines []string
	for _, row := range rows {
		lines = append(lines, row[len(row)-1])
	}
	return strings.Join(lines, "\n"), err
}

// queries looks at the plans of the application's queries.
func (p *patient) queries(ctx context.Context) error {
	var used []string // steps of plans
	all := len(p.Queries) > 0
	for _, query := range p.Queries {
		plan, err := p.plan(ctx, query)
		if err != nil {
			all = false
			if err := p.skip("the query", brief(query), err); err != nil {
				return err
			}
		}
		pattern, _ := p.planWith(ctx, query, "a%")
		used = append(used, strings.Split(plan+"\n"+pattern, "\n")...)
		ends := endsEarly(query, plan)
		for _, step := range queryplan.Parse(plan) {
			if step.Scan && (where.MatchString(query) || step.Repeated) && !(ends && step.Index != "") {
				if err := p.scanned(ctx, query, step); err != nil {
					return err
				}
			}
		}
	}
	if !all {
		return nil // what is not known may use any index
	}
	return p.unused(ctx, used)
}

// unused looks for indexes that are in no step of a plan. A table that no query names serves
// other queries than the given ones: nothing is known of its indexes.
func (p *patient) unused(ctx context.Context, used []string) error {
	for _, t := range p.tables {
		if !slices.ContainsFunc(p.Queries, func(query string) bool { return mentions(query, t.name) }) {
			continue
		}
		steps, err := p.childSteps(ctx, t)
		if err != nil {
			return err
		}
		used = append(used, steps...)
		columns, err := p.texts(ctx, "SELECT name FROM pragma_table_info(?)", t.name)
		if err != nil {
			return err
		}
		for _, x := range t.indexes {
			inUse := func(y index) bool { return slices.ContainsFunc(used, y.isIn) }
			// Queries of a spare index use this one when the spare one is dropped.
			successor := func(y index) bool { return y.spare && x.replaces(y) && inUse(y) }
			if x.made && !x.unique && !x.spare && !inUse(x) && !p.valueDecides(x, names(columns)) && !slices.ContainsFunc(t.indexes, successor) {
				p.add("unused-index", "each write keeps an index that none of the given queries uses, as SQLite "+p.version+" plans them",
					fmt.Sprintf("%s on %s(%s)", x.name, t.name, short(x.columns)),
					"where the queries are all there are: "+p.sqlite3("DROP INDEX "+sqltext.Quote(x.name)))
			}
		}
	}
	return nil
}

// valueDecides reports whether SQLite may use a partial index for some values of parameters: a
// query that has some names a column of the index's WHERE.
func (p *patient) valueDecides(x index, columns []string) bool {
	return slices.ContainsFunc(p.Queries, func(query string) bool {
		tokens, _ := sqltext.Scan(query)
		named := func(column string) bool { return mentions(x.partial, column) && mentions(query, column) }
		return slices.ContainsFunc(tokens, sqltext.Token.Parameter) && slices.ContainsFunc(columns, named)
	})
}

// mentions reports whether a table or a column stands in a query.
func mentions(query, name string) bool {
	tokens, _ := sqltext.Scan(query)
	return slices.ContainsFunc(tokens, func(token sqltext.Token) bool {
		word, _ := token.Name()
		return strings.EqualFold(word, name)
	})
}

// childSteps are the steps by which SQLite finds the rows that refer to a parent that is
// deleted or changed.
func (p *patient) childSteps(ctx context.Context, t table) ([]string, error) {
	keys, err := p.keysOf(ctx, t)
	var steps []string
	for _, key := range keys {
		if plan, err := t.findBy(ctx, p, key.columns); err == nil {
			steps = append(steps, strings.Split(plan, "\n")...)
		}
	}
	return steps, err
}

// isIn reports whether a step of a plan uses the index.
func (x index) isIn(step string) bool { return strings.Contains(step+" (", "INDEX "+x.name+" (") }

// endsEarly reports whether a query reads rows in its order, by an index, until it has enough of
// them.
func endsEarly(query, plan string) bool {
	return limit.MatchString(query) && !strings.Contains(plan, "TEMP B-TREE")
}

var limit = regexp.MustCompile(`(?i)\border by\b(?s:.*)\blimit\b`)

// scanned reports a step that reads a whole big table for a query that wants
// some of its rows, or once for each row of another one.
func (p *patient) scanned(ctx context.Context, query string, step queryplan.Step) error {
	var t table
	there := false
	for _, name := range queryplan.Tables(query, step.Table) {
		if t, there = p.table(name); there {
			break
		}
	}
	if !there || t.rows < manyRows {
		return nil
	}
	fix, err := p.indexFor(ctx, query, step.Table, t)
	if narrower := t.narrower(query); narrower != "" {
		fix = narrower + ", or " + fix
	}
	p.add("scan", "a query reads all of "+t.name+", as SQLite "+p.version+" plans it", fmt.Sprintf("%s: SCAN %s (%d rows)", brief(query), step.Table, t.rows), fix)
	return err
}

// narrower names an index that begins with a column of the query but holds some rows only:
// SQLite uses it where the query's WHERE says that it wants no others.
func (t table) narrower(query string) string {
	for _, x := range t.indexes {
		if x.partial == "" || isExpression(x.columns[0]) {
			continue
		}
		column := short(x.columns[:1])
		if regexp.MustCompile(`(?i)(^|\W)` + regexp.QuoteMeta(strings.TrimSuffix(column, " DESC")) + `(\W|$)`).MatchString(query) {
			return fmt.Sprintf("the index %s(%s) exists, but holds only rows WHERE %s: add that condition to the query", x.name, short(x.columns), x.partial)
		}
	}
	return ""
}

func brief(query string) string {
	text := strings.Join(strings.Fields(query), " ")
	if len(text) > 80 {
		text = text[:77] + "..."
	}
	return text
}

// Split takes the statements of a file of SQL apart, and leaves comments out. Behind a quote
// without an end nothing is told apart.
func Split(text string) []string {
	var all []string
	tokens, whole := sqltext.Scan(text)
	for _, statement := range sqltext.Statements(tokens) {
		one, end := "", statement[0].From
		for _, t := range statement {
			if t.From > end {
				one += " "
			}
			one, end = one+text[t.From:t.To], t.To
		}
		all = append(all, one)
	}
	if end := len(tokens) - 1; !whole && end >= 0 {
		all = append(all, strings.TrimSpace(text[tokens[end].To:]))
	}
	return all
}
