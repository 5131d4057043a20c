package oracle

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"assay"
	"assay/kit/column"
)

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
