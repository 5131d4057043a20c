package plan

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// generator says how the values of a column or an argument are drawn. One of
// the kinds is given; theta goes with zipf and from, row and draw with from, add with next,
// format with whole numbers, null with any.
type generator struct {
	place
	kind string

	Seq     number     `yaml:"seq" jsonschema_description:"Whole numbers from here on, each one once."`
	Uniform span       `yaml:"uniform" jsonschema_description:"A whole number of [low, high], each alike; or of a seq column, written table.column."`
	Zipf    span       `yaml:"zipf" jsonschema_description:"A whole number of [low, high], some much more often than others; or of a seq column."`
	Real    span       `yaml:"real" jsonschema_description:"A float of [low, high)."`
	Text    number     `yaml:"text" jsonschema_description:"Text of this many letters a-z."`
	Blob    number     `yaml:"blob" jsonschema_description:"So many bytes."`
	Bool    empty      `yaml:"bool" jsonschema_description:"False or true."`
	Const   scalar     `yaml:"const" jsonschema_description:"Always this value."`
	Derive  derivation `yaml:"derive" jsonschema_description:"Computed from a whole number to the left."`
	Next    text       `yaml:"next" jsonschema_description:"Arguments only: continues the seq column table.column, or a column of your own file, beyond its greatest value."`
	Add     number     `yaml:"add" jsonschema_description:"With next: how far behind that value it begins, 0 by default, so that several operations continue one column."`
	From    text       `yaml:"from" jsonschema_description:"Arguments only: what table.column has in a row of the data that is drawn."`
	Row     number     `yaml:"row" jsonschema_description:"With from: which of several drawn rows, 1 by default; arguments with the same table and row are of one row."`
	Draw    text       `yaml:"draw" jsonschema_description:"With from: which row: uniform (default), zipf, latest (zipf towards the last rows) or once (each row once, in a scattered order)."`
	Theta   number     `yaml:"theta" jsonschema_description:"Skew of zipf and latest, between 0 and 1; 0.99 by default."`
	Format  text       `yaml:"format" jsonschema_description:"With seq, uniform, int, zipf and next: text in which %d, or %08d for eight digits, stands for the number."`
	Null    number     `yaml:"null" jsonschema_description:"Share of NULLs, 0 to 1."`
}

func (g *generator) read(m *mistakes, n ast.Node) {
	g.place = placeOf(n)
	if word, alone := n.(*ast.StringNode); alone {
		g.readWord(m, word.Value)
		return
	}
	if value, alone := n.(ast.ScalarNode); alone {
		m.at(g.place, "an argument is a way to draw values, not %s: always this value is {const: %[1]s}", scalarText(value))
		return
	}
	found, ok := m.fields(n, "a kind of values", "kind of values", g)
	kinds := slices.DeleteFunc(found, func(key string) bool {
		return slices.Contains([]string{"theta", "row", "draw", "format", "null", "add"}, key)
	})
	switch {
	case len(kinds) > 1:
		m.at(g.place, "values are of one kind, not of %s and %s", kinds[0], kinds[1])
	case len(kinds) == 1:
		g.kind = kinds[0]
	case ok:
		m.at(g.place, "a kind of values is missing, such as {text: 12}")
	}
	skewed := g.kind == "zipf" || g.Draw.value == "zipf" || g.Draw.value == "latest"
	if g.Theta.set() && !skewed {
		m.at(g.Theta.place, "theta belongs to zipf")
	}
	if g.Draw.set() && g.kind != "from" {
		m.at(g.Draw.place, "draw belongs to from")
	}
	if numbers := []string{"seq", "uniform", "zipf", "next"}; g.Format.set() && !slices.Contains(numbers, g.kind) {
		m.at(g.Format.place, "format belongs to whole numbers: %s; of another column or argument, write {derive: {of: ..., format: ...}}", strings.Join(numbers, ", "))
	}
	if g.Add.set() && g.kind != "next" {
		m.at(g.Add.place, "add belongs to next, and to derive")
	}
	if g.Row.set() && g.kind != "from" {
		m.at(g.Row.place, "row belongs to from")
	}
}

// continued names what a next continues, and from how far behind it.
func (g *generator) continued() string {
	if g.Add.set() {
		return g.Next.value + " + " + g.Add.text
	}
	return g.Next.value
}

// readWord reads a kind that stands alone.
func (g *generator) readWord(m *mistakes, word string) {
	switch word {
	case "seq":
		g.kind, g.Seq = word, number{g.place, "1"}
	case "bool":
		g.kind = word
	case "uniform", "zipf", "real", "text", "blob", "const", "derive", "next", "from":
		m.at(g.place, "%s needs a value, as in {%s: ...}", word, word)
	default:
		message, suggestion := mismatch("kind of values", word, kindsOfValues)
		if suggestion == "" {
			message += "; always this text is {const: " + word + "}"
			if strings.Contains(word, ".") {
				message += ", a value of this column {from: " + word + "}"
			}
		}
		m.add(Error{m.file, g.line, g.column, message, suggestion})
	}
}

var kindsOfValues = []string{
	"seq", "uniform", "zipf", "real", "text", "blob", "bool", "const", "derive", "next", "from",
}

// span is [low, high], or the values of a column, written table.column.
type span struct {
	place
	low, high number
	column    text
}

func (s *span) read(m *mistakes, n ast.Node) {
	s.place = placeOf(n)
	switch v := n.(type) {
	case *ast.StringNode:
		s.column = text{s.place, v.Value}
	case *ast.SequenceNode:
		m.bounds(v, &s.low, &s.high)
	default:
		m.at(s.place, "want [low, high] or table.column, not %s", describe(n))
	}
}

// derivation computes a value from another one.
type derivation struct {
	place
	Of     scalar `yaml:"of" jsonschema:"required" jsonschema_description:"Name of a column to the left, or number of an argument, counted from 1."`
	Mul    number `yaml:"mul" jsonschema_description:"Factor; 1 by default."`
	Add    number `yaml:"add" jsonschema_description:"Summand; 0 by default."`
	Mod    number `yaml:"mod" jsonschema_description:"Modulus; none by default."`
	Format text   `yaml:"format" jsonschema_description:"Text in which %d, or %08d for eight digits, stands for the number."`
}

func (d *derivation) read(m *mistakes, n ast.Node) { m.fields(n, "derive", "key of derive", d) }
