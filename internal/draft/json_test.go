package draft

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
)

// A log has no paths into JSON: members that the values have, of the type and the length
// of what they are compared with, stand for them.
func TestPathsOfALog(t *testing.T) {
	database := create(t, `CREATE TABLE ware (id INTEGER PRIMARY KEY, attrs TEXT NOT NULL);
		WITH RECURSIVE k (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 500)
		INSERT INTO ware SELECT i, json_object('weight', i % 9, 'maker', 'a maker with a long name', 'color', 'red', 'tags', json_array('x')) FROM k;`)
	log := record(t, database, 1<<30, func(db *sql.DB) {
		for i := range 30 {
			for _, query := range []string{
				"SELECT id FROM ware WHERE json_extract(attrs, '$.color') = 'red' AND json_extract(attrs, '$.color') = ?",
				"SELECT id FROM ware WHERE attrs ->> '$.weight' = ?",
				"UPDATE ware SET attrs = json_set(attrs, '$.color', ?) WHERE id = 9",
			} {
				if _, err := db.Exec(query, map[bool]any{true: i % 9, false: "red"}[strings.Contains(query, "weight")]); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
	o := options(database, "")
	o.Log, o.LogName = log, "app.ndjson"
	d, err := draftIn(t, t.Context(), o)
	must(t, err)
	if len(d.LeftOut) > 0 {
		t.Errorf("got %q left out, want nothing", d.LeftOut)
	}
	for _, want := range []string{"attrs ->> '$.weight' = ?", "json_extract(attrs, '$.color') = ?", "json_set(attrs, '$.color', ?)",
		"- {text: 3} # guessed: '$.color' of ware.attrs gets it; as long as its values are",
		"these are guessed: '$.color' (the path into"} {
		if !strings.Contains(d.Text, want) {
			t.Errorf("the plan has no %q:\n%s", want, d.Text)
		}
	}
	if want := "3 of the operations have literals, whose values are not in it and are guessed"; !strings.Contains(strings.Join(d.Measured, "\n"), want) {
		t.Errorf("got %q, want %q", d.Measured, want)
	}
}

// A statement that is twice in a transaction, or in two, inserts different rows.
func TestPairsOfTwoStatements(t *testing.T) {
	const insert = "INSERT INTO pair (a, b) VALUES (?, ?)"
	d := drafted(t, create(t, `CREATE TABLE one (id INTEGER PRIMARY KEY); CREATE TABLE two (id INTEGER PRIMARY KEY);
		CREATE TABLE pair (a INTEGER NOT NULL REFERENCES one (id), b INTEGER NOT NULL REFERENCES two (id), PRIMARY KEY (a, b)) WITHOUT ROWID;
		WITH RECURSIVE k (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 300) INSERT INTO one SELECT i FROM k;
		INSERT INTO two SELECT id FROM one; INSERT INTO pair VALUES (1, 1);`),
		fmt.Sprintf("-- name: both\nBEGIN; DELETE FROM pair WHERE a = ?; %s; %[1]s; COMMIT;\n-- name: single\n%[1]s;", insert))
	if len(d.LeftOut) > 0 {
		t.Errorf("got %q left out, want nothing", d.LeftOut)
	}
	for part := range 3 {
		if want := fmt.Sprintf("WHERE rowid %% 3 = %d) AS p1", part); !strings.Contains(d.Text, want) {
			t.Errorf("the plan has no %q:\n%s", want, d.Text)
		}
	}
}

// Searches look for many words, and for none that means something to FTS5.
func TestWords(t *testing.T) {
	d := drafted(t, create(t, `CREATE VIRTUAL TABLE note USING fts5 (text);
		INSERT INTO note VALUES ('NOT apple'), ('pear it''s'), ('7'), ('plum')`), "-- name: find\nSELECT text FROM note WHERE note MATCH ?")
	for _, want := range []string{"- {from: find-words-1.word} # guessed: a word of note.text\n", "SELECT column1 AS word FROM (VALUES ('apple'), ("} {
		if !strings.Contains(d.Text, want) {
			t.Errorf("the plan has no %q:\n%s", want, d.Text)
		}
	}
	if len(d.LeftOut) > 0 {
		t.Errorf("got %q left out, want nothing", d.LeftOut)
	}
}
