package oracle

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"assay"
	"assay/internal/dataset"
	"assay/kit/answer"
	"assay/kit/column"
)

const (
	// sampledRows is how many of a table's rows are looked at of which the
	// whole is known.
	sampledRows = 10_000
	// ordersTried is in how many orders the operations of several clients are
	// played: as they come, backwards, and shuffled.
	ordersTried = 4
)

// Rows is what the rows of SQL's tables may hold after operations that no check
// of the plan reads.
type Rows struct {
	Values []Values
	Counts []Count
}

// Count is how many rows a table has, as an answer.
type Count struct {
	Query  assay.Query
	Digest string
}

// replays is what an operation does to tables, in different orders.
type replays struct {
	data      *dataset.Data
	op        assay.Operation
	trace     *dataset.Trace
	tables    []*table
	plays     map[*table][]*play
	untouched map[*table][][]any
	args      map[string]bool // the arguments that operations have, by their text
	path      string          // of the files with keys begins so
	random    *rand.Rand
}

// RowsAfter returns what the rows of tables may hold after operations. Of one
// client everything is known. The order in which
// several did theirs is not: what is the same in every order that is tried is
// known, and of the rest each value that is an argument of an operation. It
// returns nil where the operation cannot be played here, in every order.
func RowsAfter(ctx context.Context, d *dataset.Data, op assay.Operation, trace *dataset.Trace, done Done, clients int) (*Rows, error) {
	r := &replays{data: d, op: op, trace: trace, plays: map[*table][]*play{}, untouched: map[*table][][]any{},
		path:   fmt.Sprintf("%s/rows-%s-%d", filepath.Dir(d.Path), Name(op, trace, done), clients),
		random: rand.New(rand.NewPCG(d.Spec.Seed, uint64(done.Measured)))}
	lone := done.Warm + done.Measured
	phases := [][]int{span(0, done.Warm), span(done.Warm, lone), span(lone, lone+done.Alone)}
	if err := r.replay(ctx, phases); err != nil {
		return nil, unplayable(ctx, err) // SQLite here lacks a function, or the like
	}
	for order := 1; order < ordersTried && clients > 1; order++ {
		for _, phase := range phases[:alone] {
			slices.Reverse(phase)
			if order > 1 {
				r.random.Shuffle(len(phase), func(i, j int) { phase[i], phase[j] = phase[j], phase[i] })
			}
		}
		if err := r.replay(ctx, phases); err != nil {
			return nil, unplayable(ctx, err) // it is only right in the order of the sequence
		}
	}
	if clients > 1 {
		var err error
		if r.args, err = argumentsOf(op, trace); err != nil {
			return nil, err
		}
	}
	return r.found(ctx)
}

// unplayable is nil for an error of the SQL, of which nothing can be known here,
// and the error itself where the system has failed or the time is over.
func unplayable(ctx context.Context, err error) error {
	var system syscall.Errno
	if errors.As(err, &system) {
		return err
	}
	return ctx.Err()
}

func span(from, to int) []int {
	all := make([]int, to-from)
	for i := range all {
		all[i] = from + i
	}
	return all
}

// argumentsOf are all values that operations can write as they are.
func argumentsOf(op assay.Operation, trace *dataset.Trace) (map[string]bool, error) {
	all := map[string]bool{}
	traces := []dataset.Trace{*trace}
	if len(op.Parts) > 0 {
		traces = trace.Parts
	}
	for _, t := range traces {
		if t.Length == 0 {
			continue
		}
		file, err := column.Open(t.Path)
		if err != nil {
			return nil, err
		}
		for row := range file.Rows() {
			for c := range file.Columns() {
				all[textOf(file.Value(c, row))] = true
			}
		}
		if err := file.Close(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// found turns the plays into what is to be looked at.
func (r *replays) found(ctx context.Context) (*Rows, error) {
	all := &Rows{}
	for i, t := range r.tables {
		if !slices.ContainsFunc(r.plays[t], func(p *play) bool { return len(p.lives) > 0 }) {
			continue // nothing changes it
		}
		count, same, err := countOf(t, r.plays[t])
		if err != nil {
			return nil, err
		}
		if same {
			all.Counts = append(all.Counts, count)
		}
		values, err := r.valuesOf(ctx, t, fmt.Sprintf("%s-%d", r.path, i))
		if err != nil {
			return nil, err
		}
		all.Values = append(all.Values, values...)
	}
	return all, nil
}

func countOf(t *table, plays []*play) (c Count, same bool, err error) {
	c.Query = assay.Query{SQL: "SELECT count(*) FROM " + quoted(t.name), Returns: []assay.Type{"int"}}
	for _, p := range plays {
		if p.rows != plays[0].rows {
			return c, false, nil
		}
	}
	c.Digest, err = digestRows(c.Query.Returns, []any{plays[0].rows})
	return c, true, err
}

// valuesOf is what a table's rows may hold: whole rows where they are known, and
// columns one by one where only some are, or may have one value or another.
func (r *replays) valuesOf(ctx context.Context, t *table, path string) ([]Values, error) {
	l := &rowLooks{replays: r, table: t, types: r.typesOf(ctx, t)}
	if l.shifts() || slices.ContainsFunc(t.key, func(c int) bool { return t.volatile[c] }) {
		return nil, nil
	}
	l.readable()
	l.sort()
	var all []Values
	whole, err := l.whole(path + ".col")
	if err != nil || whole == nil {
		return nil, err
	}
	all = append(all, *whole)
	for c := range t.columns {
		one, err := l.column(c, fmt.Sprintf("%s-%d.col", path, c))
		if err != nil {
			return nil, err
		}
		if one != nil {
			all = append(all, *one)
		}
	}
	return all, nil
}

// rowLooks are the rows of a table to be looked at.
type rowLooks struct {
	*replays
	table    *table
	types    []assay.Type // by column; empty: not looked at
	keys     []column.Type
	exact    []lookedRow
	contests []lookedRow
}

// lookedRow is a row, with what it is in the end where that is known.
type lookedRow struct {
	text string
	key  []any
	is   []any // nil: it is not there
}

// readable leaves out columns with values that are not of their type.
func (l *rowLooks) readable() {
	check := func(values []any) {
		for i, v := range values {
			if l.types[i] == "" {
				continue
			}
			if _, err := digestRows(l.types[i:i+1], []any{v}); err != nil {
				l.types[i] = ""
			}
		}
	}
	for _, p := range l.plays[l.table] {
		for _, row := range p.final {
			check(row)
		}
	}
	for _, row := range l.untouched[l.table] {
		check(row)
	}
}

// sort finds out which rows are the same in every order.
func (l *rowLooks) sort() {
	lives := l.plays[l.table][0].lives
	for _, row := range l.untouched[l.table] {
		key := l.keyOf(row)
		if lives[textOf(key...)] == nil {
			l.exact = append(l.exact, lookedRow{textOf(key...), key, row})
		}
	}
	for _, text := range slices.Sorted(maps.Keys(lives)) {
		look := lookedRow{text: text, key: lives[text].key, is: l.final(0, text)}
		if l.stable(look) {
			l.exact = append(l.exact, look)
		} else {
			l.contests = append(l.contests, look)
		}
	}
	l.exact = sampleOf(l.random, l.exact, sampledRows)
	l.contests = sampleOf(l.random, l.contests, max(1, sampledContested/len(l.table.columns)))
}

// shifts tells that it depends on the order which rows are touched, or which row
// gets which key: then nothing can be said of any one.
func (l *rowLooks) shifts() bool {
	plays := l.plays[l.table]
	for _, p := range plays[1:] {
		if len(p.lives) != len(plays[0].lives) {
			return true
		}
		for text, life := range p.lives {
			other := plays[0].lives[text]
			if other == nil || (other.initial == nil) != (life.initial == nil) {
				return true
			}
			for c := range l.table.columns {
				if life.initial == nil && !sameKeys(life.written(c), other.written(c)) {
					return true
				}
			}
		}
	}
	return false
}

func sampleOf[T any](random *rand.Rand, all []T, most int) []T {
	if len(all) > most {
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		all = all[:most]
	}
	return all
}

func (l *rowLooks) keyOf(row []any) []any {
	key := make([]any, len(l.table.key))
	for i, c := range l.table.key {
		key[i] = row[c]
	}
	return key
}

// final is a row in the end of a play; nil where it is not there.
func (l *rowLooks) final(i int, text string) []any { return l.plays[l.table][i].final[text] }

// stable tells whether a row is the same in the end of every play.
func (l *rowLooks) stable(look lookedRow) bool {
	for i := range l.plays[l.table] {
		final := l.final(i, look.text)
		if (final == nil) != (look.is == nil) || textOf(final...) != textOf(look.is...) {
			return false
		}
	}
	return !l.computed(look.is)
}

// computed tells whether one of the values is a real that no operation has for
// an argument. A sum of reals depends on the order in which they were added, too
// little to be sure to see it.
func (l *rowLooks) computed(values []any) bool {
	return slices.ContainsFunc(values, func(v any) bool {
		_, real := v.(float64)
		return real && l.args != nil && !l.args[textOf(v)]
	})
}

// whole are the rows that are known as they are; nil where the keys are none that
// could be asked for.
func (l *rowLooks) whole(path string) (*Values, error) {
	if !l.askable() {
		return nil, nil
	}
	names, types := l.selected()
	if len(names) == 0 {
		return nil, nil
	}
	v := &Values{Get: l.get("rows of "+l.table.name+" after the block", names, types), Path: path, Exact: len(l.exact)}
	var rows [][]any
	for _, look := range l.exact {
		if look.is == nil {
			continue
		}
		var row []any
		for i, value := range look.is {
			if l.types[i] != "" {
				row = append(row, value)
			}
		}
		rows = append(rows, row)
	}
	var err error
	if v.Digest, err = digestRows(types, rows...); err != nil {
		return nil, err
	}
	return v, l.write(path, l.exact)
}

func (l *rowLooks) selected() (names []string, types []assay.Type) {
	for i, t := range l.types {
		if t != "" {
			names, types = append(names, quoted(l.table.columns[i])), append(types, t)
		}
	}
	return names, types
}

func (l *rowLooks) get(name string, columns []string, types []assay.Type) assay.Operation {
	var where []string
	for _, c := range l.table.key {
		where = append(where, quoted(l.table.columns[c])+" = ?")
	}
	sql := "SELECT " + strings.Join(columns, ", ") + " FROM " + quoted(l.table.name) + " WHERE " + strings.Join(where, " AND ")
	return assay.Operation{Name: name, Steps: []assay.Step{{SQL: sql, Query: true, Args: make([]assay.Values, len(where)), Rows: -1, Returns: types}}}
}

// askable finds the types of the keys. Without a key, with a real or with one of
// several types nothing can be asked for.
func (l *rowLooks) askable() bool {
	l.keys = make([]column.Type, len(l.table.key))
	for _, look := range slices.Concat(l.exact, l.contests) {
		for i, v := range look.key {
			kind := map[string]column.Type{"int64": column.Int, "string": column.Text, "[]uint8": column.Blob}[fmt.Sprintf("%T", v)]
			if kind == 0 || l.keys[i] != 0 && l.keys[i] != kind {
				return false
			}
			l.keys[i] = kind
		}
	}
	return len(l.exact)+len(l.contests) > 0
}

func (l *rowLooks) write(path string, looks []lookedRow) error {
	builder := column.NewBuilder(l.keys...)
	for _, look := range looks {
		if err := builder.Append(look.key...); err != nil {
			return err
		}
	}
	return builder.WriteFile(path)
}

// column is what one column of the contested rows may hold.
func (l *rowLooks) column(c int, path string) (*Values, error) {
	if l.types[c] == "" || slices.Contains(l.table.key, c) || len(l.contests) == 0 {
		return nil, nil
	}
	types := l.types[c : c+1]
	v := &Values{Get: l.get("column "+l.table.columns[c]+" of "+l.table.name+" after the block", []string{quoted(l.table.columns[c])}, types), Path: path}
	var err error
	if v.Digest, err = digestRows(types); err != nil {
		return nil, err
	}
	var looks []lookedRow
	for _, look := range l.contests {
		may, known := l.may(look, c)
		if !known {
			continue
		}
		var allowed []string
		for _, value := range may {
			row := [][]any{{value}}
			if value == absent {
				row = nil
			}
			digest, err := digestRows(types, row...)
			if err != nil {
				return nil, nil // it was of another type for a moment
			}
			allowed = append(allowed, digest)
		}
		looks, v.Allowed = append(looks, look), append(v.Allowed, allowed)
	}
	if len(looks) == 0 {
		return nil, nil
	}
	return v, l.write(path, looks)
}

// absent stands for the value of a row that is not there.
var absent any = noRow{}

type noRow struct{}

// may is what a column of a row may hold in the end: a value that an operation
// wrote to it while it was measured, else one from the warm-up, else that from
// before. It is known where it is the same in every order; or where the same
// values are written in every order, all of them arguments.
func (l *rowLooks) may(look lookedRow, c int) (may []any, known bool) {
	finals, gone := map[string]any{}, false
	for i, p := range l.plays[l.table] {
		gone = gone || p.lives[look.text].gone
		if final := l.final(i, look.text); final == nil {
			gone = true
		} else {
			finals[textOf(final[c])] = final[c]
		}
	}
	values := finals
	if len(finals) != 1 || l.computed(slices.Collect(maps.Values(finals))) {
		if values, known = l.writtenTo(look.text, c); !known {
			return nil, false
		}
	}
	may = slices.Collect(maps.Values(values))
	if gone {
		may = append(may, absent)
	}
	return may, true
}

// writtenTo are the values that were written to a column of a row, where they
// are arguments, and the same in every order.
func (l *rowLooks) writtenTo(text string, c int) (map[string]any, bool) {
	var values map[string]any
	for i, p := range l.plays[l.table] {
		these := p.lives[text].written(c)
		if i == 0 {
			values = these
		}
		if !sameKeys(values, these) {
			return nil, false
		}
	}
	for value := range values {
		if !l.args[value] {
			return nil, false
		}
	}
	return values, len(values) > 0
}

func sameKeys(a, b map[string]any) bool {
	return maps.EqualFunc(a, b, func(any, any) bool { return true })
}

func digestRows(types []assay.Type, rows ...[]any) (string, error) {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = string(t)
	}
	hash, err := answer.New(names)
	for _, row := range rows {
		if err == nil {
			err = hash.Row(row)
		}
	}
	if err != nil {
		return "", err
	}
	return hash.Sum(), nil
}
