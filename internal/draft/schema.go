package draft

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"slices"
	"strings"

	_ "modernc.org/sqlite" // reads the private copy, registered as "sqlite"

	"assay/internal/dataset"
	"assay/internal/plan/sqltext"
	"assay/kit/sqlrows"
)

// schema holds what the private copy of the user's database has.
type schema struct {
	db     *sql.DB
	tables []*table
	unread []string // views and virtual tables that SQLite cannot read here, with the reason
}

type table struct {
	name    string
	columns []*column
	keys    [][]*column // whose values together come once
	partly  [][]*column // whose values together come once in some rows, or after a computation
	view    string      // SQL of a view
	noRowid bool        // WITHOUT ROWID, or no table
	// collates tells that texts may be ordered by other than their bytes.
	collates bool
}

type column struct {
	table    *table
	name     string
	declared string
	hidden   bool // INSERT without a list does not fill it
	notNull  bool
	rowid    bool // an INTEGER PRIMARY KEY, or the row id without a name
	parent   parent
	found    *stats
}

// parent is the column that a foreign key refers to.
type parent struct{ table, column string }

// stats are about the values that a column has.
type stats struct {
	rows, values, distinct int64
	kind                   string // of all values: integer, real, text, blob; numeric or mixed; empty without any
	most                   string // the most frequent kind, of several
	low, high              any
	average                int64 // length of texts and blobs
	free                   int64 // where the largest gap between whole numbers begins, if none can be above them
}

// open reads the schema of a database that nobody changes.
func open(ctx context.Context, path string) (*schema, error) {
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?mode=ro&immutable=1")
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	s := &schema{db: db}
	if err := s.load(ctx); err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	return s, nil
}

func (s *schema) load(ctx context.Context) error {
	// Each question is asked once: asked of each table, those about all tables
	// take a time that grows with the square of their number.
	views, collates := map[string]string{}, map[string]bool{}
	rows, err := texts(ctx, s.db, "SELECT name, iif(type = 'view', sql, ''), sql LIKE '%COLLATE%' FROM sqlite_schema WHERE type IN ('table', 'view')")
	if err != nil {
		return err
	}
	for _, row := range rows {
		views[row[0]], collates[row[0]] = row[1], row[2] == "1"
	}
	names, err := texts(ctx, s.db, "SELECT name, wr OR type <> 'table' FROM pragma_table_list WHERE schema = 'main' ORDER BY name")
	if err != nil {
		return err
	}
	for _, row := range names {
		t := &table{name: row[0], view: views[row[0]], noRowid: row[1] == "1", collates: collates[row[0]]}
		switch err := s.readTable(ctx, t); {
		case dataset.NeedsApplication(err):
			s.unread = append(s.unread, fmt.Sprintf("%s cannot be read here: %s", t.name, dataset.Refusal(err)))
		case err != nil:
			return fmt.Errorf("table %q: %w", t.name, err)
		default:
			s.tables = append(s.tables, t)
		}
	}
	return nil
}

func (s *schema) readTable(ctx context.Context, t *table) error {
	for _, read := range []func(context.Context, *table) error{s.readColumns, s.readKeys, s.readPartly, s.readForeign} {
		if err := read(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

func (s *schema) readColumns(ctx context.Context, t *table) error {
	rows, err := texts(ctx, s.db, `SELECT name, type, "notnull", pk, hidden FROM pragma_table_xinfo(?)`, t.name)
	if err != nil {
		return err
	}
	var primary []*column
	for _, row := range rows {
		c := &column{table: t, name: row[0], declared: strings.ToUpper(row[1]), notNull: row[2] == "1",
			hidden: row[4] != "0"}
		t.columns = append(t.columns, c)
		if row[3] != "0" {
			primary = append(primary, c)
		}
	}
	if t.noRowid {
		return nil
	}
	if len(primary) == 1 && primary[0].declared == "INTEGER" {
		primary[0].rowid = true
		t.keys = append(t.keys, primary)
		return nil
	}
	if t.column("rowid") == nil {
		c := &column{table: t, name: "rowid", declared: "INTEGER", hidden: true, notNull: true, rowid: true}
		t.columns, t.keys = append(t.columns, c), append(t.keys, []*column{c})
	}
	return nil
}

// readKeys reads the unique indexes of all rows and of columns alone, among them those of
// primary keys.
func (s *schema) readKeys(ctx context.Context, t *table) error {
	rows, err := texts(ctx, s.db, `SELECT l.seq, i.name FROM pragma_index_list(?1) l, pragma_index_info(l.name) i
		WHERE l."unique" AND NOT l.partial AND NOT EXISTS (SELECT 1 FROM pragma_index_info(l.name) WHERE name IS NULL)
		ORDER BY l.seq DESC, i.seqno`, t.name)
	if err != nil {
		return err
	}
	for i, row := range rows {
		if i == 0 || row[0] != rows[i-1][0] {
			t.keys = append(t.keys, nil)
		}
		last := len(t.keys) - 1
		t.keys[last] = append(t.keys[last], t.column(row[1]))
	}
	return nil
}

// readPartly reads the unique indexes on expressions, and those of some rows only: new
// values of the columns that they name keep to them. CROSS JOIN reads the whole schema
// only for a table that has such an index.
func (s *schema) readPartly(ctx context.Context, t *table) error {
	rows, err := texts(ctx, s.db, `SELECT x.sql FROM pragma_index_list(?1) l CROSS JOIN sqlite_schema x ON x.type = 'index' AND x.name = l.name
		WHERE l."unique" AND (l.partial OR EXISTS (SELECT 1 FROM pragma_index_info(l.name) WHERE name IS NULL))`, t.name)
	if err != nil {
		return err
	}
	for _, row := range rows {
		tokens, _ := sqltext.Scan(row[0])
		var columns []*column
		for _, token := range tokens {
			if token.Depth == 0 && token.Is("WHERE") {
				break
			}
			name, ok := token.Name()
			if c := t.column(name); ok && token.Depth > 0 && c != nil && !slices.Contains(columns, c) {
				columns = append(columns, c)
			}
		}
		t.partly = append(t.partly, columns)
	}
	return nil
}

func (s *schema) readForeign(ctx context.Context, t *table) error {
	rows, err := texts(ctx, s.db, `SELECT f."from", f."table", coalesce(f."to",
		(SELECT name FROM pragma_table_info(f."table") WHERE pk = f.seq + 1), '') FROM pragma_foreign_key_list(?) f`, t.name)
	if dataset.NeedsApplication(err) {
		return nil // it refers to a view that cannot be read here
	}
	if err != nil {
		return err
	}
	for _, row := range rows {
		if c := t.column(row[0]); c != nil {
			c.parent = parent{row[1], row[2]}
		}
	}
	return nil
}

// table finds a table by its name; nil where there is none.
func (s *schema) table(name string) *table {
	return first(s.tables, func(t *table) bool { return strings.EqualFold(t.name, name) })
}

// first is the first of which something is true; nil where there is none.
func first[T any](all []*T, is func(*T) bool) *T {
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i]
	}
	return nil
}

// read adds to tables those that views among them read.
func (s *schema) read(refs []reference) []reference {
	const limit = 1000 // a view can read views, but not itself
	for i := 0; i < len(refs) && len(refs) < limit; i++ {
		if t := s.table(refs[i].table); t != nil && t.view != "" {
			tokens, _ := sqltext.Scan(t.view)
			refs = append(refs, references(tokens)...)
		}
	}
	return refs
}

// column finds a column by its name, or the row id by one of its names; nil
// where there is none.
func (t *table) column(name string) *column {
	named := first(t.columns, func(c *column) bool { return strings.EqualFold(c.name, name) })
	if named == nil && slices.Contains([]string{"rowid", "oid", "_rowid_"}, strings.ToLower(name)) {
		return first(t.columns, func(c *column) bool { return c.rowid })
	}
	return named
}

// unique reports whether the column alone is a key.
func (c *column) unique() bool {
	return slices.ContainsFunc(c.table.keys, func(key []*column) bool { return len(key) == 1 && key[0] == c })
}

// inIndexOfItsOwn reports whether some unique index is of this column and no other.
func (c *column) inIndexOfItsOwn() bool {
	return slices.ContainsFunc(slices.Concat(c.table.keys, c.table.partly), func(key []*column) bool { return len(key) == 1 && key[0] == c })
}

// String is the column's name in messages.
func (c *column) String() string { return c.table.name + "." + c.name }

// sql is the column in quotes, with its table: an unknown name that stands alone
// in quotes is a text to SQLite.
func (c *column) sql() string { return sqltext.Quote(c.table.name) + "." + sqltext.Quote(c.name) }

// affinity is the storage class that the declared type prefers, by SQLite's
// rules; a numeric column mostly holds whole numbers.
func (c *column) affinity() string {
	has := func(part string) bool { return strings.Contains(c.declared, part) }
	switch {
	case has("INT"):
		return "integer"
	case has("CHAR"), has("CLOB"), has("TEXT"):
		return "text"
	case has("BLOB"), c.declared == "":
		return "blob"
	case has("REAL"), has("FLOA"), has("DOUB"):
		return "real"
	case has("DATE"), has("TIME"), has("JSON"), has("UUID"):
		return "text"
	}
	return "integer"
}

// stats reads about a column's values, once.
func (s *schema) stats(ctx context.Context, c *column) (*stats, error) {
	if c.found != nil {
		return c.found, nil
	}
	query := fmt.Sprintf(`SELECT count(*), count(%[1]s), count(DISTINCT %[1]s), min(typeof(%[1]s)) FILTER (WHERE %[1]s IS NOT NULL),
		max(typeof(%[1]s)) FILTER (WHERE %[1]s IS NOT NULL), min(%[1]s), max(%[1]s),
		CAST(coalesce(round(avg(length(%[1]s))), 0) AS INT) FROM %[2]s`, c.sql(), sqltext.Quote(c.table.name))
	var f stats
	var first, last sql.NullString
	err := s.db.QueryRowContext(ctx, query).Scan(&f.rows, &f.values, &f.distinct, &first, &last, &f.low, &f.high, &f.average)
	if err != nil {
		return nil, fmt.Errorf("look at the values of %s: %w", c, err)
	}
	switch {
	case first.String == last.String:
		f.kind = first.String
	case first.String == "integer" && last.String == "real":
		f.kind = "numeric"
	default:
		f.kind = "mixed"
		if err := s.db.QueryRowContext(ctx, fmt.Sprintf("SELECT typeof(%[1]s) FROM %[2]s WHERE %[1]s IS NOT NULL GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1",
			c.sql(), sqltext.Quote(c.table.name))).Scan(&f.most); err != nil {
			return nil, fmt.Errorf("look at the values of %s: %w", c, err)
		}
	}
	if high, whole := f.high.(int64); whole && high > farthest {
		if err := s.db.QueryRowContext(ctx, fmt.Sprintf(`WITH known(a) AS (SELECT %[3]d UNION ALL SELECT %[1]s FROM %[2]s WHERE %[1]s BETWEEN %[3]d AND %[4]d AND typeof(%[1]s) = 'integer')
			SELECT a FROM (SELECT a, lead(a, 1, %[4]d) OVER (ORDER BY a) AS b FROM known) ORDER BY b - a DESC LIMIT 1`, c.sql(), sqltext.Quote(c.table.name), -farthest, farthest)).Scan(&f.free); err != nil {
			return nil, fmt.Errorf("look for free values of %s: %w", c, err)
		}
	}
	c.found = &f
	return &f, nil
}

// farthest is how far the whole numbers of a column are from 0 at most for the plan to count
// from them, or to draw between them.
const farthest int64 = 4_000_000_000_000_000_000

// bounds returns the least and the greatest of whole numbers between which a plan can draw.
func (f *stats) bounds() (low, high int64, ok bool) {
	low, ok = f.low.(int64)
	high, _ = f.high.(int64)
	return low, high, ok && f.kind == "integer" && low >= -farthest && high <= farthest
}

func texts(ctx context.Context, db *sql.DB, query string, args ...any) ([][]string, error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return sqlrows.Texts(rows)
}
