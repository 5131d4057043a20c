package draft

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"assay"
	"assay/internal/plan"
)

// checkedBytes is how many bytes of a table a check reads at most: it runs after
// every block.
const checkedBytes = 4 << 20

// rowsInOrder is a query for columns of all rows, in the order of a key of which
// every column may be used: its answer shows every wrong value. It is empty
// where there is no such key, where the table is too large, or where the values
// of a column have no one type.
func (s *schema) rowsInOrder(ctx context.Context, t *table, columns []*column, usable func(*column) bool) (string, error) {
	i := slices.IndexFunc(t.keys, func(key []*column) bool {
		return !slices.ContainsFunc(key, func(c *column) bool { return c == nil || !c.rowid && !c.notNull || !usable(c) })
	})
	if i < 0 {
		return "", nil
	}
	all := slices.Clone(t.keys[i])
	for _, c := range columns {
		if !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	names, width, rows := make([]string, len(all)), int64(0), int64(0)
	for j, c := range all {
		f, err := s.stats(ctx, c)
		if err != nil {
			return "", err
		}
		if f.kind == "mixed" || f.kind == "numeric" || c.declared == "" && !c.rowid {
			return "", nil
		}
		names[j], width, rows = plain(c.name), width+max(8, f.average), f.rows
	}
	if rows*width > checkedBytes {
		return "", nil
	}
	return fmt.Sprintf("SELECT %s FROM %s ORDER BY %s", strings.Join(names, ", "), plain(t.name), strings.Join(names[:len(t.keys[i])], ", ")), nil
}

// newRows reads what is given of the rows behind the greatest key that was there, in a certain
// order; or it counts them. It is empty where no key tells new rows. A key that the engine
// assigns is not read: of several clients, the order of commits decides which row gets which.
func (o *statement) newRows(ctx context.Context, s *schema) (string, error) {
	g := o.drawer
	var names, order []string
	key := first(g.target.columns, func(c *column) bool { _, ok := g.above[c]; return ok })
	above, own := g.above[key], key != nil
	if own {
		names, order = []string{plain(key.name)}, []string{plain(key.name)}
	} else {
		key = g.target.column("rowid")
		if key == nil || !key.rowid || slices.Contains(g.listed, key) {
			return "", nil
		}
		f, err := s.stats(ctx, key)
		if err != nil {
			return "", err
		}
		above = whole(f.high)
	}
	for _, c := range o.given() {
		if c == key {
			continue
		}
		name := plain(c.name)
		names = append(names, name)
		if c.table.collates {
			name += " COLLATE BINARY" // else rows that differ have any order
		}
		if !own {
			order = append(order, name)
		}
	}
	from := fmt.Sprintf("FROM %s WHERE %s > %d", plain(g.target.name), plain(key.name), above)
	if len(names) == 0 {
		return "SELECT count(*) " + from, nil
	}
	return fmt.Sprintf("SELECT %s %s ORDER BY %s", strings.Join(names, ", "), from, strings.Join(order, ", ")), nil
}

// given are the columns that an INSERT lists and gives values which are its arguments.
func (o *statement) given() []*column {
	written := o.written()
	return slices.DeleteFunc(slices.Clone(o.drawer.listed), func(c *column) bool { return c == nil || !slices.Contains(written, c) })
}

// totals counts the rows of the table that a statement changes, and sums up what it writes.
func (o *statement) totals(ctx context.Context, s *schema) (string, error) {
	selected := []string{"count(*)"}
	for _, c := range o.written() {
		f, err := s.stats(ctx, c)
		if err != nil {
			return "", err
		}
		name := plain(c.name)
		low, high, whole := f.bounds()
		const limit = 1 << 31
		if whole && low > -limit && high < limit {
			selected = append(selected, "sum("+name+")")
			continue
		}
		selected = append(selected, "count(DISTINCT "+name+")", "min("+name+")", "max("+name+")")
		if f.kind == "text" {
			selected = append(selected, "sum(length("+name+"))")
		}
	}
	return fmt.Sprintf("SELECT %s FROM %s", strings.Join(selected, ", "), plain(o.drawer.target.name)), nil
}

// assigned returns the columns of SET whose new values do not depend on chance
// or on the clock.
func (o *statement) assigned() []*column {
	g := o.drawer
	var all []*column
	for i := g.top("SET"); i >= 0 && i+1 < len(g.tokens); {
		end := i + 1
		for end < len(g.tokens) && !(g.group[end] == -1 && (g.tokens[end].Kind == ',' || g.tokens[end].Is("WHERE") || g.tokens[end].Is("FROM") || g.tokens[end].Is("RETURNING"))) {
			end++
		}
		item := g.tokens[i+1 : end]
		name, _ := item[0].Name()
		if c := g.target.column(name); c != nil && !slices.Contains(all, c) && !varies(item) {
			all = append(all, c)
		}
		if end >= len(g.tokens) || g.tokens[end].Kind != ',' {
			break
		}
		i = end
	}
	return all
}

// decode reads the plan as it stands, and holds its SQL against the queries:
// a text must survive YAML unchanged.
func (d *drafter) decode() (*plan.Plan, error) {
	text := d.text(false)
	p, err := plan.Decode(d.options.Plan, []byte(text))
	if err != nil {
		return nil, fmt.Errorf("the drafted plan does not decode: %w", err)
	}
	cases, err := p.Expand(p.Drivers[:1])
	if err != nil {
		return nil, fmt.Errorf("the drafted plan is not right: %w", err)
	}
	want, got := map[string][]string{}, map[string][]string{}
	for _, o := range d.tried() {
		want[o.name] = o.texts()
	}
	for _, c := range cases {
		if len(c.Operation.Steps) > 0 {
			got[c.Operation.Name] = stepTexts(c.Operation)
		}
	}
	if !reflect.DeepEqual(got, want) {
		return nil, fmt.Errorf("the drafted plan has other SQL than the queries: %q, not %q", got, want)
	}
	return p, nil
}

func stepTexts(op assay.Operation) []string {
	var all []string
	for _, s := range op.Steps {
		all = append(all, s.SQL)
	}
	return all
}
