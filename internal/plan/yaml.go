package plan

import (
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// The limits of a plan's text. The parser's time grows with the square of the
// tokens and of their depth; a plan has a few thousand tokens.
const (
	maxSize   = 1 << 20
	maxTokens = 30_000
	maxDepth  = 40
)

// reader is a part of the format that reads itself from YAML and reports
// what is wrong with it.
type reader interface {
	read(m *mistakes, n ast.Node)
	where() place
}

// parse returns the plan's root, or nil where the text is no YAML.
func (m *mistakes) parse(data []byte) ast.Node {
	if len(data) > maxSize {
		m.at(place{}, "the plan has %d bytes, more than %d", len(data), maxSize)
		return nil
	}
	if !utf8.Valid(data) {
		m.at(place{}, "the plan is not UTF-8 text")
		return nil
	}
	const mark = "\ufeff" // some editors begin a file with it
	tokens := lexer.Tokenize(strings.TrimPrefix(string(data), mark))
	if !m.readable(tokens) {
		return nil
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		m.syntax(err)
		return nil
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		m.at(place{}, "the plan is empty")
		return nil
	}
	if len(file.Docs) > 1 && file.Docs[1].Start != nil {
		m.at(tokenPlace(file.Docs[1].Start), "a plan is one YAML document, and a second one starts here")
	}
	return file.Docs[0].Body
}

func (m *mistakes) syntax(err error) {
	if syntax, is := errors.AsType[*yaml.SyntaxError](err); is {
		m.at(tokenPlace(syntax.GetToken()), "not YAML: %s", syntax.GetMessage())
		return
	}
	m.at(place{}, "not YAML: %v", err)
}

// readable reports what the parser cannot read or the format does not have,
// before the parser sees it. It is false where parsing makes no sense.
func (m *mistakes) readable(tokens token.Tokens) bool {
	if len(tokens) > maxTokens {
		m.at(place{}, "the plan has %d YAML tokens, more than %d", len(tokens), maxTokens)
		return false
	}
	ok := true
	depth, inLine, line := 0, 0, 0
	for _, t := range tokens {
		if at := tokenPlace(t); at.line != line {
			line, inLine = at.line, 0
		}
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			depth++
			ok = m.quoted(t) && ok
		case token.MappingEndType, token.SequenceEndType:
			depth--
		case token.SequenceEntryType, token.MappingKeyType:
			inLine++
		case token.AnchorType, token.AliasType, token.MergeKeyType:
			m.at(tokenPlace(t), "anchors, aliases and merge keys are not part of the format: write the value out")
			ok = false
		case token.TagType:
			m.at(tokenPlace(t), "YAML tags are not part of the format: leave %s out", t.Value)
			ok = false
		}
		if depth+inLine > maxDepth {
			m.at(tokenPlace(t), "nested more than %d deep", maxDepth)
			return false
		}
	}
	return ok
}

// quoted reports a template without quotes, which YAML takes for a map.
func (m *mistakes) quoted(t *token.Token) bool {
	if t.Type != token.MappingStartType || t.Next == nil || t.Next.Type != token.MappingStartType {
		return true
	}
	m.at(tokenPlace(t), `a template needs quotes around it: "{{...}}"`)
	return false
}

func tokenPlace(t *token.Token) place {
	if t == nil || t.Position == nil {
		return place{}
	}
	return place{t.Position.Line, t.Position.Column}
}

// placeOf is where a value begins; a map that is written in lines begins with
// its first key.
func placeOf(n ast.Node) place {
	switch n := n.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return placeOf(n.Values[0].Key)
		}
	case *ast.MappingValueNode:
		return placeOf(n.Key)
	case *ast.MappingKeyNode:
		return placeOf(n.Value)
	}
	return tokenPlace(n.GetToken())
}

// describe names the form of a value, for messages.
func describe(n ast.Node) string {
	switch n := n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a map"
	case *ast.SequenceNode:
		return "a list"
	case *ast.NullNode:
		return "nothing"
	case *ast.StringNode, *ast.LiteralNode:
		const limit = 40
		if s := []rune(scalarText(n.(ast.ScalarNode))); len(s) <= limit {
			return strconv.Quote(string(s))
		}
		return "a long text"
	case ast.ScalarNode:
		return scalarText(n)
	}
	return "this"
}

func scalarText(n ast.ScalarNode) string {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value
	case *ast.LiteralNode:
		return n.Value.Value
	}
	return n.GetToken().Value
}

type pair struct {
	place
	key   string
	value ast.Node
}

func isMap(n ast.Node) bool {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return true
	}
	return false
}

// pairs returns the keys and values of a map in the order of the file. It
// reports keys that stand twice.
func (m *mistakes) pairs(n ast.Node, what string) []pair {
	var values []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	}
	var list []pair
	first := map[string]place{}
	for _, v := range values {
		key, ok := keyText(v.Key)
		at := placeOf(v.Key)
		if !ok {
			m.at(at, "a key of %s must be a word", what)
			continue
		}
		if before, twice := first[key]; twice {
			m.at(at, "%q appears twice in %s, first in line %d", key, what, before.line)
			continue
		}
		first[key] = at
		list = append(list, pair{at, key, v.Value})
	}
	return list
}

func keyText(key ast.MapKeyNode) (string, bool) {
	var n ast.Node = key
	if k, ok := key.(*ast.MappingKeyNode); ok {
		n = k.Value
	}
	s, ok := n.(ast.ScalarNode)
	if !ok {
		return "", false
	}
	return scalarText(s), true
}

// fields reads a map into the struct that into points to: a key goes to the
// field with that yaml tag. It returns the keys that the map has, and false
// where n is no map or has a key that is unknown or misspelt. Only where it is true
// are keys that the format requires reported as missing: one may be there, misspelt.
func (m *mistakes) fields(n ast.Node, what, keys string, into any) (found []string, ok bool) {
	at := place{1, 1} // of the plan itself
	if part, has := into.(interface{ put(place) }); has {
		at = placeOf(n)
		part.put(at)
	}
	if !isMap(n) {
		m.at(placeOf(n), "%s is a map, not %s", what, describe(n))
		return nil, false
	}
	fields, names := keysOf(into)
	ok = true
	for _, p := range m.pairs(n, what) {
		field, known := fields[p.key]
		if _, alone := p.value.(*ast.NullNode); !known && alone && strings.ContainsAny(p.key, " =*") {
			m.at(p.place, "a value of %s ends at the comma before %q: put quotes around a text that has commas", what, p.key)
			ok = false
			continue
		}
		if !known {
			m.unknown(p.place, keys, p.key, names)
			ok = false
			continue
		}
		found = append(found, p.key)
		field.read(m, p.value)
	}
	for _, name := range names {
		if ok && fields[name].required && !slices.Contains(found, name) {
			m.at(at, "%s needs %s", what, name)
		}
	}
	return found, ok
}

// misplaced reports those of the keys that a part has; the format takes the key.
func (m *mistakes) misplaced(part any, format string, keys ...string) {
	fields, _ := keysOf(part)
	for _, key := range keys {
		if at := fields[key].where(); at.set() {
			m.at(at, format, key)
		}
	}
}

// field is the part of a struct that a key is read into.
type field struct {
	reader
	required bool
}

// keysOf returns the fields of the struct that a part points to by their yaml tag, and
// the tags in order.
func keysOf(part any) (map[string]field, []string) {
	fields, target := map[string]field{}, reflect.ValueOf(part).Elem()
	var names []string
	for _, f := range reflect.VisibleFields(target.Type()) {
		if name := f.Tag.Get("yaml"); name != "" {
			fields[name] = field{target.FieldByIndex(f.Index).Addr().Interface().(reader), f.Tag.Get("jsonschema") == "required"}
			names = append(names, name)
		}
	}
	return fields, names
}

// list is a list of parts; a single part may stand without brackets.
type list[T any] struct {
	place
	items []T
}

func (l *list[T]) read(m *mistakes, n ast.Node) {
	l.place = placeOf(n)
	nodes := []ast.Node{n}
	if seq, ok := n.(*ast.SequenceNode); ok {
		nodes = seq.Values
		if len(nodes) == 0 {
			m.at(l.place, "the list is empty: leave it out")
		}
	}
	l.items = make([]T, len(nodes))
	for i, item := range nodes {
		any(&l.items[i]).(reader).read(m, item)
	}
}

type entry[T any] struct {
	key   text
	value T
}

// dict is a map from names to parts, in the order of the file.
type dict[T any] struct {
	place
	entries []entry[T]
}

func (d *dict[T]) read(m *mistakes, n ast.Node) {
	d.place = placeOf(n)
	if !isMap(n) {
		m.at(d.place, "want a map from names, not %s", describe(n))
		return
	}
	for _, p := range m.pairs(n, "the map") {
		e := entry[T]{key: text{p.place, p.key}}
		any(&e.value).(reader).read(m, p.value)
		d.entries = append(d.entries, e)
	}
}

func (d *dict[T]) names() []string {
	return namesOf(d.entries, func(e entry[T]) string { return e.key.value })
}

func namesOf[T any](all []T, name func(T) string) []string {
	names := make([]string, len(all))
	for i, each := range all {
		names[i] = name(each)
	}
	return names
}

func (d *dict[T]) get(name string) (*T, bool) {
	i := slices.IndexFunc(d.entries, func(e entry[T]) bool { return e.key.value == name })
	if i < 0 {
		return nil, false
	}
	return &d.entries[i].value, true
}
