package sqltext

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestScan(t *testing.T) {
	const sql = "SELECT [a ]]\"b\"\"c\", 'it''s;' /* ; */ FROM t -- ;\nWHERE (x = :n OR ?2 > $v$1) AND y=@z+1.5"
	tokens, whole := Scan(sql)
	if !whole {
		t.Fatal("not whole")
	}
	var got []string
	for _, token := range tokens {
		got = append(got, string(token.Kind)+token.Text)
		if token.Kind != Quoted && sql[token.From:token.To] != token.Text {
			t.Errorf("%q stands at %d to %d", token.Text, token.From, token.To)
		}
		if inner := token.From > strings.Index(sql, "(") && token.From < strings.Index(sql, ")"); inner != (token.Depth == 1) {
			t.Errorf("%q has depth %d", token.Text, token.Depth)
		}
	}
	want := []string{"wSELECT", "ia ", "]]", `ib"c`, ",,", "s'it''s;'", "wFROM", "wt", "wWHERE", "((", "wx", "==", "::n",
		"wOR", "??2", ">>", ":$v$1", "))", "wAND", "wy", "==", ":@z", "++", "n1.5"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestScanWithoutEnd(t *testing.T) {
	for _, sql := range []string{"SELECT 'a", `SELECT "a`, "SELECT `a", "SELECT [a", "SELECT /* a"} {
		if tokens, whole := Scan(sql); whole || len(tokens) != 1 {
			t.Errorf("%s: %v, %v", sql, tokens, whole)
		}
	}
}

func TestStatements(t *testing.T) {
	const trigger = "CREATE TEMP TRIGGER a AFTER INSERT ON t BEGIN UPDATE t SET x = CASE x WHEN 1 THEN 2 END; SELECT 1; END"
	for sql, want := range map[string][]string{
		"":                                   nil,
		" ; ;-- nothing\n;":                  nil,
		"SELECT 1":                           {"SELECT 1"},
		"SELECT ';'; SELECT \";\" ;":         {"SELECT ';'", `SELECT ";"`},
		trigger + "; SELECT 2":               {trigger, "SELECT 2"},
		"EXPLAIN QUERY PLAN " + trigger:      {"EXPLAIN QUERY PLAN " + trigger},
		"CREATE TABLE trigger (a); SELECT 3": {"CREATE TABLE trigger (a)", "SELECT 3"},
		"CREATE TRIGGER a; SELECT 1":         {"CREATE TRIGGER a; SELECT 1"},
	} {
		tokens, _ := Scan(sql)
		var got []string
		for _, s := range Statements(tokens) {
			got = append(got, sql[s[0].From:s[len(s)-1].To])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", sql, diff)
		}
	}
}

func TestVerb(t *testing.T) {
	for sql, want := range map[string]string{
		"": "", "select 1": "SELECT", "WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a": "INSERT", "WITH a": "WITH",
	} {
		tokens, _ := Scan(sql)
		if got := Verb(tokens); got != want {
			t.Errorf("%s: %s, want %s", sql, got, want)
		}
	}
}

// FuzzScan holds that tokens come in order, cover all but spaces and comments,
// and that statements keep every token but semicolons.
func FuzzScan(f *testing.F) {
	for _, sql := range []string{"SELECT 'a;''b' FROM [t;] -- ;\n;/*;*/ VALUES (?1, :a, $b)", "CREATE TRIGGER t BEGIN SELECT 1; END;", "'", "/*/"} {
		f.Add(sql)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		tokens, whole := Scan(sql)
		at, semicolons := 0, 0
		for _, token := range tokens {
			if token.From < at || token.To <= token.From || token.To > len(sql) {
				t.Fatalf("token %+v behind %d", token, at)
			}
			if gap := sql[at:token.From]; strings.Trim(gap, " \t\r\n\f") != "" && !strings.Contains(gap, "--") && !strings.Contains(gap, "/*") {
				t.Fatalf("%q is no token", gap)
			}
			if token.Kind == ';' {
				semicolons++
			}
			at = token.To
		}
		kept := 0
		for _, s := range Statements(tokens) {
			kept += len(s)
		}
		if kept > len(tokens) || kept < len(tokens)-semicolons {
			t.Fatalf("%d of %d tokens, %d of them semicolons", kept, len(tokens), semicolons)
		}
		if again, ok := Scan(sql + " "); ok != whole && whole || whole && len(again) != len(tokens) {
			t.Fatalf("a space at the end makes %d tokens of %d", len(again), len(tokens))
		}
	})
}
