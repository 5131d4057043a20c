package draft

import (
	"context"
	"fmt"
	"strings"

	"assay/internal/plan"
)

// page is what LIMIT takes.
const page = "20"

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
