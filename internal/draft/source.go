package draft

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/internal/plan/sqltext"
)

// source is a query that several arguments are drawn from, so that their values
// belong together. A nil source has no argument.
type source struct {
	name    string
	sql     string
	once    bool           // each of its rows is drawn once
	rows    int64          // that it has; 0: not known
	columns map[int]string // by argument, counted from 0
	notes   map[int]string // by argument: why
}

func (s *source) has(argument int) bool { return s != nil && s.columns[argument] != "" }

func (s *source) draw(argument int) string {
	more := ""
	if s.once {
		more = ", draw: once"
	}
	return fmt.Sprintf("{from: %s%s}", scalar(s.name+"."+s.columns[argument]), more)
}

// sourceRows bounds the rows of a source: they are read whenever arguments are
// drawn.
const sourceRows = 20_000

// chooseSource finds the source of arguments that single columns cannot give, and
// leaves it out where it has no row.
func (g *guesser) chooseSource(ctx context.Context) error {
	var found *source
	var err error
	switch {
	case g.afterNewRow():
		return nil
	case g.target != nil && g.listed != nil:
		found, err = g.newRows(ctx)
	default:
		found = g.conditions()
	}
	if found == nil || err != nil {
		return err
	}
	found.name = g.sourceName()
	rows, err := texts(ctx, g.schema.db, "SELECT count(*) FROM (SELECT * FROM ("+found.sql+"\n) LIMIT 1)")
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil && rows[0][0] == "1" { // else the guesses by columns stay
		g.source = found
	}
	return nil
}

func (g *guesser) sourceName() string {
	name := strings.ReplaceAll(g.name, ".", "-")
	if g.first > 1 {
		name += fmt.Sprintf("-%d", g.first)
	}
	return name
}

// conditions draws the arguments that are compared for equality in WHERE from the
// rows that the other conditions leave: what belongs together in several tables,
// and what is computed from columns.
func (g *guesser) conditions() *source {
	c, ok := g.clauses()
	if !ok {
		return nil
	}
	s := &source{columns: map[int]string{}, notes: map[int]string{}}
	var selected, kept []string
	tables, computed := map[*table]bool{}, false
	for _, each := range c.conjuncts {
		if !slices.ContainsFunc(each, sqltext.Token.Parameter) {
			kept = append(kept, g.text(each))
			continue
		}
		argument, expression := g.equality(each)
		if argument < 0 || s.has(argument) {
			continue
		}
		u := g.all[argument]
		bare := u.column != nil && u.function == "" && len(expression) <= 3
		computed = computed || !bare
		tables[u.table] = true
		name := fmt.Sprintf("arg%d", argument+1)
		if bare && !slices.Contains(selected, u.column.name) && slugged(u.column.name) {
			name = u.column.name
		}
		s.columns[argument] = name
		s.notes[argument] = fmt.Sprintf("%s is compared with it; a value of a row that the query reads", strings.TrimSpace(g.text(expression)))
		selected = append(selected, g.text(expression)+" AS "+plain(name))
	}
	if len(selected) == 0 || len(tables) < 2 && !computed {
		return nil
	}
	s.sql = "SELECT " + strings.Join(selected, ", ") + " FROM " + c.from
	if len(kept) > 0 {
		s.sql += " WHERE " + strings.Join(kept, " AND ")
	}
	s.sql += fmt.Sprintf(" LIMIT %d", sourceRows)
	return s
}

// slugged reports whether a name can stand behind the dot of source.column.
func slugged(name string) bool { return plainName.MatchString(name) }

// clause is what a statement reads: its tables, and the conditions that all hold.
type clause struct {
	from      string
	conjuncts [][]sqltext.Token
}

// clauses takes a statement apart that has one FROM and one WHERE around which
// nothing is combined; false for any other.
func (g *guesser) clauses() (c clause, ok bool) {
	where := g.top("WHERE")
	if where < 0 || g.top("WITH", "UNION", "EXCEPT", "INTERSECT", "OR") >= 0 {
		return c, false
	}
	end := where + 1
	for end < len(g.tokens) && !(g.tokens[end].Depth == 0 && slices.ContainsFunc([]string{"GROUP", "ORDER", "LIMIT", "HAVING", "WINDOW", "RETURNING"}, g.tokens[end].Is)) {
		end++
	}
	switch from := g.top("FROM"); {
	case g.verb == "SELECT" && from >= 0 && from < where:
		tables := g.tokens[from+1 : where]
		if slices.ContainsFunc(tables, sqltext.Token.Parameter) {
			return c, false
		}
		c.from = g.text(tables)
	case g.target != nil && (g.verb == "DELETE" || g.verb == "UPDATE" && from < 0):
		c.from = plain(g.target.name)
		if alias := g.mainReference().alias; !strings.EqualFold(alias, g.target.name) {
			c.from += " AS " + plain(alias)
		}
	default:
		return c, false
	}
	c.conjuncts = conjuncts(g.tokens[where+1 : end])
	return c, true
}

// conjuncts splits conditions at each AND that belongs to no BETWEEN.
func conjuncts(tokens []sqltext.Token) (all [][]sqltext.Token) {
	start, between := 0, false
	for i, t := range tokens {
		switch {
		case t.Depth > 0:
		case t.Is("BETWEEN"):
			between = true
		case t.Is("AND") && between:
			between = false
		case t.Is("AND"):
			all = append(all, tokens[start:i])
			start = i + 1
		}
	}
	return append(all, tokens[start:])
}

// text is what tokens were written as.
func (g *guesser) text(tokens []sqltext.Token) string {
	if len(tokens) == 0 {
		return ""
	}
	return g.sql[tokens[0].From:tokens[len(tokens)-1].To]
}

// equality takes "expression = ?" apart, in either order; -1 for any other
// condition.
func (g *guesser) equality(tokens []sqltext.Token) (argument int, expression []sqltext.Token) {
	n := len(tokens)
	if n < 3 {
		return -1, nil
	}
	last := n - 1
	switch {
	case tokens[last].Parameter() && (tokens[last-1].Kind == '=' || tokens[last-1].Is("IS")):
		expression = tokens[:last-1]
		if expression[len(expression)-1].Kind == '=' { // ==
			expression = expression[:len(expression)-1]
		}
	case tokens[0].Parameter() && tokens[1].Kind == '=':
		expression, last = tokens[2:], 0
		if expression[0].Kind == '=' {
			expression = expression[1:]
		}
	default:
		return -1, nil
	}
	operator := func(t sqltext.Token) bool { return t.Depth == tokens[0].Depth && strings.IndexByte("<>!", t.Kind) >= 0 }
	if len(expression) == 0 || operator(expression[len(expression)-1]) || slices.ContainsFunc(expression, sqltext.Token.Parameter) {
		return -1, nil
	}
	at := slices.IndexFunc(g.tokens, func(t sqltext.Token) bool { return t.From == tokens[last].From })
	return g.argument[at], expression
}

// newRows draws the keys of new rows: half of those of an upsert are there
// already, and what joins tables joins rows that nothing joins yet.
func (g *guesser) newRows(ctx context.Context) (*source, error) {
	key, arguments := g.givenKey()
	if key == nil || g.valueRows() > 1 {
		return nil, nil
	}
	fresh := slices.IndexFunc(key, func(c *column) bool { return freshScore(c) > 0 })
	if fresh >= 0 && !g.upsert() {
		return nil, nil // a value that no row has is easily made
	}
	f, err := g.schema.stats(ctx, key[0])
	if err != nil {
		return nil, err
	}
	missing, err := g.missing(ctx, key, fresh)
	if missing == "" || err != nil {
		return nil, err
	}
	s := &source{sql: missing + fmt.Sprintf(" LIMIT %d", sourceRows), once: true, columns: map[int]string{}, notes: map[int]string{}}
	why := "; of a row that is not there yet"
	if g.upsert() && f.rows > 0 {
		known, share := g.known()
		total := max(2, min(f.rows, sourceRows))
		if g.ignored() { // as many as there can be: drawn again, a row is not new
			if total, err = g.mixable(ctx, missing, float64(f.rows), known); err != nil {
				return nil, err
			}
			s.rows = total
		}
		if keys, n := g.fewKeys(arguments); keys > 0 {
			total, s.once = max(2, min(keys, sourceRows)), false
			share = fmt.Sprintf("the log has at most %d different keys in %d times, half of these", keys, n)
		}
		there := min(total-1, int64(known*float64(total)))
		why = fmt.Sprintf("; %s are there already: write the shares of your application into sources", share)
		if there > 0 {
			s.sql = fmt.Sprintf("SELECT * FROM (SELECT %s FROM %s LIMIT %d)\nUNION ALL SELECT * FROM (%s LIMIT %d)",
				columnList(key), plain(g.target.name), there, missing, total-there)
		}
	}
	for i, n := range arguments {
		s.columns[n] = key[i].name
		s.notes[n] = fmt.Sprintf("%s is a key%s", key[i], why)
	}
	return s, nil
}

// fewKeys is how many different keys an upsert that changes rows has in the log at most, and
// how often it came; 0 where they may be more than half as many, and nothing is known.
func (g *guesser) fewKeys(arguments []int) (keys int64, times int) {
	if g.logged == nil || g.ignores() {
		return 0, 0
	}
	keys = 1
	for _, i := range arguments {
		logged := g.logged[i]
		if logged == nil || logged.seen < minTwins || logged.values < logged.seen || keys > int64(logged.seen) {
			return 0, 0
		}
		keys, times = keys*int64(len(logged.tags)), logged.seen
	}
	if 2*keys > int64(times) {
		return 0, 0
	}
	return keys, times
}

// mixable is how many rows a source can have, of which so large a share is there already:
// it is bounded by the rows that are there, and by those that are missing.
func (g *guesser) mixable(ctx context.Context, missing string, rows, known float64) (int64, error) {
	found, err := texts(ctx, g.schema.db, fmt.Sprintf("SELECT count(*) FROM (%s LIMIT %d)", missing, sourceRows))
	if err != nil {
		return 0, err
	}
	count, err := strconv.ParseFloat(found[0][0], 64)
	if err != nil {
		return 0, err
	}
	return max(2, int64(min(sourceRows, rows/max(known, 1e-9), count/max(1-known, 1e-9)))), nil
}

// known is the share of an upsert's rows that are there already, and its words: of one
// that ignores them, the log shows how often it changed no row; that of others is a
// guess.
func (g *guesser) known() (share float64, words string) {
	if !g.ignored() {
		return 0.5, "half of the rows"
	}
	share = 1 - float64(g.step.rows)/float64(g.step.counted)
	return share, fmt.Sprintf("%.3g %% of the rows, as in the log,", 100*share)
}

// ignored reports whether the log says how often a row was there already.
func (g *guesser) ignored() bool {
	return g.step != nil && g.step.counted > 0 && g.step.rows <= g.step.counted && g.ignores()
}

// ignores reports whether a statement changes nothing where a row is there already.
func (q *query) ignores() bool {
	for i, t := range q.tokens[1:] {
		if t.Depth == 0 && (t.Is("IGNORE") && q.tokens[i].Is("OR") || t.Is("NOTHING") && q.tokens[i].Is("DO")) {
			return true
		}
	}
	return false
}

// columnList names columns, plainly where that is possible.
func columnList(columns []*column) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = plain(c.name)
	}
	return strings.Join(names, ", ")
}

// upsert reports whether a statement says what happens to a row that is there
// already.
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

// givenKey is the key of the table whose columns all get an argument as it is, and
// the arguments.
func (g *guesser) givenKey() (key []*column, arguments []int) {
	for _, key := range g.target.keys {
		var arguments []int
		for _, c := range key {
			n := slices.IndexFunc(g.all, func(u use) bool { return u.role == insert && u.bare && u.column == c && c != nil })
			if n >= 0 && slugged(c.name) {
				arguments = append(arguments, n)
			}
		}
		if len(arguments) == len(key) {
			return key, arguments
		}
	}
	return nil, nil
}

// missing selects keys that no row has: changed ones of rows that are there where a
// column takes new values, and otherwise those of the tables that it refers to.
func (g *guesser) missing(ctx context.Context, key []*column, fresh int) (string, error) {
	if fresh < 0 {
		return g.unjoined(ctx, key)
	}
	c := key[fresh]
	f, err := g.schema.stats(ctx, c)
	if err != nil || f.values == 0 {
		return "", err
	}
	values := make([]string, len(key))
	for i, other := range key {
		values[i] = plain(other.name)
	}
	low, high, whole := f.bounds()
	switch {
	case whole:
		values[fresh] = fmt.Sprintf("%s + %d AS %[1]s", values[fresh], high-low+1)
	case f.kind == "text":
		values[fresh] += " || '-new' AS " + values[fresh]
	default:
		return "", nil
	}
	return fmt.Sprintf("SELECT %s FROM %s", strings.Join(values, ", "), plain(g.target.name)), nil
}

// unjoined selects what a key's columns refer to, together where no row has it. Of
// two tables that both refer to a third, the rows belong together that refer to
// the same row.
func (g *guesser) unjoined(ctx context.Context, key []*column) (string, error) {
	var selected, from, same []string
	var before *table
	part := g.part()
	for i, c := range key {
		t := g.schema.table(c.parent.table)
		if t == nil || t.column(c.parent.column) == nil || t.noRowid {
			return "", nil
		}
		f, err := g.schema.stats(ctx, t.column(c.parent.column))
		if err != nil || f.rows == 0 {
			return "", err
		}
		alias := fmt.Sprintf("p%d", i+1)
		each, rest := 1+f.rows/pairedRows, int64(0)
		if i == 0 { // no other statement draws the same pairs
			each, rest = max(each, g.inserting[g.target]), part
		}
		from = append(from, fmt.Sprintf("(SELECT * FROM %s WHERE rowid %% %d = %d) AS %s", plain(t.name), each, rest, alias))
		selected = append(selected, fmt.Sprintf("%s.%s AS %s", alias, plain(c.parent.column), plain(c.name)))
		same = append(same, fmt.Sprintf("n.%s = %s.%s", plain(c.name), alias, plain(c.parent.column)))
		if a, b := common(before, t); a != nil {
			from[i] += fmt.Sprintf(" ON p%d.%s = %s.%s", i, plain(a.name), alias, plain(b.name))
		}
		before = t
	}
	return fmt.Sprintf("SELECT %s FROM %s WHERE NOT EXISTS (SELECT 1 FROM %s n WHERE %s)",
		strings.Join(selected, ", "), strings.Join(from, " JOIN "), plain(g.target.name), strings.Join(same, " AND ")), nil
}

// part numbers the statements that draw new rows of a table, from 0.
func (g *guesser) part() int64 {
	name := "rows of " + g.target.name
	g.taken[name]++
	return g.taken[name] - 1
}

// pairedRows is about how many rows of a table are paired with those of another.
const pairedRows = 1000

// common finds the columns of two tables that refer to the same table.
func common(a, b *table) (first, second *column) {
	if a == nil || a == b {
		return nil, nil
	}
	for _, first := range a.columns {
		for _, second := range b.columns {
			if first.parent.table != "" && first.parent == second.parent {
				return first, second
			}
		}
	}
	return nil, nil
}
