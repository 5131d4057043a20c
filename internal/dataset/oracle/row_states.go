package oracle

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"assay"
	"assay/internal/plan/sqltext"
	"assay/kit/column"
)

type rowCheck struct {
	*rowReplays
	table *table
	*compared
	types    []assay.Type // by column; empty: not looked at
	keys     []column.Type
	exact    []checkedRow
	contests []checkedRow
	settling map[int]bool
}

// checkedRow is a row, with what it is in the end where that is known.
type checkedRow struct {
	text string
	key  []any
	is   []any // nil: it is not there
}

// readable leaves out columns with values that are not of their type.
func (l *rowCheck) readable() {
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

// settled reports whether it does not depend on the order which rows the statements
// change, and which row gets which key: else nothing can be said of any one.
func (l *rowCheck) settled() bool {
	plays := l.plays[l.table]
	if l.several && (l.decided || l.keyless) {
		return false
	}
	for _, p := range plays {
		for text := range p.histories {
			final := p.final[text]
			equal := final != nil && textOf(l.keyOf(final)...) != text // by their collation
			if equal && l.several || plays[0].histories[text] == nil || len(p.histories) != len(plays[0].histories) {
				return false
			}
		}
	}
	return true
}

// knowsCount reports whether the table has as many rows in every order.
func (l *rowCheck) knowsCount() bool {
	plays := l.plays[l.table]
	if slices.ContainsFunc(plays, func(p *play) bool { return p.rows != plays[0].rows }) {
		return false
	}
	if !l.several || l.counted {
		return true
	}
	if !l.settled() {
		return false
	}
	for text := range plays[0].histories {
		if l.presence(text) == unknown {
			return false
		}
	}
	return true
}

func (l *rowCheck) count() (c Count, err error) {
	c.Query = assay.Query{SQL: "SELECT count(*) FROM " + sqltext.Quote(l.table.name), Returns: []assay.Type{"int"}}
	c.Digest, err = digestRows(c.Query.Returns, []any{l.plays[l.table][0].rows})
	return c, err
}

// allowed returns what the rows may hold: whole rows where they are known, and columns
// one by one where only some are, or may have one value or another.
func (l *rowCheck) allowed(ctx context.Context, path string) ([]Values, error) {
	t := l.table
	if l.Engine == PostgreSQL && !t.askedElsewhere() || !l.settled() || slices.ContainsFunc(t.key, t.volatile) {
		return nil, nil
	}
	l.types = l.typesOf(ctx, t)
	l.readable()
	l.sort()
	if !l.askable() {
		return nil, nil
	}
	var all []Values
	rows, err := l.rows(path + ".col")
	if err != nil {
		return nil, err
	}
	if rows != nil {
		all = append(all, *rows)
	}
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

// sort finds out which rows are the same in every order.
func (l *rowCheck) sort() {
	histories := l.plays[l.table][0].histories
	for _, row := range l.untouched[l.table] {
		key := l.keyOf(row)
		if histories[textOf(key...)] == nil {
			l.exact = append(l.exact, checkedRow{textOf(key...), key, row})
		}
	}
	for _, text := range slices.Sorted(maps.Keys(histories)) {
		look := checkedRow{text: text, key: histories[text].key, is: l.final(0, text)}
		switch {
		case l.known(look):
			l.exact = append(l.exact, look)
		case l.several:
			l.contests = append(l.contests, look)
		}
	}
	l.exact = sampleOf(l.random, l.exact, sampledRows)
	l.contests = sampleOf(l.random, l.contests, max(1, sampledRewritten/len(l.table.columns)))
}

// known reports whether all that is looked at of a row is the same in every order.
func (l *rowCheck) known(look checkedRow) bool {
	if !l.several {
		return !slices.ContainsFunc(l.plays[l.table], func(p *play) bool { return textOf(p.final[look.text]...) != textOf(look.is...) })
	}
	for c, t := range l.types {
		if t == "" || slices.Contains(l.table.key, c) {
			continue
		}
		if may := l.allowedValues(look, c); len(may) != 1 {
			return false
		}
	}
	return l.presence(look.text) != unknown
}

func sampleOf[T any](random *rand.Rand, all []T, most int) []T {
	if len(all) > most {
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		all = all[:most]
	}
	return all
}

func (l *rowCheck) keyOf(row []any) []any {
	key := make([]any, len(l.table.key))
	for i, c := range l.table.key {
		key[i] = row[c]
	}
	return key
}

// final is a row in the end of a play; nil where it is not there.
func (l *rowCheck) final(i int, text string) []any { return l.plays[l.table][i].final[text] }

// rows returns the rows that are known as they are; nil where there are none.
func (l *rowCheck) rows(path string) (*Values, error) {
	names, types := l.selected()
	if len(names) == 0 || len(l.exact) == 0 {
		return nil, nil
	}
	return makeValues(l.get("rows of "+l.table.name+" after the block", names, types), path, l.keys, func(b *valuesBuilder) error {
		for _, look := range l.exact {
			var row []any
			for i, value := range look.is {
				if l.types[i] != "" {
					row = append(row, value)
				}
			}
			if err := b.add(look.key, row); err != nil {
				return err
			}
		}
		return nil
	})
}

func (l *rowCheck) selected() (names []string, types []assay.Type) {
	for i, t := range l.types {
		if t != "" {
			names, types = append(names, sqltext.Quote(l.table.columns[i])), append(types, t)
		}
	}
	return names, types
}

func (l *rowCheck) get(name string, columns []string, types []assay.Type) assay.Operation {
	var where []string
	for _, c := range l.table.key {
		where = append(where, sqltext.Quote(l.table.columns[c])+" = ?")
	}
	sql := "SELECT " + strings.Join(columns, ", ") + " FROM " + sqltext.Quote(l.table.name) + " WHERE " + strings.Join(where, " AND ")
	return assay.Operation{Name: name, Steps: []assay.Step{{SQL: sql, Query: true, Args: make([]assay.Values, len(where)), Rows: -1, Returns: types}}}
}

// askable finds the types of the keys. Without a key, with a real or with one of
// several types nothing can be asked for.
func (l *rowCheck) askable() bool {
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

// errSeveralTypes is of a column whose values were of another type for a moment.
var errSeveralTypes = errors.New("values of several types")

// column returns what one column of the contested rows may hold.
func (l *rowCheck) column(c int, path string) (*Values, error) {
	if l.types[c] == "" || slices.Contains(l.table.key, c) {
		return nil, nil
	}
	get := l.get("column "+l.table.columns[c]+" of "+l.table.name+" after the block", []string{sqltext.Quote(l.table.columns[c])}, l.types[c:c+1])
	v, err := makeValues(get, path, l.keys, func(b *valuesBuilder) error {
		for _, look := range l.contests {
			var allowed []string
			for _, value := range l.allowedValues(look, c) {
				digest, err := digestRows(b.types, []any{value})
				if err != nil {
					return errSeveralTypes
				}
				allowed = append(allowed, digest)
			}
			if allowed == nil {
				continue
			}
			if err := b.contest(look.key, allowed); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, errSeveralTypes) {
		return nil, nil // it is not looked at
	}
	return v, err
}

// presence says whether a row is there in the end.
type presence int

const (
	present presence = iota
	absent
	unknown // the order decides
)

// presence follows from what is done to the row in any order.
func (l *rowCheck) presence(text string) presence {
	now := present // a row that is nowhere put was there
	for phase := range phases {
		put, gone := false, false
		for _, p := range l.plays[l.table] {
			d := p.histories[text].writes[phase]
			put, gone = put || d.put, gone || d.gone
		}
		switch {
		case put && gone && phase == oneClient:
			now = l.end(text)
		case put && gone:
			now = unknown
		case put:
			now = present
		case gone:
			now = absent
		}
	}
	return now
}

// end reports whether a row is there in the end of every play.
func (l *rowCheck) end(text string) presence {
	finals := 0
	for i := range l.plays[l.table] {
		if l.final(i, text) != nil {
			finals++
		}
	}
	switch finals {
	case 0:
		return absent
	case len(l.plays[l.table]):
		return present
	}
	return unknown
}

// allowedValues lists what a column of a row may hold in the end; nothing where that is not
// known, and the value nil where the row is not there.
func (l *rowCheck) allowedValues(look checkedRow, c int) []any {
	switch l.presence(look.text) {
	case unknown:
		return nil
	case absent:
		return []any{nil}
	}
	end := l.same(look, c)
	switch {
	case !l.computed[int64(c)]:
		return l.assigned(look.text, c, end)
	case l.settles(c) && whole(end):
		return end
	}
	return nil
}

// settles reports whether a column of every row holds the same in the end of every play: that of
// one alone may do so by chance.
func (l *rowCheck) settles(c int) bool {
	if l.settling == nil {
		l.settling = map[int]bool{}
	}
	settles, known := l.settling[c]
	if !known {
		settles = true
		for text := range l.plays[l.table][0].histories {
			settles = settles && (l.presence(text) != present || l.same(checkedRow{text: text, is: l.final(0, text)}, c) != nil)
		}
		l.settling[c] = settles
	}
	return settles
}

// same returns what a column of a row holds in the end of every play; nothing where that
// differs.
func (l *rowCheck) same(look checkedRow, c int) []any {
	for i := range l.plays[l.table] {
		if final := l.final(i, look.text); final == nil || textOf(final[c]) != textOf(look.is[c]) {
			return nil
		}
	}
	return []any{look.is[c]}
}

// assigned returns what a column holds that statements give values which follow from
// their arguments: the newest where one client wrote last; of several, any that was
// written last. Of two different ones, each replaces the other in one of the plays.
func (l *rowCheck) assigned(text string, c int, end []any) []any {
	if len(l.values(text, c, oneClient)) > 0 {
		return end
	}
	for _, phase := range []phase{measuring, warmingUp} {
		switch values := l.values(text, c, phase); len(values) {
		case 0:
		case 1:
			return end
		default:
			return slices.Collect(maps.Values(values))
		}
	}
	return end
}

// values returns the values that a column of a row was given in a phase of any play.
func (l *rowCheck) values(text string, c int, in phase) map[string]any {
	all := map[string]any{}
	for _, p := range l.plays[l.table] {
		if d := p.histories[text].writes[in]; d.values != nil {
			maps.Copy(all, d.values[int64(c)])
		}
	}
	return all
}

// whole reports whether a value is no real: of those the order decides the sum.
func whole(values []any) bool {
	return !slices.ContainsFunc(values, func(v any) bool {
		_, number := v.(int64)
		return v != nil && !number
	})
}
