package draft

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/internal/plan"
	"assay/internal/plan/sqltext"
)

const (
	// apart is how far the new keys of two statements are from each other.
	apart = 1_000_000_000
	// page is what LIMIT takes.
	page = "20"
)

// drawer writes the SQL that gives the arguments of one statement. Its rules are few: an equality draws
// from its column, a new key continues, a value that is written is as rows have it, and what
// nothing tells is left to the user.
type drawer struct {
	*analysis
	all     []use
	alone   bool               // the statement is an operation of its own
	named   map[string]string  // SQL of the operation's arguments until now, by their names
	born    map[*column]string // SQL of keys of rows that the operation has inserted
	taken   map[string]int64   // statements so far that insert into a column
	fresh   map[*column]bool   // columns that get values which no row has
	counted map[string]int     // how often a value was drawn of a column
	logged  *loggedStep        // in the log; nil: there is none
	above   map[*column]int64  // the greatest value before new keys
	draw    string             // which of the rows is drawn
	rows    int64              // of which each is drawn once; 0: they are drawn anew
}

// arguments is a SELECT of a statement's arguments.
func (g *drawer) arguments(ctx context.Context) (string, error) {
	if g.all = g.uses(); len(g.args) == 0 {
		return "", nil
	}
	g.chooseFresh()
	for _, whole := range []func(context.Context) (string, error){g.fromRows, g.fromPairs} {
		if text, err := whole(ctx); text != "" || err != nil {
			return text, err
		}
	}
	return g.each(ctx)
}

// each evaluates all arguments for each operation.
func (g *drawer) each(ctx context.Context) (string, error) {
	values := make([]string, len(g.args))
	for i := range g.args {
		var err error
		if values[i], err = g.value(ctx, i); err != nil {
			return "", err
		}
	}
	for c := range g.fresh {
		g.taken[c.String()]++
	}
	return "SELECT " + strings.Join(values, ", "), nil
}

// value is SQL of one argument.
func (g *drawer) value(ctx context.Context, i int) (text string, err error) {
	w := g.args[i].written
	if known := g.named[w]; known != "" {
		return known, nil
	}
	switch u := g.all[i]; {
	case u.role == limit:
		text = page
	case u.column == nil || u.role == unknown:
		return plan.ToDo, nil
	default:
		text, err = g.ofColumn(ctx, u)
	}
	if !strings.HasPrefix(w, "?") && !seeded(text) {
		g.named[w] = text
	}
	return text, err
}

// seeded reports whether another evaluation gives another value.
func seeded(text string) bool {
	return strings.Contains(text, "text(") || strings.Contains(text, "blob(") || strings.Contains(text, "random(")
}

// ofColumn is SQL of a value that is compared with a column, or stored in it.
func (g *drawer) ofColumn(ctx context.Context, u use) (string, error) {
	c := u.column
	f, err := g.schema.stats(ctx, c)
	if err != nil {
		return "", err
	}
	to := g.parentOf(c)
	switch {
	case (u.role == insert || u.role == set) && g.fresh[c]:
		return g.newValue(ctx, u, f)
	case g.born[c] != "":
		return g.born[c], nil
	case to != nil && g.born[to] != "":
		return g.born[to], nil
	case u.role == insert || u.role == set:
		return g.stored(ctx, u, f)
	case f.values == 0:
		return unknownValue(c), nil
	}
	return g.existing(ctx, u, f, 0)
}

// parentOf is the column that a foreign key refers to; nil where there is none.
func (g *drawer) parentOf(c *column) *column {
	if t := g.schema.table(c.parent.table); t != nil {
		return t.column(c.parent.column)
	}
	return nil
}

// unknownValue is a value for a column that has none to learn from.
func unknownValue(c *column) string {
	return map[string]string{"integer": "random(1, 1000)", "text": "text(12)", "real": "random(1, 1000) / 10.0", "blob": "blob(16)"}[c.affinity()]
}

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

// chooseFresh finds a column of each key that is to get values which no row has.
func (g *drawer) chooseFresh() {
	g.fresh, g.counted, g.above = map[*column]bool{}, map[string]int{}, map[*column]int64{}
	given := map[*column]bool{}
	for _, u := range g.all {
		if u.column != nil && (u.role == insert || u.role == set && u.column.alone()) {
			given[u.column] = true
		}
	}
	if g.target == nil {
		return
	}
	for _, key := range slices.Concat(g.target.keys, g.target.partly) {
		best, bestScore := (*column)(nil), 0
		for _, c := range key {
			if !given[c] || g.fresh[c] {
				best = nil
				break
			}
			if score := freshScore(c); score > bestScore {
				best, bestScore = c, score
			}
		}
		if best != nil {
			g.fresh[best] = true
		}
	}
}

// freshScore is higher for columns that take new values more easily, and zero for those
// that refer to another table.
func freshScore(c *column) int {
	if c.parent.table != "" {
		return 0
	}
	return map[string]int{"integer": 3, "text": 2}[c.affinity()] + 1
}

// newValue is a value that no row has. An upsert meets a row that exists half of the time.
func (g *drawer) newValue(ctx context.Context, u use, f *stats) (string, error) {
	text := g.newKey(u.column, f)
	if u.role == insert && !seeded(text) {
		g.born[u.column] = text
	}
	if !g.upsert() || f.values == 0 {
		return text, nil
	}
	old, err := g.existing(ctx, u, f, 0)
	return fmt.Sprintf("iif(:i %% 2, %s, %s)", text, old), err
}

func (g *drawer) newKey(c *column, f *stats) string {
	kind := f.kind
	if f.values == 0 {
		kind = c.affinity()
	}
	switch kind {
	case "text", "mixed":
		return fmt.Sprintf("text(%d)", max(16, f.average))
	case "blob":
		return fmt.Sprintf("blob(%d)", max(16, f.average))
	}
	number := ":i"
	if rows := g.rowsOf(c); rows > 1 { // each row of VALUES has a key of its own
		at := g.counted["new "+c.String()]
		g.counted["new "+c.String()]++
		number = fmt.Sprintf("%d * :i%s", rows, plus(int64(at-rows+1)))
	}
	behind := g.taken[c.String()] * apart
	if behind > 0 {
		number = fmt.Sprintf("%d + %s", behind, number)
	}
	high := whole(f.high)
	if high > farthest { // no room above
		return fmt.Sprintf("%d + %s", f.free, number)
	}
	g.above[c] = high
	return fmt.Sprintf("(SELECT coalesce(max(%s), 0) FROM %s) + %s", plain(c.name), plain(c.table.name), number)
}

// rowsOf is how many values a column gets from arguments.
func (g *drawer) rowsOf(c *column) (n int) {
	for _, u := range g.all {
		if u.role == insert && u.column == c {
			n++
		}
	}
	return n
}

// whole is a value rounded up to a whole number; 0 where it is none.
func whole(value any) int64 {
	switch v := value.(type) {
	case int64:
		return v
	case float64:
		return int64(math.Ceil(min(max(v, -float64(farthest)), 2*float64(farthest))))
	}
	return 0
}

// stored is a value as rows have it.
func (g *drawer) stored(ctx context.Context, u use, f *stats) (string, error) {
	c := u.column
	if to := g.parentOf(c); to != nil && (f.values == 0 || c.unique()) {
		found, err := g.schema.stats(ctx, to)
		if err != nil {
			return "", err
		}
		if found.values > 0 {
			return g.existing(ctx, use{role: u.role, column: to, bare: true}, found, 0)
		}
	}
	if text := u.made(f); text != "" {
		return text, nil
	}
	shift := 0
	if u.role == set {
		shift = 1 // SQLite writes nothing where nothing changes
	}
	return g.existing(ctx, use{role: u.role, column: c, bare: true}, f, shift)
}

// made is a new value of the kind that a column has; empty where it must be one that a row has.
func (u use) made(f *stats) string {
	c := u.column
	low, high, ranged := f.bounds()
	switch {
	case u.role == set && !u.bare && f.kind != "integer" && f.kind != "real":
		return plan.ToDo
	case u.role == set && !u.bare:
		return "random(1, 10)" // something is computed from it
	case u.role == insert && !c.notNull && f.values*2 < f.rows:
		return "NULL"
	case f.values == 0:
		return unknownValue(c)
	case c.parent.table != "" || c.inKey() || f.few() && (u.role == insert || !ranged) || formatted(f):
		return ""
	case ranged:
		return fmt.Sprintf("random(%d, %d)", low, max(high, low+1))
	case f.kind == "text":
		return fmt.Sprintf("text(%d)", max(1, f.average))
	case f.kind == "blob":
		return fmt.Sprintf("blob(%d)", max(1, f.average))
	case f.kind == "real" || f.kind == "numeric":
		if low, high := whole(f.low), whole(f.high); low > -farthest/1000 && high < farthest/1000 {
			return fmt.Sprintf("random(%d, %d) / 100.0", 100*(low-1), 100*high)
		}
	}
	return ""
}

// formatted reports whether texts look like dates, numbers or JSON, which other texts would
// not fit.
func formatted(f *stats) bool {
	low, _ := f.low.(string)
	high, _ := f.high.(string)
	begins := func(text, with string) bool { return text != "" && strings.ContainsAny(text[:1], with) }
	return begins(low, "0123456789{[") && begins(high, "0123456789{[")
}

// fromRows draws all arguments from rows of the tables that the statement compares: it finds
// the rows from which they are. Empty where the arguments are not of that kind.
func (g *drawer) fromRows(ctx context.Context) (string, error) {
	from, compared := g.comparedRows()
	if compared == nil {
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
	switch {
	case g.verb == "DELETE": // one after the other
		text = strings.Replace(text, "SELECT ", "SELECT DISTINCT ", 1)
		g.draw = "in-order"
		var err error
		g.rows, err = g.schema.count(ctx, text)
		return text, err
	case g.skewed(compared):
		g.draw = "zipfian"
	}
	return text, nil
}

// comparedRows says which rows have all values that are compared, as FROM has it, and which
// arguments they are; nil where no rows have them.
func (g *drawer) comparedRows() (from string, compared []int) {
	var refs []*reference
	seen := map[string]bool{}
	for i, u := range g.all {
		switch u.role {
		case limit, unknown:
			continue
		case set:
			if u.column == nil || g.fresh[u.column] {
				return "", nil
			}
			continue
		case equal:
		default:
			return "", nil
		}
		if u.column == nil {
			continue
		}
		key := g.inRow(u) + u.text
		if u.ref == nil || seen[key] {
			return "", nil
		}
		seen[key] = true
		compared = append(compared, i)
		if !slices.Contains(refs, u.ref) {
			refs = append(refs, u.ref)
		}
	}
	if !g.alone || len(refs) == 0 {
		return "", nil
	}
	if slices.ContainsFunc(g.all, func(u use) bool { return u.role == set && (len(refs) > 1 || refs[0].table != g.target.name) }) {
		return "", nil
	}
	if len(refs) == 1 {
		from = plain(refs[0].table)
		if !strings.EqualFold(refs[0].alias, refs[0].table) {
			from += " AS " + plain(refs[0].alias)
		}
		return from, compared
	}
	if from = g.clauseOf(refs); from == "" {
		return "", nil
	}
	return from, compared
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

// skewed reports whether a log shows that some values of a key come much more often.
func (g *drawer) skewed(compared []int) bool {
	const least = 0.5
	for _, i := range compared {
		if c := g.all[i].column; c.unique() && c.found != nil && g.logged.argument(g.query, i).theta(c.found.distinct) >= least {
			return true
		}
	}
	return false
}

// fromPairs draws the keys that a new row refers to together from pairs that no row has.
func (g *drawer) fromPairs(ctx context.Context) (string, error) {
	if !g.alone || g.target == nil || len(g.fresh) > 0 {
		return "", nil
	}
	i := slices.IndexFunc(g.target.keys, func(key []*column) bool {
		return len(key) == 2 && !slices.ContainsFunc(key, func(c *column) bool { return g.parentOf(c) == nil || g.rowsOf(c) != 1 })
	})
	if i < 0 {
		return "", nil
	}
	a, b := g.target.keys[i][0], g.target.keys[i][1]
	p, q := g.parentOf(a), g.parentOf(b)
	join := "CROSS JOIN " + plain(q.table.name) + " AS q"
	if one, other := common(p.table, q.table); one != nil {
		join = fmt.Sprintf("JOIN %s AS q ON q.%s = p.%s", plain(q.table.name), plain(other.name), plain(one.name))
	}
	values := make([]string, len(g.all))
	for i, u := range g.all {
		if u.role != insert || u.column == nil {
			return "", nil
		}
		switch f, err := g.schema.stats(ctx, u.column); {
		case err != nil:
			return "", err
		case u.column == a:
			values[i] = "p." + plain(p.name)
		case u.column == b:
			values[i] = "q." + plain(q.name)
		default:
			if values[i] = u.made(f); values[i] == "" {
				values[i] = fmt.Sprintf("(SELECT %s FROM %s)", plain(u.column.name), plain(g.target.name))
			}
		}
	}
	text := fmt.Sprintf("SELECT %s FROM %s AS p %s WHERE NOT EXISTS (SELECT 1 FROM %s AS n WHERE n.%s = p.%s AND n.%s = q.%s) LIMIT %d",
		strings.Join(values, ", "), plain(p.table.name), join, plain(g.target.name), plain(a.name), plain(p.name), plain(b.name), plain(q.name), pairs)
	var err error
	if g.rows, err = g.schema.count(ctx, text); g.rows == 0 || err != nil {
		return "", err
	}
	g.draw = "in-order"
	return text, nil
}

// pairs is how many pairs are drawn at most.
const pairs = 10_000

// common finds the columns of two tables that refer to the same table.
func common(a, b *table) (first, second *column) {
	for _, first := range a.columns {
		for _, second := range b.columns {
			if a != b && first.parent.table != "" && first.parent == second.parent {
				return first, second
			}
		}
	}
	return nil, nil
}

// upsert reports whether a statement says what happens to a row that is there already.
func (q *query) upsert() bool {
	for i, t := range q.tokens {
		conflict := t.Is("ON") && i+1 < len(q.tokens) && q.tokens[i+1].Is("CONFLICT")
		or := t.Is("OR") && i > 0 && q.tokens[i-1].Is("INSERT") && i+1 < len(q.tokens) &&
			(q.tokens[i+1].Is("REPLACE") || q.tokens[i+1].Is("IGNORE"))
		if t.Depth == 0 && (conflict || or) {
			return true
		}
	}
	return q.verb == "REPLACE"
}

// count is how many rows SQL gives that draws nothing at random.
func (s *schema) count(ctx context.Context, text string) (n int64, err error) {
	tokens, _ := sqltext.Scan(text)
	var counted strings.Builder
	end := 0
	for i, t := range tokens { // what is drawn does not change how many there are
		same := map[bool]string{t.Is("text") || t.Is("blob"): "length", t.Is("random"): "max"}[true]
		if i+1 < len(tokens) && tokens[i+1].Kind == '(' && same != "" {
			counted.WriteString(text[end:t.From] + same)
			end = t.To
		}
	}
	counted.WriteString(text[end:])
	err = s.db.QueryRowContext(ctx, "SELECT count(*) FROM ("+strings.ReplaceAll(counted.String(), plan.ToDo, "0")+")").Scan(&n)
	return n, err
}
