package draft

import (
	"fmt"
	"strings"
	"testing"
)

// written is a log of statements that came often, one after the other, each with its
// rows in turn.
func written(often int, rows map[string][]int) []byte {
	var b strings.Builder
	b.WriteString(`{"traffic":2,"began":"2026-01-02T03:04:05Z"}` + "\n")
	at := 0
	for query, counts := range rows {
		id := fmt.Sprint("of ", query)
		fmt.Fprintf(&b, `{"id":%q,"sql":%q}`+"\n", id, query)
		args := strings.TrimSuffix(strings.Repeat("1,", strings.Count(query, "?")), ",")
		for i := range often {
			at += 1000
			fmt.Fprintf(&b, `{"at":%d,"conn":1,"tx":0,"s":%q,"args":[%s],"rows":%d,"ns":500}`+"\n", at, id, args, counts[i%len(counts)])
		}
	}
	return []byte(b.String())
}

// Ends of ranges, and the share of rows that are there already, are as in the log:
// DELETE of what is older than everything deletes nothing.
func TestRowsOfTheLog(t *testing.T) {
	database := create(t, `CREATE TABLE visit (token TEXT PRIMARY KEY, ends INTEGER NOT NULL) WITHOUT ROWID;
		CREATE INDEX visit_ends ON visit (ends);
		CREATE TABLE thing (id INTEGER PRIMARY KEY);
		CREATE TABLE mark (a INTEGER NOT NULL REFERENCES thing (id), b INTEGER NOT NULL REFERENCES thing (id), PRIMARY KEY (a, b));
		WITH RECURSIVE k (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 1000) INSERT INTO visit SELECT 'token ' || i, 1000 + i FROM k;
		WITH RECURSIVE k (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 100) INSERT INTO thing SELECT i FROM k;
		INSERT INTO mark SELECT x.id, y.id FROM thing x, thing y WHERE x.id < 50 AND y.id < 50;`)
	const visitor, expire, soon, marks = "SELECT ends FROM visit WHERE token = ? AND ends > ?", "DELETE FROM visit WHERE ends < ?",
		"SELECT token FROM visit WHERE ends < ?", "INSERT OR IGNORE INTO mark (a, b) VALUES (?, ?)"
	o := options(database, fmt.Sprintf("-- name: visitor\n%s;\n-- name: expire\n%s;\n-- name: soon\n%s;\n-- name: marks\n%s;", visitor, expire, soon, marks))
	o.Log, o.LogName = written(40, map[string][]int{visitor: {1}, expire: {0}, soon: {100}, marks: {1, 1, 1, 0}}), "app.ndjson"
	d, err := draftIn(t, t.Context(), o)
	must(t, err)
	for _, each := range d.Differs {
		if strings.Contains(each, " rows each time") {
			t.Errorf("got %q, want rows as in the log", each)
		}
	}
	for _, want := range []string{
		"{const: 1001} # guessed: visit.ends is above it; with as many rows as in the log",
		"{const: 1001} # guessed: visit.ends is below it; with as many rows as in the log",
		"25 % of the rows, as in the log, are there already",
	} {
		if !strings.Contains(d.Text, want) {
			t.Errorf("the plan has no %q:\n%s", want, d.Text)
		}
	}
}

// A statement of a transaction that follows itself is one in the log.
func TestLoggedSteps(t *testing.T) {
	a, b := &loggedStep{times: 1}, &loggedStep{times: 2}
	s := &script{queries: []*query{{print: "a"}, {print: "a"}, {print: "b"}}, shape: &shape{steps: []*loggedStep{a, b}}}
	for i, want := range []*loggedStep{a, a, b} {
		if got := s.logged(i); got != want {
			t.Errorf("statement %d: got step %v, want %v", i+1, got, want)
		}
	}
	if got := (&script{queries: s.queries}).logged(0); got != nil {
		t.Errorf("got %v without a log, want nothing", got)
	}
}
