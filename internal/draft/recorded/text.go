package recorded

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"assay/internal/plan/sqltext"
)

// Literal begins the names of the parameters that stand in the place of literals.
const Literal = ":literal"

// Text is the text of a statement.
type Text struct {
	ID       string // the same for texts that differ only in literals and in how parameters are written
	Template string // with :literal1, :literal2, ... for numbers, texts and blobs
	Literals []string
	places   []place
}

// place is where the value of an argument comes from.
type place struct {
	literal int    // or -1
	name    string // without its prefix; empty: it has none
	number  int    // SQLite's, without the literals, counted from 0
}

// TextOf takes the literals and comments out of a text, with one space for each run of
// comments and spaces.
func TextOf(sql string) *Text {
	t := &Text{}
	var template, alike strings.Builder
	space := false
	for i := 0; i < len(sql); {
		size, kind := token(sql[i:])
		written := sql[i : i+size]
		i += size
		if kind == separator {
			space = true
			continue
		}
		if space && template.Len() > 0 {
			template.WriteByte(' ')
			alike.WriteByte(' ')
		}
		space = false
		if kind == literal {
			t.Literals = append(t.Literals, written)
			written = Literal + strconv.Itoa(len(t.Literals))
		}
		template.WriteString(written)
		if kind == parameter {
			written = "?"
		}
		alike.WriteString(written)
	}
	t.Template = strings.Trim(template.String(), "; ")
	sum := sha256.Sum256([]byte(strings.Trim(alike.String(), "; ")))
	t.ID = hex.EncodeToString(sum[:8])
	t.locate()
	return t
}

// locate finds where the values of arguments come from, in the order in which Numbered has
// them.
func (t *Text) locate() {
	tokens, _ := sqltext.Scan(t.Template)
	_, written := Numbered(tokens)
	bound, _ := sqltext.Scan(t.Template)
	bound = slices.DeleteFunc(bound, func(t sqltext.Token) bool { return strings.HasPrefix(t.Text, Literal) })
	_, names := Numbered(bound)
	left := slices.Clone(names)
	for _, w := range written {
		p := place{literal: -1}
		if n, isLiteral := strings.CutPrefix(w, Literal); isLiteral {
			number, _ := strconv.Atoi(n)
			p.literal = min(number, len(t.Literals)) - 1 // the program may have such a name too
		} else {
			if p.number = slices.Index(left, w); p.number >= 0 {
				left[p.number] = ""
			}
			if given, err := strconv.Atoi(w[1:]); err == nil && w[0] == '?' {
				p.number = given - 1
			} else if w != "?" {
				p.name = w[1:]
			}
		}
		t.places = append(t.places, p)
	}
}

// Literal reports whether an argument of the template stands for a literal.
func (t *Text) Literal(argument int) bool { return t.places[argument].literal >= 0 }

// Values are those of all arguments of the template, in the order in which Numbered has
// them; false where the line does not have them.
func (t *Text) Values(l *Line) (values []Value, ok bool) {
	next := 0
	for _, p := range t.places {
		switch named, known := l.Named[p.name]; {
		case p.literal >= 0:
			values = append(values, literalValue(t.Literals[p.literal]))
			continue
		case known:
			values = append(values, named)
			continue
		case len(l.Named) > 0: // those without a name follow each other
			p.number = next
			next++
		}
		if p.number < 0 || p.number >= len(l.Args) {
			return nil, false
		}
		values = append(values, l.Args[p.number])
	}
	return values, true
}

// literalValue is what a literal stands for.
func literalValue(text string) Value {
	switch c := text[0]; {
	case c == '\'' || c == '"':
		return Value{Of: strings.ReplaceAll(strings.Trim(text, string(c)), string([]byte{c, c}), string(c))}
	case (c == 'x' || c == 'X') && strings.HasSuffix(text, "'"):
		blob, _ := hex.DecodeString(text[2 : len(text)-1])
		return Value{Of: blob}
	}
	if n, err := strconv.ParseInt(text, 0, 64); err == nil {
		return Value{Of: n}
	}
	real, _ := strconv.ParseFloat(text, 64)
	return Value{Of: real}
}

// Numbered returns the argument of each parameter, counted from 0, and how
// each argument is written. SQLite gives a ? the number after the highest so
// far, and a name that is new as well. Numbers that no parameter has are left
// out.
func Numbered(tokens []sqltext.Token) (numbers []int, written []string) {
	names, highest := map[string]int{}, 0
	var used []int
	for _, t := range tokens {
		if !t.Parameter() {
			continue
		}
		n, known := names[t.Text]
		if given, err := strconv.Atoi(t.Text[1:]); err == nil && t.Kind == sqltext.Numbered {
			n, known = given, true
		}
		if !known {
			n = highest + 1
		}
		if t.Text != "?" {
			names[t.Text] = n
		}
		highest = max(highest, n)
		numbers = append(numbers, n)
		used = append(used, n)
	}
	slices.Sort(used)
	used = slices.Compact(used)
	written = make([]string, len(used))
	i := 0
	for _, t := range tokens {
		if t.Parameter() {
			numbers[i], _ = slices.BinarySearch(used, numbers[i])
			written[numbers[i]] = t.Text
			i++
		}
	}
	return numbers, written
}

// Kinds of tokens.
const (
	other = iota
	separator
	literal // a number, a text or a blob
	parameter
)

// token measures the first token of SQL. What stands in double quotes is a name if it looks
// like one.
func token(s string) (size, kind int) {
	until := func(end string, from int) int {
		if at := strings.Index(s[from:], end); at >= 0 {
			return from + at + len(end)
		}
		return len(s)
	}
	switch c := s[0]; {
	case strings.IndexByte(" \t\r\n\f", c) >= 0:
		return 1, separator
	case strings.HasPrefix(s, "\ufeff"):
		return len("\ufeff"), separator
	case strings.HasPrefix(s, "--"):
		return until("\n", 2), separator
	case strings.HasPrefix(s, "/*"):
		return until("*/", 2), separator
	case c == '\'', len(s) > 1 && (c == 'x' || c == 'X') && s[1] == '\'':
		return quoted(s, strings.IndexByte(s, '\'')), literal
	case c == '"':
		n := quoted(s, 0)
		if n < 3 || s[n-1] != '"' || word(s[1:]) != n-2 {
			return n, literal
		}
		return n, other
	case c == '`':
		return quoted(s, 0), other
	case c == '[':
		return until("]", 1), other
	case strings.IndexByte("?:@$", c) >= 0:
		return 1 + word(s[1:]), parameter
	case c >= '0' && c <= '9', c == '.' && len(s) > 1 && s[1] >= '0' && s[1] <= '9':
		return number(s), literal
	}
	return max(1, word(s)), other
}

// quoted measures a text whose quote stands at a place; a doubled quote is a quote.
func quoted(s string, at int) int {
	for i := at + 1; i < len(s); i++ {
		if s[i] != s[at] {
			continue
		}
		if i+1 == len(s) || s[i+1] != s[at] {
			return i + 1
		}
		i++
	}
	return len(s)
}

// word measures a name or keyword.
func word(s string) int {
	for i := range len(s) {
		if c := s[i]; !(c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80) {
			return i
		}
	}
	return len(s)
}

// number measures a number, with its exponent.
func number(s string) int {
	for i := range len(s) {
		c := s[i]
		sign := (c == '+' || c == '-') && i > 0 && (s[i-1] == 'e' || s[i-1] == 'E') && !strings.HasPrefix(s, "0x")
		if !sign && c != '.' && c != '_' && word(s[i:i+1]) == 0 {
			return i
		}
	}
	return len(s)
}
