package lint

import (
	"fmt"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"

	"assay/internal/lint/facts"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// isRails reports whether a file configures ActiveRecord.
func isRails(name string) bool {
	base := path.Base(name)
	return base == "database.yml" || path.Base(path.Dir(name)) == "config" && strings.HasPrefix(base, "database") && strings.HasSuffix(base, ".yml")
}

// erb stands for what a template's tag yields. A tag has at least four characters.
const erb = "ERB?"

var erbTag = regexp.MustCompile(`(?s)<%.*?%>`)

// withoutERB puts something of the same size in the place of each tag of a
// template, so that what remains is YAML with everything at its place. A tag
// that is alone on its lines yields lines, or none: it becomes spaces, and so do
// all lines of a tag but the first one.
func withoutERB(text string) string {
	var out strings.Builder
	at := 0
	for _, tag := range erbTag.FindAllStringIndex(text, -1) {
		out.WriteString(text[at:tag[0]])
		at = tag[1]
		fill := strings.Repeat(" ", tag[1]-tag[0])
		line := text[strings.LastIndexByte(text[:tag[0]], '\n')+1 : tag[0]]
		rest, _, _ := strings.Cut(text[tag[1]:], "\n")
		if strings.HasPrefix(text[tag[0]:], "<%=") && strings.TrimSpace(line+rest) != "" {
			fill = erb + strings.Repeat("x", len(fill)-len(erb))
		}
		for i := range len(fill) {
			if c := text[tag[0]+i]; c == '\n' || c == '\r' {
				out.WriteByte(c)
				fill = strings.Repeat(" ", len(fill))
				continue
			}
			out.WriteByte(fill[i])
		}
	}
	out.WriteString(text[at:])
	return out.String()
}

var (
	branch = regexp.MustCompile(`^(if|unless|case|while|until)\b`)
	block  = regexp.MustCompile(`(\bdo|\{)\s*(\|[^|]*\|)?$`)
	closed = regexp.MustCompile(`\bend$`)
)

// ofVersions are the lines between tags of a template that ask for a version:
// which of their settings hold depends on it.
func ofVersions(text string) map[int]bool {
	lines := map[int]bool{}
	var asks []bool // by nesting: a tag asks for a version
	at := 0
	for _, tag := range erbTag.FindAllStringIndex(text, -1) {
		if slices.Contains(asks, true) {
			for n := strings.Count(text[:at], "\n") + 1; n <= strings.Count(text[:tag[0]], "\n")+1; n++ {
				lines[n] = true
			}
		}
		at = tag[1]
		code := strings.TrimSpace(strings.Trim(text[tag[0]+2:tag[1]-2], "-="))
		version := strings.Contains(strings.ToLower(code), "version")
		switch {
		case code == "end" && len(asks) > 0:
			asks = asks[:len(asks)-1]
		case closed.MatchString(code):
		case branch.MatchString(code) || block.MatchString(code):
			asks = append(asks, version)
		case version && len(asks) > 0:
			asks[len(asks)-1] = true
		}
	}
	return lines
}

// railsSettings are the settings in a database.yml of all databases of SQLite.
func railsSettings(name string, data []byte) ([]written, error) {
	file, err := parser.ParseBytes([]byte(withoutERB(string(data))), 0, parser.AllowDuplicateMapKey())
	if err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		return nil, fmt.Errorf("it is not YAML: %s", first)
	}
	r := &rails{name: name, anchors: map[string]ast.Node{}, users: map[token.Position][]user{}}
	for _, doc := range file.Docs {
		ast.Walk(r, doc)
	}
	for _, doc := range file.Docs {
		r.databases(doc.Body, 0)
	}
	if r.mappings > maxMappings {
		return nil, fmt.Errorf("more than %d mappings are merged: merge fewer", maxMappings)
	}
	byVersion := ofVersions(string(data))
	var all []written
	for _, w := range r.found {
		users := r.users[w.at]
		delete(r.users, w.at) // another environment has the same lines
		if len(users) > 0 && !byVersion[w.at.Line] && !slices.ContainsFunc(users, func(u user) bool { return u.adapter != "sqlite3" }) {
			w.readOnly = !slices.ContainsFunc(users, func(u user) bool { return !u.readOnly })
			all = append(all, w)
		}
	}
	return all, nil
}

// user is a database that a line belongs to.
type user struct {
	adapter  string
	readOnly bool
}

// rails reads a database.yml.
type rails struct {
	name    string
	anchors map[string]ast.Node
	found   []written
	users   map[token.Position][]user // by line
	// mappings is how many were read.
	mappings int
}

// Visit notes anchors.
func (r *rails) Visit(node ast.Node) ast.Visitor {
	if anchor, ok := node.(*ast.AnchorNode); ok {
		r.anchors[anchor.Name.GetToken().Value] = anchor.Value
	}
	return r
}

type pair struct {
	key   string
	at    token.Position
	value ast.Node
}

// maxNesting bounds how deep mappings may lie, also through aliases, and
// maxMappings how many a file may have, each counted as often as it is merged.
const (
	maxNesting  = 8
	maxMappings = 10_000
)

// pairs returns the pairs of a mapping, with those that are merged into it; false where
// a node is no mapping.
func (r *rails) pairs(node ast.Node, depth int) ([]pair, bool) {
	if r.mappings++; r.mappings > maxMappings {
		return nil, false
	}
	var values []*ast.MappingValueNode
	switch n := r.resolved(node).(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	default:
		return nil, false
	}
	var own, merged []pair
	has := map[string]bool{}
	for _, v := range values {
		if _, merge := v.Key.(*ast.MergeKeyNode); merge {
			if depth < maxNesting {
				more, _ := r.pairs(v.Value, depth+1)
				merged = append(merged, more...)
			}
			continue
		}
		key := v.Key.GetToken()
		own = append(own, pair{key.Value, token.Position{Filename: r.name, Line: key.Position.Line, Column: key.Position.Column}, r.resolved(v.Value)})
		has[key.Value] = true
	}
	for _, p := range merged {
		if !has[p.key] {
			own = append(own, p)
		}
	}
	return own, true
}

func (r *rails) resolved(node ast.Node) ast.Node {
	for range maxNesting {
		switch n := node.(type) {
		case *ast.AnchorNode:
			node = n.Value
		case *ast.AliasNode:
			node = r.anchors[n.Value.GetToken().Value]
		default:
			return node
		}
	}
	return nil
}

// databases looks for databases: by environment, or by environment and name.
func (r *rails) databases(node ast.Node, depth int) {
	pairs, ok := r.pairs(node, 0)
	if !ok || depth > 2 {
		return
	}
	for _, p := range pairs {
		if p.key == "adapter" {
			adapter, _ := text(p.value)
			r.database(pairs, adapter)
			return
		}
	}
	for _, p := range pairs {
		r.databases(p.value, depth+1)
	}
}

func (r *rails) database(pairs []pair, adapter string) {
	var all []written
	add := func(under string, p pair) {
		value, known := text(p.value)
		all = append(all, writtenIn(facts.ActiveRecord, under, p.key, value, known, p.at))
	}
	for _, p := range pairs {
		nested, mapping := r.pairs(p.value, 0)
		if !mapping {
			add("", p)
		}
		for _, n := range nested {
			add(p.key, n)
		}
	}
	u := user{adapter, slices.ContainsFunc(all, written.asksReadOnly)}
	for _, w := range all {
		r.users[w.at] = append(r.users[w.at], u)
	}
	r.found = append(r.found, all...)
}

// text returns what a scalar says; false where a template fills it in.
func text(node ast.Node) (string, bool) {
	if node == nil {
		return "", true
	}
	value := node.GetToken().Value
	if strings.Contains(value, erb) {
		return "...", false
	}
	return quoted(value), true
}
