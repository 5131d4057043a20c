package draft

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

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
