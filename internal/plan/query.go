package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay"
	"assay/internal/plan/sqltext"
)

// operationNumber is how SQL of values names the number of the operation.
const operationNumber = ":i"

// ToDo stands in SQL for a value that is to be written.
const ToDo = "TODO"

// ToDoAt says where SQL lacks a value, and which argument that is, counted from 1.
type ToDoAt struct{ Offset, Argument int }

// ToDos finds what SQL lacks.
func ToDos(sql string) (all []ToDoAt) {
	tokens, _ := sqltext.Scan(sql)
	argument := 1
	for _, t := range tokens {
		switch {
		case t.Is(ToDo):
			all = append(all, ToDoAt{t.From, argument})
		case t.Kind == ',' && t.Depth == 0:
			argument++
		}
	}
	return all
}

// valueSQL is SQL that gives values, with the values of params written out.
type valueSQL struct {
	sql     string
	rows    bool // it has rows to draw; otherwise it is evaluated for each operation
	columns int  // 0: not known
}

// excerpts returns what of a statement shows where each of its arguments stands, counted from 1.
func excerpts(sql string, tokens []sqltext.Token) map[int]string {
	const before = 5
	all, highest := map[int]string{}, 0
	for i, t := range tokens {
		if t.Kind != sqltext.Numbered {
			continue
		}
		n, err := strconv.Atoi(t.Text[1:])
		if err != nil {
			n = highest + 1
		}
		highest = max(highest, n)
		if all[n] == "" {
			all[n] = fmt.Sprintf(" for %q", strings.TrimLeft(strings.Join(strings.Fields(sql[tokens[max(0, i-before)].From:t.To]), " "), ",) "))
		}
	}
	return all
}

// valueSQL resolves SQL that gives values; what names it in mistakes, numbered says
// that it may have :i, and uses what each value is for.
func (r *resolver) valueSQL(t text, what string, numbered bool, uses map[int]string) (v valueSQL, ok bool) {
	if _, ok = r.m.single(t.place, t.value); !ok {
		return v, false
	}
	for _, missing := range ToDos(t.value) {
		if r.m.replay && numbered {
			t.value = t.value[:missing.Offset] + "NULL" + t.value[missing.Offset+len(ToDo):] // as long
			continue
		}
		r.m.at(t.within(missing.Offset), "%s is to be written: value %d of %s%s, an expression of SQL such as random(1, 100) or 'text'", ToDo, missing.Argument, what, uses[missing.Argument])
		ok = false
	}
	if !ok {
		return v, false
	}
	tokens, _ := sqltext.Scan(t.value)
	known := []string{"SELECT", "VALUES", "WITH"}
	if verb := sqltext.Verb(tokens); !slices.Contains(known, verb) {
		r.m.unknown(t.place, "SQL of "+what, verb, known)
		return v, false
	}
	if !r.seeded(t, what, tokens) {
		return v, false
	}
	v.rows, v.columns = valueShape(tokens)
	if i := slices.IndexFunc(tokens, func(t sqltext.Token) bool { return t.Kind == sqltext.Numbered }); i >= 0 {
		r.m.at(t.within(tokens[i].From), "a param is written :name here, not %s", tokens[i].Text)
		return v, false
	}
	t.value = t.value[:tokens[len(tokens)-1].To] // without a semicolon: it is to be part of other SQL
	v.sql, ok = r.replaced(t, func(at place, name string) (string, bool) {
		switch {
		case name != operationNumber:
			return r.literal(at, name, "i")
		case numbered && !v.rows:
			return name, true
		}
		r.m.at(at, ":i is the number of the operation, for values without FROM: a row's own number is the value of generate_series")
		return "", false
	})
	if !ok {
		return v, false
	}
	if part := withoutFrom(tokens); !v.rows && part != "" && numbered {
		r.m.at(t.place, "%s without FROM has values alone, and no %s", what, part)
		return v, false
	}
	return v, true
}

// seeded reports SQL that would give other values each time.
func (r *resolver) seeded(t text, what string, tokens []sqltext.Token) bool {
	if found, at := sqltext.Varying(tokens); found != "" {
		r.m.at(t.within(at.From), "%s must be the same each time, and %s is not: random(a, b), text(n) and blob(n) follow from the seed, and a time can be written out", what, found)
		return false
	}
	if at, zoned := sqltext.Zoned(tokens); zoned {
		r.m.at(t.within(at.From), "%s must be the same on each machine, and %s depends on its time zone", what, at.Text)
		return false
	}
	return true
}

// within returns where something stands in a text of one line.
func (t text) within(offset int) place {
	if strings.Contains(t.value, "\n") || offset > len(t.value) {
		return t.place
	}
	return place{t.line, t.column + len([]rune(t.value[:offset]))}
}

// valueShape tells whether SQL has rows to draw, and how many columns.
func valueShape(tokens []sqltext.Token) (rows bool, columns int) {
	start := 0
	for i, t := range tokens {
		if t.Depth == 0 && (t.Is("SELECT") || t.Is("VALUES")) {
			start = i
			break
		}
	}
	if tokens[start].Is("VALUES") {
		return true, len(sqltext.Split(sqltext.Call(tokens[start+1:])))
	}
	list := tokens[start+1:]
	for i, t := range list {
		if t.Depth == 0 && t.Is("FROM") && !(i > 0 && list[i-1].Is("DISTINCT")) {
			rows, list = true, list[:i]
			break
		}
		if t.Depth == 0 && slices.ContainsFunc(clauses, t.Is) {
			list = list[:i]
			break
		}
	}
	rows = rows || slices.ContainsFunc(tokens, func(t sqltext.Token) bool { return t.Depth == 0 && slices.ContainsFunc(compounds, t.Is) })
	for i, t := range list {
		if t.Kind == '*' && (i == 0 || list[i-1].Kind == ',' || list[i-1].Kind == '.' || list[i-1].Is("DISTINCT")) {
			return rows, 0
		}
	}
	return rows, len(sqltext.Split(list))
}

var (
	clauses   = []string{"WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "WINDOW"}
	compounds = []string{"UNION", "EXCEPT", "INTERSECT"}
)

// withoutFrom returns what SQL has that needs FROM.
func withoutFrom(tokens []sqltext.Token) string {
	for _, t := range tokens {
		if t.Depth == 0 && (slices.ContainsFunc(clauses, t.Is) || t.Is("WITH")) {
			return strings.ToUpper(t.Text)
		}
	}
	return ""
}

// sqlDraws are the ways to draw rows of a query.
var sqlDraws = map[string]assay.ValueKind{"uniform": "", "zipfian": assay.Zipf, "in-order": assay.InOrder}

// selected resolves the arguments that SQL gives, for one row of count arguments and all of
// its repetitions.
func (r *resolver) selected(v valueSQL, draw text, count, repeat int) []assay.Values {
	values := assay.Values{Kind: assay.Expression, Query: v.sql}
	if v.rows {
		values.Kind, values.Draw = assay.Row, sqlDraws[draw.value]
		if values.Draw == assay.Zipf {
			values.Theta = 0.99
		}
	} else if draw.set() {
		r.m.at(draw.place, "draw says which row of a query is drawn, and args has no FROM")
	}
	var all []assay.Values
	for j := range repeat {
		for i := range count {
			values.Of = i
			if repeat > 1 {
				values.From, values.Step = int64(j), int64(repeat)
			}
			all = append(all, values)
		}
	}
	return all
}

// keySQL is the SELECT of a key: what random() is in it follows from its number, so that a
// get finds what a put wrote.
func (r *resolver) keySQL(t text) string {
	tokens, _ := sqltext.Scan(t.value)
	var key strings.Builder
	end, numbered, drawn := 0, false, 0
	for i, token := range tokens {
		numbered = numbered || token.Text == operationNumber
		if token.Is("random") && i+2 < len(tokens) && tokens[i+1].Kind == '(' && tokens[i+2].Kind == ')' {
			numbered, drawn = true, drawn+1
			key.WriteString(t.value[end:token.From] + strings.Repeat("hash(", drawn) + operationNumber + strings.Repeat(")", drawn))
			end = tokens[i+2].To
		}
	}
	key.WriteString(t.value[end:])
	if t.set() && !numbered {
		r.m.at(t.place, "the key needs :i, the number that tells keys apart, as in printf('user%%016x', :i)")
		return ""
	}
	return r.bytes(text{place: t.place, value: key.String()}, 1, "a key")
}

// bytes is a SELECT of an expression as so many blobs.
func (r *resolver) bytes(t text, columns int, what string) string {
	v, ok := r.valueSQL(text{place: t.place, value: "SELECT\n" + t.value}, what, true, nil)
	if !ok {
		return ""
	}
	if v.rows || v.columns != 1 {
		r.m.at(t.place, "%s is one value, such as printf('user%%016x', :i) or blob(100)", what)
		return ""
	}
	one := "CAST((" + strings.TrimPrefix(v.sql, "SELECT\n") + "\n) AS BLOB)"
	return "SELECT " + strings.Join(slices.Repeat([]string{one}, columns), ", ")
}
