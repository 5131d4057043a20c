package draft

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"assay/internal/plan/sqltext"
)

// statement is a query as a step of an operation.
type statement struct {
	*query
	drawer    *drawer
	arguments string   // SQL of them
	steps     []string // of EXPLAIN QUERY PLAN
	scanned   int64    // rows of tables that are read as a whole
	rows      int      // answered or changed each time; -1: it varies
	mean      float64  // of the rows at the positions that were tried
	// sure says that rows stay the same whatever other operations insert and
	// change.
	sure bool
}

// explain asks SQLite how it runs a query; its error is the query's mistake.
func explain(ctx context.Context, s *schema, q *query) (*statement, error) {
	o := &statement{query: q, rows: -1}
	rows, err := texts(ctx, s.db, "EXPLAIN QUERY PLAN "+q.sql, make([]any, len(q.args))...)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		o.steps = append(o.steps, row[3])
	}
	return o, o.scans(ctx, s)
}

// scans counts the rows of tables that are read as a whole. SQLite calls them
// by their aliases.
func (o *statement) scans(ctx context.Context, s *schema) error {
	for _, ref := range s.read(references(o.tokens)) {
		t := s.table(ref.table)
		whole := slices.ContainsFunc(o.steps, func(step string) bool {
			step += " "
			return strings.HasPrefix(step, "SCAN "+ref.alias+" ") && !strings.Contains(step, " VIRTUAL TABLE ")
		})
		if t == nil || t.view != "" || !whole {
			continue
		}
		found, err := texts(ctx, s.db, "SELECT count(*) FROM "+sqltext.Quote(t.name))
		if err != nil {
			return err
		}
		var n int64
		_, _ = fmt.Sscan(found[0][0], &n)
		o.scanned += n
		o.notes = append(o.notes, fmt.Sprintf("It reads all %d rows of %s each time, unless a LIMIT ends it.", n, t.name))
	}
	return nil
}

// random reports whether something is called that answers otherwise each time.
func random(tokens []sqltext.Token) bool {
	return slices.ContainsFunc(tokens, func(t sqltext.Token) bool {
		return slices.ContainsFunc([]string{"random", "randomblob", "changes", "total_changes", "last_insert_rowid", "sqlite_version",
			"sqlite_source_id"}, t.Is)
	})
}

// clock reports whether the time is asked for.
func clock(tokens []sqltext.Token) bool {
	for i, t := range tokens {
		if t.Text == "'now'" || t.Is("current_timestamp") || t.Is("current_date") || t.Is("current_time") {
			return true
		}
		empty := i+2 < len(tokens) && tokens[i+1].Kind == '(' && tokens[i+2].Kind == ')'
		if empty && slices.ContainsFunc([]string{"date", "time", "datetime", "julianday", "unixepoch", "strftime"}, t.Is) {
			return true
		}
	}
	return false
}

// doubt says why a reading query's answers cannot be compared, or adds what to
// keep in mind.
func (o *statement) doubt() string {
	from := o.top("FROM")
	if from < 0 {
		from = len(o.tokens)
	}
	switch {
	case random(o.tokens):
		return "its answer is another one each time"
	case clock(o.tokens[:from]):
		return "its answer depends on the clock"
	case clock(o.tokens):
		o.notes = append(o.notes, "It asks for the time: its answer may change from one day to the next, and then counts as wrong.")
	}
	if o.top("ORDER") < 0 && !o.aggregate() && !o.lookup() && len(o.drawer.refs) > 0 {
		o.notes = append(o.notes, "It has no ORDER BY: the order of its rows is up to SQLite, and another one counts as wrong.")
	}
	return ""
}

// aggregate reports whether the answer is one row made of all that are found.
func (o *statement) aggregate() bool {
	found, ended := false, false
	for i, t := range o.tokens {
		if t.Depth > 0 {
			continue
		}
		if slices.ContainsFunc([]string{"GROUP", "HAVING", "UNION", "EXCEPT", "INTERSECT", "LIMIT", "OVER", "WITH"}, t.Is) {
			return false
		}
		ended = ended || t.Is("FROM")
		call := !ended && i+1 < len(o.tokens) && o.tokens[i+1].Kind == '('
		for _, name := range []string{"count", "sum", "total", "avg", "group_concat"} {
			found = found || call && t.Is(name)
		}
		if call && (t.Is("min") || t.Is("max")) {
			found = found || o.drawer.position(i+2, o.drawer.match[i+1]-1) == 0
		}
	}
	return found
}

// lookup reports whether the query finds at most one row, by a whole key and
// nothing else.
func (o *statement) lookup() bool {
	g := o.drawer
	if len(g.refs) != 1 || slices.ContainsFunc(g.tokens, func(t sqltext.Token) bool { return t.Is("OR") }) {
		return false
	}
	ands := len(slices.DeleteFunc(slices.Clone(g.tokens), func(t sqltext.Token) bool { return !t.Is("AND") }))
	compared := map[*column]bool{}
	for _, u := range g.all {
		if u.role == equal && u.bare && u.text == "" && u.column != nil {
			compared[u.column] = true
		}
	}
	t := g.schema.table(g.refs[0].table)
	return t != nil && len(compared) == ands+1 && slices.ContainsFunc(t.keys, func(key []*column) bool {
		return len(key) == len(compared) && !slices.ContainsFunc(key, func(c *column) bool { return !compared[c] })
	})
}

// plain quotes a name where it needs that.
func plain(name string) string {
	if plainName.MatchString(name) && !slices.ContainsFunc(reserved, func(word string) bool { return strings.EqualFold(word, name) }) {
		return name
	}
	return sqltext.Quote(name)
}

var (
	plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	reserved  = slices.Concat(keywords, notAlias, clauses, strings.Fields("TABLE INDEX CREATE ADD ALTER CHECK COLLATE COMMIT CONSTRAINT DEFERRABLE "+
		"DELETE DROP ESCAPE FOREIGN INSERT INTO ISNULL NOTHING NOTNULL NULL PRIMARY REFERENCES TO TRANSACTION UNIQUE UPDATE REPLACE"))
)

// once is how a plan prepares statements that does not say it: once for each connection.
const once = "once"

// policy is how the program prepares the statements of some shapes: as most of their
// executions were. A log that does not show it, as that of another language, is taken
// for one of statements that are kept.
func policy(all ...*shape) string {
	executed, prepared := 0, map[string]int{}
	for _, s := range all {
		executed += s.executed
		for how, n := range s.prepared {
			prepared[how] += n
		}
	}
	for _, how := range []string{"never", "each"} {
		if 2*prepared[how] > executed {
			return how
		}
	}
	return once
}

// policy is how an operation's statements are prepared.
func (o *operation) policy() string {
	if o.shape == nil {
		return once
	}
	return policy(o.shape)
}

// policy is how most statements of the mix are prepared.
func (m *mix) policy() string {
	var all []*shape
	for _, o := range slices.Concat(m.reads, m.writes) {
		if o.shape != nil {
			all = append(all, o.shape)
		}
	}
	return policy(all...)
}

// prepares says how statements are prepared in the plan, and why.
func (t *logged) prepares() string {
	switch how := policy(t.shapes...); how {
	case "never":
		return "most statements are not prepared by the program (statement: never in the plan), as database/sql does without Prepare"
	case "each":
		return "most statements are prepared for one execution (statement: each in the plan)"
	}
	return "statements are taken for prepared once for each connection (statement: once in the plan)"
}

func writePolicy(w *writer, how string) {
	if how != once {
		w.line(4, "statement: %s", how)
	}
}

// assumed is what a plan without a log assumes.
func (d *document) assumed() string {
	where := "each operation"
	if d.mix != nil {
		where += " and to the mix"
	}
	return fmt.Sprintf("Statements are prepared %s for each connection. Where your Go code calls db.Query and db.Exec without Prepare, add to %s: statement: never", once, where)
}
