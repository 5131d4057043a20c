package draft

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
)

const libraryLog = `CREATE TABLE shelf (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
	CREATE TABLE loan (id INTEGER PRIMARY KEY, shelf_id INTEGER NOT NULL REFERENCES shelf (id), state TEXT NOT NULL, rank REAL NOT NULL, due TEXT NOT NULL, note TEXT, UNIQUE (shelf_id, id));
	CREATE INDEX loan_out ON loan (shelf_id, rank) WHERE state = 'out';
	CREATE TABLE tally (shelf_id INTEGER PRIMARY KEY REFERENCES shelf (id), n INTEGER NOT NULL);
	CREATE VIRTUAL TABLE page USING fts5 (body);
	WITH RECURSIVE k (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 100) INSERT INTO shelf SELECT i, 'shelf ' || i FROM k;
	WITH RECURSIVE k (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 3000)
	INSERT INTO loan SELECT i, 1 + i % 100, CASE WHEN i % 30 = 0 THEN 'lost' WHEN i % 3 = 0 THEN 'out' ELSE 'back' END, i % 77, printf('2026-%02d-%02d', 1 + i / 280, 1 + i / 10 % 28), 'a note of a reader' FROM k;
	INSERT INTO tally SELECT id, 0 FROM shelf;
	INSERT INTO page SELECT 'some words of ' || name FROM shelf;`

// drafted from what a program does with a database.
func draftedFromLog(t *testing.T, schema string, do func(db *sql.DB)) *Draft {
	t.Helper()
	database := create(t, schema)
	o := options(database, "")
	o.Log, o.LogName = record(t, database, 1<<30, func(db *sql.DB) {
		db.SetMaxOpenConns(1)
		do(db)
	}), "app.ndjson"
	d, err := draftIn(t, t.Context(), o)
	must(t, err)
	return d
}

// ask runs a query to its end.
func ask(t *testing.T, db *sql.DB, query string, args ...any) {
	t.Helper()
	rows, err := db.Query(query, args...)
	must(t, err)
	for rows.Next() {
	}
	must(t, rows.Close())
}

// A log has no literals: values that fit stand for them, so that indexes on some rows
// are used, functions get what they take, and as many rows are found as in the log.
func TestLiteralsOfALog(t *testing.T) {
	d := draftedFromLog(t, libraryLog, func(db *sql.DB) {
		for i := range 60 {
			ask(t, db, "SELECT id FROM loan WHERE shelf_id = ? AND state = 'out' ORDER BY rank LIMIT 5", 1+i)
			ask(t, db, "SELECT count(*), coalesce(max(note), 0) FROM loan WHERE state <> 'back' AND shelf_id = ?", 1+i)
			ask(t, db, "SELECT substr(due, 1, 4) FROM loan WHERE id > ? AND state = 'lost'", 0)
			ask(t, db, "SELECT snippet(page, 0, '[', ']', '~', 6) FROM page WHERE page MATCH ? LIMIT 3", "words")
			if _, err := db.Exec("UPDATE tally SET n = n + 1 WHERE shelf_id = ?", 1+i); err != nil {
				t.Fatal(err)
			}
		}
	})
	if len(d.LeftOut) > 0 {
		t.Errorf("got %q left out, want nothing", d.LeftOut)
	}
	for _, want := range []string{"WHERE shelf_id = ? AND state = 'out' ORDER BY rank LIMIT 5", "INDEX loan_out (shelf_id=?)", "coalesce(max(note), 0)",
		"SELECT substr(due, 1, 20) FROM loan WHERE id > ? AND state = 'lost'", "snippet(page, 0, '<b>', '</b>', '...', 10)", "SET n = n + 1 WHERE", "LIMIT: the most rows in the log", "a value of loan.state"} {
		if !strings.Contains(strings.Join(strings.Fields(strings.ReplaceAll(d.Text, "#", "")), " "), want) {
			t.Errorf("the plan has no %q:\n%s", want, d.Text)
		}
	}
}

// Arguments that have the same value each time are drawn as one.
func TestArgumentsThatRepeatOthers(t *testing.T) {
	d := draftedFromLog(t, libraryLog, func(db *sql.DB) {
		for i := range 40 {
			tx, err := db.Begin()
			must(t, err)
			loan := 1 + i*71%3000
			for _, each := range []struct {
				query string
				args  []any
			}{
				{"UPDATE loan SET note = ? WHERE id = ?", []any{fmt.Sprint("a longer note of reader ", i), loan}},
				{"UPDATE tally SET n = (SELECT count(*) FROM loan WHERE id < ?) WHERE shelf_id = (SELECT shelf_id FROM loan WHERE id = ?)", []any{loan, loan}},
			} {
				if _, err := tx.Exec(each.query, each.args...); err != nil {
					t.Fatal(err)
				}
			}
			must(t, tx.Commit())
		}
	})
	if got := strings.Count(d.Text, "guessed: the same as argument 2, as in the log"); got != 2 || len(d.LeftOut) > 0 {
		t.Errorf("got %d arguments that repeat the loan's id and %q left out, want 2 and nothing:\n%s", got, d.LeftOut, d.Text)
	}
}

// Arguments that are alike now and then repeat nothing.
func TestPairing(t *testing.T) {
	for name, c := range map[string]struct {
		tags func(i int) []string
		want []int // the argument that each repeats; -1: none
	}{
		"always":          {func(i int) []string { return []string{fmt.Sprint(i), "x", fmt.Sprint(i)} }, []int{-1, -1, 0}},
		"mostly":          {func(i int) []string { return []string{fmt.Sprint(i), fmt.Sprint(i + i/19)} }, []int{-1, -1}},
		"one value":       {func(int) []string { return []string{"x", "x"} }, []int{-1, -1}},
		"NULL":            {func(int) []string { return []string{"", ""} }, []int{-1, -1}},
		"fewer arguments": {func(i int) []string { return []string{fmt.Sprint(i), fmt.Sprint(i)}[:2-i/19] }, []int{-1, -1}},
	} {
		var p pairing
		step := &loggedStep{}
		for range c.want {
			step.args = append(step.args, &loggedArgument{tags: map[string]int{}})
		}
		for i := range 20 {
			tags := c.tags(i)
			for j, tag := range tags {
				step.args[j].tags[tag]++
			}
			p.take(tags)
		}
		p.give([]*loggedStep{step})
		for j, want := range c.want {
			if got := step.args[j].twin; want < 0 && got != nil || want >= 0 && got != step.args[want] {
				t.Errorf("%s: argument %d repeats %p, want argument %d", name, j, got, want)
			}
		}
	}
}

// Keys that refer to other rows are drawn from those, and both ends of a range are moved,
// where the rows are as many as in the log then.
func TestRowsAsInTheLog(t *testing.T) {
	d := draftedFromLog(t, `CREATE TABLE box (id INTEGER PRIMARY KEY, at TEXT NOT NULL);
		CREATE TABLE thing (id INTEGER PRIMARY KEY, box_id INTEGER NOT NULL REFERENCES box (id), at TEXT NOT NULL);
		CREATE INDEX thing_box ON thing (box_id);
		WITH RECURSIVE k (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 2000) INSERT INTO box SELECT 3 * i, printf('day %05d', i) FROM k;
		WITH RECURSIVE k (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 2000) INSERT INTO thing SELECT i, 3 + 3 * (i % 1000), 'x' FROM k;`, func(db *sql.DB) {
		for i := range 2000 {
			ask(t, db, "SELECT id FROM thing WHERE box_id = ?", 3*(i+1))
		}
		for i := range 60 {
			ask(t, db, "SELECT id FROM box WHERE at BETWEEN ? AND ?", fmt.Sprintf("day %05d", i), fmt.Sprintf("day %05d", i+11))
		}
	})
	if len(d.LeftOut)+len(d.Differs) > 0 {
		t.Errorf("got %q left out and differences %q, want none", d.LeftOut, d.Differs)
	}
	for _, want := range []string{"{from: box.id} # guessed: thing.box_id refers to box.id", "# guessed: box.at is above it; with as many rows as in the log"} {
		if !strings.Contains(d.Text, want) {
			t.Errorf("the plan has no %q:\n%s", want, d.Text)
		}
	}
}

// An argument that is always the same in the log is a constant of the plan.
func TestArgumentThatIsAlwaysTheSame(t *testing.T) {
	d := draftedFromLog(t, libraryLog, func(db *sql.DB) {
		for i := range 60 {
			ask(t, db, "SELECT id FROM loan WHERE shelf_id = ? AND id > ?", 1+i, 0)
		}
	})
	if want := "- {const: 1} # guessed: loan.id is above it; with as many rows as in the log"; !strings.Contains(d.Text, want) || len(d.Differs) > 0 {
		t.Errorf("got differences %q, want none and %q in\n%s", d.Differs, want, d.Text)
	}
}
