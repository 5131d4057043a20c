package doctor

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/internal/dataset"
	"assay/internal/plan/sqltext"
	"assay/kit/sqlite"
)

// healthy is a database with nothing to say about: WAL, statistics, an index
// for each query and each foreign key.
var healthy = []string{
	"PRAGMA journal_mode = WAL",
	"CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL)",
	"CREATE TABLE post (id INTEGER PRIMARY KEY, author INTEGER NOT NULL REFERENCES author(id), day INTEGER NOT NULL, title TEXT)",
	"CREATE INDEX post_author_day ON post(author, day)",
	"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50) INSERT INTO author SELECT i, 'a' || i FROM n",
	"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO post SELECT i, 1 + i % 50, i % 365, 'title ' || i FROM n",
	"ANALYZE",
}

// queries are the application's.
const queries = "SELECT title FROM post WHERE author = ? AND day > :day; -- it's the feed\nSELECT name FROM author WHERE id = ?1;\nSELECT count(*) FROM post"

func open(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+sqlite.EscapePath(path)+"?_pragma=busy_timeout(5000)")
	must(t, err)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	return db
}

func run(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, text := range statements {
		if _, err := db.Exec(text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}

// database makes a file from statements, closed.
func database(t *testing.T, statements ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "app.db")
	db := open(t, path)
	run(t, db, statements...)
	must(t, db.Close())
	return path
}

// examine looks at a file on a disk that loses nothing.
func examine(t *testing.T, path string, change ...func(*Options)) []Finding {
	t.Helper()
	options := Options{Path: path, Folder: t.TempDir(), Queries: Split(queries), Copy: dataset.Snapshot, Disk: func(string) string { return "" }}
	for _, c := range change {
		c(&options)
	}
	found, err := Examine(t.Context(), options)
	must(t, err)
	return found
}

func TestHealthy(t *testing.T) {
	const unindexed = "CREATE TABLE note AS SELECT title FROM post"                                                                            // ANALYZE would tell nothing of it
	other := []string{"CREATE TABLE place (x, y, PRIMARY KEY (x, y))", "CREATE TABLE visit (a, b, FOREIGN KEY (b, a) REFERENCES Place(Y, x))"} // names have no case
	found := examine(t, database(t, slices.Concat(healthy, other, []string{unindexed})...), func(o *Options) {
		o.SyncRate, o.Settings = 5000, map[string]string{"synchronous": "1", "busy_timeout": "5000", "foreign_keys": "1"}
	})
	if len(found) != 0 {
		t.Errorf("got %+v, want nothing", found)
	}
}

// A step names the alias of a table, which stands behind other words of the query, too.
func TestScanOfAnAlias(t *testing.T) {
	path := database(t, healthy...)
	for query, want := range map[string]string{
		"SELECT p.id FROM post p WHERE p.title = ?":                                     "SCAN p (5000 rows)",
		"SELECT p.id FROM post AS p WHERE p.title = ?":                                  "SCAN p (5000 rows)",
		"SELECT p.id FROM `post` p WHERE p.title = ?":                                   "SCAN p (5000 rows)",
		"SELECT a.name FROM post p LEFT JOIN author a ON a.id=p.author WHERE p.title=?": "SCAN p (5000 rows)",
		"SELECT a.id FROM author a WHERE a.name = ?":                                    "", // of 50 rows
	} {
		got := ""
		for _, f := range examine(t, path, func(o *Options) { o.Queries = append(o.Queries, query) }) {
			got += f.Evidence
		}
		if want != "" {
			want = query + ": " + want
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", query, got, want)
		}
	}
}

// An index by which SQLite finds the children of a row that is deleted is used, whatever
// the queries are, and so is one whose name has a space.
func TestIndexesInUse(t *testing.T) {
	path := database(t, append(slices.Clone(healthy), `CREATE INDEX "by title" ON post(title)`, "ANALYZE")...)
	found := examine(t, path, func(o *Options) {
		o.Queries = []string{"SELECT count(*) FROM author", "SELECT day, author FROM post WHERE title = ?"}
	})
	if len(found) != 0 {
		t.Errorf("got %+v, want nothing: both indexes are used", found)
	}
}

// Whoever follows all findings keeps an index for each query: of an index and its
// beginning, one is superfluous, also where the queries use that one.
func TestOneIndexStays(t *testing.T) {
	for _, index := range []string{"CREATE INDEX post_author ON post(author)", "CREATE INDEX post_author ON post(author, day, title)"} {
		found := examine(t, database(t, append(slices.Clone(healthy), index, "ANALYZE")...), func(o *Options) {
			o.Queries = []string{"SELECT id FROM post WHERE author = ?"}
		})
		if len(found) != 1 || found[0].Problem != "duplicate-index" {
			t.Errorf("%s: got %+v, want one duplicate index", index, found)
		}
	}
}

// Each database has one problem more than the healthy one, and that comes first.
func TestPlantedProblems(t *testing.T) {
	with := func(more ...string) func(t *testing.T) string {
		return func(t *testing.T) string { return database(t, append(append([]string{}, healthy...), more...)...) }
	}
	before := func(first ...string) func(t *testing.T) string {
		return func(t *testing.T) string { return database(t, append(append([]string{}, first...), healthy...)...) }
	}
	nothing := func(*Options) {}
	for _, c := range []struct {
		problem, evidence string
		make              func(t *testing.T) string
		change            func(*Options)
	}{
		{"corrupt", "post_author_day", damaged, nothing},
		{"corrupt", "disk image is malformed", truncated, nothing},
		{"foreign-key-violations", "1 references of post without a row of author", with("INSERT INTO post VALUES (9999, 777, 1, 'x')"), nothing},
		{"foreign-key-violations", "1 references of q without a row of Author", with("CREATE TABLE q (b REFERENCES Author)", "INSERT INTO q VALUES (777)"), nothing},
		{"foreign-key-parent", "q(b) refers to p(id), which no PRIMARY KEY and no UNIQUE index keeps unique", with("CREATE TABLE p (id INT)", "CREATE TABLE q (b REFERENCES p(id))"), nothing},
		{"foreign-key-parent", "q(b) refers to p(id), which no", with("CREATE TABLE p (id INT)", "CREATE UNIQUE INDEX p_id ON p(id) WHERE id > 0", "CREATE TABLE q (b REFERENCES p(id))"), nothing},
		{"foreign-key-parent", `"q" referencing "p": its UNIQUE index sorts otherwise`, with("CREATE TABLE p (name TEXT)", "CREATE UNIQUE INDEX p_name ON p(name COLLATE NOCASE)", "CREATE TABLE q (b TEXT REFERENCES p(name))"), nothing},
		{"foreign-key-parent", "q(b) refers to gone, which is not there", with("CREATE TABLE q (b REFERENCES gone)", "INSERT INTO q VALUES (1)"), nothing},
		{"foreign-key-parent", "q(b) refers to v, which is no table", with("CREATE VIEW v AS SELECT 1 AS id", "CREATE TABLE q (b REFERENCES v(id))"), nothing},
		{"foreign-key-parent", "q(b) refers to the primary key of p, which has 2 columns", with("CREATE TABLE p (x, y, PRIMARY KEY (x, y))", "CREATE TABLE q (b REFERENCES p)"), nothing},
		{"disk", "tmpfs", with(), func(o *Options) { o.Disk = func(string) string { return "tmpfs keeps its files in memory" } }},
		{"wal-size", "a checkpoint begins at 4.1 MB (wal_autocheckpoint = 1000)", nil, nothing},
		{"wal-size", "no checkpoint begins by itself (wal_autocheckpoint = 0)", nil, func(o *Options) {
			o.Settings = map[string]string{"synchronous": "1", "busy_timeout": "5000", "foreign_keys": "1", "wal_autocheckpoint": "0"}
		}},
		{"journal-mode", "not in WAL", with("PRAGMA journal_mode = DELETE"), nothing},
		{"scan", "SCAN p (5000 rows)", with(), func(o *Options) { o.Queries = append(o.Queries, "SELECT id FROM post AS p WHERE p.title = ?") }},
		{"foreign-key-index", "post has 5000 rows and no index that begins with author", with("DROP INDEX post_author_day", "ANALYZE"), func(o *Options) { o.Queries = nil }},
		{"statistics", "post (5000 rows)", with("DROP TABLE sqlite_stat1"), nothing},
		{"stale-statistics", "post had 5000 rows, has 55000", with("WITH RECURSIVE n(i) AS (SELECT 5001 UNION ALL SELECT i + 1 FROM n WHERE i < 55000) INSERT INTO post SELECT i, 1 + i % 50, i % 365, 'x' FROM n"), nothing},
		{"unused-index", "post_title on post(title)", with("CREATE INDEX post_title ON post(title)", "ANALYZE"), nothing},
		{"duplicate-index", "post_author(author) is the beginning of post_author_day(author, day)", with("CREATE INDEX post_author ON post(author)", "ANALYZE"), func(o *Options) { o.Queries = nil }},
		{"page-size", "page_size is 1024", before("PRAGMA page_size = 1024"), nothing},
		{"auto-vacuum", "auto_vacuum is 1", before("PRAGMA auto_vacuum = FULL"), nothing},
		{"free-pages", "pages are free", with("CREATE TABLE big (b BLOB)", "INSERT INTO big VALUES (zeroblob(4000000))", "DELETE FROM big"), nothing},
		{"sync-latency", "50 syncs a second, 20.0 ms each", with(), func(o *Options) { o.SyncRate = 50 }},
		{"setting", "synchronous reads back as 0", with(), func(o *Options) {
			o.Settings = map[string]string{"synchronous": "0", "busy_timeout": "5000", "foreign_keys": "1"}
		}},
		{"setting", "busy_timeout reads back as 0", with(), func(o *Options) {
			o.Settings = map[string]string{"synchronous": "1", "busy_timeout": "0", "foreign_keys": "1"}
		}},
		{"setting", "foreign_keys reads back as 0", with(), func(o *Options) {
			o.Settings = map[string]string{"synchronous": "1", "busy_timeout": "5000", "foreign_keys": "0"}
		}},
		{"parameter", "_sychronous=OFF asks for synchronous = 0, which reads back as 1", with(), func(o *Options) {
			o.Settings = map[string]string{"synchronous": "1", "busy_timeout": "5000", "foreign_keys": "1"}
			o.Asked = []Asked{{"_sychronous=OFF", "synchronous", "0", "fix"}, {"_fk=1", "foreign_keys", "1", "fix"}, {"_txlock=exclusive", "", "", ""},
				{"_timeout=5s", "busy_timeout", "", ""}, {"_mutex=no", "mutex", "no", ""}}
		}},
	} {
		t.Run(c.problem, func(t *testing.T) {
			var path string
			if c.make == nil {
				path = bigLog(t)
			} else {
				path = c.make(t)
			}
			found := examine(t, path, c.change)
			if len(found) != 1 || found[0].Problem != c.problem || !strings.Contains(found[0].Evidence, c.evidence) || found[0].Fix == "" {
				t.Errorf("got %+v, want %s alone, with %q", found, c.problem, c.evidence)
			}
		})
	}
}

// What only the application has is named, and everything else is examined.
func TestNeedsApplication(t *testing.T) {
	const planted = "SELECT id FROM post WHERE title = ?" // a scan
	schema := func(was, is string) []string {
		return []string{"PRAGMA writable_schema = 1", "UPDATE sqlite_schema SET sql = replace(sql, '" + was + "', '" + is + "')", "PRAGMA writable_schema = 0"}
	}
	for name, c := range map[string]struct {
		make  []string
		query string
		want  []string // says and evidence of what was not checked
	}{
		"collation of an index":  {append([]string{"CREATE TABLE own (a TEXT)", "CREATE INDEX own_a ON own(a COLLATE NOCASE)"}, schema("NOCASE", "unicase")...), "", []string{"the structure of own", "no such collation sequence: unicase"}},
		"collation of a column":  {append([]string{"CREATE TABLE own (a TEXT COLLATE NOCASE UNIQUE)"}, schema("NOCASE", "unicase")...), "SELECT 1 FROM own WHERE a = ?", []string{"the structure of own", "no such collation sequence: unicase", "the query SELECT 1 FROM own"}},
		"function of an index":   {append([]string{"CREATE TABLE own (a TEXT)", "CREATE INDEX own_a ON own(lower(a))"}, schema("lower", "fold")...), "", []string{"the structure of own", "fold()"}},
		"function of WHERE":      {append([]string{"CREATE TABLE own (a TEXT)", "CREATE INDEX own_a ON own(a) WHERE lower(a) > 1"}, schema("lower", "fold")...), "", []string{"the structure of own", "fold()"}},
		"generated column":       {append([]string{"CREATE TABLE own (a TEXT, b AS (lower(a)))"}, schema("lower", "fold")...), "SELECT b FROM own", []string{"the query SELECT b FROM own", "fold()"}},
		"tokenizer":              {append([]string{"CREATE VIRTUAL TABLE own USING fts5(a, tokenize=porter)", "INSERT INTO own VALUES ('running')"}, schema("porter", "snowball")...), "", []string{"the structure of own", "snowball"}},
		"trigger of a query":     {append([]string{"CREATE TABLE own (a TEXT)", "CREATE TRIGGER own_t AFTER INSERT ON own BEGIN SELECT lower(new.a); END"}, schema("lower", "fold")...), "INSERT INTO own VALUES (?)", []string{"the query INSERT INTO own", "fold"}},
		"view of a query":        {append([]string{"CREATE VIEW own AS SELECT lower(title) AS a FROM post"}, schema("lower", "fold")...), "SELECT a FROM own", []string{"the query SELECT a FROM own", "fold"}},
		"a query with a mistake": {nil, "SELECT x FROM nowhere", []string{"the query SELECT x", "no such table: nowhere"}},
	} {
		t.Run(name, func(t *testing.T) {
			path := database(t, slices.Concat(healthy, []string{"PRAGMA journal_mode = DELETE"}, c.make)...)
			found := examine(t, path, func(o *Options) {
				o.Queries = []string{planted}
				if c.query != "" {
					o.Queries = append(o.Queries, c.query)
				}
			})
			var problems []string
			skipped := ""
			for _, f := range found {
				problems = append(problems, f.Problem)
				if f.Problem == NotChecked {
					skipped += f.Says + ": " + f.Evidence + "\n"
				}
			}
			if slices.Contains(problems, "corrupt") || !slices.Contains(problems, "journal-mode") || !slices.Contains(problems, "scan") {
				t.Errorf("got %q, want all that is wrong with the rest of the file, and no damage", problems)
			}
			if c.query != "" && slices.Contains(problems, "unused-index") {
				t.Errorf("got %q: a query that was not checked may use the index", problems)
			}
			for _, text := range c.want {
				if !strings.Contains(skipped, text) {
					t.Errorf("got %q as not checked, want %q in it", skipped, text)
				}
			}
		})
	}
}

// What to do about a query that was not checked follows from why.
func TestFixOfUncheckedQueries(t *testing.T) {
	path := database(t, healthy...)
	for query, want := range map[string]string{
		"SELECT nick FROM post":                    "of another version",
		"SELECT id FROM post JOIN author USING ()": "write the query",
		"SELECT fold(title) FROM post":             "in the application",
	} {
		found := examine(t, path, func(o *Options) { o.Queries = []string{query} })
		if i := slices.IndexFunc(found, func(f Finding) bool { return f.Problem == NotChecked }); i < 0 || !strings.Contains(found[i].Fix, want) {
			t.Errorf("%s: got %+v, want a fix that says %q", query, found, want)
		}
	}
}

// What has to read a whole table, or ends early, is not accused of it.
func TestScansThatAreNone(t *testing.T) {
	path := database(t, slices.Concat(healthy, []string{"CREATE INDEX post_title ON post(title)", "CREATE TABLE note (post TEXT)"})...)
	for query, want := range map[string]bool{
		"SELECT a.name, p.title FROM post p LEFT JOIN author a ON a.id = p.author": false, // one table is read whole
		"SELECT id FROM post WHERE id + 0 > ? ORDER BY title DESC LIMIT 10":        false,
		"SELECT id FROM post WHERE id + 0 > ? ORDER BY title || 'x' LIMIT 10":      true,
		"SELECT id FROM post WHERE title + 0 > ? LIMIT 10":                         true,
		"SELECT 1 FROM note LEFT JOIN post p ON p.title || '' = note.post || ''":   true, // once for each note
		"SELECT id FROM post WHERE day + 0 = ? ORDER BY id":                        true,
	} {
		found := examine(t, path, func(o *Options) { o.Queries = []string{query} })
		if got := slices.ContainsFunc(found, func(f Finding) bool { return f.Problem == "scan" }); got != want {
			t.Errorf("%s: a scan is found: %t, want %t", query, got, want)
		}
	}
}

// What several tables and queries lack is one finding, which names all of them.
func TestOneFindingForEachReason(t *testing.T) {
	path := database(t, slices.Concat(healthy, []string{"CREATE TABLE a (x TEXT COLLATE NOCASE UNIQUE)", "CREATE TABLE b (x TEXT COLLATE NOCASE UNIQUE)",
		"PRAGMA writable_schema = 1", "UPDATE sqlite_schema SET sql = replace(sql, 'NOCASE', 'unicase')"})...)
	var got []string
	for _, f := range examine(t, path, func(o *Options) { o.Queries = []string{"SELECT 1 FROM a WHERE x = ?"} }) {
		if f.Problem == NotChecked && strings.Contains(f.Evidence, "unicase") {
			got = append(got, f.Says)
		}
	}
	want := "the structure of a, b; the query SELECT 1 FROM a WHERE x = ?: not examined in full"
	if !slices.Equal(got, []string{want}) {
		t.Errorf("got %q, want %q alone", got, want)
	}
}

// The given queries say nothing of the indexes of a table that none of them names.
func TestUnusedIndexOfNamedTables(t *testing.T) {
	path := database(t, slices.Concat(healthy, []string{"CREATE TABLE other (a TEXT)", "CREATE INDEX other_a ON other(a)"})...)
	for query, want := range map[string]bool{"SELECT 1 FROM post": false, `INSERT INTO "Other" VALUES (?)`: true, "SELECT count(*) FROM [other] WHERE a + 1 = ?": true} {
		found := examine(t, path, func(o *Options) { o.Queries = []string{query} })
		got := slices.ContainsFunc(found, func(f Finding) bool { return f.Problem == "unused-index" && strings.Contains(f.Evidence, "other_a") })
		if got != want {
			t.Errorf("%s: other_a is unused: %t, want %t", query, got, want)
		}
	}
}

// An index that SQLite uses for some values of the parameters only is not unused.
func TestUnusedIndexDependsOnValues(t *testing.T) {
	path := database(t, slices.Concat(healthy, []string{"CREATE TABLE job (name TEXT, status TEXT, at INTEGER)",
		"CREATE INDEX job_name ON job(name COLLATE NOCASE)", "CREATE INDEX job_open ON job(at) WHERE status = 'open'"})...)
	for query, want := range map[string][]string{
		"SELECT at FROM job WHERE name LIKE ?":                             {"job_open"},
		"SELECT name FROM job WHERE status = ? AND at > ?":                 {"job_name"},
		"SELECT name FROM job WHERE status = 'open' AND at > 7":            {"job_name"},
		"SELECT name FROM job WHERE status = 'done' AND at > 7":            {"job_name", "job_open"},
		"SELECT at FROM job WHERE name = ?; SELECT status, '?' FROM job":   {"job_name", "job_open"},
		"SELECT at FROM job WHERE name = ? UNION SELECT status FROM job":   {"job_name"},
		"UPDATE job SET status = ? WHERE name = ? COLLATE NOCASE":          nil,
		"SELECT count(*) FROM job INDEXED BY job_open WHERE status='open'": {"job_name"},
	} {
		var got []string
		for _, f := range examine(t, path, func(o *Options) { o.Queries = Split(query) }) {
			if f.Problem == "unused-index" {
				name, _, _ := strings.Cut(f.Evidence, " ")
				got = append(got, name)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q as unused, want %q", query, got, want)
		}
	}
}

// Damage beside what cannot be checked is damage.
func TestDamageBesideUnchecked(t *testing.T) {
	path := database(t, slices.Concat(healthy, []string{"CREATE TABLE own (a TEXT)", "CREATE INDEX own_a ON own(a COLLATE NOCASE)", "PRAGMA writable_schema = 1",
		"UPDATE sqlite_schema SET sql = replace(sql, 'NOCASE', 'unicase')", "UPDATE sqlite_schema SET sql = 'CREATE INDEX post_author_day ON post(day, author)' WHERE name = 'post_author_day'"})...)
	if found := examine(t, path); len(found) == 0 || found[0].Problem != "corrupt" || !strings.Contains(found[0].Evidence, "post_author_day") {
		t.Errorf("got %+v, want the damage of post_author_day", found)
	}
}

// A log is judged by where checkpoints begin, and not by the size of the file beside it.
func TestLogSize(t *testing.T) {
	const page = 4096
	for _, c := range []struct {
		pages string // wal_autocheckpoint; empty: not known
		bytes int64
		large bool
	}{
		{"", 4 << 20, false}, {"", 16 << 20, false}, {"", 183e6, true}, {"", 1_700e6, true},
		{"100000", 183e6, false}, {"100000", 1_700e6, true}, {"0", 4 << 20, false}, {"0", 183e6, true},
	} {
		p := &patient{Options: Options{Settings: map[string]string{"wal_autocheckpoint": c.pages}}}
		if got := c.bytes > walLimit(p.checkpoint()*page); got != c.large {
			t.Errorf("%d bytes with wal_autocheckpoint %q: got %v, want %v", c.bytes, c.pages, got, c.large)
		}
	}
}

// No index is advised that SQLite would not use; that of LIKE depends on its pattern.
func TestIndexThatHelps(t *testing.T) {
	path := database(t, slices.Concat(healthy, []string{"CREATE TABLE tag (post INTEGER, word TEXT COLLATE NOCASE)", "INSERT INTO tag SELECT id, title FROM post"})...)
	for query, want := range map[string]string{
		"SELECT id FROM post WHERE title = ?":                              "an index that begins with title;",
		"SELECT 1 FROM tag WHERE post = :post AND word > ?":                "an index that begins with post or word;",
		"SELECT id FROM post p WHERE p.title LIKE ?":                       "an index on title COLLATE NOCASE is used only where",
		"SELECT id FROM post WHERE title LIKE 'a%'":                        "an index that begins with title COLLATE NOCASE;",
		"SELECT id FROM post WHERE title LIKE '%a'":                        "no index on one column is used",
		"SELECT id FROM post WHERE lower(title) = ?":                       "no index on one column is used",
		"SELECT post FROM tag WHERE word LIKE ?":                           "an index on word is used only where",
		"SELECT post FROM tag WHERE word = ?":                              "an index that begins with word;",
		"SELECT 1 FROM author a LEFT JOIN tag ON tag.post + 0 = a.id + ?1": "no index on one column is used",
	} {
		found := examine(t, path, func(o *Options) { o.Queries = []string{query} })
		i := slices.IndexFunc(found, func(f Finding) bool { return f.Problem == "scan" })
		if i < 0 || !strings.HasPrefix(found[i].Fix, want) {
			t.Errorf("%s: got %+v, want a scan with the advice %q", query, found, want)
		}
	}
}

// The schema of a foreign file is tried for an index, and nothing else that stands in it is executed.
func TestSchemaIsNotExecuted(t *testing.T) {
	for _, hostile := range []string{"ATTACH '%s' AS a; CREATE TABLE a.t (x)", "VACUUM INTO '%s'"} {
		written := filepath.Join(t.TempDir(), "written.db")
		db := open(t, filepath.Join(t.TempDir(), "app.db")) // SQLite reads no such schema from a file
		run(t, db, append(slices.Clone(healthy), "PRAGMA writable_schema = 1", "UPDATE sqlite_schema SET sql = sql || "+"'; "+strings.ReplaceAll(fmt.Sprintf(hostile, written), "'", "''")+"'"+" WHERE name = 'author'")...)
		bare, err := (&patient{db: db}).bare(t.Context())
		must(t, err)
		t.Cleanup(func() { bare.db.Close() })
		tables, err := bare.texts(t.Context(), "SELECT name FROM sqlite_schema WHERE type = 'table'")
		if _, absent := os.Stat(written); err != nil || len(tables) != 1 || tables[0][0] != "post" || !errors.Is(absent, fs.ErrNotExist) {
			t.Errorf("%s: got the tables %v, %v, and the file %s: %v; want post alone, and no file", hostile, tables, err, written, absent)
		}
	}
}

// Where no index can be tried, the examination goes on.
func TestIndexThatCannotBeTried(t *testing.T) {
	for _, more := range [][]string{{"CREATE INDEX " + triedIndex + " ON post(id, day)"},
		{"CREATE INDEX a ON post(author COLLATE NOCASE)", "PRAGMA writable_schema = 1", "UPDATE sqlite_schema SET sql = replace(sql, 'title TEXT', 'title TEXT COLLATE unicase')"}} {
		found := examine(t, database(t, slices.Concat(healthy, more)...), func(o *Options) { o.Queries = []string{"SELECT id FROM post WHERE day + 0 = ?"} })
		i := slices.IndexFunc(found, func(f Finding) bool { return f.Problem == "scan" })
		if i < 0 || !strings.HasPrefix(found[i].Fix, "an index on the columns of its WHERE or ON;") {
			t.Errorf("%q: got %+v, want a scan with general advice", more, found)
		}
	}
}

// An index that holds too few rows for a query is named beside the scan.
func TestNarrowerIndex(t *testing.T) {
	for index, want := range map[string]string{
		"CREATE INDEX few ON post(title) WHERE day > 300":                   "the index few(title) exists, but holds only rows WHERE day > 300",
		"CREATE INDEX [few] ON post(title DESC)\nwhere  (day > 300)":        "the index few(title DESC) exists, but holds only rows WHERE (day > 300)",
		"CREATE INDEX somewhere ON post(lower(title), day) WHERE day > 300": "",
		"CREATE INDEX few ON post(day, title) WHERE title > ')'":            "",
	} {
		path := database(t, slices.Concat(healthy, []string{index, "ANALYZE"})...)
		found := examine(t, path, func(o *Options) { o.Queries = append(o.Queries, "SELECT id FROM post WHERE title = ?") })
		if found[0].Problem != "scan" || want != "" && !strings.Contains(found[0].Fix, want) || want == "" && strings.Contains(found[0].Fix, "exists") {
			t.Errorf("%s: got %+v, want %q", index, found[0], want)
		}
		if !strings.Contains(found[0].Says, "as SQLite 3.") {
			t.Errorf("got %q, want the version that planned the query", found[0].Says)
		}
	}
}

// damaged has an index without one of its entries.
// truncated is the beginning of a file, as an interrupted copy leaves it.
func truncated(t *testing.T) string {
	path := database(t, healthy...)
	must(t, os.Truncate(path, 20_000))
	return path
}

func damaged(t *testing.T) string {
	path := database(t, healthy...)
	db := open(t, path)
	run(t, db, "PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA writable_schema = 1",
		"UPDATE sqlite_schema SET sql = 'CREATE INDEX post_author_day ON post(day, author)' WHERE name = 'post_author_day'")
	must(t, db.Close())
	return path
}

// bigLog has a log that is kept by an open reader.
func bigLog(t *testing.T) string {
	path := database(t, healthy...)
	db, reader := open(t, path), open(t, path)
	rows, err := reader.Query("SELECT * FROM post")
	if err != nil || !rows.Next() {
		t.Fatal(err)
	}
	t.Cleanup(func() { rows.Close() })
	run(t, db, "CREATE TABLE blob (b BLOB)")
	for range 20 {
		run(t, db, "INSERT INTO blob VALUES (zeroblob(1000000))", "DELETE FROM blob")
	}
	return path
}

// What belongs to a database as other programs see it.
func files(t *testing.T, path string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	entries, err := os.ReadDir(filepath.Dir(path))
	must(t, err)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), "-shm") {
			all[e.Name()] = nil // readers' marks are in it
			continue
		}
		if all[e.Name()], err = os.ReadFile(filepath.Join(filepath.Dir(path), e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// A file that a program writes to is neither changed nor kept from it.
func TestWriterIsNotDisturbed(t *testing.T) {
	path := database(t, healthy...)
	writer := open(t, path)
	run(t, writer, "PRAGMA busy_timeout = 0", "BEGIN IMMEDIATE", "INSERT INTO author VALUES (1000, 'open transaction')")
	before := files(t, path)
	if found := examine(t, path); len(found) != 0 {
		t.Errorf("got %+v, want nothing", found)
	}
	after := files(t, path)
	for name := range before {
		if !bytes.Equal(before[name], after[name]) {
			t.Errorf("%s changed", name)
		}
	}
	if len(before) != len(after) {
		t.Errorf("files were %d, are %d", len(before), len(after))
	}
	run(t, writer, "COMMIT")
}

func TestClosedFileStaysAsItIs(t *testing.T) {
	path := database(t, healthy...)
	before := files(t, path)
	examine(t, path)
	if after := files(t, path); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("files were %d, are %d, or changed", len(before), len(after))
	}
}

func TestNoDatabase(t *testing.T) {
	other := filepath.Join(t.TempDir(), "text")
	must(t, os.WriteFile(other, []byte("hello"), 0o600))
	for _, path := range []string{other, "/nonexistent"} {
		options := Options{Path: path, Folder: t.TempDir(), Copy: dataset.Snapshot, Disk: func(string) string { return "" }}
		var input *InputError
		if found, err := Examine(t.Context(), options); !errors.As(err, &input) {
			t.Errorf("%s: got %v, %v, want an error of the input", path, found, err)
		}
	}
}

func TestSplit(t *testing.T) {
	got := Split("SELECT ';' -- it's over\n;\nSELECT /* ; */ 1;-- no\n-- it's\n;SELECT \"a;b\"")
	want := []string{"SELECT ';'", "SELECT 1", `SELECT "a;b"`}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The names in a database are others' words: a fix that is pasted into a shell
// gives them to SQLite as they are, and to nobody else.
func TestFixOfHostileNames(t *testing.T) {
	const name = "x'; touch pwned; \"$(touch pwned)`touch pwned`"
	path := database(t, slices.Concat(healthy, []string{"CREATE INDEX " + sqltext.Quote(name) + " ON post(author)", "ANALYZE"})...)
	found := examine(t, path, func(o *Options) { o.Queries = nil })
	if len(found) != 1 || found[0].Problem != "duplicate-index" {
		t.Fatalf("got %+v, want one duplicate index", found)
	}
	command := exec.CommandContext(t.Context(), "sh", "-c", "sqlite3() { printf '%s\\n' \"$@\"; }; "+found[0].Fix)
	command.Dir = t.TempDir()
	out, err := command.CombinedOutput()
	if want := path + "\nDROP INDEX " + sqltext.Quote(name) + "\n"; err != nil || string(out) != want {
		t.Errorf("got %q, %v; want %q", out, err, want)
	}
	if left, err := os.ReadDir(command.Dir); err != nil || len(left) > 0 {
		t.Errorf("the fix made %v, %v; want nothing", left, err)
	}
}

func TestFixOfFileThatLooksLikeFlag(t *testing.T) {
	t.Chdir(filepath.Dir(damaged(t)))
	must(t, os.Rename("app.db", "-app.db"))
	found := examine(t, "-app.db")
	if len(found) != 1 || !strings.Contains(found[0].Fix, "sqlite3 './-app.db' .recover") {
		t.Errorf("got %+v, want a fix of ./-app.db", found)
	}
}

// Statistics are stale also where a table has lost most of its rows.
func TestStatisticsOfRowsThatAreGone(t *testing.T) {
	for rows, want := range map[int]int{50_000: 0, 60_000: 1} { // of 5000 rows
		path := database(t, append(slices.Clone(healthy), fmt.Sprintf("UPDATE sqlite_stat1 SET stat = '%d 1200 4' WHERE tbl = 'post'", rows))...)
		found := examine(t, path, func(*Options) {})
		if len(found) != want || want > 0 && (found[0].Problem != "stale-statistics" || !strings.Contains(found[0].Evidence, "post had 60000 rows, has 5000")) {
			t.Errorf("statistics of %d rows: got %+v, want %d finding", rows, found, want)
		}
	}
}

// Rows are found by a foreign key where an index begins with all of its columns; and an
// index that sorts otherwise replaces none.
func TestKeysOfSeveralColumns(t *testing.T) {
	more := []string{"CREATE TABLE place (x INTEGER, y INTEGER, name TEXT, PRIMARY KEY (x, y))", "INSERT INTO place VALUES (1, 2, 'a')",
		"CREATE TABLE tree (id INTEGER PRIMARY KEY, x INTEGER, y INTEGER, name TEXT, FOREIGN KEY (x, y) REFERENCES place)",
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO tree SELECT i, 1, 2, 'n' || i FROM n",
		"CREATE INDEX tree_name ON tree(name COLLATE NOCASE)", "CREATE INDEX tree_name_id ON tree(name, id)", "ANALYZE"}
	found := examine(t, database(t, slices.Concat(healthy, more)...), func(o *Options) { o.Queries = nil })
	if len(found) != 1 || found[0].Problem != "foreign-key-index" || !strings.Contains(found[0].Evidence, "tree has 2000 rows and no index that begins with x, y") {
		t.Errorf("got %+v, want the index of x, y alone", found)
	}
	found = examine(t, database(t, slices.Concat(healthy, more, []string{"CREATE INDEX tree_place ON tree(x, y)", "ANALYZE"})...), func(o *Options) { o.Queries = nil })
	if len(found) != 0 {
		t.Errorf("with the index: got %+v, want nothing", found)
	}
}

// An index is superfluous where another one begins with all of its columns, sorted
// alike, and holds all rows. One that keeps rows unique, or that a constraint made, is not.
func TestDuplicates(t *testing.T) {
	of := func(name string, columns ...string) index {
		x := index{name: name, made: true}
		for _, c := range columns {
			x.columns = append(x.columns, c+" BINARY")
		}
		return x
	}
	unique := func(x index) index { x.unique = true; return x }
	partial := func(x index) index { x.partial = "y > 0"; return x }
	constraint := func(x index) index { x.made, x.unique = false, true; return x }
	for name, c := range map[string]struct {
		indexes []index
		want    []string // that are superfluous
	}{
		"a beginning":                   {[]index{of("a", "x"), of("b", "x", "y")}, []string{"a"}},
		"another order":                 {[]index{of("a", "y"), of("b", "x", "y")}, nil},
		"two that are alike":            {[]index{of("a", "x"), of("b", "x")}, []string{"b"}},
		"alike, the second one unique":  {[]index{of("a", "x"), unique(of("b", "x"))}, []string{"a"}},
		"alike, the first one unique":   {[]index{unique(of("a", "x")), of("b", "x")}, []string{"b"}},
		"a unique beginning":            {[]index{unique(of("a", "x")), of("b", "x", "y")}, nil},
		"a constraint":                  {[]index{constraint(of("a", "x")), of("b", "x", "y")}, nil},
		"of a constraint":               {[]index{of("a", "x"), constraint(of("b", "x", "y"))}, []string{"a"}},
		"the longer has some rows only": {[]index{of("a", "x"), partial(of("b", "x", "y"))}, nil},
		"the shorter has some only":     {[]index{partial(of("a", "x")), of("b", "x", "y")}, nil},
		"another collation":             {[]index{{name: "a", made: true, columns: []string{"x NOCASE"}}, of("b", "x", "y")}, nil},
		"two expressions":               {[]index{of("a", "(expression)"), of("b", "(expression)", "y")}, nil},
	} {
		p := &patient{tables: []table{{name: "t", indexes: c.indexes}}}
		must(t, p.duplicates(t.Context()))
		var got []string
		for _, f := range p.found {
			dropped, _, _ := strings.Cut(f.Evidence, "(")
			got = append(got, dropped)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got that %q are superfluous, want %q", name, got, c.want)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
