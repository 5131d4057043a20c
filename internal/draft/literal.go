package draft

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/internal/plan/sqltext"
)

// literal begins the names of the parameters that a log has in the place of literals.
const literal = ":literal"

// maxChoices bounds the values that are tried for one literal.
const maxChoices = 6

// guessed is a literal of a statement in a log, and what may stand for it.
type guessed struct {
	token   int      // its place in the statement
	choices []string // SQL, the likeliest first
	what    string   // that it is for
}

// guessLiterals writes literals where a log has none. One is a constant of the program:
// drawn as an argument, it would be another value each time, and an index whose WHERE
// needs it would not be used. What a range ends with, what is searched for, and what
// nothing tells stays an argument.
func (d *drafter) guessLiterals(ctx context.Context, scripts []*script) error {
	for i, s := range scripts {
		if s.line > 0 || s.shape == nil || s.leftOut != "" {
			continue
		}
		d.progress(fmt.Sprintf("guessing the literals of query %s (%d of %d)", s.name, i+1, len(scripts)))
		limited, cancel, _ := d.limited(ctx)
		for k := range s.queries {
			if err := d.guessLiteralsOf(limited, s, k); err != nil && ctx.Err() == nil && limited.Err() == nil {
				cancel()
				return err
			}
		}
		cancel()
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// guessLiteralsOf rewrites one statement of a script.
func (d *drafter) guessLiteralsOf(ctx context.Context, s *script, number int) error {
	q, text := s.queries[number], s.shape.texts[number]
	all, err := d.schema.literals(ctx, q, text, s.shape.steps[number])
	q.literals = strings.Contains(text, literal)
	if err != nil || len(all) == 0 {
		return err
	}
	chosen := make([]int, len(all))
	if len(s.queries) == 1 && !s.transaction && !q.changes() {
		if err := d.chooseLiterals(ctx, s, all, chosen); err != nil {
			return err
		}
	}
	var words []string
	for i, g := range all {
		words = append(words, fmt.Sprintf("%s (%s)", g.choices[chosen[i]], g.what))
	}
	slices.Reverse(words)
	q.notes = append(q.notes, "The log has no literals, these are guessed: "+strings.Join(words, ", ")+".")
	q.rewrite(withLiterals(text, all, chosen))
	return nil
}

// withLiterals is the text of a statement with the chosen literals, which are given from the
// last to the first.
func withLiterals(text string, all []guessed, chosen []int) string {
	tokens, _ := sqltext.Scan(text)
	for i, g := range all {
		t := tokens[g.token]
		text = text[:t.From] + g.choices[chosen[i]] + text[t.To:]
	}
	return text
}

// chooseLiterals chooses those with which a query finds as many rows as in the log.
func (d *drafter) chooseLiterals(ctx context.Context, s *script, all []guessed, chosen []int) error {
	step := s.shape.steps[0]
	if step.counted == 0 {
		return nil
	}
	want := float64(step.rows) / float64(step.counted)
	best := math.Inf(1)
	for i, g := range all {
		first := chosen[i]
		for n := range g.choices {
			if n == first && !math.IsInf(best, 1) || best <= tolerance || len(g.choices) == 1 {
				continue
			}
			before := chosen[i]
			chosen[i] = n
			got, ok, err := d.trial(ctx, s, withLiterals(s.shape.texts[0], all, chosen))
			if err != nil {
				return err
			}
			if off := away(got, want); ok && off < best-tolerance { // else the likelier one stays
				best = off
			} else {
				chosen[i] = before
			}
		}
	}
	return nil
}

// trial is how many rows a query with another text finds each time; false: it cannot be
// tried.
func (d *drafter) trial(ctx context.Context, s *script, text string) (rows float64, ok bool, err error) {
	other, q := *s, *s.queries[0]
	q.rewrite(text)
	other.queries, other.notes = []*query{&q}, nil
	one := *d
	one.statements, one.mix, one.taken = nil, nil, map[string]int64{}
	o, err := one.understandOne(ctx, &other)
	if err != nil || o.leftOut != "" {
		return 0, false, err
	}
	one.operations = []*operation{o}
	rows, err = one.mean(ctx, o, 0)
	if ctx.Err() != nil {
		return 0, false, ctx.Err()
	}
	return rows, err == nil, nil
}

// literals finds what may stand for the literals of a statement, from the last to the
// first.
func (s *schema) literals(ctx context.Context, q *query, text string, step *loggedStep) ([]guessed, error) {
	f := &literalFinder{analysis: analyse(q, s), step: step, paths: map[*column][]string{}, values: map[*column]int{}}
	uses := f.uses()
	tokens, _ := sqltext.Scan(text)
	var all []guessed
	for i, t := range tokens { // from the first on: the second value of a list is another one
		if !strings.HasPrefix(t.Text, literal) {
			continue
		}
		g, err := f.literal(ctx, uses[f.argument[i]], i)
		if err != nil {
			return nil, err
		}
		if g.token = i; len(g.choices) > 0 {
			all = append(all, g)
		}
	}
	slices.Reverse(all)
	return all, nil
}

// literalFinder finds literals of one statement.
type literalFinder struct {
	*analysis
	step   *loggedStep
	paths  map[*column][]string // until now, into the JSON of a column
	values map[*column]int      // how many until now are values of a column
}

// literal finds what may stand for one literal; nothing where it stays an argument.
func (f *literalFinder) literal(ctx context.Context, u use, at int) (g guessed, err error) {
	if c := f.pathInto(at); c != nil {
		path, err := f.schema.path(ctx, c, f.next(at, f.step), f.paths[c])
		if path == "" || err != nil {
			return guessed{}, err
		}
		f.paths[c] = append(f.paths[c], path)
		return guessed{choices: []string{path}, what: "the path into " + c.String()}, nil
	}
	if text, of := f.constantOf(at); text != "" {
		return guessed{choices: []string{text}, what: "of " + of}, nil
	}
	switch {
	case u.role == limit && f.step.most > 0 && !f.changes():
		return guessed{choices: []string{strconv.FormatInt(f.step.most, 10)}, what: "LIMIT: the most rows in the log"}, nil
	case u.role == offset:
		return guessed{choices: []string{"0"}, what: "OFFSET"}, nil
	case u.role == unknown && u.column == nil:
		return guessed{choices: []string{"1"}, what: "nothing tells what it is for"}, nil
	case u.column == nil || u.function != "":
		return g, nil
	}
	found, err := f.schema.stats(ctx, u.column)
	if err != nil {
		return g, err
	}
	_, _, whole := found.bounds()
	switch {
	case u.role == set && !u.bare && whole:
		return guessed{choices: []string{"1"}, what: u.column.String() + " is computed from it"}, nil
	case u.role != equal && u.role != related && !(u.role == insert && u.bare) || !found.few():
		return g, nil
	}
	if g.choices, err = f.schema.frequent(ctx, u.column, f.values[u.column]); err != nil {
		return g, err
	}
	f.values[u.column]++
	g.what = fmt.Sprintf("a value of %s", u.column)
	return g, nil
}

// functionLiterals are values for literals that functions take, by their place; empty
// where nothing is known.
var functionLiterals = map[string][]string{
	"snippet":      {"", "0", "'<b>'", "'</b>'", "'...'", "10"},
	"highlight":    {"", "0", "'<b>'", "'</b>'"},
	"bm25":         {"", "1.0", "1.0", "1.0", "1.0", "1.0", "1.0", "1.0", "1.0"},
	"coalesce":     {"", "0", "0", "0"},
	"ifnull":       {"", "0"},
	"substr":       {"", "1", "20"},
	"substring":    {"", "1", "20"},
	"round":        {"", "2"},
	"printf":       {"'%s'"},
	"format":       {"'%s'"},
	"group_concat": {"", "', '"},
	"string_agg":   {"", "', '"},
	"replace":      {"", "'a'", "'b'"},
	"instr":        {"", "'a'"},
	"strftime":     {"'%Y-%m-%d'", "'now'"},
	"date":         {"'now'"},
	"time":         {"'now'"},
	"datetime":     {"'now'"},
	"julianday":    {"'now'"},
	"unixepoch":    {"'now'"},
}

// dates are the functions whose arguments behind the time change it.
var dates = map[string]int{"strftime": 2, "date": 1, "time": 1, "datetime": 1, "julianday": 1, "unixepoch": 1}

// constantOf is a value for a literal of a function, or beside ||, and what it is of; empty
// where it is neither.
func (a *analysis) constantOf(at int) (text, of string) {
	concatenated := func(i int) bool { return i >= 0 && i < len(a.tokens) && a.tokens[i].Kind == '|' }
	if concatenated(at-1) || concatenated(at+1) {
		if slices.ContainsFunc(a.tokens[:at], func(t sqltext.Token) bool { return t.Is("LIKE") }) {
			return "'%'", "LIKE"
		}
		return "' '", "||"
	}
	open := a.group[at]
	if open < 1 || at != open+1 && a.tokens[at-1].Kind != ',' || at+1 < len(a.tokens) && a.tokens[at+1].Kind != ',' && a.tokens[at+1].Kind != ')' {
		return "", ""
	}
	function, place := strings.ToLower(a.tokens[open-1].Text), a.position(open, at)
	switch known := functionLiterals[function]; {
	case (function == "json_object" || function == "jsonb_object") && place%2 == 0:
		return fmt.Sprintf("'member%d'", place/2+1), function
	case function == "json_object" || function == "jsonb_object" || function == "json_array":
		return "1", function
	case place < len(known):
		return known[place], function
	case dates[function] > 0 && place >= dates[function]:
		if _, c := a.columnEnding(at - 2); c != nil && c.affinity() == "integer" {
			return "'unixepoch'", function
		}
		return "'-1 day'", function
	}
	return "", ""
}

// frequent are values of a column as SQL, those first that the WHERE of an index on some
// rows asks for, and then by how many rows have them; skip of them go to the end.
func (s *schema) frequent(ctx context.Context, c *column, skip int) ([]string, error) {
	rows, err := texts(ctx, s.db, fmt.Sprintf("SELECT quote(%[1]s) FROM %[2]s WHERE %[1]s IS NOT NULL GROUP BY %[1]s ORDER BY count(*) DESC, 1 LIMIT %[3]d",
		c.sql(), sqltext.Quote(c.table.name), maxChoices))
	if err != nil {
		return nil, err
	}
	var all []string
	for _, row := range rows {
		all = append(all, row[0])
	}
	indexes, err := texts(ctx, s.db, "SELECT sql FROM sqlite_schema WHERE type = 'index' AND sql LIKE '%WHERE%' AND tbl_name = ?", c.table.name)
	if err != nil {
		return nil, err
	}
	for _, row := range indexes {
		for i, value := range all {
			if asks(row[0], c.name, value) {
				all = append([]string{value}, slices.Delete(slices.Clone(all), i, i+1)...)
			}
		}
	}
	skip = min(skip, max(0, len(all)-1))
	return append(slices.Clone(all[skip:]), all[:skip]...), nil
}

// asks reports whether the WHERE of an index has a column with a value.
func asks(index, column, value string) bool {
	tokens, _ := sqltext.Scan(index)
	where := slices.IndexFunc(tokens, func(t sqltext.Token) bool { return t.Is("WHERE") })
	for i := max(where, 0) + 1; i+1 < len(tokens) && where >= 0; i++ {
		name, ok := tokens[i-1].Name()
		if ok && strings.EqualFold(name, column) && tokens[i].Kind == '=' && tokens[i+1].Text == value {
			return true
		}
	}
	return false
}

// withoutLiterals says how many operations of a log have literals that it does not have.
func withoutLiterals(all []*operation) []string {
	n := 0
	for _, o := range all {
		if o.line == 0 && o.leftOut == "" && slices.ContainsFunc(o.queries, func(q *query) bool { return q.literals }) {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of the operations have literals, whose values are not in it and are guessed: with your SQL in a file, --queries FILE keeps them", n)}
}
