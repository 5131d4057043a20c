package draft

import (
	"context"
	"fmt"
	"regexp"
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

const (
	// minTwins is how often an operation must come in a log for arguments that are always
	// alike to be taken for the same.
	minTwins = 10
	// maxTwins bounds the arguments of an operation that are compared.
	maxTwins = 100
)

// pairing finds arguments of an operation that have the same value each time it comes:
// a program that changes a row in three tables binds its id three times.
type pairing struct {
	alike [][]int // by argument: those to the left that were alike until now
	seen  int
}

// take compares the arguments of the first statement of each step.
func (p *pairing) take(tags []string) {
	p.seen++
	if p.seen == 1 {
		p.alike = make([][]int, min(len(tags), maxTwins))
		for j := range p.alike {
			p.alike[j] = indexes(j)
		}
	}
	for j := range p.alike {
		p.alike[j] = slices.DeleteFunc(p.alike[j], func(i int) bool { return j >= len(tags) || tags[j] == "" || tags[i] != tags[j] })
	}
}

// give tells each argument which one it repeats.
func (p *pairing) give(steps []*loggedStep) {
	var all []*loggedArgument
	for _, s := range steps {
		all = append(all, s.args...)
	}
	if p.seen < minTwins || len(p.alike) != min(len(all), maxTwins) {
		return
	}
	for j, alike := range p.alike {
		if len(alike) > 0 && len(all[j].tags) > 1 {
			all[j].twin = all[alike[0]]
		}
	}
}

// twin is how an argument is drawn that repeats another one; false where it repeats none,
// and where others of its row would no longer belong to it.
func (g *guesser) twin(i int) (yaml, note string, ok bool) {
	before := g.twinOf(i)
	u := g.all[i]
	if before == nil || u.column != nil && g.fresh[u.column] {
		return "", "", false
	}
	for j, other := range g.all {
		beside := g.source.has(i) && g.source.has(j) || u.role == equal && other.role == equal && u.table != nil && other.table == u.table
		sameRow := u.column != nil && strings.HasPrefix(before.yaml, "{from: "+scalar(u.column.String())) && !g.source.has(i)
		if j != i && beside && !sameRow && g.twinOf(j) == nil {
			return "", "", false
		}
	}
	note = fmt.Sprintf("the same as argument %d, as in the log", before.number)
	switch kind, _, _ := strings.Cut(strings.TrimPrefix(before.yaml, "{"), ":"); kind {
	case "from", "const":
		return before.yaml, note, !strings.Contains(before.yaml, "null:")
	case "uniform", "zipf", "seq", "derive":
		return fmt.Sprintf("{derive: {of: %d}}", before.number), note, !strings.Contains(before.yaml, "format:")
	}
	return "", "", false
}

// twinOf is the argument to the left that one repeats; nil where there is none.
func (g *guesser) twinOf(i int) *chosen {
	if logged := g.inLog(i); logged != nil && logged.twin != nil {
		return g.twins[logged.twin]
	}
	return nil
}

// remember keeps how the arguments of a statement are drawn for those that repeat them.
func (g *guesser) remember() {
	for i, logged := range g.logged {
		if logged != nil && g.args[i].yaml != "" {
			g.twins[logged] = &chosen{g.first + i, g.args[i].yaml}
		}
	}
}

// drawnFrom takes apart how an argument is drawn from a column: its table, and how its
// row is found.
var drawnFrom = regexp.MustCompile(`^\{from: "?([^,}]+)\.[^.,}]+?"?(?:, row: (\d+))?(?:, null: [^,}]+)?(, draw: (?:zipf|latest), theta: [^,}]+)?\}$`)

// alignDraws draws all arguments of one row alike, in all steps of an operation.
func (o *operation) alignDraws() {
	draws := map[string]string{}
	each := func(do func(a *argument, row, draw string)) {
		for _, st := range o.steps {
			for i := range st.args {
				if m := drawnFrom.FindStringSubmatch(st.args[i].yaml); m != nil {
					do(&st.args[i], m[1]+" "+m[2], m[3])
				}
			}
		}
	}
	each(func(_ *argument, row, draw string) {
		if draws[row] == "" {
			draws[row] = draw
		}
	})
	each(func(a *argument, row, draw string) {
		a.yaml = strings.TrimSuffix(strings.TrimSuffix(a.yaml, "}"), draw) + draws[row] + "}"
	})
}
