package postgres

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"assay/kit/wire"
)

// tokens are what translating looks at: texts in quotes and comments, which it
// leaves alone, placeholders, words, and what groups them.
var tokens = regexp.MustCompile(`'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|(?s:/\*.*?\*/)|\?\d*|[\pL_][\pL\d_]*|[(),;]`)

// Statement says a statement of a plan to PostgreSQL: placeholders ? and ?N
// become $1, $2, ...; nothing else is changed.
func Statement(sql string) string {
	n := 0
	return tokens.ReplaceAllStringFunc(sql, func(token string) string {
		if token[0] != '?' {
			return token
		}
		if len(token) > 1 {
			return "$" + token[1:]
		}
		n++
		return "$" + strconv.Itoa(n)
	})
}

// Operation is an operation with its statements said to PostgreSQL.
func Operation(op wire.Operation) wire.Operation {
	op.Steps, op.Parts = slices.Clone(op.Steps), slices.Clone(op.Parts)
	for i := range op.Steps {
		op.Steps[i].SQL = Statement(op.Steps[i].SQL)
	}
	for i := range op.Parts {
		op.Parts[i] = Operation(op.Parts[i])
	}
	return op
}

// columnTypes are what SQLite's names of types mean there, in PostgreSQL. INTEGER has
// 64 bits in SQLite, and 32 in PostgreSQL.
var columnTypes = map[string]string{
	"INT": "bigint", "INTEGER": "bigint", "REAL": "double precision", "FLOAT": "double precision",
	"BLOB": "bytea",
}

// Schema says a plan's schema to PostgreSQL: in CREATE TABLE, the types of
// columns become those that hold the same values, and WITHOUT ROWID and STRICT
// are left out. Nothing else is changed; what PostgreSQL does not know, it
// refuses.
func Schema(sql string) string {
	s := translator{}
	text := tokens.ReplaceAllStringFunc(sql, s.token)
	return withoutRowid.ReplaceAllString(text, ")")
}

var withoutRowid = regexp.MustCompile(`(?i)\)\s*(?:WITHOUT\s+ROWID|STRICT)(?:\s*,\s*(?:WITHOUT\s+ROWID|STRICT))*`)

// translator follows CREATE TABLE from column to column.
type translator struct {
	words []string // of the statement, outside of parentheses, in upper case
	depth int
	inner int // words since the definition of a column began
}

func (s *translator) token(token string) string {
	switch {
	case token == ";":
		*s = translator{}
	case token == "(":
		s.depth++
		s.inner = 0
	case token == ")":
		s.depth--
	case token == ",":
		if s.depth == 1 {
			s.inner = 0
		}
	case token[0] == '\'' || strings.HasPrefix(token, "--") || strings.HasPrefix(token, "/*"):
	case s.depth == 0:
		s.words = append(s.words, strings.ToUpper(token))
	default:
		s.inner++
		if translated := columnTypes[strings.ToUpper(token)]; s.inner == 2 && s.depth == 1 && s.createsTable() && translated != "" {
			return translated
		}
	}
	return token
}

func (s *translator) createsTable() bool {
	return len(s.words) > 1 && s.words[0] == "CREATE" && s.words[1] == "TABLE"
}
