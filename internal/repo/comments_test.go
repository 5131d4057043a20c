package repo_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// A comment of a function or type begins with its name: one that begins with a former
// name was left behind when it was renamed. Comments of tests are sentences.
func TestCommentsBeginWithTheName(t *testing.T) {
	files := token.NewFileSet()
	for _, s := range sources(t) {
		if s.test() {
			continue
		}
		f, err := parser.ParseFile(files, s.name, nil, parser.ParseComments)
		must(t, err)
		for name, comment := range commented(f) {
			if words := strings.Fields(comment.Text()); len(words) > 0 && words[0] != name.Name {
				t.Errorf("%s: the comment of %s begins with %q, want its name", files.Position(comment.Pos()), name.Name, words[0])
			}
		}
	}
}

// commented are the comments of a file's functions and types, by their names.
func commented(f *ast.File) map[*ast.Ident]*ast.CommentGroup {
	all := map[*ast.Ident]*ast.CommentGroup{}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			all[d.Name] = d.Doc
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if one, is := spec.(*ast.TypeSpec); is {
					all[one.Name] = one.Doc
					if len(d.Specs) == 1 && one.Doc == nil {
						all[one.Name] = d.Doc
					}
				}
			}
		}
	}
	return all
}
