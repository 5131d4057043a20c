package draft

import (
	"fmt"
	"strings"
	"testing"

	"assay/internal/plan"

	"github.com/google/go-cmp/cmp"
)

func TestSplit(t *testing.T) {
	all, err := split("\ufeff-- The first\r\n-- of all\r\nSELECT 1; -- not a name\n\nSELECT 2;;\n-- name: GetUser :one\n-- with more words\nSELECT 3;\n" +
		"/* Users, by (mail)! */\nSELECT ';' FROM [a;b];\n\n-- far\n\nWITH x AS (SELECT 1) INSERT INTO main.t SELECT * FROM x;\n" +
		"-- name: GetUser\nUPDATE OR IGNORE t SET a = 1;\n-- ---\nDELETE FROM t; SELECT 4 -- end")
	must(t, err)
	var got []string
	for _, q := range all {
		got = append(got, fmt.Sprintf("%d %s: %s", q.line, q.name, q.queries[0].sql))
	}
	want := []string{
		"3 of-all: SELECT 1", "5 select-1: SELECT 2", "8 GetUser: SELECT 3", "10 users-by-mail: SELECT ';' FROM [a;b]",
		"14 far: WITH x AS (SELECT 1) INSERT INTO main.t SELECT * FROM x", "16 GetUser-2: UPDATE OR IGNORE t SET a = 1",
		"18 delete-t-1: DELETE FROM t", "18 select-2: SELECT 4",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestRewrite(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT 1":                        "SELECT 1 []",
		"SELECT ?, ?":                     "SELECT ?, ? [? ?]",
		"SELECT :a, @b, $c":               "SELECT ?, ?, ? [:a @b $c]",
		"SELECT :a, ':a', \":b\", :b, :a": "SELECT ?1, ':a', \":b\", ?2, ?1 [:a :b]",
		"SELECT ?2, ?1":                   "SELECT ?2, ?1 [?1 ?2]",
		"SELECT ?3, ?7 -- ?":              "SELECT ?, ? -- ? [?3 ?7]",
		"SELECT ?2, ?, :x, ?":             "SELECT ?, ?, ?, ? [?2 ? :x ?]",
		"SELECT :x, ?1":                   "SELECT ?1, ?1 [?1]",
		"SELECT ?, ?1, ?":                 "SELECT ?1, ?1, ?2 [?1 ?]",
	} {
		q := &query{}
		q.rewrite(sql)
		if got := fmt.Sprint(q.sql, " ", q.args); got != want {
			t.Errorf("%s: got %s, want %s", sql, got, want)
		}
	}
}

// FuzzSplit holds that any file gives queries with names of their own whose
// arguments the plan counts alike, and whose SQL is in the plan what it was.
func FuzzSplit(f *testing.F) {
	for _, text := range []string{"-- name: a\nSELECT ?2, :a, '\t', ?;SELECT 1", "CREATE TRIGGER t BEGIN SELECT 1; END;VALUES (@x)",
		"BEGIN; SELECT ?;-- x\nDELETE FROM t WHERE a = ?; COMMIT", "BEGIN; BEGIN; END; ROLLBACK; SAVEPOINT a", "SELECT ' \n  x\n\n' ;", "SELECT \"{{\", [\x00]", "SELECT 'a: b # c', `\\x`"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all, err := split(text)
		if err != nil {
			return
		}
		names := map[string]bool{}
		for _, q := range all {
			if names[q.name] || q.line < 1 {
				t.Fatalf("name %q twice, or line %d", q.name, q.line)
			}
			names[q.name] = true
			for _, one := range q.queries {
				analyse(one, &schema{}).uses()
			}
			if q.leftOut != "" || q.verb != "SELECT" && q.verb != "VALUES" && !q.transaction {
				continue
			}
			inPlan(t, q)
		}
	})
}

// inPlan writes a query into a plan and reads it back.
func inPlan(t *testing.T, s *script) {
	t.Helper()
	d := document{name: "fuzz", targets: []target{{driver: "modernc"}}, file: "f.db", header: nil}
	o := &operation{script: *s}
	for _, q := range s.queries {
		st := &statement{query: q, rows: -1}
		if len(q.args) > 0 {
			st.arguments = "SELECT 1" + strings.Repeat(", 'a: b #'", len(q.args)-1)
		}
		o.steps = append(o.steps, st)
	}
	d.operations = []*operation{o}
	text := d.text(true)
	p, err := plan.Decode("fuzz.yaml", []byte(text))
	if err != nil {
		if strings.Contains(err.Error(), "SQL has a parameter") || strings.Contains(err.Error(), "not UTF-8") {
			return
		}
		t.Fatalf("%v\n%s", err, text)
	}
	cases, err := p.Expand(nil)
	must(t, err)
	for i, step := range cases[0].Operation.Steps {
		if q := s.queries[i]; step.SQL != q.sql || len(step.Args) != len(q.args) {
			t.Fatalf("%q with %d arguments became %q with %d", q.sql, len(q.args), step.SQL, len(step.Args))
		}
	}
}
