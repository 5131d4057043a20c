package draft

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/internal/plan/sqltext"
)

// groups draws arguments that several rows share, such as a project and a state, so that
// the rows found are nearer to those of the log: of rows drawn from a table, groups of many
// rows come more often than a program may ask for them.
func (f *fitting) groups(ctx context.Context) {
	o, st := f.o, f.st
	var low, high *candidate
	try := func(s source) {
		before, sources := slices.Clone(st.args), slices.Clone(o.sources)
		o.sources = append(o.sources, s)
		for i := range s.columns {
			st.args[i].yaml, st.args[i].note = s.draw(i), s.notes[i]
		}
		rows, err := f.mean(ctx, o, f.step)
		switch {
		case err != nil:
		case rows < f.want:
			low = &candidate{s, rows}
		default:
			high = &candidate{s, rows}
		}
		if err == nil && away(rows, f.want) < away(f.got, f.want) {
			f.got = rows
			return
		}
		copy(st.args, before)
		o.sources = sources
	}
	for _, s := range st.guess.groupSources() {
		try(s)
	}
	if low != nil && high != nil && f.off() {
		if s, err := st.guess.blend(ctx, *low, *high, f.want); err == nil {
			try(s)
		}
	}
	o.keepSources()
}

// candidate is a source with the rows that are found by it on average.
type candidate struct {
	source
	mean float64
}

// blend draws from two sources, so often from each that the rows found are those of the log.
func (g *guesser) blend(ctx context.Context, low, high candidate, want float64) (source, error) {
	share := (want - low.mean) / (high.mean - low.mean)
	found, err := texts(ctx, g.schema.db, fmt.Sprintf("SELECT (SELECT count(*) FROM (%s)), (SELECT count(*) FROM (%s))", high.sql, low.sql))
	if err != nil {
		return source{}, err
	}
	var many, few float64
	if _, err := fmt.Sscan(strings.Join(found[0], " "), &many, &few); err != nil {
		return source{}, fmt.Errorf("count the rows of two sources: %w", err)
	}
	total := min(many/share, few/(1-share), sourceRows)
	s := source{name: high.name + "-blended", columns: high.columns, notes: map[int]string{}}
	for i := range s.columns {
		s.notes[i] = fmt.Sprintf("%.2g of groups with rows, the rest also of groups without: as many rows as in the log", share)
	}
	s.sql = fmt.Sprintf("SELECT * FROM (SELECT * FROM (%s) LIMIT %.0f)\nUNION ALL SELECT * FROM (SELECT * FROM (%s) LIMIT %.0f)",
		high.ordered(), max(1, share*total), low.ordered(), max(1, (1-share)*total))
	return s, nil
}

// ordered is the source's query with its columns in the order of the arguments, and its rows
// scattered: those that are neighbours may be alike.
func (s *source) ordered() string {
	var names []string
	for _, i := range slices.Sorted(maps.Keys(s.columns)) {
		names = append(names, plain(s.columns[i]))
	}
	return "SELECT " + strings.Join(names, ", ") + " FROM (SELECT *, row_number() OVER () AS nth FROM (" + s.sql + ")) ORDER BY nth * 7919 % 100003"
}

// keepSources leaves out sources that no argument is drawn from.
func (o *operation) keepSources() {
	o.sources = slices.DeleteFunc(o.sources, func(s source) bool {
		return !slices.ContainsFunc(o.steps, func(st *statement) bool {
			return slices.ContainsFunc(st.args, func(a argument) bool { return strings.Contains(a.yaml, s.name+".") })
		})
	})
}

// groupSources are other sources of the values that a statement compares with columns: each
// group once, and groups that may have no row.
func (g *guesser) groupSources() []source {
	name := g.sourceName()
	if s := g.source; s != nil {
		each := source{name: name + "-groups", columns: s.columns, notes: map[int]string{}, sql: strings.Replace(s.sql, "SELECT ", "SELECT DISTINCT ", 1)}
		for i := range s.columns {
			each.notes[i] = "each group of rows as often as any other: the rows are nearer to those of the log"
		}
		return []source{each}
	}
	compared := g.comparedTogether()
	if len(compared) < 2 {
		return nil
	}
	each := source{name: name + "-groups", columns: map[int]string{}, notes: map[int]string{}}
	var names []string
	for _, i := range slices.Sorted(maps.Keys(compared)) {
		c := compared[i]
		each.columns[i], each.notes[i] = c.name, fmt.Sprintf("%s is compared with it; each group of rows as often as any other: the rows are nearer to those of the log", c)
		names = append(names, plain(c.name))
	}
	each.sql = fmt.Sprintf("SELECT DISTINCT %s FROM %s LIMIT %d", strings.Join(names, ", "), plain(g.all[slices.Min(slices.Collect(maps.Keys(compared)))].table.name), sourceRows)
	return append([]source{each}, g.product(name+"-pairs", compared)...)
}

// product draws keys of the tables that columns refer to, with the values of the others.
func (g *guesser) product(name string, compared map[int]*column) []source {
	s := source{name: name, columns: map[int]string{}, notes: map[int]string{}}
	var parents, others []string
	for _, i := range slices.Sorted(maps.Keys(compared)) {
		c := compared[i]
		from := &others
		query := fmt.Sprintf("SELECT DISTINCT %s FROM %s", plain(c.name), plain(c.table.name))
		if t := g.schema.table(c.parent.table); t != nil && t.column(c.parent.column) != nil {
			from, query = &parents, fmt.Sprintf("SELECT %s AS %s FROM %s", plain(c.parent.column), plain(c.name), plain(t.name))
		}
		*from = append(*from, "("+query+")")
		s.columns[i], s.notes[i] = c.name, fmt.Sprintf("%s is compared with it; also of a group without rows: the rows are nearer to those of the log", c)
	}
	if len(parents) != 1 {
		return nil
	}
	s.sql = fmt.Sprintf("SELECT * FROM %s LIMIT %d", strings.Join(append(parents, others...), " CROSS JOIN "), sourceRows)
	return []source{s}
}

// comparedTogether are the columns of one table that are compared with arguments drawn from
// one of its rows; a key finds one row, and is no group.
func (g *guesser) comparedTogether() map[int]*column {
	found := map[int]*column{}
	for i, u := range g.all {
		if u.role != equal || u.function != "" || u.column == nil || !slugged(u.column.name) || g.args[i].yaml != fmt.Sprintf("{from: %s}", scalar(u.column.String())) {
			continue
		}
		for _, other := range found {
			if other.table != u.table || other == u.column {
				return nil
			}
		}
		if u.column.unique() {
			return nil
		}
		found[i] = u.column
	}
	return found
}

// offsetShares is into how many parts the pages of a log are divided.
const offsetShares = 50

// offsets draws OFFSET as the log has it: its values are not there, but how often each came.
// The most frequent one is taken for the first page.
func (g *guesser) offsets(i int) (yaml, note string) {
	logged := g.inLog(i)
	if logged == nil || logged.values < minTwins || g.step == nil {
		return "{uniform: [0, 100]}", "one of the first pages"
	}
	const why = "as often as in the log, where the most frequent is taken for the first page"
	page := max(1, g.step.most)
	var rows []string
	for k, n := range slices.Backward(slices.Sorted(maps.Values(logged.tags))) {
		parts := max(1, n*offsetShares/logged.values)
		for range min(parts, offsetShares-len(rows)) {
			rows = append(rows, fmt.Sprintf("(%d)", int64(len(logged.tags)-1-k)*page))
		}
	}
	if len(logged.tags) == 1 {
		return "{const: 0}", "always the same in the log: the first page"
	}
	s := source{name: fmt.Sprintf("%s-pages-%d", strings.ReplaceAll(g.name, ".", "-"), g.first+i)}
	s.sql = "SELECT column1 AS first FROM (VALUES " + strings.Join(rows, ", ") + ")"
	g.words = append(g.words, s)
	return fmt.Sprintf("{from: %s}", scalar(s.name+".first")), why
}

type reference struct {
	table string
	alias string // or the table's name
	group int    // the parenthesis that it stands in
}

// groups says, for each token, in which parenthesis it stands, and where a
// parenthesis ends. A parenthesis is known by the place of its opening token;
// -1 is around all.
func groups(tokens []sqltext.Token) (group, match []int) {
	group, match = make([]int, len(tokens)), make([]int, len(tokens))
	var open []int
	for i, t := range tokens {
		if t.Kind == ')' && len(open) > 0 {
			match[i], match[open[len(open)-1]] = open[len(open)-1], i
			open = open[:len(open)-1]
		}
		group[i] = -1
		if len(open) > 0 {
			group[i] = open[len(open)-1]
		}
		if t.Kind == '(' {
			open = append(open, i)
			match[i] = len(tokens) - 1 // unless it is closed
		}
	}
	return group, match
}

// notAlias are words that can follow a table's name and are no alias.
var notAlias = strings.Fields("ON USING WHERE JOIN LEFT RIGHT FULL INNER CROSS NATURAL OUTER GROUP ORDER LIMIT SET VALUES " +
	"SELECT DEFAULT UNION EXCEPT INTERSECT INDEXED NOT RETURNING HAVING WINDOW AS")

// references finds the tables behind FROM, JOIN, INTO and UPDATE.
func references(tokens []sqltext.Token) []reference {
	group, match := groups(tokens)
	var all []reference
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		if !t.Is("FROM") && !t.Is("JOIN") && !t.Is("INTO") && !(t.Is("UPDATE") && i+1 < len(tokens) && !tokens[i+1].Is("SET")) {
			continue
		}
		at := i + 1
		if t.Is("UPDATE") && at+1 < len(tokens) && tokens[at].Is("OR") {
			at += 2
		}
		for at < len(tokens) {
			ref, next := referenceAt(tokens, match, at)
			if ref.table != "" {
				ref.group = group[at]
				all = append(all, ref)
			}
			if next >= len(tokens) || tokens[next].Kind != ',' || !t.Is("FROM") {
				break
			}
			at = next + 1
		}
	}
	return all
}

// referenceAt reads a table with its alias, or skips a subquery, and returns
// what follows.
func referenceAt(tokens []sqltext.Token, match []int, at int) (reference, int) {
	is := func(i int, kind byte) bool { return i < len(tokens) && tokens[i].Kind == kind }
	var ref reference
	if is(at, '(') {
		at = match[at] + 1
	} else {
		name, ok := tokens[at].Name()
		if !ok || slices.ContainsFunc(notAlias, tokens[at].Is) {
			return ref, at + 1
		}
		at++
		if is(at, '.') && at+1 < len(tokens) { // main.table
			name, _ = tokens[at+1].Name()
			at += 2
		}
		if is(at, '(') && at > 0 && !tokens[at-1].Is("INTO") { // a function, or the columns of INSERT
			ref = reference{table: name, alias: name}
			return ref, match[at] + 1
		}
		ref = reference{table: name, alias: name}
	}
	if at < len(tokens) && tokens[at].Is("AS") {
		at++
	}
	if at < len(tokens) && !slices.ContainsFunc(notAlias, tokens[at].Is) {
		if alias, ok := tokens[at].Name(); ok {
			ref.alias = alias
			at++
		}
	}
	return ref, at
}
