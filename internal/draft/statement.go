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
	arguments string  // SQL of them
	rows      int     // answered or changed each time; -1: it varies
	mean      float64 // of the rows at the positions that were tried
	// sure says that rows stay the same whatever other operations insert and
	// change.
	sure bool
}

// compiled asks SQLite whether it reads a query; its error is the query's mistake.
func compiled(ctx context.Context, s *schema, q *query) (*statement, error) {
	_, err := texts(ctx, s.db, "EXPLAIN "+q.sql, make([]any, len(q.args))...)
	return &statement{query: q, rows: -1}, err
}

// varies reports whether something is asked for that is another one each time.
func varies(tokens []sqltext.Token) bool {
	found, _ := sqltext.Varying(tokens)
	return found != ""
}

// doubt says why a reading query's answers cannot be compared, or adds what to
// keep in mind.
func (o *statement) doubt() string {
	from := o.top("FROM")
	if from < 0 {
		from = len(o.tokens)
	}
	for i := range o.tokens {
		found, at := sqltext.Varying(o.tokens[i:])
		if found == "" || at != o.tokens[i] {
			continue
		}
		if i < from || strings.HasSuffix(found, "()") {
			return "its answer is another one each time: it asks for " + found
		}
		o.notes = unique(append(o.notes, "It asks for the time: its answer may change from one day to the next, and then counts as wrong."))
	}
	return ""
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
		if u.role == equal && u.text == "" && u.column != nil {
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
	reserved  = strings.Fields("ADD ALL ALTER AND AS BETWEEN CASE CAST CHECK COLLATE COMMIT CONSTRAINT CREATE CROSS CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP DEFAULT DEFERRABLE DELETE DISTINCT DROP ELSE ESCAPE " +
		"EXCEPT EXISTS FILTER FOREIGN FROM FULL GROUP HAVING IN INDEX INDEXED INNER INSERT INTERSECT INTO IS ISNULL JOIN LEFT LIMIT NATURAL NOT NOTHING NOTNULL NULL " +
		"ON OR ORDER OUTER OVER PRIMARY RAISE REFERENCES RETURNING RIGHT SELECT SET TABLE THEN TO TRANSACTION UNION UNIQUE UPDATE USING VALUES WHEN WHERE WINDOW WITH")
)

// once is how a plan prepares statements that does not say it: once for each connection.
const once = "once"

// policy returns how the program prepares the statements of some shapes: as most of their
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

// policyOf returns how most statements of operations are prepared.
func policyOf(operations ...*operation) string {
	var all []*shape
	for _, o := range operations {
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

// assumed returns what a plan without a log assumes.
func (d *document) assumed() string {
	where := "each operation"
	if d.mix != nil {
		where += " and to the mix"
	}
	return fmt.Sprintf("Statements are prepared %s for each connection. Where your Go code calls db.Query and db.Exec without Prepare, add to %s: statement: never", once, where)
}
