package draft

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"assay/internal/draft/recorded"
	"assay/internal/plan/sqltext"
)

// maxShapes bounds the operations that a log gives: a plan of more is neither read nor
// measured by anybody. The rest is counted.
const maxShapes = 20

// attach gives each operation of the queries its shape in a log, and makes
// operations of the largest shapes that the queries do not have.
func attach(scripts []*script, t *logged) []*script {
	known := map[string][]*script{}
	for _, s := range scripts {
		known[s.key()] = append(known[s.key()], s)
	}
	var others []*shape
	for _, shape := range t.shapes {
		if all := known[anyLengths(shape.texts)]; all != nil {
			shape.give(all)
			continue
		}
		others = append(others, shape)
	}
	large := t.largest(others)
	for _, shape := range others {
		if large[shape] != nil {
			scripts = append(scripts, large[shape])
			continue
		}
		t.rest += shape.all()
		t.restNanos += shape.nanos
	}
	nameAll(scripts)
	return scripts
}

// largest makes operations of the shapes with the largest share of the log's operations or
// of its time, whichever is larger, until there are enough that can be measured.
func (t *logged) largest(all []*shape) map[*shape]*script {
	sorted, found, made := slices.Clone(all), map[*shape]*script{}, 0
	slices.SortStableFunc(sorted, func(a, b *shape) int { return cmp.Compare(t.share(b), t.share(a)) })
	for _, s := range sorted {
		if made == maxShapes {
			break
		}
		if found[s] = s.script(); found[s].leftOut == "" {
			made++
		}
	}
	return found
}

// share returns the share of a shape in the log's operations or in its time, whichever is larger.
func (t *logged) share(s *shape) float64 {
	return max(float64(s.all())/float64(max(1, t.count)), float64(s.nanos)/float64(max(1, t.nanos)))
}

// give gives a shape to the first that can be measured of the scripts that a log
// cannot tell apart.
func (s *shape) give(all []*script) {
	first := all[max(0, slices.IndexFunc(all, func(each *script) bool { return each.leftOut == "" }))]
	first.shape = s
	for _, each := range all {
		if each != first && each.leftOut == "" {
			each.alike = first.name
			first.notes = append(first.notes, fmt.Sprintf("The log cannot tell it from %s: its weight in the mix is that of both.", each.name))
		}
	}
}

// key names a script as a log does.
func (s *script) key() string {
	var texts []string
	for _, q := range s.queries {
		t := recorded.TextOf(q.sql)
		q.print = t.ID
		texts = append(texts, t.Template)
	}
	return anyLengths(texts)
}

// script makes an operation of a shape.
func (s *shape) script() *script {
	made := &script{transaction: len(s.ids) > 1 || s.steps[0].times > int64(s.count), shape: s}
	for i, text := range s.sql {
		tokens, whole := sqltext.Scan(text)
		q := &query{verb: sqltext.Verb(tokens), print: s.ids[i]}
		if whole && len(sqltext.Statements(tokens)) == 1 {
			q.rewrite(text)
		}
		if made.queries = append(made.queries, q); made.leftOut == "" {
			made.leftOut = unsupported(q)
		}
		if q.sql == "" {
			made.leftOut = "it is not one statement of SQL"
		}
		if made.leftOut == "" && len(s.texts) == 1 && !q.usesTable() {
			made.leftOut = "it uses no table"
		}
	}
	made.verb = made.queries[0].verb
	if s.lengths > 0 {
		made.notes = append(made.notes, fmt.Sprintf("It stands for %d statements of the log whose lists are of other lengths; its own is near the mean.", s.lengths))
	}
	return made
}

// usesTable reports whether a statement may read or change a table. What does not is
// how a library asks SQLite for its version.
func (q *query) usesTable() bool {
	return slices.ContainsFunc(q.tokens, func(t sqltext.Token) bool {
		return t.Is("FROM") || t.Is("INTO") || t.Is("UPDATE") || t.Is("WITH")
	})
}

// logged returns what the log has of a statement, which stands for all of its kind that
// follow each other there; nil where the log has none.
func (s *script) logged(statement int) *loggedStep {
	if s.shape == nil {
		return nil
	}
	at := 0
	for i := 1; i <= statement; i++ {
		if s.queries[i].print != s.queries[i-1].print {
			at++
		}
	}
	return s.shape.steps[min(at, len(s.shape.steps)-1)]
}

// tolerance is how far a drafted operation may be from the log.
const tolerance = 0.15

// share is the share of the log's time from which on an operation is compared with it.
const share = 0.01

// deviations says which operations of a share of the log's time find or change other rows
// than there.
func deviations(all []*operation) []string {
	total := int64(0)
	for _, o := range all {
		if o.shape != nil && o.leftOut == "" {
			total += o.shape.nanos
		}
	}
	var found []string
	for _, o := range all {
		if o.shape != nil && o.leftOut == "" && !o.toDo() && float64(o.shape.nanos) >= share*float64(total) {
			found = append(found, o.otherRows()...)
		}
	}
	return found
}

// otherRows says which statements have other rows than in the log.
func (o *operation) otherRows() (found []string) {
	for i, st := range o.steps {
		step := o.logged(i)
		if i > 0 && step == o.logged(i-1) {
			continue // the same again
		}
		if want := float64(step.rows) / float64(step.counted); step.counted > 0 && differs(st.mean, want) {
			found = append(found, fmt.Sprintf("%s: statement %d has %.3g rows each time here, and %.3g in the log", o.name, i+1, st.mean, want))
		}
	}
	return found
}

func differs(got, want float64) bool { return math.Abs(got-want) > tolerance*max(want, 1e-9) }
