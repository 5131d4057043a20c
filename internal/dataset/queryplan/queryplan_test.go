package queryplan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	for plan, want := range map[string][]Step{
		"":                                nil,
		"USE TEMP B-TREE FOR ORDER BY":    nil,
		"SCAN CONSTANT ROW":               nil,
		"SCAN 5 CONSTANT ROWS":            nil,
		"SCAN user":                       {{Table: "user", Scan: true}},
		"SCAN TABLE user":                 {{Table: "user", Scan: true}},
		"SCAN (subquery-1)":               {{Table: "(subquery-1)", Scan: true}},
		"SCAN t LEFT-JOIN":                {{Table: "t", Scan: true}},
		"SCAN kv USING PRIMARY KEY":       {{Table: "kv", Scan: true, Index: "the primary key of kv"}},
		"SEARCH user USING INDEX a (b=?)": {{Table: "user", Index: "a"}},
		"|--SCAN user USING COVERING INDEX a\n`--SEARCH o USING INTEGER PRIMARY KEY (rowid=?)": {
			{Table: "user", Scan: true, Index: "a"}, {Table: "o", Index: "the primary key of o", Repeated: true}},
		"SEARCH i USING AUTOMATIC PARTIAL COVERING INDEX (a=?)": {{Table: "i", Automatic: true}},
		"SCAN note_text VIRTUAL TABLE INDEX 0:M1":               {{Table: "note_text", Scan: true, Virtual: true}},
	} {
		if diff := cmp.Diff(want, Parse(plan)); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", plan, diff)
		}
	}
}

func TestUnindexed(t *testing.T) {
	for plan, want := range map[string]bool{
		"SCAN user":                                   true,
		"SCAN user USING COVERING INDEX a":            false,
		"SCAN kv USING PRIMARY KEY":                   false,
		"SCAN (subquery-1)":                           false,
		"SCAN t VIRTUAL TABLE INDEX 0:":               false,
		"SCAN i USING AUTOMATIC COVERING INDEX (a=?)": false,
		"SEARCH user USING INDEX a (b=?)":             false,
	} {
		if got := Parse(plan)[0].Unindexed(); got != want {
			t.Errorf("%q: got %t, want %t", plan, got, want)
		}
	}
}

// A loop inside another, and any in a correlated subquery, runs once for each row.
func TestRepeated(t *testing.T) {
	for plan, want := range map[string]string{
		"SCAN a\nSCAN b": "b",
		"SCAN a\nCORRELATED SCALAR SUBQUERY 1\nSCAN b":                                                                              "b",
		"SCAN a\nCORRELATED LIST SUBQUERY 1\nSEARCH b USING INDEX i (x=?)\nSCAN c":                                                  "b c",
		"SCAN a\nSCALAR SUBQUERY 1\nSCAN b\nLIST SUBQUERY 2\nSCAN c":                                                                "",
		"MATERIALIZE v\nSCAN b\nSCAN v\nSCAN w":                                                                                     "w",
		"CO-ROUTINE v\nSCAN b\nUSE TEMP B-TREE FOR GROUP BY\nSCAN v":                                                                "",
		"COMPOUND QUERY\nLEFT-MOST SUBQUERY\nSCAN a\nUNION ALL\nSCAN b":                                                             "",
		"mix: SCAN a\nBLOOM FILTER ON b (x=?)\nSEARCH b USING AUTOMATIC COVERING INDEX (x=?)\nUSE TEMP B-TREE FOR ORDER BY\nSCAN c": "b",
	} {
		var got []string
		for _, s := range Parse(plan) {
			if s.Repeated {
				got = append(got, s.Table)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: got %q repeated, want %q", plan, got, want)
		}
	}
}
