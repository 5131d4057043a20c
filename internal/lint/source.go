package lint

import (
	"go/ast"
	"go/token"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// certainly reports whether the DSN begins with file:, or does not.
func (d dsn) certainly(uri bool) bool { return len(d.forms) == 1 && d.forms[0] == uri }

// mentions reports whether some string of the package has words in it, in any
// case.
func (c *checker) mentions(words string) bool {
	for _, f := range c.pass.Files {
		found := false
		ast.Inspect(f, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				text := strings.Join(strings.Fields(strings.ToLower(literal.Value)), " ")
				found = found || strings.Contains(text, words)
			}
			return !found
		})
		if found {
			return true
		}
	}
	return false
}

type line struct {
	file   string
	number int
}

const ignore = "//assay:ignore "

// silenced returns the rules that comments switch off, by line: that of the
// comment and the one below it. A comment without a reason switches nothing off.
func silenced(pass *analysis.Pass) map[line][]string {
	all := map[line][]string{}
	for _, f := range pass.Files {
		for _, group := range f.Comments {
			for _, comment := range group.List {
				rest, ok := strings.CutPrefix(comment.Text, ignore)
				rule, reason, _ := strings.Cut(strings.TrimSpace(rest), " ")
				if !ok || strings.TrimSpace(reason) == "" {
					continue
				}
				at := pass.Fset.Position(comment.Pos())
				for _, n := range []int{at.Line, at.Line + 1} {
					all[line{at.Filename, n}] = append(all[line{at.Filename, n}], rule)
				}
			}
		}
	}
	return all
}
