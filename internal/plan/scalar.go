package plan

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

type text struct {
	place
	value string
}

func (t *text) read(m *mistakes, n ast.Node) {
	switch s := n.(type) {
	case *ast.StringNode, *ast.LiteralNode:
		*t = text{placeOf(n), scalarText(s.(ast.ScalarNode))}
	case *ast.NullNode:
		m.at(placeOf(n), "want a text, not nothing; a name such as null is one in quotes: \"null\"")
	default:
		m.at(placeOf(n), "want a text, not %s", describe(n))
	}
}

// scalar is a text, a number, true, false or nothing.
type scalar struct {
	place
	text   string
	quoted bool // certainly a text
	null   bool
}

func (s *scalar) read(m *mistakes, n ast.Node) {
	value, ok := n.(ast.ScalarNode)
	if !ok {
		m.at(placeOf(n), "want a single value, not %s", describe(n))
		return
	}
	*s = scalar{place: placeOf(n), text: scalarText(value)}
	_, s.null = n.(*ast.NullNode)
	switch value.GetToken().Type {
	case token.SingleQuoteType, token.DoubleQuoteType, token.LiteralType, token.FoldedType:
		s.quoted = true
	}
}

// number is a number or a template that gives one.
type number struct {
	place
	text string
}

func (v *number) read(m *mistakes, n ast.Node) {
	var s scalar
	if _, ok := n.(ast.ScalarNode); ok {
		s.read(m, n)
	}
	_, isNumber := parseReal(s.text)
	if !(number{text: s.text}).templated() && (!isNumber || s.quoted) {
		m.at(placeOf(n), "want a number, not %s", describe(n))
		return
	}
	*v = number{s.place, s.text}
}

// whole returns a number that depends on no param and lies within bounds, or
// the fallback where the plan has none. Mistakes are reported.
func (m *mistakes) whole(v number, what string, low, high, fallback int64) int64 {
	if !v.set() {
		return fallback
	}
	text, ok := env{}.expand(m, v.place, v.text)
	if !ok {
		return fallback
	}
	n, ok := parseWhole(text)
	if !ok {
		if isHuge(text) {
			m.at(v.place, "%s must be %d to %d, not %s", what, low, high, text)
		} else {
			m.at(v.place, "%s must be a whole number, not %s", what, text)
		}
		return fallback
	}
	if !m.within(v.place, what, n, low, high) {
		return fallback
	}
	return n
}

// templated reports whether the number is written with a template.
func (v number) templated() bool { return strings.Contains(v.text, "{{") }

func (m *mistakes) within(p place, what string, n, low, high int64) bool {
	if n < low || n > high {
		m.at(p, "%s must be %d to %d, not %d", what, low, high, n)
		return false
	}
	return true
}

var realPattern = regexp.MustCompile(`^[-+]?(\d[\d_]*\.?\d*|\.\d+)([eE][-+]?\d+)?$`)

func parseReal(s string) (float64, bool) {
	if !realPattern.MatchString(s) {
		return 0, false
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	return f, err == nil
}

// parseWhole reads an integer, also one that is written 1e6.
func parseWhole(s string) (int64, bool) {
	if !realPattern.MatchString(s) {
		return 0, false
	}
	if i, err := strconv.ParseInt(strings.ReplaceAll(s, "_", ""), 10, 64); err == nil {
		return i, true
	}
	const exact = 1 << 53
	f, ok := parseReal(s)
	if !ok || f != math.Trunc(f) || math.Abs(f) > exact {
		return 0, false
	}
	return int64(f), true
}

// isHuge reports whether a number that parseWhole does not read is whole, and only too
// large for it.
func isHuge(s string) bool {
	f, ok := parseReal(s)
	return ok && f == math.Trunc(f)
}

// plain writes a whole number without exponent, and anything else as it is,
// so that 1e6 and 1000000 are the same value of an axis.
func plain(s string) string {
	if i, ok := parseWhole(s); ok {
		return strconv.FormatInt(i, 10)
	}
	return s
}

// duration is a length of time such as 90s or 2m.
type duration struct {
	place
	value time.Duration
}

func (d *duration) read(m *mistakes, n ast.Node) {
	var s scalar
	s.read(m, n)
	if !s.set() {
		return
	}
	value, err := time.ParseDuration(s.text)
	if err != nil || value <= 0 {
		m.at(s.place, "want a duration above zero such as 90s or 2m, not %s", describe(n))
		return
	}
	*d = duration{s.place, value}
}

// fraction is a share, written 2% or 0.02.
type fraction struct {
	place
	value float64
}

func (f *fraction) read(m *mistakes, n ast.Node) {
	var s scalar
	s.read(m, n)
	if !s.set() {
		return
	}
	digits, percent := strings.CutSuffix(s.text, "%")
	value, ok := parseReal(digits)
	if !ok {
		m.at(s.place, "want a share such as 2%% or 0.02, not %s", describe(n))
		return
	}
	if percent {
		value /= 100
	}
	*f = fraction{s.place, value}
}

type boolean struct {
	place
	value bool
}

func (f *boolean) read(m *mistakes, n ast.Node) {
	b, ok := n.(*ast.BoolNode)
	if !ok {
		m.at(placeOf(n), "want true or false, not %s", describe(n))
		return
	}
	*f = boolean{placeOf(n), b.Value}
}
