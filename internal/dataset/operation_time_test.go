package dataset

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay"
)

// Operations that work thousands of times as much take longer, so does a mix that has
// them, and the data stay as they were.
func TestPace(t *testing.T) {
	d := account(t)
	before, err := fileSum(d.Path)
	must(t, err)
	pace := func(op assay.Operation) time.Duration {
		t.Helper()
		each, err := d.Pace(t.Context(), op, time.Second)
		if err != nil || each <= 0 {
			t.Fatalf("%s: %s, %v", op.Name, each, err)
		}
		return each
	}
	one := assay.Operation{Name: "one", Steps: []assay.Step{{SQL: "SELECT 1", Query: true, Rows: 1, Returns: []assay.Type{"int"}}}}
	count := "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT count(*) FROM n"
	many := assay.Operation{Name: "many", Steps: []assay.Step{{SQL: count, Query: true, Rows: 1, Returns: []assay.Type{"int"}}}}
	change := assay.Operation{Name: "change", Count: 20, Changes: true, Steps: []assay.Step{{SQL: "DELETE FROM account WHERE id = ?", Rows: 1, Args: next}}} // of all rows
	pace(change)
	little, much := pace(one), pace(many)
	mix := pace(assay.Operation{Name: "mix", Parts: []assay.Part{{Operation: one, Weight: 3}, {Operation: many, Weight: 1}}})
	if much < 5*little || mix < little {
		t.Errorf("got %s for SELECT 1, %s for 20000 rows and %s for a quarter of these", little, much, mix)
	}
	if after, err := fileSum(d.Path); err != nil || after != before {
		t.Errorf("the data have changed: %v", err)
	}
}

// An interruption of one operation is no part of the time of all, and what all take
// is.
func TestUsualTime(t *testing.T) {
	took := make([]time.Duration, 100)
	for i := range took {
		took[i] = time.Duration(1+i%2) * time.Millisecond
	}
	took[3], took[50] = time.Minute, time.Hour
	if got := usual(took); got < 1400*time.Microsecond || got > 1500*time.Microsecond {
		t.Errorf("got %s, want a little less than 1.5 ms", got)
	}
	if got := usual([]time.Duration{time.Second}); got != time.Second {
		t.Errorf("one of a second: got %s", got)
	}
}

// Commits are timed with the settings asked for, and leave nothing behind.
func TestCommitTime(t *testing.T) {
	dir := t.TempDir()
	for _, settings := range []map[string]string{nil, {"journal_mode": "wal", "synchronous": "1"}, {"locking_mode": "exclusive", "journal_mode": "truncate"}} {
		if each, err := CommitTime(t.Context(), dir, settings, time.Millisecond); err != nil || each <= 0 {
			t.Errorf("%v: got %s, %v", settings, each, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if _, err := CommitTime(t.Context(), filepath.Join(dir, "none"), nil, time.Second); err == nil {
		t.Error("got no error for a folder that is not there")
	}
}

func TestPaceOfRefusedSQL(t *testing.T) {
	d := account(t)
	wrong := assay.Operation{Name: "wrong", Steps: []assay.Step{query("SELECT colour FROM account WHERE id = ?", 1, "int")}}
	if _, err := d.Pace(t.Context(), wrong, time.Second); err == nil || !strings.Contains(err.Error(), "no such column: colour") {
		t.Errorf("got %v, want that there is no such column", err)
	}
}

// What the data refuse is told apart from what the system does.
func TestIsRefusal(t *testing.T) {
	d := account(t)
	wrong := assay.Operation{Name: "wrong", Steps: []assay.Step{query("SELECT colour FROM account WHERE id = ?", 1, "int")}}
	refused := d.Compile(t.Context(), wrong)
	folder, err := sql.Open("sqlite", t.TempDir())
	must(t, err)
	defer folder.Close()
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"no such column":         {refused, true},
		"another number of rows": {errors.New("2 rows, the operation says 1"), true},
		"a folder, not a file":   {folder.Ping(), false},
		"no such file":           {fmt.Errorf("copy: %w", &fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist}), false},
	} {
		if got := IsRefusal(c.err); c.err == nil || got != c.want {
			t.Errorf("%s: %v is a refusal: %t, want %t", name, c.err, got, c.want)
		}
	}
}
