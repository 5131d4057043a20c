package traffic_test

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"assay"
	"assay/internal/build/catalog"
	"assay/internal/dataset"
	"assay/internal/draft"
	"assay/traffic"

	"modernc.org/sqlite"
)

// A language is a program of testdata with what runs it.
type language struct {
	name, script, interpreter string
	args                      []string
	probe                     string // a program that fails where a library is missing
	install                   string
}

// python is what scripts/tools installs with newer libraries than the system's.
func python() string { return filepath.Join(tools(), "python", "bin", "python3") }

func tools() string {
	cache, _ := os.UserCacheDir()
	return filepath.Join(cache, "assay", "tools")
}

// shops are all programs that record the same traffic.
func shops() []language {
	return []language{
		{"Python's sqlite3", "shop.py", "python3", []string{"sqlite3"}, "import sqlite3", "python3"},
		{"SQLAlchemy", "shop.py", python(), []string{"sqlalchemy"}, "import sqlalchemy", "SQLAlchemy 2"},
		{"SQLAlchemy of the system", "shop.py", "/usr/bin/python3", []string{"sqlalchemy"}, "import sqlalchemy", "python3-sqlalchemy"},
		{"Django", "shop.py", python(), []string{"django"}, "import django", "Django 5"},
		{"Rails", "shop.rb", "ruby", nil, "require 'active_record'; require 'sqlite3'", "ruby-activerecord and ruby-sqlite3"},
		{"better-sqlite3", "shop.js", "node", nil, "new (require('better-sqlite3'))(':memory:')", "better-sqlite3 for node"},
	}
}

// run runs the program, or skips the test where something is missing.
func (l language) run(t *testing.T, input string, args ...string) (stdout string, err error) {
	t.Helper()
	flag := "-e"
	if strings.HasSuffix(l.script, ".py") {
		flag = "-c"
	}
	if missing := l.command(t, flag, l.probe).Run(); missing != nil {
		t.Skipf("%v: there is no %s (scripts/tools installs it)", missing, l.install)
	}
	cmd := l.command(t, slices.Concat([]string{filepath.Join("testdata", l.script)}, l.args, args)...)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = strings.NewReader(input), &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, stderr.String())
	}
	return string(out), nil
}

func (l language) command(t *testing.T, args ...string) *exec.Cmd {
	here, err := filepath.Abs(".")
	noError(t, err)
	for _, folder := range []string{".", "testdata"} { // the go command knows by this what the result depends on, and shows no cached one
		if _, err := os.ReadDir(folder); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), l.interpreter, args...)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+here, "PYTHONDONTWRITEBYTECODE=1", "NODE_PATH="+filepath.Join(tools(), "node_modules"))
	return cmd
}

// The recorders of all languages write a statement alike, and take the same ones for marks.
func TestTextsAgree(t *testing.T) {
	queries := []string{"", ";", "SELECT 'a''b', 1.5e-3, x'00', X'1' -- c", `SELECT "a b", [1], ` + "`2`" + `, ?1, :x, @y, $z`, "'", "/*", "/* a", `"`, `""`, `"a""b"`, `"a"b`,
		"0x1F+1", ".5", "1.", "1e+5", "1E-5x", "0xE+1", "0X1E+1", "1_000", "a1.b2", "SELECT\tä, 'ö', \"ü\" -- é\nFROM t", "\ufeffPRAGMA key = x; SELECT 1", "x\ufeffy",
		"ATTACH 'a' AS b KEY c", "EXPLAIN QUERY PLAN attach x", "SELECT 1;;  ", "a ; b", "::int", "?", "? ?", "😀 '😀'", "max'a'", "[a'b]'c'", "`a", "--", "-- a\r\nb",
		"SELECT '" + strings.Repeat("a''", 300_000) + "'", "SELECT \x00 1", "a\u00a0b", "a\vb", "1١ ١"}
	queries = append(queries, "/* request 1 */ BEGIN IMMEDIATE", "BEGIN -- "+strings.Repeat("x", 200), "/* "+strings.Repeat("a; b ", 100)+"*/ COMMIT; ;", "rollback /* to */ transaction", "ROLLBACK TRANSACTION TO SAVEPOINT x",
		"ROLLBACK TO SAVEPOINT a b c", "; savepoint \"a b\"", "BEGIN; SELECT 1", "beginning", "END/* */", "release"+strings.Repeat(" ", 1000)+"a", strings.Repeat("/**/ ", 20_000)+"SELECT 1")
	parts := []string{"'", "''", `"`, "`", "[", "]", "a", "1", ".", "e", "+", "-", "--", "\n", "/*", "*/", " ", ";", "?", ":a", "x", "PRAGMA", "é", "_", "0x", "\\", "begin", "Commit", "END", "rollback", "to", "savepoint", "release"}
	draw := rand.New(rand.NewPCG(7, 7))
	for range 3000 {
		var b strings.Builder
		for range 1 + draw.IntN(10) {
			b.WriteString(parts[draw.IntN(len(parts))])
		}
		queries = append(queries, b.String())
	}
	input, err := json.Marshal(queries)
	noError(t, err)
	for _, l := range []language{
		{name: "Python", script: "clean.py", interpreter: "python3", install: "python3"},
		{name: "Ruby", script: "clean.rb", interpreter: "ruby", install: "ruby"},
		{name: "Node.js", script: "clean.js", interpreter: "node", install: "node"},
	} {
		t.Run(l.name, func(t *testing.T) {
			text, err := l.run(t, string(input))
			noError(t, err)
			var got [][]string
			if err := json.Unmarshal([]byte(text), &got); err != nil || len(got) != len(queries) {
				t.Fatalf("got %d answers and error %v, want %d", len(got), err, len(queries))
			}
			for i, query := range queries {
				text, mark := traffic.Clean(query)
				if want := []string{text, mark}; !slices.Equal(got[i], want) {
					t.Errorf("%.200q: got %.200q, want %.200q", query, got[i], want)
				}
			}
		})
	}
}

const shopSchema = `CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT NOT NULL, stock INTEGER NOT NULL);
	CREATE TABLE sale (id INTEGER PRIMARY KEY, item_id INTEGER NOT NULL REFERENCES item (id), at INTEGER NOT NULL);
	WITH RECURSIVE k (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 500) INSERT INTO item SELECT i, 'item ' || i, 1000 + i FROM k;`

// shop makes a database.
func shop(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "shop.db")
	db := must[*sql.DB](t)(sql.Open("sqlite", path))
	_, err := db.Exec(shopSchema)
	noError(t, errors.Join(err, db.Close()))
	return path
}

// orders are what every shop does: skewed reads, sales in a transaction, a tenth of
// them with a savepoint, and some that fail or are undone.
func orders() string {
	draw := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for i := range 1000 {
		item := 1 + int(500*math.Pow(draw.Float64(), 3)) // low ones are frequent
		order := "read"
		switch {
		case i%100 == 5:
			order = "nest"
		case i%100 == 6:
			order = "undo"
		case i%100 == 7:
			order = "add"
		case i%10 == 3:
			order = "sell"
		case i%10 == 4:
			order = "find"
		}
		fmt.Fprintln(&b, order, item)
	}
	return b.String()
}

// The same work recorded in each language gives the same draft as Go's: operations,
// weights, transactions and skew; and the same statements with the same values.
func TestLanguagesDraftAlike(t *testing.T) {
	work := filepath.Join(t.TempDir(), "orders")
	noError(t, os.WriteFile(work, []byte(orders()), 0o600))
	recorded := goShop(t, orders())
	drafts := map[string]summary{} // of what is wanted, which several libraries share
	for _, l := range shops() {
		t.Run(l.name, func(t *testing.T) {
			database, log := shop(t), filepath.Join(t.TempDir(), "log")
			if _, err := l.run(t, "", database, log, work, "67108864"); err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(log)
			if err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("got mode %v and error %v, want 0600", info.Mode(), err)
			}
			want := preparations.ReplaceAll(recorded, nil) // which only Go's writer has
			if l.name == "Rails" {                         // which says nothing of rows before 7.2
				want = rowless(want)
			}
			wanted, known := drafts[string(want)]
			if !known {
				wanted = drafted(t, want)
				drafts[string(want)] = wanted
			}
			got := drafted(t, must[[]byte](t)(os.ReadFile(log)))
			for i := range max(len(got.plan), len(wanted.plan)) {
				if a, b := at(got.plan, i), at(wanted.plan, i); a != b {
					t.Errorf("the draft has %q, want %q", a, b)
				}
			}
			for text, n := range wanted.lines {
				got.lines[text] -= n
			}
			for text, n := range got.lines {
				if n != 0 {
					t.Errorf("the log has %+d of the line %s", n, text)
				}
			}
		})
	}
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

// summary is what must be the same of logs: the plan but for its comments, and how many
// lines there are of each kind.
type summary struct {
	plan  []string
	lines map[string]int
}

func drafted(t *testing.T, log []byte) summary {
	t.Helper()
	database := shop(t)
	d, err := draft.Make(t.Context(), draft.Options{Database: database, Drivers: must[[]catalog.Driver](t)(catalog.Read("../workers")), Logs: []draft.Log{{Name: "log", Data: log}}, Plan: database + ".yaml", Folder: t.TempDir(),
		Timeout: time.Minute, CPU: func() time.Duration { return 0 }, Total: time.Minute, Block: time.Hour, CopyTimeout: time.Minute,
		Estimate: func(*dataset.Data, []assay.Case, int) time.Duration { return time.Minute }})
	noError(t, err)
	s := summary{lines: map[string]int{}}
	for _, text := range strings.Split(d.Text, "\n") {
		text, _, _ = strings.Cut(text, "#")
		if text = strings.TrimRight(text, " "); text != "" && !strings.Contains(text, "shop.db") {
			s.plan = append(s.plan, text)
		}
	}
	texts := map[string]string{}
	for _, text := range strings.Split(strings.TrimSpace(string(log)), "\n") {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		switch name, _ := l["s"].(string); {
		case l["id"] != nil:
			texts[l["id"].(string)] = parameters.ReplaceAllString(l["sql"].(string), "?")
		case name != "":
			values := ""
			args, _ := l["args"].([]any)
			named, _ := l["named"].(map[string]any) // SQLAlchemy's and better-sqlite3's
			for _, key := range []string{"id", "a0", "name", "a1", "stock", "a2"} {
				if value, ok := named[key]; ok {
					args = append(args, value)
				}
			}
			for _, value := range args {
				values += fmt.Sprint(" ", value)
			}
			if strings.Contains(texts[name], "PRAGMA") || strings.Contains(texts[name], "sqlite_") {
				continue // a library's own, when it connects
			}
			inside := l["tx"] != 0.0
			s.lines[fmt.Sprint(cmp.Or(texts[name], name), values, " inside ", inside, " rows ", l["rows"], " ", l["err"])]++
		case l["dropped"] != nil && l["dropped"] != 0.0:
			t.Errorf("%v lines were dropped, want none", l["dropped"])
		}
	}
	return s
}

// rowless is the log without the rows of statements that did not fail.
func rowless(log []byte) []byte { return rowsOf.ReplaceAll(log, []byte("$1}")) }

var preparations = regexp.MustCompile(`,"prep":"(never|each)"`)

var parameters = regexp.MustCompile(`[@:](stock|id|name|a\d)\b`)

var rowsOf = regexp.MustCompile(`,"rows":\d+(,"ns":\d+)}`)

// goShop does the orders through database/sql.
func goShop(t *testing.T, orders string) []byte {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	r := must[*traffic.Recorder](t)(traffic.Open(log, 64<<20))
	db := sql.OpenDB(dsn{r.Driver(&sqlite.Driver{}), shop(t)})
	db.SetMaxOpenConns(1)
	for order := range strings.Lines(orders) {
		var kind string
		var item int
		if _, err := fmt.Sscan(order, &kind, &item); err != nil {
			t.Fatal(err)
		}
		if err := do(t.Context(), db, kind, item); err != nil {
			t.Fatalf("%s: %v", order, err)
		}
	}
	noError(t, errors.Join(db.Close(), r.Close()))
	return must[[]byte](t)(os.ReadFile(log))
}

func do(ctx context.Context, db *sql.DB, kind string, item int) error {
	switch kind {
	case "read":
		return drain(db.QueryContext(ctx, "SELECT name FROM item WHERE id = ?", item))
	case "find":
		return drain(db.QueryContext(ctx, "SELECT id, stock FROM item WHERE stock > ? AND name <> 'Hidden Name' ORDER BY id LIMIT 5", item))
	case "add":
		if _, err := db.ExecContext(ctx, "INSERT INTO item (id, name, stock) VALUES (?, ?, ?)", item, "Secret Person", 5); err == nil {
			return errors.New("an item was added twice")
		}
		return nil
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	texts := []string{"UPDATE item SET stock = stock - 1 WHERE id = ?", "INSERT INTO sale (item_id, at) VALUES (?, 77)"}
	switch kind {
	case "undo":
		_, err := tx.Exec(texts[0], item)
		return errors.Join(err, tx.Rollback())
	case "nest":
		texts = []string{texts[0], "SAVEPOINT inner", texts[1], "RELEASE SAVEPOINT inner"}
	}
	for _, text := range texts {
		args := []any{item}
		if !strings.Contains(text, "?") {
			args = nil
		}
		_, more := tx.Exec(text, args...)
		err = errors.Join(err, more)
	}
	return errors.Join(err, tx.Commit())
}

func drain(rows *sql.Rows, err error) error {
	if err != nil {
		return err
	}
	for rows.Next() {
	}
	return errors.Join(rows.Err(), rows.Close())
}

// A log does not follow a link, does not overwrite a file, and keeps to its size; what
// does not fit is counted.
func TestLanguagesKeepTheirFile(t *testing.T) {
	work := filepath.Join(t.TempDir(), "orders")
	noError(t, os.WriteFile(work, []byte(strings.Repeat("read 5\n", 300)), 0o600))
	for _, l := range []language{shops()[0], shops()[4], shops()[5]} {
		t.Run(l.name, func(t *testing.T) {
			dir := t.TempDir()
			target, link, full := filepath.Join(dir, "target"), filepath.Join(dir, "link"), filepath.Join(dir, "full")
			noError(t, os.Symlink(target, link))
			if _, err := l.run(t, "", shop(t), link, work, "1000"); err == nil || !strings.Contains(err.Error(), "xist") {
				t.Errorf("got error %v for a link, want that it exists", err)
			}
			noError(t, os.WriteFile(target, []byte("mine"), 0o600))
			if _, err := l.run(t, "", shop(t), target, work, "1000"); err == nil || !strings.Contains(err.Error(), "xist") {
				t.Errorf("got error %v for a file, want that it exists", err)
			}
			if got := must[[]byte](t)(os.ReadFile(target)); string(got) != "mine" {
				t.Errorf("the file became %q", got)
			}
			const most = 4000
			if _, err := l.run(t, "", shop(t), full, work, strconv.Itoa(most)); err != nil {
				t.Fatal(err)
			}
			text := must[[]byte](t)(os.ReadFile(full))
			lines := parsed(t, string(text))
			dropped, statements := lines[len(lines)-1]["dropped"], len(strings.Split(string(text), `,"s":`))-1
			if n, ok := dropped.(float64); !ok || len(text) > most+32 || statements == 0 || int(n)+statements < 300 || int(n)+statements > 301 {
				t.Errorf("got %d bytes with %d statements and %v dropped, want at most %d bytes and 300 in all", len(text), statements, dropped, most)
			}
		})
	}
}

func parsed(t *testing.T, text string) (lines []line) {
	t.Helper()
	for each := range strings.Lines(text) {
		var l line
		if err := json.Unmarshal([]byte(each), &l); err != nil {
			t.Fatalf("%v in %s", err, each)
		}
		lines = append(lines, l)
	}
	return lines
}

// Threads lose no line, a forked process writes none, and nothing that a program does
// wrong is done otherwise than without the recorder.
func TestLanguagesInHostilePrograms(t *testing.T) {
	for _, c := range []struct {
		language
		failed, dropped int
	}{
		{language{"Python", "hostile.py", "python3", nil, "import sqlite3", "python3"}, 1, 4},
		{language{"Rails", "hostile.rb", "ruby", nil, shops()[4].probe, shops()[4].install}, 0, 0},
		{language{"better-sqlite3", "hostile.js", "node", nil, shops()[5].probe, shops()[5].install}, 2, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			log := filepath.Join(t.TempDir(), "log")
			if _, err := c.run(t, "", log, shop(t)); err != nil {
				t.Fatal(err)
			}
			text := string(must[[]byte](t)(os.ReadFile(log)))
			lines := parsed(t, text)
			reads, failed, conns := 0, 0, map[any]bool{}
			for _, l := range lines {
				if l["s"] != nil && l["s"] == idOf(lines, "SELECT id FROM item WHERE id = ?") {
					reads++
					conns[l["conn"]] = true
				}
				if l["err"] == "error" && l["s"] != "commit" {
					failed++
				}
			}
			if reads < 200 || reads > 201 || failed != c.failed || lines[len(lines)-1]["dropped"] != float64(c.dropped) {
				t.Errorf("got %d reads, %d that failed and %v dropped, want 200, %d and %d:\n%.2000s", reads, failed, lines[len(lines)-1]["dropped"], c.failed, c.dropped, text)
			}
			if c.script != "hostile.js" && len(conns) < 2 {
				t.Errorf("got reads of %d connections, want several", len(conns))
			}
			if c.script == "hostile.py" {
				checkMany(t, lines)
			}
			for _, never := range []string{"SELECT stock", "DELETE"} {
				if strings.Contains(text, never) {
					t.Errorf("the log has %q, of a forked process or behind the end", never)
				}
			}
		})
	}
}

// idOf is how a log names a text.
func idOf(lines []line, text string) any {
	i := slices.IndexFunc(lines, func(l line) bool { return l["sql"] == text })
	if i < 0 {
		return nil
	}
	return lines[i]["id"]
}

// checkMany holds that each of many executions has a line, in one transaction, and rows
// only where somebody knows them.
func checkMany(t *testing.T, lines []line) {
	t.Helper()
	id := idOf(lines, "UPDATE item SET stock = ? WHERE stock = -1 AND id = ?")
	executions, counted, txs := 0, 0, map[any]bool{}
	for _, l := range lines {
		if l["s"] == id {
			executions++
			txs[l["tx"]] = true
			if _, ok := l["rows"]; ok {
				counted++
			}
		}
	}
	if executions != 2500 || counted != 0 || len(txs) != 1 || txs[float64(0)] {
		t.Errorf("got %d executions, %d of them with rows, in transactions %v, want 2500 without in one", executions, counted, txs)
	}
}
