package follow

import (
	"cmp"
	"database/sql"
	"flag"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/mattn/go-sqlite3"
	"xorm.io/xorm"
)

const (
	mode     = "mode=ro" // want `ignores mode=ro`
	ownName  = "sqlite3_of_this_program"
	attached = "app.db"
)

func init() { sql.Register(ownName, &sqlite3.SQLiteDriver{}) }

func wrapped(driver, dsn string) (*sql.DB, error) { return sql.Open(driver, dsn) }

func twice(dsn string) (*sql.DB, error) { return wrapped("sqlite3", dsn+"?cache=private") }

func address() string { return attached + "?" + mode }

type config struct {
	driver, dsn string
	open, idle  int
}

func defaults() config { return config{"sqlite3", "fields.db?mode=ro", 40, 5} } // want `ignores mode=ro`

func added(dsn string) (*sql.DB, error) {
	dsn = dsn + "?mode=ro" // want `ignores mode=ro`
	return sql.Open("sqlite3", dsn)
}

type store struct{ driver string }

func newStore(driver string) *store { return &store{driver: driver} }

func (s *store) connect(dsn string) (*sql.DB, error) { return sql.Open(s.driver, dsn) }

func opens(dir string) {
	newStore("sqlite3").connect("method.db?mode=ro&_txlock=immediate") // want `ignores mode=ro`
	wrapped("sqlite3", "wrapped.db?mode=ro")                           // want `ignores mode=ro`
	twice("twice.db?mode=ro&x")                                        // want `ignores mode=ro`
	sql.Open(ownName, "own.db?mode=ro")                                // want `ignores mode=ro`
	sql.Open("sqlite3", address())
	xorm.NewEngine("sqlite3", "engine.db?mode=ro") // want `ignores mode=ro`
	c := defaults()
	db, _ := sql.Open(c.driver, c.dsn)
	db.SetMaxOpenConns(c.open) // want `the pool opens up to 40 connections and keeps 5`
	db.SetMaxIdleConns(c.idle)
	c.dsn = filepath.Join(dir, c.dsn)
	added("added.db")
	given := flag.String("dsn", "flag.db?mode=ro", "database") // want `ignores mode=ro`
	sql.Open("sqlite3", *given)
	q := url.Values{"mode": {"ro"}} // want `ignores mode=ro`
	q.Set("cache", "private")
	sql.Open("sqlite3", "query.db?"+q.Encode())
	u := url.URL{Path: "url.db"}
	u.RawQuery = "mode=ro" // want `ignores mode=ro`
	sql.Open("sqlite3", u.String())
	sql.Open("sqlite3", "joined.db?"+strings.Join([]string{"cache=private", "mode=ro"}, "&"))              // want `ignores mode=ro`
	sql.Open("sqlite3", "file:"+filepath.Join(dir, "joined.db")+"?_cache_size=9&mode=ro&_jurnal_mode=wal") // want `does not know _jurnal_mode, .*; leave it out: WAL is a property of the file`
}

func chosen(n int) string {
	if n == 1 {
		return "one.db?mode=ro" // want `ignores mode=ro`
	}
	return "two.db?mode=ro" // want `ignores mode=ro`
}

func parameters() url.Values {
	q := url.Values{}
	q.Set("mode", "ro") // want `ignores mode=ro`
	return q
}

func add(q url.Values) {
	q.Add("cache", "private")
	q.Add("_journal_mode", "wal")
	q.Add("_pragma", "foreign_keys(1)") // want `ignores _pragma=foreign_keys\(1\)`
}

type settings struct{ driver, dsn string }

type option func(*settings)

func withDSN(dsn string) option { return func(c *settings) { c.dsn = dsn } }

func configured(options ...option) {
	c := &settings{driver: "sqlite3"}
	for _, o := range options {
		o(c)
	}
	sql.Open(c.driver, c.dsn)
}

func more() {
	dsn := os.Getenv("DSN")
	if dsn == "" {
		dsn = "default.db?mode=ro" // want `ignores mode=ro`
	}
	sql.Open("sqlite3", dsn)
	sql.Open("sqlite3", cmp.Or(os.Getenv("DSN"), "or.db?mode=ro")) // want `ignores mode=ro`
	sql.Open("sqlite3", chosen(len(dsn)))
	sql.Open("sqlite3", "query.db?"+parameters().Encode())
	q := make(url.Values)
	q["cache"] = []string{"private"}
	q["mode"] = []string{"ro"} // want `ignores mode=ro`
	add(q)
	sql.Open("sqlite3", "indexed.db?"+q.Encode())
	connect := sql.Open
	connect("sqlite3", "alias.db?mode=ro") // want `ignores mode=ro`
	literal := func(driver, dsn string) { sql.Open(driver, dsn) }
	literal("sqlite3", "literal.db?mode=ro") // want `ignores mode=ro`
	configured(withDSN("option.db?mode=ro")) // want `ignores mode=ro`
}

// built is a list that gets its elements one by one, behind one of two beginnings.
func built(path string) (string, error) {
	var address string
	if path == "" {
		address = "temporary.db"
	} else {
		address = path
	}
	var parts []string
	if path != "" {
		parts = append(parts, "mode=ro") // want `ignores mode=ro`
	}
	address += "?" + strings.Join(append(parts, "cache=private"), "&")
	return address, nil
}

func pair() (int, []string) { return 0, nil }

func others() {
	address, _ := built("built.db")
	sql.Open("sqlite3", address)
	q := url.Values{}
	_, q["cache"] = pair()
	sql.Open("sqlite3", "entry.db?mode=ro&"+q.Encode()) // want `ignores mode=ro`
}

func rewritten(dsn string) {
	dsn = strings.TrimPrefix(dsn, "sqlite://")
	dsn = strings.TrimSuffix(dsn, ";")
	if !strings.Contains(dsn, "?") {
		dsn += "?mode=ro" // want `ignores mode=ro`
	}
	sql.Open("sqlite3", strings.ReplaceAll(dsn, " ", "%20"))
}

func rewrites() { rewritten("sqlite://rewritten.db;") }
