package recorded

import (
	"encoding/json"
	"fmt"
	"testing"
)

// The values of a line come in the order of the text's arguments, however they were bound.
func TestValuesOfALine(t *testing.T) {
	for _, c := range []struct{ sql, line, want string }{
		{"SELECT ?, 5, ?", `{"args":[1,2]}`, "[1 2]"},
		{"SELECT ?2, 'x', ?1", `{"args":[1,2]}`, "[1 2]"},
		{"SELECT ?3", `{"args":[1,2,3]}`, "[3]"},
		{"SELECT :b, :a, :b", `{"named":{"a":1,"b":2}}`, "[2 1]"},
		{"SELECT :b, @a", `{"args":[1,2]}`, "[1 2]"},
		{"SELECT ?, :a, ?", `{"args":[1,2],"named":{"a":3}}`, "[1 3 2]"},
		{"SELECT 7, :a, ?1", `{"args":[1]}`, "[1]"},
		{"SELECT :literal9, 7", `{"args":[]}`, "[]"},
		{"SELECT ?, ?", `{"args":[1]}`, "none"},
		{"SELECT ?0", `{"args":[1]}`, "none"},
	} {
		var l Line
		if err := json.Unmarshal([]byte(c.line), &l); err != nil {
			t.Fatal(err)
		}
		got := "none"
		if values, ok := TextOf(c.sql).Values(&l); ok {
			all := []any{}
			for _, v := range values {
				all = append(all, v.Of)
			}
			got = fmt.Sprint(all)
		}
		if got != c.want {
			t.Errorf("%s with %s: got %s, want %s", c.sql, c.line, got, c.want)
		}
	}
}

// What a program writes into a text is taken out of it, in any form, and comments are.
func TestTextWithoutLiterals(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT 1.5e-3,.5 , 0x1F+1e5 -- 7\n;":          "SELECT :literal1,:literal2 , :literal3+:literal4",
		"/* a */SELECT x'ab', X'',x FROM\tt /* 'b' */": "SELECT :literal1, :literal2,x FROM t",
		`SELECT "a b", "a", [b 1] WHERE c = 'it''s'`:   `SELECT :literal1, "a", [b 1] WHERE c = :literal2`,
		"SELECT t1.a1, ?1, :b -- ?":                    "SELECT t1.a1, ?1, :b",
		"SELECT 'open":                                 "SELECT :literal1",
		"SELECT 1 /* open":                             "SELECT :literal1",
	} {
		if got := TextOf(sql).Template; got != want {
			t.Errorf("%q: got %q, want %q", sql, got, want)
		}
	}
}
