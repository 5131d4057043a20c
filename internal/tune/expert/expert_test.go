package expert

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for answer, want := range map[string][]string{
		"CREATE INDEX note_idx_1c2d2574 ON note(title, 'odd \"name');\n\nSEARCH note\n\n": {`CREATE INDEX "idx_note_title_odd ""name" ON "note" ("title", "odd ""name")`},
		"CREATE INDEX a ON 'a, b'('c'', d' COLLATE NOCASE DESC, e);\nCREATE INDEX b ON o(nid);\n\nSEARCH o\n": {
			`CREATE INDEX "idx_a, b_c', d_nocase_desc_e" ON "a, b" ("c', d" COLLATE "NOCASE" DESC, "e")`, `CREATE INDEX "idx_o_nid" ON "o" ("nid")`},
		"(no new indexes)\n\nSEARCH note USING INTEGER PRIMARY KEY (rowid=?)\n": nil,
	} {
		all, err := parse(answer)
		var got []string
		for _, index := range all {
			got = append(got, index.SQL())
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: got %q, %v; want %q", answer, got, err, want)
		}
	}
	for _, answer := range []string{
		"", "DROP TABLE note;\n\n", "CREATE INDEX a ON note(title); DROP TABLE note;\n\n", "CREATE INDEX a ON note();\n\n",
		"CREATE INDEX a ON note(lower(title));\n\n", "CREATE INDEX a ON note(title,owner);\n\n", "CREATE INDEX a ON note(title) WHERE owner;\n\n",
	} {
		if got, err := parse(answer); err == nil {
			t.Errorf("%q: got %v, want an error", answer, got)
		}
	}
}

// The program cannot write to the file, and what stands in the SQL is no command of it.
func TestAsk(t *testing.T) {
	program := Find()
	if program == "" {
		t.Skip("the program sqlite3 is not installed")
	}
	file := filepath.Join(t.TempDir(), "a ?b.db")
	if out, err := exec.CommandContext(t.Context(), program, file, `CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT, "odd name" INT)`).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Ask(t.Context(), program, file, "-- a comment\nSELECT id FROM note WHERE title = ? AND \"odd name\" > ?")
	if want := `CREATE INDEX "idx_note_title_odd name" ON "note" ("title", "odd name")`; err != nil || len(got) != 1 || got[0].SQL() != want {
		t.Errorf("got %v, %v; want %s", got, err, want)
	}
	if got, err := Ask(t.Context(), program, file, "SELECT title FROM note WHERE id = ?"); err != nil || len(got) != 0 {
		t.Errorf("got %v, %v; want no index", got, err)
	}
	touched := filepath.Join(t.TempDir(), "touched")
	for _, query := range []string{".shell touch " + touched, "SELECT 1;\n.shell touch " + touched, "INSERT INTO note VALUES (1, 'a', 2)", "SELECT * FROM nosuch"} {
		if _, err := Ask(t.Context(), program, file, query); err == nil && !strings.HasPrefix(query, "INSERT") {
			t.Errorf("%q: got no error, want one", query)
		}
	}
	if _, err := os.Stat(touched); err == nil {
		t.Error("a command within the SQL was run")
	}
	if after, err := os.ReadFile(file); err != nil || string(after) != string(before) {
		t.Errorf("the file was changed, %v", err)
	}
}
