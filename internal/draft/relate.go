package draft

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// What a transaction inserts may have to belong together in a way that only a trigger
// knows, as the author of a comment to the tenant of its task. Rows that are there have
// passed the trigger: where an operation fails with a constraint, what a new row refers to
// is drawn from one of them, and what other statements compare with the same rows too.

// relate makes an operation again that a constraint refuses. It stays left out where that
// does not help; the error is the context's. It returns the probe of the plan then.
func (d *drafter) relate(ctx context.Context, b *probe, o *operation) (*probe, error) {
	if !strings.Contains(o.leftOut, "constraint failed") || !o.transaction {
		return b, nil
	}
	for _, st := range o.steps {
		together, s := st.together(o)
		if together == nil {
			continue
		}
		again := &operation{script: o.script, here: o.here}
		again.leftOut, again.notes = "", slices.Clone(o.notes)
		limited, cancel, limit := d.limited(ctx)
		err := d.remake(limited, again, together, s)
		cancel()
		if err != nil {
			if ctx.Err() != nil {
				return b, ctx.Err()
			}
			continue
		}
		before := *o
		*o = *again
		if b, err = d.probe(); err == nil {
			err = b.learn(ctx, limit, o)
		}
		if err != nil {
			return b, err
		}
		if o.leftOut == "" {
			return b, nil
		}
		*o = before
	}
	return d.probe()
}

// remake guesses the arguments of an operation, of which some are drawn together.
func (d *drafter) remake(ctx context.Context, o *operation, together map[any]string, s source) error {
	if err := d.explainAll(ctx, o, together); err != nil {
		return err
	}
	o.sources = append(o.sources, s)
	o.keepSources()
	return o.finish(ctx, d.schema)
}

// together finds the arguments that belong to what a statement inserts, how each is drawn,
// and from where; nil where there are not several.
func (st *statement) together(o *operation) (map[any]string, source) {
	g := st.guess
	if g.target == nil || g.listed == nil {
		return nil, source{}
	}
	s := source{name: strings.ReplaceAll(o.name, ".", "-") + "-together"}
	found, selected, from := map[any]string{}, []string{}, plain(g.target.name)+" AS n"
	add := func(root any, expression string) {
		if root == nil || found[root] != "" {
			return
		}
		name := fmt.Sprintf("arg%d", len(found)+1)
		selected = append(selected, expression+" AS "+name)
		found[root] = fmt.Sprintf("{from: %s}", scalar(s.name+"."+name))
	}
	for i, u := range g.all {
		if u.role != insert || !u.bare || u.column == nil || g.fresh[u.column] || u.column.parent.table == "" && u.column.affinity() != "integer" {
			continue // what is no key; keys may be declared as such or not
		}
		root := g.root(i)
		add(root, "n."+plain(u.column.name))
		for k, other := range o.steps {
			alias := fmt.Sprintf("p%d_%d", i+1, k+1)
			beside := other.guess.beside(root, u.column.parent)
			if root == nil || u.column.parent.table == "" || len(beside) == 0 {
				continue
			}
			from += fmt.Sprintf(" JOIN %s AS %s ON %[2]s.%s = n.%s", plain(u.column.parent.table), alias, plain(u.column.parent.column), plain(u.column.name))
			for root, c := range beside {
				add(root, alias+"."+plain(c.name))
			}
		}
	}
	if len(found) < 2 {
		return nil, source{}
	}
	s.sql = fmt.Sprintf("SELECT %s FROM %s LIMIT %d", strings.Join(selected, ", "), from, sourceRows)
	return found, s
}

// beside are the other columns of a table that a statement compares where it finds a row of
// it by an argument.
func (g *guesser) beside(root any, key parent) map[any]*column {
	at := slices.IndexFunc(g.all, func(u use) bool {
		return u.role == equal && u.column != nil && strings.EqualFold(u.column.table.name, key.table) && strings.EqualFold(u.column.name, key.column)
	})
	if at < 0 || g.root(at) != root {
		return nil
	}
	found := map[any]*column{}
	for i, u := range g.all {
		if other := g.root(i); i != at && u.role == equal && u.function == "" && u.table == g.all[at].table && u.column != nil && other != nil {
			found[other] = u.column
		}
	}
	return found
}

// root is what an argument has in common with those that have the same value each time: the
// first of them in the log, or their name; nil where there is neither.
func (g *guesser) root(i int) any {
	if first := g.inLog(i); first != nil {
		for first.twin != nil {
			first = first.twin
		}
		return first
	}
	if w := g.args[i].written; !strings.HasPrefix(w, "?") {
		return w
	}
	return nil
}

// drawnTogether is how an argument is drawn that belongs to a row which a statement of the
// operation inserts; empty where it does not.
func (g *guesser) drawnTogether(i int) (yaml, note string) {
	root := g.root(i)
	if root == nil || g.related[root] == "" {
		return "", ""
	}
	return g.related[root], "rows that belong together, as a row has them that is there"
}
