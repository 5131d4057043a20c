package plan

import (
	"slices"
	"strconv"
	"strings"
)

// statement is what the format needs to know of an SQL statement.
type statement struct {
	query   bool // rows come back
	changes bool // data is changed
	params  int
}

// The first words of SQLite's statements. Transactions are the plan's own.
var (
	queryWords  = []string{"SELECT", "VALUES", "EXPLAIN"}
	changeWords = []string{
		"INSERT", "UPDATE", "DELETE", "REPLACE", "CREATE", "DROP", "ALTER",
		"ANALYZE", "ATTACH", "DETACH", "REINDEX", "VACUUM",
	}
	transactionWords = []string{"BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE"}
)

// statement tells what one SQL statement is. Mistakes are reported.
func (m *mistakes) statement(at place, sql string) (s statement, ok bool) {
	tokens, whole := scan(sql)
	if !whole {
		m.at(at, "the SQL has a quote or comment without an end")
		return s, false
	}
	tokens, ok = m.single(at, tokens)
	if !ok {
		return s, false
	}
	verb := mainVerb(tokens)
	switch {
	case slices.Contains(queryWords, verb):
		s.query = true
	case verb == "PRAGMA":
		s.query = !slices.ContainsFunc(tokens, func(t sqlToken) bool { return t.kind == '=' })
		s.changes = !s.query
	case slices.Contains(changeWords, verb):
		s.changes = true
		s.query = slices.ContainsFunc(tokens, func(t sqlToken) bool { return t.depth == 0 && t.is("RETURNING") })
	case slices.Contains(transactionWords, verb):
		m.at(at, "%s is not for the SQL: use the key transaction", verb)
		return s, false
	default:
		m.unknown(at, "SQL statement", verb, slices.Concat(queryWords, []string{"WITH", "PRAGMA"}, changeWords))
		return s, false
	}
	s.params, ok = m.params(at, tokens)
	return s, ok
}

// single returns the tokens of the one statement, without the semicolon.
func (m *mistakes) single(at place, tokens []sqlToken) ([]sqlToken, bool) {
	for len(tokens) > 0 && tokens[len(tokens)-1].kind == ';' {
		tokens = tokens[:len(tokens)-1]
	}
	if len(tokens) == 0 {
		m.at(at, "the SQL is empty")
		return nil, false
	}
	if slices.ContainsFunc(tokens, func(t sqlToken) bool { return t.kind == ';' }) {
		m.at(at, "the SQL has several statements: use steps")
		return nil, false
	}
	return tokens, true
}

// mainVerb is the word that says what a statement does: the first one, or the
// one behind the tables that WITH defines.
func mainVerb(tokens []sqlToken) string {
	if !tokens[0].is("WITH") {
		return strings.ToUpper(tokens[0].text)
	}
	for _, t := range tokens[1:] {
		word := strings.ToUpper(t.text)
		if t.kind == 'w' && t.depth == 0 && (slices.Contains(queryWords, word) || slices.Contains(changeWords, word)) {
			return word
		}
	}
	return "WITH without a statement"
}

// params counts the arguments that a statement takes.
func (m *mistakes) params(at place, tokens []sqlToken) (int, bool) {
	count, highest := 0, 0
	for _, t := range tokens {
		switch {
		case t.kind == ':':
			m.at(at, "named parameters are not part of the format: write ? for %s", t.text)
			return 0, false
		case t.kind == '?' && t.text == "?":
			highest++ // SQLite gives it the number after the highest so far
		case t.kind == '?':
			n, err := strconv.Atoi(t.text[1:])
			if err != nil || n < 1 || n > maxParams {
				m.at(at, "the SQL has a parameter %s, and there are ?1 to ?%d", t.text, maxParams)
				return 0, false
			}
			highest = max(highest, n)
		}
		count = max(count, highest)
	}
	if count > maxParams {
		m.at(at, "the SQL has %d parameters, more than %d", count, maxParams)
		return 0, false
	}
	return count, true
}

// maxParams is SQLite's own limit, SQLITE_MAX_VARIABLE_NUMBER.
const maxParams = 32766

// sqlToken is a token of SQL. Its kind is w (word), n (number), s (string),
// i (quoted identifier), ? and : (numbered and named parameter), or the
// character itself.
type sqlToken struct {
	kind  byte
	text  string // of quoted identifiers without the quotes
	depth int    // of parentheses around it
}

func (t sqlToken) is(word string) bool { return t.kind == 'w' && strings.EqualFold(t.text, word) }

// name returns the token as an identifier.
func (t sqlToken) name() (string, bool) { return t.text, t.kind == 'w' || t.kind == 'i' }

// scan splits SQL into tokens without spaces and comments. It is false where
// a quote or a comment has no end.
func scan(sql string) (tokens []sqlToken, whole bool) {
	depth := 0
	for i := 0; i < len(sql); {
		size, kind, ended := nextToken(sql[i:])
		if !ended {
			return nil, false
		}
		text := sql[i : i+size]
		i += size
		switch kind {
		case ' ':
			continue
		case ')':
			depth--
		case 'i':
			text = text[1 : len(text)-1]
		}
		tokens = append(tokens, sqlToken{kind, text, depth})
		if kind == '(' {
			depth++
		}
	}
	return tokens, true
}

// nextToken measures the first token; kind ' ' is a space or a comment.
func nextToken(sql string) (size int, kind byte, ended bool) {
	c := sql[0]
	switch {
	case strings.IndexByte(" \t\r\n\f", c) >= 0:
		return 1, ' ', true
	case strings.HasPrefix(sql, "--"):
		if end := strings.IndexByte(sql, '\n'); end >= 0 {
			return end + 1, ' ', true
		}
		return len(sql), ' ', true
	case strings.HasPrefix(sql, "/*"):
		end := strings.Index(sql[2:], "*/")
		return end + 4, ' ', end >= 0
	case c == '\'':
		size, ended = quotedLength(sql, c)
		return size, 's', ended
	case c == '"' || c == '`':
		size, ended = quotedLength(sql, c)
		return size, 'i', ended
	case c == '[':
		end := strings.IndexByte(sql, ']')
		return end + 1, 'i', end >= 0
	case c == '?':
		return 1 + wordLength(sql[1:]), '?', true
	case c == ':' || c == '@' || c == '$':
		if n := wordLength(sql[1:]); n > 0 {
			return 1 + n, ':', true
		}
		return 1, c, true
	}
	if n := wordLength(sql); n > 0 {
		if c >= '0' && c <= '9' {
			return n, 'n', true
		}
		return n, 'w', true
	}
	return 1, c, true
}

// quotedLength measures a quoted text, in which a doubled quote is a quote.
func quotedLength(sql string, quote byte) (int, bool) {
	for i := 1; i < len(sql); i++ {
		if sql[i] != quote {
			continue
		}
		if i+1 == len(sql) || sql[i+1] != quote {
			return i + 1, true
		}
		i++
	}
	return 0, false
}

func wordLength(sql string) int {
	for i := range len(sql) {
		c := sql[i]
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
		if !letter {
			return i
		}
	}
	return len(sql)
}

// schemaTables returns the tables that SQL creates with their columns, in
// lower case. Columns are nil where the definition does not list them.
func schemaTables(sql string) map[string][]string {
	tokens, _ := scan(sql)
	tables := map[string][]string{}
	for i := range tokens {
		if !tokens[i].is("TABLE") {
			continue
		}
		rest := tokens[i+1:]
		if len(rest) > 2 && rest[0].is("IF") {
			rest = rest[3:]
		}
		if len(rest) > 2 && rest[1].kind == '.' { // schema.table
			rest = rest[2:]
		}
		if len(rest) == 0 {
			continue
		}
		if name, ok := rest[0].name(); ok {
			tables[strings.ToLower(name)] = schemaColumns(rest[1:])
		}
	}
	return tables
}

// schemaColumns returns the columns of the definition that tokens begin with.
func schemaColumns(tokens []sqlToken) []string {
	if len(tokens) == 0 || tokens[0].kind != '(' {
		return nil
	}
	var columns []string
	for i, t := range tokens[1:] {
		if t.depth < tokens[0].depth+1 {
			break
		}
		before := tokens[i]
		first := before.kind == '(' && i == 0 || before.kind == ',' && before.depth == t.depth
		if name, ok := t.name(); ok && first && t.depth == tokens[0].depth+1 && !constraint(t) {
			columns = append(columns, strings.ToLower(name))
		}
	}
	return columns
}

// constraint reports whether a part of a table's definition is no column.
func constraint(t sqlToken) bool {
	return slices.ContainsFunc([]string{"CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"}, t.is)
}
