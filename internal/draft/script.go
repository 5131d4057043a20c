package draft

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"assay"
	"assay/internal/plan"
	"assay/internal/plan/sqltext"
)

// script holds what becomes one operation: a statement, or those between BEGIN and
// COMMIT.
type script struct {
	name        string
	line        int // of its first word
	queries     []*query
	transaction bool
	verb        string // of what is left out before it is understood
	leftOut     string // why it is not measured
	notes       []string
	shape       *shape // in a log; nil: there is none
	alike       string // the script that has the shape of both, which a log cannot tell apart
}

// split finds the operations of a file of queries. Those that cannot be part of a
// plan say why in leftOut.
func split(text string) ([]*script, error) {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	if !utf8.ValidString(text) {
		return nil, errors.New("it is not UTF-8 text")
	}
	tokens, whole := sqltext.Scan(text)
	if !whole {
		end := 0
		if len(tokens) > 0 {
			end = tokens[len(tokens)-1].To
		}
		return nil, fmt.Errorf("after line %d comes a quote or a comment without an end", lineOf(text, end))
	}
	var s splitter
	before := 0 // end of the statement before
	for _, tokens := range sqltext.Statements(tokens) {
		from, to := tokens[0].From, tokens[len(tokens)-1].To
		q := &query{line: lineOf(text, from), verb: sqltext.Verb(tokens), name: nameAbove(text[before:from], before > 0)}
		q.rewrite(text[from:to])
		before = to
		s.add(q)
	}
	s.end("it has no COMMIT")
	nameAll(s.all)
	return s.all, nil
}

func lineOf(text string, offset int) int { return 1 + strings.Count(text[:offset], "\n") }

// splitter groups statements into operations.
type splitter struct {
	all  []*script
	open *script // a transaction that has begun
}

func (s *splitter) add(q *query) {
	switch {
	case q.verb == "BEGIN":
		s.end("it has no COMMIT")
		s.open = &script{name: q.name, line: q.line, verb: q.verb, transaction: true}
	case s.open == nil:
		s.addSingle(q)
	case q.savepoint():
		s.open.queries = append(s.open.queries, q)
	case q.verb == "COMMIT" || q.verb == "END":
		s.end("")
	case q.verb == "ROLLBACK":
		s.end("it ends with ROLLBACK, and leaves nothing to measure")
	default:
		s.open.name = cmp.Or(s.open.name, q.name)
		s.open.queries = append(s.open.queries, q)
		if why := unsupported(q); why != "" && s.open.leftOut == "" {
			s.open.leftOut = fmt.Sprintf("%s in line %d: %s", q.verb, q.line, why)
		}
	}
}

// addSingle adds a statement that is an operation by itself.
func (s *splitter) addSingle(q *query) {
	s.all = append(s.all, &script{name: q.name, line: q.line, verb: q.verb, queries: []*query{q}, leftOut: unsupported(q)})
}

// end ends the transaction that is open; why says what is wrong with it.
func (s *splitter) end(why string) {
	if s.open == nil {
		return
	}
	s.open.leftOut = cmp.Or(s.open.leftOut, why)
	if s.open.leftOut == "" && !slices.ContainsFunc(s.open.queries, func(q *query) bool { return !q.savepoint() }) {
		s.open.leftOut = "there is no statement in it"
	}
	var steps []assay.Step
	for _, q := range s.open.queries {
		steps = append(steps, assay.Step{SQL: q.sql})
	}
	if name := plan.UnsetSavepoint(steps); s.open.leftOut == "" && name != "" {
		s.open.leftOut = "no statement before sets the savepoint " + name
	}
	s.all = append(s.all, s.open)
	s.open = nil
}

// unsupported says why a statement cannot be an operation of a plan.
func unsupported(q *query) string {
	switch q.verb {
	case "COMMIT", "END", "ROLLBACK":
		return "no BEGIN is before it"
	case "SAVEPOINT", "RELEASE":
		return "no BEGIN is before it: a savepoint belongs to a transaction"
	case "ATTACH", "DETACH":
		return "a plan measures one file"
	case "PRAGMA":
		return "settings belong in the profiles"
	case "CREATE", "DROP", "ALTER":
		return "the schema stays as it is while operations are measured"
	case "EXPLAIN", "VACUUM", "ANALYZE", "REINDEX":
		return "only SELECT, VALUES, INSERT, UPDATE, DELETE and REPLACE are measured"
	}
	return ""
}

var nameComment = regexp.MustCompile(`(?i)^name\s*:\s*(\S+)`)

// nameAbove reads a name out of the comments above a statement: what stands
// behind "name:" in the nearest block of them, or else the nearest comment. The
// rest of the line on which another statement ended belongs to that one.
func nameAbove(gap string, behind bool) string {
	lines := strings.Split(gap, "\n")
	if behind {
		lines = lines[1:]
	}
	var comment []string
	ended := false // by an empty line
	for _, line := range lines[:max(0, len(lines)-1)] {
		line = strings.Trim(line, " \t\r\f;")
		if line == "" {
			ended = true
			continue
		}
		if ended {
			comment, ended = nil, false
		}
		comment = append(comment, strings.TrimSpace(strings.Trim(line, "-/*#")))
	}
	for _, line := range slices.Backward(comment) {
		if named := nameComment.FindStringSubmatch(line); named != nil {
			return slug(named[1])
		}
	}
	if ended && !behind {
		return "" // what begins a file is about all of it
	}
	return nearest(comment)
}

// wrapped is from where on a line of a comment seems to go on in the next one.
const wrapped = 50

// nearest is the name that the last comment gives.
func nearest(comment []string) string {
	for i, line := range slices.Backward(comment) {
		continues := i > 0 && (strings.HasSuffix(comment[i-1], ",") || len(comment[i-1]) >= wrapped)
		if name := slug(strings.ToLower(line)); name != "" && !continues {
			return name
		}
	}
	return ""
}

const longestName = 40

// slug makes a name of an operation out of any text; empty where nothing is
// left.
func slug(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-')
	})
	name := ""
	for _, word := range words {
		if name != "" && len(name)+1+len(word) > longestName {
			break
		}
		name = strings.Trim(name+"-"+word, "-._")
	}
	return name[:min(len(name), longestName)]
}

// nameAll gives every operation a name of its own; one without gets it from its
// verb and the first table that it names.
func nameAll(all []*script) {
	taken := map[string]bool{}
	for _, s := range all {
		taken[s.name] = true
	}
	used, next := map[string]bool{}, map[string]int{}
	for _, s := range all {
		base, first := s.name, 2
		if base == "" {
			base, first = s.about(), 1
		}
		if s.name == "" || used[s.name] {
			n := max(first, next[base])
			for taken[fmt.Sprintf("%s-%d", base, n)] {
				n++
			}
			s.name, next[base] = fmt.Sprintf("%s-%d", base, n), n+1
		}
		used[s.name], taken[s.name] = true, true
	}
}

// about is a name for what has none.
func (s *script) about() string {
	if s.transaction {
		return "transaction"
	}
	q := s.queries[0]
	table := ""
	if refs := references(q.tokens); len(refs) > 0 {
		table = refs[0].table
	}
	return strings.TrimPrefix(slug(strings.ToLower("query "+q.verb+" "+table)), "query-")
}

// place returns where a script was found.
func (s *script) place() string {
	if s.line == 0 {
		return "in the log"
	}
	return fmt.Sprintf("line %d", s.line)
}
