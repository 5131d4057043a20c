package plan

import (
	"errors"
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

// document reads the plan; nil where that makes no sense.
func (m *mistakes) document(data []byte) *document {
	root := m.parse(data)
	if root == nil {
		return nil
	}
	m.follow(root)
	var d document
	if err := yaml.NodeToValue(root, &d); err != nil {
		if m.err() == nil {
			m.syntax(err)
		}
		return nil
	}
	return &d
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

func tokenPlace(t *token.Token) place {
	if t == nil || t.Position == nil {
		return place{}
	}
	return place{t.Position.Line, t.Position.Column}
}

// placeOf returns where a value begins; a map that is written in lines begins with
// its first key.
func placeOf(n ast.Node) place {
	switch n := n.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return placeOf(n.Values[0].Key)
		}
	}
	return tokenPlace(n.GetToken())
}

// describe names the form of a value, for messages.
func describe(n ast.Node) string {
	switch n := n.(type) {
	case *ast.MappingNode:
		return "a map"
	case *ast.SequenceNode:
		return "a list"
	case *ast.NullNode:
		return "nothing (null as a text needs quotes)"
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

// spot says where a value of the plan stands.
type spot struct {
	key   place
	value ast.Node
	clear func() // takes the value away, so that Decode does not meet it
}

// spots holds the spots of all values by their way from the root.
type spots map[string]spot

func wayTo(parts ...string) string { return strings.Join(parts, "\x00") }

// take returns a value as JSON has it, and notes where it and its parts stand. Keys that
// are no word or stand twice are reported and taken away.
func (m *mistakes) take(n ast.Node, way []string, all spots) any {
	switch n := n.(type) {
	case *ast.MappingNode:
		values := map[string]any{}
		n.Values = slices.DeleteFunc(n.Values, func(v *ast.MappingValueNode) bool {
			key, at := m.key(v, way, all)
			if key == nil {
				return true
			}
			own := append(slices.Clip(way), *key)
			all[wayTo(own...)] = spot{at, v.Value, func() { v.Value = ast.Null(v.Value.GetToken()) }}
			values[*key] = m.take(v.Value, own, all)
			return false
		})
		return values
	case *ast.SequenceNode:
		values := make([]any, len(n.Values))
		for i, item := range n.Values {
			own := append(slices.Clip(way), strconv.Itoa(i))
			all[wayTo(own...)] = spot{placeOf(item), item, func() { n.Values[i] = ast.Null(item.GetToken()) }}
			values[i] = m.take(item, own, all)
		}
		return values
	case *ast.NullNode:
		return nil
	case *ast.BoolNode:
		return n.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		f, _ := parseReal(n.GetToken().Value)
		return f
	case ast.ScalarNode:
		text := scalarText(n)
		if f, isNumber := parseReal(text); isNumber && !quoted(n) {
			return f
		}
		return text
	}
	return n.String()
}

// key returns the word of a map's key; nil where it is none or stood before.
func (m *mistakes) key(v *ast.MappingValueNode, way []string, all spots) (*string, place) {
	scalar, at := keyOf(v)
	if scalar == nil {
		m.at(at, "a key of a map must be a word")
		return nil, at
	}
	word := scalarText(scalar)
	if before, twice := all[wayTo(append(slices.Clip(way), word)...)]; twice {
		m.at(at, "%q appears twice in the map, first in line %d", word, before.key.line)
		return nil, at
	}
	return &word, at
}

// keyOf returns a key where it is a single value, and where it stands.
func keyOf(v *ast.MappingValueNode) (ast.ScalarNode, place) {
	var key ast.Node = v.Key
	if k, ok := key.(*ast.MappingKeyNode); ok {
		key = k.Value
	}
	scalar, _ := key.(ast.ScalarNode)
	return scalar, placeOf(key)
}

// quoted reports whether a value is certainly a text.
func quoted(n ast.ScalarNode) bool {
	switch n.GetToken().Type {
	case token.SingleQuoteType, token.DoubleQuoteType, token.LiteralType, token.FoldedType:
		return true
	}
	return false
}

func namesOf[T any](all []T, name func(T) string) []string {
	names := make([]string, len(all))
	for i, each := range all {
		names[i] = name(each)
	}
	return names
}
