package draft

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"assay"
	"assay/internal/dataset"
)

// TestHelpdesk drafts a plan of an application as applications are: full-text
// search, JSON, triggers that keep tenants apart, upserts, a join table and
// transactions. Every operation must find or change rows, and a mix must hold.
func TestHelpdesk(t *testing.T) {
	o := options(create(t, read(t, "testdata/helpdesk/schema.sql")), read(t, "testdata/helpdesk/queries.sql"))
	o.Timeout, o.Total = 3*time.Second, 5*time.Minute // one query takes all of its time
	var asked []string
	o.Refused = func(_ context.Context, driver, _ string, _ *dataset.Data, operations []assay.Operation) (map[string]error, error) {
		asked = append(asked, driver)
		return refused(driver, operations), nil
	}
	d, err := draftIn(t, t.Context(), o)
	must(t, err)
	want := strings.Fields("SignIn GetSession GetTicket Inbox Comments Search BySource Labels Tagged Counts Report Between " +
		"Close Rename SetSetting CountView AddLabel StartSession OpenTicket Reply RemoveComment app")
	if !slices.Equal(d.Operations, want) {
		t.Errorf("got operations %q, want %q", d.Operations, want)
	}
	left := slices.DeleteFunc(d.LeftOut, func(why string) bool { return strings.HasPrefix(why, "from the mix") })
	if len(left) != 2 || !strings.HasPrefix(left[0], "AllPairs, line 80: it takes longer than ") ||
		!strings.HasPrefix(left[1], "Forgotten, line 77: it does not compile: SQL logic error: no such column: nickname") {
		t.Errorf("left out %q, want the query without an end and the one that does not compile", d.LeftOut)
	}
	if strings.Contains(d.Text, "None of ") {
		t.Errorf("an operation finds or changes nothing:\n%s", d.Text)
	}
	const drivers = "sqlite_fts5,sqlite_math_functions\ndrivers: [\"mattn:ENABLE_FTS5:ENABLE_MATH_FUNCTIONS\", modernc, glebarez]\n"
	if !strings.Contains(d.Text, drivers) {
		t.Errorf("got no build of mattn with full-text search and sqrt in\n%s", d.Text)
	}
	if want := []string{"mattn", "mattn:ENABLE_FTS5", "mattn:ENABLE_FTS5:ENABLE_MATH_FUNCTIONS", "modernc", "glebarez"}; !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
	if n := strings.Count(d.Text, "foreign_keys: on}\n"); n != 2 {
		t.Errorf("foreign keys are enforced in %d profiles, want 2", n)
	}
	if want := []string{"Search, line 20: argument 1", "Report, line 35: argument 2", "Between, line 39: argument 1, argument 2", "Rename, line 45: argument 2"}; !slices.Equal(d.ToDo, want) {
		t.Errorf("to do: got %q, want %q", d.ToDo, want)
	}
	d.Text = strings.ReplaceAll(d.Text, "TODO", "'word'")
	all := expanded(t, d)
	for name, steps := range map[string]int{"OpenTicket": 3, "Reply": 3, "Close": 1} {
		op := all[name]
		if len(op.Steps) != steps || op.Transaction != min(1, steps-1) {
			t.Errorf("%s has %d steps and transaction %d, want %d steps", name, len(op.Steps), op.Transaction, steps)
		}
	}
	if reply := all["Reply"]; len(reply.Steps) == 3 {
		all := reply.Steps[0].Args[0].Query
		for _, step := range reply.Steps[1:] {
			if ticket := step.Args[0].Query; !strings.HasPrefix(all, ticket+", ") {
				t.Errorf("the ticket of a later step is drawn by %s, want the first of %s", ticket, all)
			}
		}
	}
	if parts := len(all["app"].Parts); parts != 20 {
		t.Errorf("the mix has %d operations, want 20: all but the deletion", parts)
	}
}

// Blocks of slow operations are short, and all queries together have a time limit.
func TestSlowQueries(t *testing.T) {
	const slow = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) SELECT count(*) FROM n JOIN item ON item.id = ?1"
	o := options(create(t, "CREATE TABLE item (id INTEGER PRIMARY KEY); INSERT INTO item VALUES (1), (2)"), "-- name: slow\n"+slow)
	o.Block = 10 * time.Millisecond
	d, err := draftIn(t, t.Context(), o)
	must(t, err)
	if got := expanded(t, d)["slow"].Count; got != minBlock {
		t.Errorf("a block of slow operations has %d of them, want %d", got, minBlock)
	}
	o.SQL, o.Total = "SELECT id FROM item WHERE id = ?;\n"+strings.Repeat(strings.Replace(slow, "100000", "1e12", 1)+";\n", 20), time.Second
	d, err = draftIn(t, t.Context(), o)
	must(t, err)
	if len(d.LeftOut) != 20 || !strings.HasSuffix(d.LeftOut[19], "the queries together take longer than 1s on a copy of the database") {
		t.Errorf("left out %q, want 20 queries, the last for the time of all", d.LeftOut)
	}
}
