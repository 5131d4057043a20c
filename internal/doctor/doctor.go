// Package doctor finds what is wrong with a database file of SQLite, with its
// disk, and with an application's settings for it. It looks at a copy: the file
// stays as it is, and programs that have it open are not disturbed.
package doctor

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	driver "modernc.org/sqlite" // with the name sqlite
	sqlite3 "modernc.org/sqlite/lib"

	"assay/internal/dataset"
	"assay/kit/sqlite"
	"assay/kit/sqlrows"
)

// Finding is one thing that is wrong.
type Finding struct {
	Problem  string `json:"problem"` // its name
	Says     string `json:"says"`
	Evidence string `json:"evidence"`
	Fix      string `json:"fix"` // a command or a statement
}

// Problem is a kind of finding.
type Problem struct{ Name, About string }

// Problems are all, the most important one first: lost data, then lost commits, then
// failures under load, then speed, then space. The reference describes them.
var Problems = []Problem{
	{"corrupt", "`PRAGMA integrity_check` reports damage, or the file cannot be copied because of it; nothing else is looked at then"},
	{"foreign-key-violations", "rows refer to rows that are not there"},
	{"foreign-key-parent", "a foreign key refers to columns that nothing keeps unique, or to no table: changes fail once foreign keys are on"},
	{"known-bug", "with `--driver`: the driver's SQLite has a fault that loses or damages data; `assay advisories` lists them"},
	{"disk", "the file lies in memory, on a network file system, or on a mount that ignores syncs"},
	{"setting", "with `--driver` and `--dsn`: `synchronous` is off, `busy_timeout` is 0, or foreign keys of the schema are not enforced, as read back through the driver on a copy"},
	{"parameter", "with `--driver` and `--dsn`: a setting that the DSN names, perhaps misspelled, reads back as another value"},
	{"wal-size", "the log has over 16 MiB, and over four times the size at which a checkpoint begins: 1,000 pages, or with `--dsn` its `wal_autocheckpoint`"},
	{"journal-mode", "the file is not in WAL mode"},
	{"scan", "with `--queries`: a query with WHERE reads all of a table of 1,000 rows or more, or a query reads it once for each row of another table, as SQLite plans it without knowing the values of parameters"},
	{"foreign-key-index", "a table of 1,000 rows or more has a foreign key and no index for it"},
	{"statistics", "a table of 1,000 rows or more with indexes was never analyzed"},
	{"stale-statistics", "a table of 1,000 rows or more with indexes has ten times as many rows as when it was analyzed, or a tenth"},
	{"unused-index", "with `--queries`: they name the table, and none uses the index, which is not UNIQUE, nor one that it makes superfluous"},
	{"duplicate-index", "the index is the beginning of another one"},
	{"page-size", "under 4,096 bytes"},
	{"auto-vacuum", "`full`, so that each commit moves pages"},
	{"free-pages", "over a fifth of the pages, and over 1 MiB, are free"},
	{"sync-latency", "with `--disk`: under 200 syncs a second, measured with a file in the folder that is removed again"},
	{NotChecked, "what needs a collation, a function, a tokenizer or a module that only the application has, and queries that SQLite refuses"},
}

// NotChecked is the problem of what could not be examined: nothing is known to be wrong
// with it.
const NotChecked = "not-checked"

// Options say what to look at.
type Options struct {
	Path    string
	Folder  string   // for the copy; somebody else removes it
	Queries []string // of the application; empty: nothing is said about indexes that nobody uses
	// Copy copies a database that other programs may have open.
	Copy func(ctx context.Context, src, dst string) error
	// Disk says why commits in a folder need not survive a power cut; empty
	// where they do.
	Disk func(folder string) string
	// SyncRate is how many syncs a second the disk does; 0: not measured.
	SyncRate float64
	// Settings holds the settings of the application's connections, read back through its
	// driver; nil: not known.
	Settings map[string]string
	// Bugs are the known faults of the application's library.
	Bugs []Finding
	// Asked are the parameters of the application's DSN.
	Asked []Asked
}

// Asked is a parameter of a DSN, with the setting that it names.
type Asked struct {
	Parameter string
	Setting   string // empty: it names none that can be read back
	Value     string // as it reads back where it takes effect; empty: the setting is not known to take it
	Fix       string // what sets it
}

// InputError says that the file is none that can be examined.
type InputError struct{ Err error }

func (e *InputError) Error() string { return e.Err.Error() }
func (e *InputError) Unwrap() error { return e.Err }

// patient holds what an examination works with.
type patient struct {
	Options
	db      *sql.DB // the copy
	version string  // of the SQLite that plans queries here
	tables  []table
	found   []Finding
	skipped []skipped
}

// skipped holds what could not be examined for one reason.
type skipped struct {
	why    string
	things []thing // of kinds in the order of their steps
}

type thing struct{ kind, name string }

type table struct {
	name    string
	rows    int64
	indexes []index
}

type index struct {
	name    string
	columns []string
	unique  bool
	made    bool   // by CREATE INDEX
	partial string // its WHERE; empty: it holds all rows
	spare   bool   // another one makes it superfluous
}

// Examine returns what is wrong, the most important finding first.
func Examine(ctx context.Context, options Options) (_ []Finding, err error) {
	if _, err := dataset.Header(options.Path); err != nil {
		return nil, &InputError{err}
	}
	p := &patient{Options: options}
	copied := filepath.Join(options.Folder, "copy.db")
	if err := options.Copy(ctx, options.Path, copied); Damaged(err) {
		p.corrupt(err.Error())
		return p.found, nil
	} else if errors.Is(err, dataset.ErrName) {
		return nil, &InputError{err}
	} else if err != nil {
		return nil, err
	}
	if p.db, err = sql.Open("sqlite", "file:"+sqlite.EscapePath(copied)+"?mode=ro&immutable=1"); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.db.Close()) }()
	if err := p.examine(ctx); err != nil {
		return nil, err
	}
	slices.SortStableFunc(p.found, func(a, b Finding) int {
		return place(a) - place(b)
	})
	return p.found, nil
}

// place returns where a finding stands among others.
func place(f Finding) int {
	return slices.IndexFunc(Problems, func(p Problem) bool { return p.Name == f.Problem })
}

func (p *patient) examine(ctx context.Context) error {
	whole, err := p.integrity(ctx)
	if err != nil || !whole {
		return err // nothing else can be told of a damaged file
	}
	if err := p.db.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&p.version); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{p.schema, p.foreignKeys, p.journal, p.pages, p.statistics, p.duplicates, p.queries} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	p.nameSkipped()
	p.disk()
	p.found = append(p.found, p.Bugs...)
	return p.settings(ctx)
}

func (p *patient) add(problem, says, evidence, fix string) {
	p.found = append(p.found, Finding{problem, says, evidence, fix})
}

func (p *patient) texts(ctx context.Context, query string, args ...any) ([][]string, error) {
	rows, err := p.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", query, err)
	}
	return sqlrows.Texts(rows)
}

func (p *patient) number(ctx context.Context, query string) (n int64, err error) {
	err = p.db.QueryRowContext(ctx, query).Scan(&n)
	if err != nil {
		err = fmt.Errorf("%s: %w", query, err)
	}
	return n, err
}

// shell is one word for a command line: names of tables are others' words.
func shell(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func (p *patient) sqlite3(statement string) string {
	return "sqlite3 " + p.file() + " " + shell(statement)
}

// file is the path for a command line, where no program takes it for a flag.
func (p *patient) file() string {
	if strings.HasPrefix(p.Path, "-") {
		return shell("./" + p.Path)
	}
	return shell(p.Path)
}

// skip notes what could not be examined because of what only the application has. Any other
// error is one.
func (p *patient) skip(kind, name string, err error) error {
	if err == nil || !dataset.NeedsApplication(err) {
		return err
	}
	p.skipFor(dataset.Refusal(err), thing{kind, name})
	return nil
}

func (p *patient) skipFor(why string, t thing) {
	i := slices.IndexFunc(p.skipped, func(s skipped) bool { return s.why == why })
	if i < 0 {
		i = len(p.skipped)
		p.skipped = append(p.skipped, skipped{why: why})
	}
	p.skipped[i].things = append(p.skipped[i].things, t)
}

const structure = "the structure of"

// mistake is what SQLite says of what is no SQL, such as another library's marks of values.
var mistake = regexp.MustCompile(`syntax error|unrecognized token|incomplete input`)

// unlike is what SQLite says where a query and the file do not belong together.
var unlike = regexp.MustCompile(`no such (column|table)|ambiguous column|has no column named`)

// nameSkipped makes one finding of all that was skipped for one reason.
func (p *patient) nameSkipped() {
	for _, s := range p.skipped {
		says, fix := "", "check it where that is there: in the application"
		for i, t := range s.things {
			switch {
			case i == 0:
				says = t.kind + " " + t.name
			case t.kind == s.things[i-1].kind:
				says += ", " + t.name
			default:
				says += "; " + t.kind + " " + t.name
			}
		}
		switch {
		case s.things[0].kind == structure:
			fix = "PRAGMA integrity_check in the application"
		case mistake.MatchString(s.why):
			fix = "write the query as SQLite gets it, with ? where a value stands"
		case unlike.MatchString(s.why):
			fix = "compare the query with the tables of this file: it may lack those of another version, and those that only the application has"
		}
		p.add(NotChecked, says+": not examined in full", s.why, fix)
	}
}

// integrity looks at the structure.
func (p *patient) integrity(ctx context.Context) (bool, error) {
	found, err := dataset.CheckIntegrity(ctx, p.db, 5)
	if err != nil {
		return false, err
	}
	if len(found.Damage) > 0 {
		p.corrupt("PRAGMA integrity_check: " + strings.Join(found.Damage, "; "))
		return false, nil
	}
	for _, u := range found.Unchecked {
		p.skipFor(u.Why, thing{structure, u.Table})
	}
	return true, nil
}

// Damaged reports whether SQLite refused to read a file because of what is in it.
func Damaged(err error) bool {
	refused, is := errors.AsType[*driver.Error](err)
	return is && slices.Contains([]int{sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}, refused.Code()&0xff)
}

func (p *patient) corrupt(evidence string) {
	p.add("corrupt", "the file is damaged", evidence, "restore a backup, or save what is readable: sqlite3 "+p.file()+" .recover | sqlite3 recovered.db")
}
