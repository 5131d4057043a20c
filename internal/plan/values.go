package plan

import (
	"math"
	"slices"
	"strings"

	"assay"
)

// Bounds of what a plan may ask for.
const (
	maxRows   = 1_000_000_000
	maxLength = 16 << 20 // bytes of a text or blob: what is made is kept in memory
	maxCount  = 1_000_000_000
	maxStart  = 8_000_000_000_000_000_000 // of seq: far from overflow whatever is added
	maxRow    = maxParams                 // of from: an argument each
)

// resolver resolves one workload at one point of its axes.
type resolver struct {
	m      *mistakes
	env    env
	tables []assay.Table
	file   bool            // the data are a user's file
	kv     *recordsOfStore // of a key-value workload; nil for tables
	// sources are queries that arguments are drawn from, by name.
	sources map[string]string
	// scale multiplies rows and records, and resized says that it changed some.
	scale   float64
	resized bool
}

// values resolves a generator. To its left are others, which derive can use:
// columns by name, or with names nil arguments by number.
func (r *resolver) values(g *generator, left []assay.Values, names []string, column bool) (v assay.Values) {
	switch g.kind {
	case "seq":
		v.Kind = assay.Seq
		v.From, _ = r.env.integer(r.m, g.Seq, "the start of seq", -maxStart, maxStart)
	case "uniform":
		v = r.integers(g.Uniform, assay.Uniform)
	case "zipf":
		v = r.integers(g.Zipf, assay.Zipf)
		v.Theta = r.theta(g.Theta)
	case "real":
		v = r.reals(g.Real)
	case "text":
		v = r.sized(assay.Text, g.Text)
	case "blob":
		v = r.sized(assay.Blob, g.Blob)
	case "bool":
		v.Kind = assay.Bool
	case "const":
		v = r.constant(g.Const)
	case "derive":
		v = r.derived(&g.Derive, left, names, column)
	case "next":
		v = r.next(g, column)
	case "from":
		v = r.existing(g, column)
	}
	v.Null = r.share(g.Null)
	if g.Format.set() {
		v.Format = r.format(g.Format)
	}
	return v
}

// format checks a text in which a number stands.
func (r *resolver) format(t text) string {
	if !assay.NumberVerb.MatchString(t.value) {
		r.m.at(t.place, "the format needs %%d, or %%08d for eight digits, where the number goes")
	}
	return t.value
}

// integers resolves [low, high] and table.column.
func (r *resolver) integers(s span, kind assay.ValueKind) assay.Values {
	v := assay.Values{Kind: kind}
	if s.column.set() {
		if table, seq := r.column(s.column); seq != nil {
			v.From, v.To = seq.From, seq.From+int64(table.Rows)-1
			if table.Rows == 0 {
				r.m.at(s.place, "table %q has no rows, so %s has no values", table.Name, s.column.value)
			}
		}
		return v
	}
	low, ok := r.env.integer(r.m, s.low, "the low bound", math.MinInt64, math.MaxInt64)
	high, good := r.env.integer(r.m, s.high, "the high bound", math.MinInt64, math.MaxInt64)
	switch {
	case ok && good && low > high:
		r.m.at(s.place, "the low bound %d is above the high bound %d", low, high)
	case ok && good && high-low < 0:
		r.m.at(s.place, "the bounds %d and %d are too far apart", low, high)
	}
	v.From, v.To = low, high
	return v
}

func (r *resolver) theta(n number) float64 {
	if !n.set() {
		return 0.99 // YCSB's
	}
	theta, ok := r.env.real(r.m, n, "theta")
	if ok && (theta <= 0 || theta >= 1) {
		r.m.at(n.place, "theta must lie between 0 and 1, not be %g", theta)
	}
	return theta
}

func (r *resolver) share(n number) float64 {
	if !n.set() {
		return 0
	}
	share, ok := r.env.real(r.m, n, "the share of NULLs")
	if ok && (share < 0 || share > 1) {
		r.m.at(n.place, "the share of NULLs must be 0 to 1, not %g", share)
	}
	return share
}

func (r *resolver) reals(s span) assay.Values {
	v := assay.Values{Kind: assay.Real}
	if s.column.set() {
		r.m.at(s.place, "real wants [low, high], not %s", s.column.value)
		return v
	}
	var ok, good bool
	v.Low, ok = r.env.real(r.m, s.low, "the low bound")
	v.High, good = r.env.real(r.m, s.high, "the high bound")
	if ok && good && v.Low >= v.High {
		r.m.at(s.place, "the low bound %g is not below the high bound %g", v.Low, v.High)
	}
	return v
}

func (r *resolver) sized(kind assay.ValueKind, n number) assay.Values {
	length, _ := r.env.integer(r.m, n, "the length of "+string(kind), 1, maxLength)
	return assay.Values{Kind: kind, Length: int(length)}
}

// constant resolves a constant. A template alone gives what its value would
// be in the plan: {const: "{{k}}"} is a number where k is.
func (r *resolver) constant(s scalar) assay.Values {
	v := assay.Values{Kind: assay.Const, Value: s.constant()}
	if !strings.Contains(s.text, "{{") {
		return v
	}
	text, _ := r.env.expand(r.m, s.place, s.text)
	alone := strings.HasPrefix(s.text, "{{") && strings.Index(s.text, "}}") == len(s.text)-2
	v.Value = scalar{text: text, quoted: !alone}.constant()
	return v
}

func (r *resolver) derived(d *derivation, left []assay.Values, names []string, column bool) assay.Values {
	v := assay.Values{Kind: assay.Derive, Mul: 1}
	if d.Of.set() {
		v.Of = r.source(d.Of, left, names, column)
	}
	if d.Mul.set() {
		v.Mul, _ = r.env.integer(r.m, d.Mul, "mul", math.MinInt64, math.MaxInt64)
	}
	if d.Add.set() {
		v.Add, _ = r.env.integer(r.m, d.Add, "add", math.MinInt64, math.MaxInt64)
	}
	if d.Mod.set() {
		v.Mod, _ = r.env.integer(r.m, d.Mod, "mod", 1, math.MaxInt64)
	}
	if d.Format.set() {
		v.Format = r.format(d.Format)
	}
	return v
}

// source finds what derive computes from.
func (r *resolver) source(of scalar, left []assay.Values, names []string, column bool) int {
	var i int
	if column {
		if i = slices.Index(names, of.text); i < 0 {
			r.m.unknown(of.place, "column to the left", of.text, names)
			return 0
		}
	} else {
		n, ok := parseWhole(of.text)
		if !ok || n < 1 || n > int64(len(left)) {
			r.m.at(of.place, "of is the number of an argument to the left, counted from 1, not %s", of.text)
			return 0
		}
		i = int(n - 1)
	}
	switch from := left[i]; {
	case from.Kind == "": // a mistake that was reported
	case from.Format != "", !slices.Contains(integerKinds, from.Kind):
		r.m.at(of.place, "derive computes from whole numbers, and %s is none", of.text)
	}
	return i
}

// integerKinds are the kinds of values that are whole numbers.
var integerKinds = []assay.ValueKind{assay.Seq, assay.Uniform, assay.Zipf, assay.Derive}

// next continues a seq column beyond its last value, or a column of a user's file beyond the
// greatest one, which is not known here.
func (r *resolver) next(g *generator, column bool) assay.Values {
	v := assay.Values{Kind: assay.Seq}
	if column {
		r.m.at(g.Next.place, "next is for arguments: a column is {seq: FROM}")
		return v
	}
	if g.Add.set() {
		v.From, _ = r.env.integer(r.m, g.Add, "add", 0, maxStart)
	}
	if r.file {
		if v.Table, v.Column, _ = cutColumn(g.Next.value); v.Table == "" || v.Column == "" {
			r.m.at(g.Next.place, "want table.column, not %q", g.Next.value)
		}
		return v
	}
	if table, seq := r.column(g.Next); seq != nil {
		v.From += seq.From + int64(table.Rows)
	}
	return v
}

// existing draws from the data itself: of a user's file, or of any table of the
// schema. What a user's file has is not known here.
func (r *resolver) existing(g *generator, column bool) assay.Values {
	v := assay.Values{Kind: assay.From}
	if column {
		r.m.at(g.From.place, "from is for arguments: a column can have {uniform: table.column}")
		return v
	}
	if g.Row.set() {
		row, _ := r.env.integer(r.m, g.Row, "row", 1, maxRow)
		v.Of = int(row - 1)
	}
	text, ok := r.env.expand(r.m, g.From.place, g.From.value)
	if !ok || !g.From.set() {
		return v
	}
	if v.Table, v.Column, ok = cutColumn(text); !ok || v.Table == "" || v.Column == "" {
		r.m.at(g.From.place, "want table.column, not %q", text)
	}
	v.Query = r.sources[v.Table]
	r.drawn(g, &v)
	return v
}

// drawn resolves which row of the data is drawn.
func (r *resolver) drawn(g *generator, v *assay.Values) {
	if !g.Draw.set() {
		return
	}
	ways := map[string]assay.ValueKind{"uniform": "", "zipf": assay.Zipf, "latest": assay.Latest, "once": assay.Once}
	draw, known := ways[g.Draw.value]
	if !known {
		r.m.unknown(g.Draw.place, "value of draw", g.Draw.value, sortedKeys(ways))
	}
	if v.Draw = draw; draw == assay.Zipf || draw == assay.Latest {
		v.Theta = r.theta(g.Theta)
	}
}

// column finds the seq column that table.column names, or reports why not.
func (r *resolver) column(t text) (*assay.Table, *assay.Values) {
	tableName, columnName, ok := cutColumn(t.value)
	if !ok {
		if t.set() {
			r.m.at(t.place, "want table.column, not %q", t.value)
		}
		return nil, nil
	}
	i := slices.IndexFunc(r.tables, func(t assay.Table) bool { return t.Name == tableName })
	if i < 0 {
		r.m.unknown(t.place, "table of the data", tableName, namesOf(r.tables, func(t assay.Table) string { return t.Name }))
		return nil, nil
	}
	table := &r.tables[i]
	j := slices.IndexFunc(table.Columns, func(c assay.Column) bool { return c.Name == columnName })
	if j < 0 {
		r.m.unknown(t.place, "column of "+tableName, columnName, columnNames(table.Columns))
		return nil, nil
	}
	values := &table.Columns[j].Values
	if values.Kind != assay.Seq || values.Null > 0 || values.Format != "" {
		if values.Format != "" {
			r.m.at(t.place, "%s has a format: draw from a seq column without one, and give the argument the same format", t.value)
		} else if values.Kind != "" {
			r.m.at(t.place, "%s is not a seq column without NULLs, so its values are not known", t.value)
		}
		return nil, nil
	}
	return table, values
}

// cutColumn parts table.column at its first dot. A table whose name has one stands in
// double quotes.
func cutColumn(text string) (table, column string, ok bool) {
	if !strings.HasPrefix(text, `"`) {
		return strings.Cut(text, ".")
	}
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] != '"':
		case strings.HasPrefix(text[i:], `""`): // one within the name
			i++
		default:
			column, ok = strings.CutPrefix(text[i+1:], ".")
			return strings.ReplaceAll(text[1:i], `""`, `"`), column, ok
		}
	}
	return "", "", false
}

func columnNames(columns []assay.Column) []string {
	return namesOf(columns, func(c assay.Column) string { return c.Name })
}
