package tune

import (
	"slices"
	"testing"
)

func TestUnindexed(t *testing.T) {
	for plan, want := range map[string][]string{
		"SEARCH user USING INDEX user_mail (mail=?)": nil,
		"SCAN user": {"reads all of user"},
		"SCAN user USING COVERING INDEX user_mail":                   nil,
		"SCAN TABLE user\n  SCAN user\nUSE TEMP B-TREE FOR ORDER BY": {"reads all of user"},
		"SCAN CONSTANT ROW":                                                 nil,
		"SCAN note_text VIRTUAL TABLE INDEX 0:M1":                           nil,
		"SCAN (subquery-1)":                                                 nil,
		"SCAN o\nSEARCH i USING AUTOMATIC COVERING INDEX (orders=?)":        {"reads all of o", "makes an index of i for each query"},
		"SEARCH user USING INTEGER PRIMARY KEY (rowid=?)\nSCAN t LEFT-JOIN": {"reads all of t"},
		"SCAN kv USING PRIMARY KEY":                                         nil,
	} {
		if got := Unindexed(plan); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", plan, got, want)
		}
	}
}
