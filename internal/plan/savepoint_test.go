package plan

import (
	"errors"
	"strings"
	"testing"
)

// TestScript: several statements in one SQL are one step, which has params, and a change.
func TestScript(t *testing.T) {
	p, err := Decode("shop.yaml", []byte(shop+`  o:
    params: {n: [7]}
    sql: INSERT INTO user VALUES (:n, 'a;b'); SELECT 1
`))
	must(t, err)
	cases, err := p.Expand(nil)
	must(t, err)
	op := cases[0].Operation
	if s := op.Steps[0]; len(op.Steps) != 1 || !s.Script || s.Query || s.Rows != -1 || s.SQL != "INSERT INTO user VALUES (7, 'a;b'); SELECT 1" || !op.Changes || op.Count != defaultChanges {
		t.Errorf("got %+v", op)
	}
}

func TestSavepoints(t *testing.T) {
	for steps, want := range map[string][]string{
		"{sql: SAVEPOINT a}, {sql: DELETE FROM user}, {sql: ROLLBACK TO a}, {sql: RELEASE SAVEPOINT A}": nil,
		"{sql: savepoint a}, {sql: 'rollback transaction to savepoint \"a\"'}, {sql: RELEASE a}":        nil,
		"{sql: SAVEPOINT a}, {sql: SAVEPOINT b}, {sql: RELEASE a}, {sql: ROLLBACK TO b}":                {"sets the savepoint b"},
		"{sql: SAVEPOINT a}, {sql: SAVEPOINT b}, {sql: ROLLBACK TO a}, {sql: RELEASE b}":                {"sets the savepoint b"},
		"{sql: ROLLBACK TO a}, {sql: SAVEPOINT a}":                                                      {"sets the savepoint a"},
		"{sql: SAVEPOINT a; RELEASE a; RELEASE a}":                                                      {"sets the savepoint a"},
		"{sql: ROLLBACK}":                {"ROLLBACK is not for the SQL: use the key transaction"},
		"{sql: BEGIN; COMMIT}":           {"BEGIN is not for the SQL", "COMMIT is not for the SQL"},
		"{sql: 'SELECT ?; SELEC 2'}":     {"several statements in one SQL take no arguments", `unknown SQL statement "SELEC"`},
		"{sql: \"SELECT 1; SELECT 'a\"}": {"a quote or comment without an end"},
	} {
		_, err := Decode("shop.yaml", []byte(shop+"  o: {transaction: [1, 10], steps: ["+steps+"]}\n"))
		var found Errors
		errors.As(err, &found)
		agree := len(found) == len(want)
		for i := range want {
			agree = agree && strings.Contains(found[i].Error(), want[i])
		}
		if !agree {
			t.Errorf("%s: got %v, want %q", steps, err, want)
		}
	}
	for _, transaction := range []string{"", ", transaction: none", ", transaction: [1, none]"} {
		_, err := Decode("shop.yaml", []byte(shop+"  o: {steps: [{sql: SAVEPOINT a}, {sql: DELETE FROM user}, {sql: RELEASE a}]"+transaction+"}\n"))
		if err == nil || !strings.Contains(err.Error(), "o has savepoints, which belong to a transaction: add transaction: 1 to it") {
			t.Errorf("%q: got %v", transaction, err)
		}
	}
}
