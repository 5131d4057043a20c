package draft

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/internal/plan"
)

const (
	page   = "20"          // what LIMIT takes
	keyGap = 1_000_000_000 // how far the new keys of two statements are from each other
	pairs  = 10_000        // how many pairs of keys are drawn at most
	// sparse is how many numbers of a range belong to one row at most.
	sparse = 1_000_000
)

// drawer writes the SQL that gives the arguments of one statement. Its rules are few: an equality draws
// from its column, a new key continues, a value that is written is one that a row has, and what
// nothing tells is left to the user.
type drawer struct {
	*analysis
	all     []use
	single  bool               // the statement is an operation of its own
	named   map[string]string  // SQL of the operation's arguments until now, by their names
	newKeys map[*column]string // SQL of keys of rows that the operation has inserted
	taken   map[string]int64   // statements so far that insert into a column
	fresh   map[*column]bool   // columns that get values which no row has
	counted map[string]int     // how often a value was drawn of a column
	above   map[*column]int64  // the greatest value before new keys
	keys    map[*column]string // SQL of those of the rows that it inserts
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
	values := make([]string, len(g.args))
	for i := range g.args {
		var err error
		if values[i], err = g.value(ctx, i); err != nil {
			return "", err
		}
	}
	for c := range g.fresh {
		g.taken[c.String()]++
		if text := g.keys[c]; text != "" {
			g.newKeys[c] = text
		}
	}
	return "SELECT " + strings.Join(values, ", "), nil
}

// fromRows draws all arguments of a query from rows of the one table that it compares, so that
// they meet a row together. Empty where the arguments are not of that kind.
func (g *drawer) fromRows(ctx context.Context) (string, error) {
	var ref *reference
	values, where := make([]string, len(g.all)), []string{}
	for i, u := range g.all {
		switch {
		case u.role == limit:
			values[i] = page
			continue
		case u.column == nil:
			values[i] = plan.ToDo
			continue
		}
		text := comparedText(u)
		if u.role != equal || !g.single || ref != nil && ref != u.ref || slices.Contains(values, text) {
			return "", nil
		}
		f, err := g.schema.stats(ctx, u.column)
		if err != nil || f.values == 0 {
			return "", err
		}
		ref, values[i] = u.ref, text
		where = append(where, f.having(u)...)
	}
	if ref == nil || g.changes() && g.verb != "DELETE" {
		return "", nil
	}
	text := strings.Join(values, ", ") + " FROM " + ref.from()
	if len(where) > 0 {
		text += " WHERE " + strings.Join(where, " AND ")
	}
	if g.verb != "DELETE" {
		return "SELECT " + text, nil
	}
	return g.inOrder(ctx, "SELECT DISTINCT "+text) // what is gone is not drawn again
}

// inOrder draws rows one after the other.
func (g *drawer) inOrder(ctx context.Context, text string) (string, error) {
	err := g.schema.db.QueryRowContext(ctx, "SELECT count(*) FROM ("+strings.ReplaceAll(text, plan.ToDo, "0")+")").Scan(&g.rows)
	if g.rows == 0 || err != nil {
		return "", err
	}
	g.draw = "in-order"
	return text, nil
}

// comparedText returns what an argument is compared with.
func comparedText(u use) string {
	return cmp.Or(u.text, plain(u.column.name))
}

// from is the table as FROM has it.
func (r *reference) from() string {
	if r == nil || strings.EqualFold(r.alias, r.table) {
		return plain(r.table)
	}
	return plain(r.table) + " AS " + plain(r.alias)
}

// having says which rows have a value for an argument.
func (f *stats) having(u use) []string {
	switch name := plain(u.column.name); {
	case f.kind == "mixed":
		return []string{fmt.Sprintf("typeof(%s) = '%s'", name, f.most)}
	case u.role == equal && f.values < f.rows:
		return []string{name + " IS NOT NULL"}
	}
	return nil
}

// value is SQL of one argument.
func (g *drawer) value(ctx context.Context, i int) (text string, err error) {
	w := g.args[i]
	if known := g.named[w]; known != "" {
		return known, nil
	}
	switch u := g.all[i]; {
	case u.role == limit:
		text = page
	case u.column == nil:
		return plan.ToDo, nil
	default:
		text, err = g.ofColumn(ctx, u)
	}
	if !strings.HasPrefix(w, "?") && !drawnAnew(text) {
		g.named[w] = text
	}
	return text, err
}

// drawnAnew reports whether another evaluation gives another value.
func drawnAnew(text string) bool {
	return strings.Contains(text, "text(") || strings.Contains(text, "blob(") || strings.Contains(text, "random(")
}

// ofColumn is SQL of a value that is compared with a column, or stored in it.
func (g *drawer) ofColumn(ctx context.Context, u use) (string, error) {
	c := u.column
	f, err := g.schema.stats(ctx, c)
	if err != nil {
		return "", err
	}
	written, to := u.role != equal, g.parentOf(c)
	switch {
	case written && g.fresh[c]:
		return g.newValue(ctx, u, f)
	case g.newKeys[c] != "":
		return g.newKeys[c], nil
	case to != nil && g.newKeys[to] != "":
		return g.newKeys[to], nil
	case written && to != nil && (f.values == 0 || c.unique()):
		if found, err := g.schema.stats(ctx, to); err != nil || found.values > 0 {
			return g.existing(ctx, use{role: u.role, column: to}, found)
		}
	}
	if f.values == 0 && (f.rows == 0 || !written || c.notNull) || u.role == set && to == nil && f.distinct < 2 { // no other row has another one
		return map[string]string{"integer": "random(1, 1000)", "text": "text(12)", "real": "random(1, 1000) / 10.0", "blob": "blob(16)"}[c.affinity()], nil
	}
	return g.existing(ctx, u, f)
}

// parentOf is the column that a foreign key refers to; nil where there is none.
func (g *drawer) parentOf(c *column) *column {
	if t := g.schema.table(c.parent.table); t != nil {
		return t.column(c.parent.column)
	}
	return nil
}

// existing returns what a row has: the row of the operation's number, so that other columns of the
// table are of the same row, and the next one where a column comes again. A column is set to
// what another row has: SQLite writes nothing where nothing changes.
func (g *drawer) existing(ctx context.Context, u use, f *stats) (string, error) {
	t, text := u.column.table, comparedText(u)
	key := t.name + " " + text + " " + string(u.role)
	shift := int64(g.counted[key])
	g.counted[key]++
	if u.role == set {
		shift++
	}
	where := f.having(u)
	from := plain(t.name)
	if u.ref != nil {
		from = u.ref.from()
	}
	number, n := "permute(:i"+plus(shift)+", %d)", max(1, f.rows)
	if id := first(t.columns, func(c *column) bool { return c.rowid }); id != nil {
		ids, err := g.schema.stats(ctx, id)
		if err != nil {
			return "", err
		}
		if low, high, ok := ids.bounds(); ok && high-low >= 0 && (high-low)/sparse < ids.rows {
			where = append([]string{plain(id.name) + " >= " + fmt.Sprintf(number, high-low+1) + plus(low)}, where...)
			return fmt.Sprintf("(SELECT %s FROM %s WHERE %s LIMIT 1)", text, from, strings.Join(where, " AND ")), nil
		}
	}
	order := "1"
	for _, key := range t.keys[:min(1, len(t.keys))] {
		names := make([]string, len(key))
		for i, c := range key {
			names[i] = plain(c.name)
		}
		order = strings.Join(names, ", ")
	}
	if len(where) > 0 {
		from, n = from+" WHERE "+strings.Join(where, " AND "), f.values
	}
	return fmt.Sprintf("(SELECT value FROM (SELECT %s AS value, row_number() OVER (ORDER BY %s) AS n FROM %s) WHERE n = %s + 1)", text, order, from, fmt.Sprintf(number, n)), nil
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

// chooseFresh finds a column of each key that is to get values which no row has: of several,
// one that takes them easily and refers to no other table.
func (g *drawer) chooseFresh() {
	g.fresh, g.counted, g.above, g.keys = map[*column]bool{}, map[string]int{}, map[*column]int64{}, map[*column]string{}
	given := map[*column]bool{}
	for _, u := range g.all {
		if u.column != nil && (u.role == insert || u.role == set && u.column.inIndexOfItsOwn()) {
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
			if score := map[string]int{"integer": 3, "text": 2}[c.affinity()] + 1; c.parent.table == "" && score > bestScore {
				best, bestScore = c, score
			}
		}
		if best != nil {
			g.fresh[best] = true
		}
	}
}

// newValue is a value that no row has. An upsert meets a row that exists half of the time.
func (g *drawer) newValue(ctx context.Context, u use, f *stats) (string, error) {
	text := g.newKey(u.column, f)
	if u.role == insert && !drawnAnew(text) {
		g.keys[u.column] = text
	}
	if !g.upsert() || f.values == 0 {
		return text, nil
	}
	old, err := g.existing(ctx, u, f)
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
	if behind := g.taken[c.String()] * keyGap; behind > 0 {
		number = fmt.Sprintf("%d + %s", behind, number)
	}
	high := whole(f.high)
	if high > farthest { // no room above
		return fmt.Sprintf("%d + %s", f.free, number)
	}
	g.above[c] = high
	return fmt.Sprintf("(SELECT coalesce(max(%s), 0) FROM %s) + %s", plain(c.name), plain(c.table.name), number)
}

// rowsOf returns how many values a column gets from arguments.
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

// fromPairs draws the keys that a new row refers to together from pairs that no row has.
func (g *drawer) fromPairs(ctx context.Context) (string, error) {
	if !g.single || g.target == nil || len(g.fresh) > 0 {
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
		switch u.column {
		case nil:
			values[i] = plan.ToDo
		case a:
			values[i] = "p." + plain(p.name)
		case b:
			values[i] = "q." + plain(q.name)
		default:
			values[i] = fmt.Sprintf("(SELECT %s FROM %s)", plain(u.column.name), plain(g.target.name))
		}
	}
	return g.inOrder(ctx, fmt.Sprintf("SELECT %s FROM %s AS p %s WHERE NOT EXISTS (SELECT 1 FROM %s AS n WHERE n.%s = p.%s AND n.%s = q.%s) LIMIT %d",
		strings.Join(values, ", "), plain(p.table.name), join, plain(g.target.name), plain(a.name), plain(p.name), plain(b.name), plain(q.name), pairs))
}

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
