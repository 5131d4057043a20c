package draft

import (
	"database/sql"
	"strings"
	"testing"
)

func TestAnyLength(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT a FROM t WHERE b IN (?, ?, ?) AND c = ?":                    "SELECT a FROM t WHERE b IN (...) AND c = ?",
		"SELECT a FROM t WHERE b in (?1,?2) AND c = :name":                  "SELECT a FROM t WHERE b IN (...) AND c = ?",
		"SELECT a FROM t WHERE b IN (:literal1, :literal2) LIMIT :literal3": "SELECT a FROM t WHERE b IN (...) LIMIT :literal",
		"INSERT INTO t (a, b) VALUES (?, ?), (?, ?)":                        "INSERT INTO t (a, b) VALUES (?, ?)",
		"SELECT a FROM t WHERE b IN (SELECT c FROM u)":                      "SELECT a FROM t WHERE b IN (SELECT c FROM u)",
		"SELECT coalesce(?, ?)":                                             "SELECT coalesce(?, ?)",
	} {
		if got := anyLength(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// Lists of other lengths make one operation, of the length that is near the mean, with the
// weight of all.
func TestListsOfALog(t *testing.T) {
	d := draftedFromLog(t, shopSchema, func(db *sql.DB) {
		for i := range 120 {
			n := []int{1, 3, 4, 5, 4, 4}[i%6] // 3.5 on average
			var ids []any
			for k := range n {
				ids = append(ids, 1+(i*13+k)%2000)
			}
			ask(t, db, "SELECT id, name FROM item WHERE id IN (?"+strings.Repeat(", ?", n-1)+")", ids...)
			ask(t, db, "SELECT at FROM sale WHERE id = ?", 1+i)
		}
	})
	all := expanded(t, d)
	if len(d.Operations) != 3 {
		t.Fatalf("got operations %q, want one for all lists, the lookup, and the mix", d.Operations)
	}
	if got := len(all["select-item-1"].Steps[0].Args); got != 4 {
		t.Errorf("the list has %d values, want 4", got)
	}
	for _, part := range all["app"].Parts {
		if part.Weight != 500_000 {
			t.Errorf("%s has a weight of %d, want 500000", part.Operation.Name, part.Weight)
		}
	}
	if !strings.Contains(d.Text, "120 times in") || !strings.Contains(d.Text, "It stands for 3 statements of the log") {
		t.Errorf("the plan does not say for what the list stands:\n%s", d.Text)
	}
}

// A group of very many lengths is merged in one pass: this ends by the time limit of tests
// where each member looks at all others.
func TestManyLengthsAreMergedAtOnce(t *testing.T) {
	const n = 50_000
	var all []*shape
	for i := range n {
		all = append(all, &shape{ids: []string{"a"}, texts: []string{"SELECT a FROM t WHERE id IN (?" + strings.Repeat(", ?", i%40) + ") AND 1" + strings.Repeat(" ", i%3)}, count: 1, steps: []*loggedStep{{}}})
	}
	merged := mergeLists(all)
	total := 0
	for _, s := range merged {
		total += s.all()
	}
	if total != n || len(merged) > 3 {
		t.Errorf("got %d shapes for %d operations, want at most 3 for %d", len(merged), total, n)
	}
}
