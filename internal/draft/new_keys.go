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

// apart is how far the new keys of two statements are from each other.
const apart = 1_000_000_000

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
