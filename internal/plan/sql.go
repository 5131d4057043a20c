package plan

import (
	"slices"
	"strconv"
	"strings"

	"assay/internal/plan/sqltext"
)

// statement holds what the format needs to know of an SQL statement.
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
	transactionWords = []string{"BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE"} // but for savepoints
)

// kind tells what the statement is that the tokens make.
func (m *mistakes) kind(at place, tokens []sqltext.Token) (s statement, ok bool) {
	verb := sqltext.Verb(tokens)
	_, ofSavepoint := savepointOf(tokens)
	switch {
	case slices.Contains(queryWords, verb):
		s.query = true
	case verb == "PRAGMA":
		s.query = !slices.ContainsFunc(tokens, func(t sqltext.Token) bool { return t.Kind == '=' })
		s.changes = !s.query
	case slices.Contains(changeWords, verb):
		s.changes = true
		s.query = slices.ContainsFunc(tokens, func(t sqltext.Token) bool { return t.Depth == 0 && t.Is("RETURNING") })
	case ofSavepoint:
		s.changes = true
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
func (m *mistakes) single(at place, sql string) ([]sqltext.Token, bool) {
	tokens, whole := sqltext.Scan(sql)
	if !whole {
		m.at(at, "the SQL has a quote or comment without an end")
		return nil, false
	}
	statements := sqltext.Statements(tokens)
	if len(statements) == 0 {
		m.at(at, "the SQL is empty")
		return nil, false
	}
	if len(statements) > 1 {
		m.at(at, "the SQL has several statements, where one is wanted")
		return nil, false
	}
	return statements[0], true
}

// params counts the arguments that a statement takes.
func (m *mistakes) params(at place, tokens []sqltext.Token) (int, bool) {
	count, highest := 0, 0
	for _, t := range tokens {
		switch {
		case t.Kind == '?' && t.Text == "?":
			highest++ // SQLite gives it the number after the highest so far
		case t.Kind == '?':
			n, err := strconv.Atoi(t.Text[1:])
			if err != nil || n < 1 || n > maxParams {
				m.at(at, "the SQL has a parameter %s, and there are ?1 to ?%d", t.Text, maxParams)
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

// schemaTables returns the tables that SQL creates with their columns, in
// lower case. Columns are nil where the definition does not list them.
func schemaTables(sql string) map[string][]string {
	tokens, _ := sqltext.Scan(sql)
	tables := map[string][]string{}
	for i := range tokens {
		if !tokens[i].Is("TABLE") {
			continue
		}
		rest := tokens[i+1:]
		if len(rest) > 2 && rest[0].Is("IF") {
			rest = rest[3:]
		}
		if len(rest) > 2 && rest[1].Kind == '.' { // schema.table
			rest = rest[2:]
		}
		if len(rest) == 0 {
			continue
		}
		if name, ok := rest[0].Name(); ok {
			tables[strings.ToLower(name)] = schemaColumns(rest[1:])
		}
	}
	return tables
}

// schemaColumns returns the columns of the definition that tokens begin with.
func schemaColumns(tokens []sqltext.Token) []string {
	if len(tokens) == 0 || tokens[0].Kind != '(' {
		return nil
	}
	var columns []string
	for i, t := range tokens[1:] {
		if t.Depth < tokens[0].Depth+1 {
			break
		}
		before := tokens[i]
		first := before.Kind == '(' && i == 0 || before.Kind == ',' && before.Depth == t.Depth
		if name, ok := t.Name(); ok && first && t.Depth == tokens[0].Depth+1 && !constraint(t) {
			columns = append(columns, strings.ToLower(name))
		}
	}
	return columns
}

// constraint reports whether a part of a table's definition is no column.
func constraint(t sqltext.Token) bool {
	return slices.ContainsFunc([]string{"CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"}, t.Is)
}
