package recorded

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
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
	differ   map[string]bool // names of literals that differ between texts of the same ID
	places   []place
}

// place says where the value of an argument comes from.
type place struct {
	name   string // without its prefix; empty: it has none
	number int    // SQLite's, counted from 0
}

// TextOf takes the literals and comments out of a text, with one space for each run of
// comments and spaces.
func TextOf(sql string) *Text {
	t := &Text{differ: map[string]bool{}}
	var template, alike strings.Builder
	end := 0
	add := func(from, to int, kind byte) {
		written := sql[from:to]
		if from > end && template.Len() > 0 {
			template.WriteByte(' ')
			alike.WriteByte(' ')
		}
		end = to
		if kind == literal {
			t.Literals = append(t.Literals, written)
			written = Literal + strconv.Itoa(len(t.Literals))
		}
		template.WriteString(written)
		if kind == sqltext.Numbered || kind == sqltext.Named {
			written = "?"
		}
		alike.WriteString(written)
	}
	tokens, whole := sqltext.Scan(sql)
	for i, token := range tokens {
		from, kind := token.From, token.Kind
		switch {
		case i+1 < len(tokens) && isBlob(token, tokens[i+1]):
			continue
		case kind == sqltext.String && i > 0 && isBlob(tokens[i-1], token):
			from, kind = tokens[i-1].From, literal
		case kind == sqltext.String, kind == sqltext.Number, kind == sqltext.Quoted && sql[from] == '"' && !namePattern.MatchString(token.Text):
			kind = literal // what stands in double quotes is a name if it looks like one
		}
		add(from, token.To, kind)
	}
	if rest := strings.TrimLeft(sql[end:], " \t\r\n\f"); !whole && !strings.HasPrefix(rest, "/*") {
		add(len(sql)-len(rest), len(sql), literal) // a quote without an end
	}
	t.Template = strings.Trim(template.String(), "; ")
	sum := sha256.Sum256([]byte(strings.Trim(alike.String(), "; ")))
	t.ID = hex.EncodeToString(sum[:8])
	t.locate()
	return t
}

// locate finds where the values of arguments come from.
func (t *Text) locate() {
	bound, _ := sqltext.Scan(t.Template)
	bound = slices.DeleteFunc(bound, func(t sqltext.Token) bool { return strings.HasPrefix(t.Text, Literal) })
	_, written := Numbered(bound)
	for i, w := range written {
		p := place{number: i}
		if given, err := strconv.Atoi(w[1:]); err == nil && w[0] == '?' {
			p.number = given - 1
		} else if w != "?" {
			p.name = w[1:]
		}
		t.places = append(t.places, p)
	}
}

// Share notes where another text of the same ID has other literals.
func (t *Text) Share(other *Text) {
	for i, literal := range t.Literals {
		if other.Literals[i] != literal {
			t.differ[Literal+strconv.Itoa(i+1)] = true
		}
	}
}

// Written is the text with the literals that are the same in all texts of its ID; without
// those in quotes, unless they are known for constants of the program.
func (t *Text) Written(constant bool) string {
	return sqltext.Replace(t.Template, func(token sqltext.Token) (string, bool) {
		number, is := strings.CutPrefix(token.Text, Literal)
		n, err := strconv.Atoi(number)
		if !is || err != nil || n > len(t.Literals) || t.differ[token.Text] {
			return "", false
		}
		written := t.Literals[n-1]
		return written, constant || !strings.ContainsAny(written, `"'`)
	})
}

// Values returns the values that were bound, in the order in which Numbered has the arguments of
// the text without its literals; false where the line does not have them.
func (t *Text) Values(l *Line) (values []Value, ok bool) {
	next := 0
	for _, p := range t.places {
		named, known := l.Named[p.name]
		if known {
			values = append(values, named)
			continue
		}
		if len(l.Named) > 0 { // those without a name follow each other
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

// literal is the kind of a number, a text or a blob.
const literal byte = 'l'

var namePattern = regexp.MustCompile(`^[\w\x{80}-\x{10ffff}]+$`)

// isBlob reports whether two tokens are x'...'.
func isBlob(x, text sqltext.Token) bool {
	return text.Kind == sqltext.String && x.To == text.From && strings.EqualFold(x.Text, "x")
}
