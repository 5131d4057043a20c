package draft

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"assay/internal/plan/sqltext"
)

// query is a statement of the user's file.
type query struct {
	name     string
	line     int    // of its first word
	sql      string // with ? or ?N for its arguments
	tokens   []sqltext.Token
	verb     string
	args     []argument
	argument map[int]int // by a parameter's place among the tokens, counted from 0
	notes    []string    // what a reader of the plan should know
	leftOut  string      // why it is not measured
}

// argument is a value that a query takes.
type argument struct {
	written string // as the user wrote it: :id, ?2 or ?
	yaml    string // how it is drawn
	note    string // why so
}

// changes reports whether the query changes data.
func (q *query) changes() bool { return q.verb != "SELECT" && q.verb != "VALUES" }

// split finds the queries of a file. Those that cannot be part of a plan say
// why in leftOut.
func split(text string) ([]*query, error) {
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
		return nil, fmt.Errorf("behind line %d is a quote or a comment without an end", lineOf(text, end))
	}
	var all []*query
	before := 0 // end of the statement before
	for _, statement := range sqltext.Statements(tokens) {
		from, to := statement[0].From, statement[len(statement)-1].To
		q := &query{line: lineOf(text, from), verb: sqltext.Verb(statement)}
		q.name = nameAbove(text[before:from], before > 0)
		q.rewrite(text[from:to])
		q.leftOut = unsupported(q)
		before = to
		all = append(all, q)
	}
	nameAll(all)
	return all, nil
}

func lineOf(text string, offset int) int { return 1 + strings.Count(text[:offset], "\n") }

// unsupported says why a statement cannot be an operation of a plan.
func unsupported(q *query) string {
	switch q.verb {
	case "BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE":
		return "transactions are the plan's own: see its key transaction"
	case "ATTACH", "DETACH":
		return "a plan measures one file"
	case "PRAGMA":
		return "settings belong into the profiles"
	case "CREATE", "DROP", "ALTER":
		return "the schema stays as it is while operations are measured"
	case "EXPLAIN", "VACUUM", "ANALYZE", "REINDEX":
		return "only SELECT, VALUES, INSERT, UPDATE, DELETE and REPLACE are measured"
	}
	if strings.Contains(q.sql, "{{") {
		return "{{ begins a template in a plan"
	}
	return ""
}

// rewrite takes a statement's text over with ? for its arguments: in order
// where each is used once, and otherwise ?1, ?2, ..., as one argument can stand
// in several places.
func (q *query) rewrite(text string) {
	tokens, _ := sqltext.Scan(text)
	numbers, written := numbered(tokens)
	q.args = make([]argument, len(written))
	for i, w := range written {
		q.args[i].written = w
	}
	plain := slices.IsSorted(numbers) && len(numbers) == len(written)
	var b strings.Builder
	end, n := 0, 0
	for _, t := range tokens {
		if !t.Parameter() {
			continue
		}
		b.WriteString(text[end:t.From])
		b.WriteString("?")
		if !plain {
			b.WriteString(strconv.Itoa(numbers[n] + 1))
		}
		end = t.To
		n++
	}
	b.WriteString(text[end:])
	q.sql = b.String()
	q.tokens, _ = sqltext.Scan(q.sql)
	q.argument = map[int]int{}
	n = 0
	for i, t := range q.tokens {
		if t.Parameter() {
			q.argument[i] = numbers[n]
			n++
		}
	}
}

// numbered returns the argument of each parameter, counted from 0, and how
// each argument is written. SQLite gives a ? the number after the highest so
// far, and a name that is new as well. Numbers that no parameter has are left
// out.
func numbered(tokens []sqltext.Token) (numbers []int, written []string) {
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

var nameComment = regexp.MustCompile(`(?i)^name\s*:\s*(\S+)`)

// nameAbove reads a name out of the comment right above a statement: what
// stands behind "name:", or else its first line. The rest of the line on which
// another statement ended belongs to that one.
func nameAbove(gap string, behind bool) string {
	lines := strings.Split(gap, "\n")
	if behind {
		lines = lines[1:]
	}
	var comment []string
	for _, line := range lines[:max(0, len(lines)-1)] {
		line = strings.Trim(line, " \t\r\f;")
		if line == "" {
			comment = nil
			continue
		}
		comment = append(comment, strings.TrimSpace(strings.Trim(line, "-/*#")))
	}
	for _, line := range comment {
		if named := nameComment.FindStringSubmatch(line); named != nil {
			return slug(named[1])
		}
	}
	for _, line := range comment {
		if name := slug(strings.ToLower(line)); name != "" {
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

// nameAll gives every query a name of its own; one without gets it from its
// verb and the first table that it names.
func nameAll(all []*query) {
	taken := map[string]bool{}
	for _, q := range all {
		taken[q.name] = true
	}
	used := map[string]bool{}
	for _, q := range all {
		base, first := q.name, 2
		if base == "" {
			base, first = slug(strings.ToLower("query "+q.verb+" "+firstTable(q.tokens))), 1
			base = strings.TrimPrefix(base, "query-")
		}
		if q.name == "" || used[q.name] {
			n := first
			for taken[fmt.Sprintf("%s-%d", base, n)] {
				n++
			}
			q.name = fmt.Sprintf("%s-%d", base, n)
		}
		used[q.name], taken[q.name] = true, true
	}
}

func firstTable(tokens []sqltext.Token) string {
	for _, ref := range references(tokens) {
		return ref.table
	}
	return ""
}
