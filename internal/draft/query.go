package draft

import (
	"slices"
	"strconv"

	"assay/internal/draft/recorded"
	"assay/internal/plan/sqltext"
)

// query is a statement of the user's file.
type query struct {
	name     string
	line     int    // of its first word
	sql      string // with ? or ?N for its arguments
	tokens   []sqltext.Token
	verb     string
	args     []string    // as the user wrote them: :id, ?2 or ?
	argument map[int]int // by a parameter's place among the tokens, counted from 0
	notes    []string    // what a reader of the plan should know
	print    string      // its fingerprint, as a log has it; empty without a log
}

func (q *query) changes() bool { return q.verb != "SELECT" && q.verb != "VALUES" }

// savepoint reports SAVEPOINT, RELEASE and ROLLBACK TO, which change no rows themselves.
func (q *query) savepoint() bool {
	return q.verb == "SAVEPOINT" || q.verb == "RELEASE" || q.verb == "ROLLBACK" && q.top("TO") >= 0
}

// top is the place of the first of some words that stands in no parentheses; -1 where none does.
func (q *query) top(words ...string) int {
	return slices.IndexFunc(q.tokens, func(t sqltext.Token) bool { return t.Depth == 0 && slices.ContainsFunc(words, t.Is) })
}

// rewrite takes a statement's text over with ? for its arguments: in order
// where each is used once, and otherwise ?1, ?2, ..., as one argument can stand
// in several places.
func (q *query) rewrite(text string) {
	tokens, _ := sqltext.Scan(text)
	numbers, written := recorded.Numbered(tokens)
	q.args = written
	plain := slices.IsSorted(numbers) && len(numbers) == len(written)
	n := 0
	q.sql = replaced(text, func(sqltext.Token) string {
		n++
		if plain {
			return "?"
		}
		return "?" + strconv.Itoa(numbers[n-1]+1)
	})
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

// replaced is a statement's text with others in the places of its parameters.
func replaced(text string, by func(parameter sqltext.Token) string) string {
	return sqltext.Replace(text, func(t sqltext.Token) (string, bool) {
		if !t.Parameter() {
			return "", false
		}
		return by(t), true
	})
}
