package draft

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
)

const (
	// apart is how far the new keys of two queries are from each other.
	apart = 1_000_000_000
	// rowsApart is how far the new keys of rows of one INSERT are.
	rowsApart = 1_000_000
	// rangeRows is about how many rows a range is to have.
	rangeRows = 100
)

// guesser guesses how the arguments of one query are drawn.
type guesser struct {
	*analysis
	name      string                      // of the operation
	named     map[string]*chosen          // arguments of the operation by name; nil: it has one statement
	first     int                         // number of the query's first argument in the operation, counted from 1
	source    *source                     // of several arguments; nil: there is none
	words     []source                    // of what full-text searches look for
	step      *loggedStep                 // in the log; nil: there is none
	logged    []*loggedArgument           // by argument; nil: nothing is known of them
	twins     map[*loggedArgument]*chosen // arguments of the operation until now, as the log has them
	related   map[any]string              // how arguments are drawn that belong together, by their root
	rows      *[]newRow                   // that earlier statements of the operation insert
	drawn     map[string]int              // how often a column was drawn from, by the role and its name
	all       []use
	fresh     map[*column]bool  // gets values that no row has
	keys      map[*column]int   // argument with the first new key, counted from 1
	taken     map[string]int64  // queries so far that insert into a column, or draw new rows of a table
	inserting map[*table]int64  // all queries that insert into a table
	above     map[*column]int64 // the greatest value before new keys
}

// chosen is how an argument of an operation is drawn, which can come again.
type chosen struct {
	number int // in the operation, counted from 1
	yaml   string
}

// guess fills in the arguments of a query. taken counts the queries that insert
// into a column.
func (g *guesser) guess(ctx context.Context) error {
	g.all, g.drawn, g.fresh, g.keys, g.above = g.uses(), map[string]int{}, map[*column]bool{}, map[*column]int{}, map[*column]int64{}
	if err := g.chooseSource(ctx); err != nil {
		return err
	}
	g.chooseFresh()
	for i := range g.args {
		a := &g.args[i]
		yaml, note, err := g.argumentAt(ctx, i)
		if err != nil {
			return err
		}
		if a.written != "?" {
			yaml, note = g.again(i, yaml, note)
		}
		a.yaml, a.note = yaml, note
		g.resize(i)
		g.remember()
	}
	for c := range g.keys {
		g.taken[c.String()]++
	}
	g.skew()
	g.remember()
	g.born()
	return nil
}

// again draws an argument whose name the operation had before as it was drawn
// then: it is the same value.
func (g *guesser) again(i int, yaml, note string) (string, string) {
	w := g.args[i].written
	note = "for " + w + ", " + note
	if g.named == nil || strings.HasPrefix(w, "?") {
		return yaml, note
	}
	before, known := g.named[w]
	if !known {
		g.named[w] = &chosen{g.first + i, yaml}
		return yaml, note
	}
	note = fmt.Sprintf("for %s, the same as argument %d", w, before.number)
	switch {
	case strings.HasPrefix(before.yaml, "{from:"), strings.HasPrefix(before.yaml, "{const:"), strings.HasPrefix(before.yaml, "{seq:"), strings.HasPrefix(before.yaml, "{next:"):
		return before.yaml, note
	case strings.HasPrefix(before.yaml, "{uniform:"), strings.HasPrefix(before.yaml, "{derive:"):
		return fmt.Sprintf("{derive: {of: %d}}", before.number), note
	}
	return before.yaml, fmt.Sprintf("for %s, of the kind of argument %d, and another value", w, before.number)
}

// chooseFresh finds a column of each key that is to get values which no row
// has.
func (g *guesser) chooseFresh() {
	given := map[*column]bool{}
	for i, u := range g.all {
		if u.column != nil && (u.role == insert || u.role == set && u.column.alone()) && !g.source.has(i) {
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

// freshScore is higher for columns that take new values more easily, and zero
// for those that refer to another table.
func freshScore(c *column) int {
	if c.parent.table != "" {
		return 0
	}
	return map[string]int{"integer": 3, "text": 2}[c.affinity()] + 1
}

func (g *guesser) argumentAt(ctx context.Context, i int) (yaml, note string, err error) {
	u := g.all[i]
	if yaml, note = g.drawnTogether(i); yaml != "" {
		return yaml, note, nil
	}
	if yaml, note = g.ofNewRow(i); yaml != "" {
		return yaml, note, nil
	}
	if yaml, note, ok := g.twin(i); ok {
		return yaml, note, nil
	}
	switch {
	case g.source.has(i):
		return g.source.draw(i), g.source.notes[i], nil
	case u.role == limit && g.step != nil && g.step.most > 0 && !g.changes():
		return fmt.Sprintf("{const: %d}", g.step.most), "as many rows as there are in the log at most", nil
	case u.role == limit:
		return "{const: 20}", "a page of 20 rows", nil
	case u.role == offset:
		yaml, note = g.offsets(i)
		return yaml, note, nil
	case u.column == nil:
		return "{uniform: [1, 100]}", "nothing tells what it is for", nil
	}
	f, err := g.schema.stats(ctx, u.column)
	if err != nil {
		return "", "", err
	}
	switch u.role {
	case insert:
		return g.inserts(ctx, i, u.column, f)
	case set:
		return g.sets(ctx, i, u, f)
	case match:
		return g.matches(ctx, i, u)
	}
	if f.values == 0 {
		return empty(u.column), fmt.Sprintf("%s has no values yet", u.column), nil
	}
	switch u.role {
	case above, below:
		return g.bounds(ctx, i, u, f)
	case like, glob:
		return g.patterns(ctx, u, f)
	}
	yaml, note = g.equals(u, f)
	return yaml, note, nil
}

// empty draws values for a column that has none to learn from.
func empty(c *column) string {
	return map[string]string{"integer": "{uniform: [1, 1000]}", "text": "{text: 12}", "real": "{real: [0, 1000]}", "blob": "{blob: 16}"}[c.affinity()]
}

// equals draws values that rows have.
func (g *guesser) equals(u use, f *stats) (yaml, note string) {
	about := fmt.Sprintf("%s is compared with it", u.column)
	if u.function != "" {
		about = fmt.Sprintf("%s(%s) is compared with it", u.function, u.column)
	}
	low, high, whole := f.bounds()
	switch {
	case f.kind == "mixed":
		return constant(f.low), about + "; its values are of several types, and this is the least"
	case g.verb == "DELETE" && u.role == equal && u.table == g.target && (u.column.unique() && !whole || g.together(u)):
		return g.from(u.column, "", 1, ", draw: once"), about + "; a value that a row has, one row after the other"
	case g.together(u):
		return g.from(u.column, "", 1, ""), about + "; a value that a row has"
	case g.verb == "DELETE" && u.role == equal && u.column.unique() && whole && f.full():
		return fmt.Sprintf("{seq: %d}", low), about + "; one row after the other"
	case whole && f.full():
		return fmt.Sprintf("{uniform: [%d, %d]}", low, high), about + "; it has every number of these"
	}
	return g.from(u.column, "", 1, ""), about + "; a value that a row has"
}

// together reports whether several columns of a table are compared: their
// values must be of one row to find it.
func (g *guesser) together(u use) bool {
	return slices.ContainsFunc(g.all, func(other use) bool { return other.role == equal && other.table == u.table && other.column != u.column })
}

// from draws from a column. Drawn from once more, it is of another row; first
// is the number of the first row.
func (g *guesser) from(c *column, role string, first int, more string) string {
	key := role + c.String()
	row := first + g.drawn[key]
	g.drawn[key]++
	if row > 1 {
		more = fmt.Sprintf(", row: %d%s", row, more)
	}
	return fmt.Sprintf("{from: %s%s}", scalar(c.String()), more)
}

// bounds draws one end of a range. Of both ends, the second is computed from the
// first.
func (g *guesser) bounds(ctx context.Context, i int, u use, f *stats) (yaml, note string, err error) {
	other := g.otherEnd(i, u)
	low, high, whole := f.bounds()
	about := fmt.Sprintf("%s is %s it", u.column, u.role)
	both := fmt.Sprintf("; a range of about %d rows", rangeRows)
	switch {
	case whole && other >= 0:
		width := max(1, int64(float64(high-low)/float64(f.values)*rangeRows))
		sign := map[role]int64{below: 1, above: -1}[u.role]
		switch {
		case other < i:
			return fmt.Sprintf("{derive: {of: %d, add: %d}}", g.first+other, sign*width), about + both, nil
		case u.role == below:
			return fmt.Sprintf("{uniform: [%d, %d]}", min(high, low+width), high), about, nil
		}
		return fmt.Sprintf("{uniform: [%d, %d]}", low, max(low, high-width)), about, nil
	case other >= 0:
		place := f.values / 2
		if u.role == below {
			place = min(f.values-1, place+rangeRows)
		}
		value, err := g.schema.at(ctx, u.column, place)
		return constant(value), about + both + " in the middle", err
	case whole:
		return fmt.Sprintf("{uniform: [%d, %d]}", low, high), about + "; from the least to the greatest", nil
	case f.kind == "mixed":
		return constant(f.low), about + "; its values are of several types, and this is the least", nil
	}
	return g.from(u.column, "", 1, ""), about + "; a value that a row has", nil
}

// otherEnd finds the argument that is the other end of a range, in any order;
// otherwise -1.
func (g *guesser) otherEnd(i int, u use) int {
	for j, other := range g.all {
		if j != i && other.column == u.column && (u.role == above && other.role == below || u.role == below && other.role == above) {
			return j
		}
	}
	return -1
}

// patterns makes a pattern out of the beginning of a value.
func (g *guesser) patterns(ctx context.Context, u use, f *stats) (yaml, note string, err error) {
	value, err := g.schema.at(ctx, u.column, f.values/2)
	text := []rune(fmt.Sprint(value))
	begin := string(text[:(len(text)*2+2)/3])
	if u.bare {
		begin += map[role]string{like: "%", glob: "*"}[u.role]
	}
	return constant(begin), fmt.Sprintf("how a value of %s begins", u.column), err
}

// inserts draws the value of a new row: keys are new, what refers to another
// table does so, and the rest is as a row that is there has it.
func (g *guesser) inserts(ctx context.Context, i int, c *column, f *stats) (yaml, note string, err error) {
	if g.fresh[c] && (c.inKey() || 2*f.values >= f.rows) {
		yaml, note = g.newKey(i, c, f)
		return yaml, note, nil
	}
	if !g.oneRow(f) {
		if yaml, note, err := g.refers(ctx, c); yaml != "" || err != nil {
			return yaml, note, err
		}
	}
	missing, known := g.nulls(i)
	if !known {
		missing = float64(f.rows-f.values) / float64(max(1, f.rows))
	}
	switch {
	case known && missing == 1:
		return "{const: ~}", fmt.Sprintf("%s is always NULL in the log", c), nil
	case !known && (f.values == 0 && f.rows > 0 && !c.notNull || missing > 0.5):
		return "{const: ~}", fmt.Sprintf("most rows have no %s", c), nil
	case f.values == 0:
		return empty(c), fmt.Sprintf("%s has no values yet", c), nil
	case f.kind == "mixed":
		return constant(f.low), fmt.Sprintf("%s has values of several types, and this is the least", c), nil
	}
	more := ""
	if missing > 0 {
		more = fmt.Sprintf(", null: %.2g", missing)
	}
	return g.from(c, "", 1, more), fmt.Sprintf("%s as a row has it", c), nil
}

// nulls is how often an argument is NULL in the log; false where too few tell.
func (g *guesser) nulls(i int) (share float64, known bool) {
	logged := g.inLog(i)
	if logged == nil || logged.seen < minTwins {
		return 0, false
	}
	return float64(logged.nulls) / float64(logged.seen), true
}

// inLog is what the log has of an argument; nil where it has nothing.
func (g *guesser) inLog(i int) *loggedArgument {
	if g.logged == nil {
		return nil
	}
	return g.logged[i]
}

// oneRow reports whether the values of a new row come from one that is there:
// where several of them refer to other tables, they belong together.
func (g *guesser) oneRow(f *stats) bool {
	refer := 0
	for _, u := range g.all {
		if u.role == insert && u.column != nil && u.column.parent.table != "" && !g.fresh[u.column] {
			refer++
		}
	}
	return refer > 1 && f.values > 0
}

// newKey draws values that no row has.
func (g *guesser) newKey(i int, c *column, f *stats) (yaml, note string) {
	kind := f.kind
	if f.values == 0 {
		kind = c.affinity()
	}
	switch kind {
	case "text", "mixed":
		return fmt.Sprintf("{text: %d}", max(16, f.average)), fmt.Sprintf("%s must be new", c)
	case "blob":
		return fmt.Sprintf("{blob: %d}", max(16, f.average)), fmt.Sprintf("%s must be new", c)
	}
	if first, again := g.keys[c]; again {
		g.drawn["new "+c.String()]++
		return fmt.Sprintf("{derive: {of: %d, add: %d}}", first, g.drawn["new "+c.String()]*rowsApart), fmt.Sprintf("%s must be new, in each row", c)
	}
	g.keys[c] = g.first + i
	behind, note := g.taken[c.String()]*apart, fmt.Sprintf("%s must be new", c)
	switch start := number(f.high); {
	case start > farthest: // no room above
		return fmt.Sprintf("{seq: %d}", f.free+1+behind), note + ", between values that are there"
	case behind > 0:
		g.above[c] = start
		return fmt.Sprintf("{next: %s, add: %d}", scalar(c.String()), behind), note
	default:
		g.above[c] = start
		return fmt.Sprintf("{next: %s}", scalar(c.String())), note
	}
}

// number is a value rounded up to a whole number; 0 where it is none.
func number(value any) int64 {
	switch v := value.(type) {
	case int64:
		return v
	case float64:
		return int64(math.Ceil(min(max(v, -float64(farthest)), 2*float64(farthest))))
	}
	return 0
}

// refers draws from the column that a foreign key refers to; it is empty where
// there is none with values.
func (g *guesser) refers(ctx context.Context, c *column) (yaml, note string, err error) {
	t := g.schema.table(c.parent.table)
	if t == nil || t.column(c.parent.column) == nil {
		return "", "", nil
	}
	to := t.column(c.parent.column)
	f, err := g.schema.stats(ctx, to)
	if err != nil || f.values == 0 || f.kind == "mixed" {
		return "", "", err
	}
	return g.from(to, "", 1, ""), fmt.Sprintf("%s refers to %s", c, to), nil
}

// sets draws the new value of a column. It is not of the row that is changed:
// SQLite writes nothing where nothing changes.
func (g *guesser) sets(ctx context.Context, i int, u use, f *stats) (yaml, note string, err error) {
	c := u.column
	if g.fresh[c] {
		yaml, note = g.newKey(i, c, f)
		return yaml, note, nil
	}
	if yaml, note, err := g.refers(ctx, c); yaml != "" || err != nil {
		return yaml, note, err
	}
	if f.values == 0 {
		return empty(c), fmt.Sprintf("%s has no values yet", c), nil
	}
	if !u.bare {
		if yaml, note, err := g.jsonValue(ctx, i, c); yaml != "" || err != nil {
			return yaml, note, err
		}
	}
	low, high, whole := f.bounds()
	switch {
	case whole && !u.bare:
		return "{uniform: [1, 10]}", fmt.Sprintf("%s is computed from it", c), nil
	case whole:
		return fmt.Sprintf("{uniform: [%d, %d]}", low, max(high, low+1)), fmt.Sprintf("%s gets it; from the least to the greatest", c), nil
	case f.kind == "text" && !f.few() && !formatted(f):
		return fmt.Sprintf("{text: %d}", max(1, f.average)), fmt.Sprintf("%s gets it; as long as its values are", c), nil
	case f.kind == "mixed":
		return constant(f.low), fmt.Sprintf("%s gets it; its values are of several types, and this is the least", c), nil
	}
	return g.from(c, "set ", 2, ""), fmt.Sprintf("%s gets it; as another row has it", c), nil
}

// formatted reports whether texts look like dates, numbers or JSON, which other
// texts would not fit.
func formatted(f *stats) bool {
	low, _ := f.low.(string)
	high, _ := f.high.(string)
	begins := func(text, with string) bool { return text != "" && strings.ContainsAny(text[:1], with) }
	return begins(low, "0123456789{[") && begins(high, "0123456789{[")
}
