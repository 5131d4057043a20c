package draft

import (
	"context"
	"database/sql"
	"strings"
	"testing"
)

// inTransaction does changes in a transaction.
func inTransaction(t *testing.T, db *sql.DB, do func(tx *sql.Tx) error) {
	t.Helper()
	tx, err := db.BeginTx(context.Background(), nil)
	if err == nil {
		err = do(tx)
	}
	if err == nil {
		err = tx.Commit()
	}
	must(t, err)
}

// What a trigger demands to belong together is drawn from a row that has passed it.
func TestRowsThatATriggerDemands(t *testing.T) {
	d := draftedFromLog(t, `CREATE TABLE tenant (id INTEGER PRIMARY KEY);
		CREATE TABLE member (id INTEGER PRIMARY KEY, tenant_id INTEGER NOT NULL REFERENCES tenant (id));
		CREATE TABLE task (id INTEGER PRIMARY KEY, tenant_id INTEGER NOT NULL REFERENCES tenant (id), title TEXT);
		CREATE TABLE answer (id INTEGER PRIMARY KEY, task_id INTEGER NOT NULL REFERENCES task (id), member_id INTEGER NOT NULL REFERENCES member (id));
		CREATE TRIGGER tenants BEFORE INSERT ON answer WHEN (SELECT tenant_id FROM member WHERE id = new.member_id) IS NOT (SELECT tenant_id FROM task WHERE id = new.task_id)
		BEGIN SELECT RAISE(ABORT, 'another tenant'); END;
		WITH RECURSIVE k (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 20) INSERT INTO tenant SELECT i FROM k;
		WITH RECURSIVE k (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 200) INSERT INTO member SELECT i, 1 + i % 20 FROM k;
		WITH RECURSIVE k (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 500) INSERT INTO task SELECT i, 1 + i % 20, 'task ' || i FROM k;
		INSERT INTO answer SELECT id, id, 20 + (id % 20) FROM task WHERE id % 3 = 0;`, func(db *sql.DB) {
		for i := range 60 {
			task, tenant := 1+i*7%500, 1+(1+i*7%500)%20
			inTransaction(t, db, func(tx *sql.Tx) error {
				var title string
				if err := tx.QueryRow("SELECT title FROM task WHERE id = ? AND tenant_id = ?", task, tenant).Scan(&title); err != nil {
					return err
				}
				_, err := tx.Exec("INSERT INTO answer (task_id, member_id) VALUES (?, ?)", task, 20*(i%9)+tenant-1+20)
				return err
			})
		}
	})
	if len(d.LeftOut) > 0 || strings.Contains(d.Text, "None of ") {
		t.Fatalf("left out %q, want an operation that finds and inserts rows:\n%s", d.LeftOut, d.Text)
	}
	for _, want := range []string{
		"SELECT n.task_id AS arg1, p1_1.tenant_id AS arg2, n.member_id AS arg3 FROM answer AS n JOIN task AS p1_1 ON p1_1.id = n.task_id LIMIT 20000\n",
		"- {from: transaction-1-together.arg3} # guessed: rows that belong together",
	} {
		if !strings.Contains(d.Text, want) {
			t.Errorf("the plan has no %q:\n%s", want, d.Text)
		}
	}
}

// Groups are drawn so that the rows found are as many as in the log, also where most groups
// that the program asks for have none; pages come as often as in the log.
func TestGroupsAndPagesOfALog(t *testing.T) {
	d := draftedFromLog(t, `CREATE TABLE project (id INTEGER PRIMARY KEY);
		CREATE TABLE task (id INTEGER PRIMARY KEY, project_id INTEGER NOT NULL REFERENCES project (id), state TEXT NOT NULL);
		CREATE INDEX task_by_project ON task (project_id, state);
		WITH RECURSIVE k (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 300) INSERT INTO project SELECT i FROM k;
		WITH RECURSIVE k (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 6000) INSERT INTO task SELECT i, 1 + i % 30, iif(i / 30 % 2, 'open', 'done') FROM k;`, func(db *sql.DB) {
		for i := range 200 {
			project := 1 + i%30 // has 100 tasks of each state
			if i%2 > 0 {
				project = 31 + i%270 // has none
			}
			ask(t, db, "SELECT id FROM task WHERE project_id = ? AND state = ? ORDER BY id LIMIT ? OFFSET ?", project, []string{"open", "done"}[i/2%2], 20, []int{0, 0, 0, 0, 20}[i%5])
		}
	})
	if len(d.Differs) > 0 {
		t.Errorf("got differences %q, want none", d.Differs)
	}
	pages := strings.Count(d.Text, "(0), ") + strings.Count(d.Text, "(20)")
	for _, want := range []string{"UNION ALL SELECT * FROM (SELECT * FROM (SELECT project_id, state FROM (", "-pages-4: |-\n      SELECT column1 AS first FROM (VALUES (0), "} {
		if !strings.Contains(d.Text, want) {
			t.Errorf("the plan has no %q:\n%s", want, d.Text)
		}
	}
	if got := strings.Count(d.Text, "(20)"); pages != 50 || got != 10 {
		t.Errorf("%d of %d pages are the second one, want 10 of 50:\n%s", got, pages, d.Text)
	}
}

// An upsert that meets the same few keys again and again does so in the plan.
func TestUpsertOfFewKeys(t *testing.T) {
	d := draftedFromLog(t, `CREATE TABLE visit (page INTEGER NOT NULL, day TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (page, day));
		WITH RECURSIVE k (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 2000) INSERT INTO visit SELECT i % 50, '2026-01-' || (10 + i / 50), i FROM k;`, func(db *sql.DB) {
		for i := range 100 {
			if _, err := db.Exec("INSERT INTO visit (page, day, n) VALUES (?, ?, 1) ON CONFLICT (page, day) DO UPDATE SET n = n + 1", i%10, "2026-03-01"); err != nil {
				t.Fatal(err)
			}
		}
	})
	for _, want := range []string{"FROM visit LIMIT 5)", "the log has at most 10 different keys in 100 times", ".page} # guessed"} {
		if !strings.Contains(d.Text, want) {
			t.Errorf("the plan has no %q:\n%s", want, d.Text)
		}
	}
}

// Statements are prepared as the program does it.
func TestPreparedAsInTheLog(t *testing.T) {
	const query = "SELECT name FROM item WHERE id = ?"
	for want, do := range map[string]func(db *sql.DB) error{
		"never": func(db *sql.DB) error { return db.QueryRow(query, 7).Scan(new(string)) },
		"each": func(db *sql.DB) error {
			s, err := db.Prepare(query)
			if err != nil {
				return err
			}
			defer s.Close()
			return s.QueryRow(7).Scan(new(string))
		},
	} {
		d := draftedFromLog(t, shopSchema, func(db *sql.DB) {
			for range 20 {
				must(t, do(db))
			}
		})
		if got := strings.Count(d.Text, "    statement: "+want+"\n"); got != 2 {
			t.Errorf("%d operations have statement: %s, want the query and the mix:\n%s", got, want, d.Text)
		}
	}
	d := draftedFromLog(t, shopSchema, func(db *sql.DB) {
		s, err := db.Prepare(query)
		must(t, err)
		defer s.Close()
		for range 20 {
			must(t, s.QueryRow(7).Scan(new(string)))
		}
	})
	if strings.Contains(d.Text, "    statement: ") || !strings.Contains(strings.Join(d.Measured, "\n"), "statement: once in the plan") {
		t.Errorf("got %q and\n%s\nwant statements that are kept", d.Measured, d.Text)
	}
}
