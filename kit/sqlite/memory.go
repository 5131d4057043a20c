package sqlite

import (
	"fmt"
	"slices"
	"strings"
)

// CopyStatements returns the SQL that fills an empty database with the content
// of a file: run in order on a connection whose main database is empty, such as
// one in memory. Tables keep their rowids, the copy its page size, encoding,
// indexes, views, triggers, virtual tables, statistics and user_version; the
// connection's own settings are as before at the end.
//
// The source is what ATTACH is given: the file's path, or its URI. It must be a
// URI with the name of a VFS (file:PATH?vfs=unix) where the main database has
// another VFS than the file, as memdb, because ATTACH uses that of the main one.
// Query runs SQL on another connection, one that has the file as its main
// database, opened by the same driver, and returns rows as text, with NULL as
// the empty text.
func CopyStatements(source string, query func(sql string) ([][]string, error)) ([]string, error) {
	c := copier{query: query}
	if c.value("PRAGMA page_count") == "0" {
		return nil, nil // some VFS fail to read what a transaction left empty
	}
	c.layout()
	c.add("ATTACH %s AS source", quote(source, '\''))
	restore := c.permit()
	c.add("BEGIN IMMEDIATE")
	c.add("PRAGMA defer_foreign_keys = 1") // where foreign_keys is on after all: references may point to tables that come later
	virtual := c.tables()
	c.others()
	c.statistics()
	c.numbers()
	c.virtual(virtual)
	c.add("COMMIT")
	if len(virtual) > 0 {
		c.add("PRAGMA writable_schema = RESET")
	}
	c.statements = append(c.statements, restore...)
	c.add("DETACH source")
	return c.statements, c.err
}

// copier collects statements until the first error.
type copier struct {
	query      func(string) ([][]string, error)
	statements []string
	err        error
}

func (c *copier) add(format string, args ...any) {
	c.statements = append(c.statements, fmt.Sprintf(format, args...))
}

func (c *copier) ask(columns int, sql string) (all [][]string) {
	if c.err == nil {
		all, c.err = rows(c.query, sql, columns)
	}
	return all
}

func (c *copier) value(sql string) (value string) {
	if c.err == nil {
		value, c.err = Value(c.query, sql)
	}
	return value
}

// layout sets what is fixed once the database has a table. ATTACH refuses a
// file with another encoding than that of the main database.
func (c *copier) layout() {
	c.add("PRAGMA page_size = %s", c.value("PRAGMA page_size"))
	c.add("PRAGMA auto_vacuum = %s", c.value("PRAGMA auto_vacuum"))
	c.add("PRAGMA encoding = '%s'", c.value("PRAGMA encoding"))
}

// permit turns off what would refuse rows that the file has, and returns the
// SQL that turns it on again. The connection that asks is opened as the one
// that is filled.
func (c *copier) permit() (restore []string) {
	for _, setting := range [][2]string{{"query_only", "0"}, {"foreign_keys", "0"}, {"ignore_check_constraints", "1"}} {
		if now := c.value("PRAGMA " + setting[0]); now != setting[1] && now != "" {
			c.add("PRAGMA %s = %s", setting[0], setting[1])
			restore = append(restore, "PRAGMA "+setting[0]+" = "+now)
		}
	}
	slices.Reverse(restore)
	return restore
}

// tables makes and fills the tables and returns the virtual ones. Those that
// keep the content of virtual tables are tables like any other.
func (c *copier) tables() (virtual [][]string) {
	for _, table := range c.ask(3, `SELECT name, sql, rootpage FROM sqlite_master
		WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY rowid`) {
		if table[2] == "0" || table[2] == "" {
			virtual = append(virtual, table)
			continue
		}
		c.add("%s", table[1])
		c.rows(table[0])
	}
	if c.value("SELECT count(*) FROM sqlite_master WHERE name = 'sqlite_sequence'") == "1" {
		c.replace("sqlite_sequence") // made with the first table that has AUTOINCREMENT
	}
	return virtual
}

// rows copies a table's rows in their own order, with their rowids. Columns
// that are generated cannot be inserted.
func (c *copier) rows(table string) {
	name := quote(table, '"')
	var columns, order []string
	for _, column := range c.ask(7, "PRAGMA table_xinfo("+name+")") {
		if column[6] == "0" {
			columns = append(columns, quote(column[1], '"'))
		}
	}
	// index_info answers for the table itself only if it is WITHOUT ROWID.
	for _, key := range c.ask(3, "PRAGMA index_info("+name+")") {
		order = append(order, quote(key[2], '"'))
	}
	if rowid := rowidOf(columns); len(order) == 0 && rowid != "" {
		columns = append([]string{rowid}, columns...)
		order = []string{rowid}
	}
	list := strings.Join(columns, ", ")
	text := fmt.Sprintf("INSERT INTO main.%s (%s) SELECT %s FROM source.%s", name, list, list, name)
	if len(order) > 0 {
		text += " ORDER BY " + strings.Join(order, ", ")
	}
	c.statements = append(c.statements, text)
}

// rowidOf returns a name for the rowid that is no column's; empty where all
// are taken.
func rowidOf(columns []string) string {
	for _, name := range []string{"rowid", "_rowid_", "oid"} {
		taken := func(column string) bool { return strings.EqualFold(column, `"`+name+`"`) }
		if !slices.ContainsFunc(columns, taken) {
			return name
		}
	}
	return ""
}

// others makes indexes, then views, then triggers, which so did not see the
// rows arrive.
func (c *copier) others() {
	for _, kind := range []string{"index", "view", "trigger"} {
		for _, made := range c.ask(1, "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND type = '"+kind+"' ORDER BY rowid") {
			c.statements = append(c.statements, made[0])
		}
	}
}

// statistics copies what ANALYZE found out, as far as this SQLite keeps it.
func (c *copier) statistics() {
	var tables []string
	for _, row := range c.ask(1, "SELECT name FROM sqlite_master WHERE name IN ('sqlite_stat1', 'sqlite_stat4') ORDER BY name") {
		if row[0] == "sqlite_stat1" || c.value("SELECT sqlite_compileoption_used('ENABLE_STAT4')") == "1" {
			tables = append(tables, row[0])
		}
	}
	if len(tables) == 0 {
		return
	}
	c.add("ANALYZE main.sqlite_master") // makes the tables
	for _, table := range tables {
		c.replace(table)
	}
	c.add("ANALYZE main.sqlite_master") // reads them
}

func (c *copier) replace(table string) {
	c.add("DELETE FROM main.%s", table)
	c.add("INSERT INTO main.%s SELECT * FROM source.%s", table, table)
}

// numbers copies what the file's header holds for applications.
func (c *copier) numbers() {
	for _, name := range []string{"user_version", "application_id"} {
		if value := c.value("PRAGMA " + name); value != "0" && value != "" {
			c.add("PRAGMA main.%s = %s", name, value)
		}
	}
}

// virtual enters virtual tables into the schema. To create them would make
// anew the tables that keep their content.
func (c *copier) virtual(tables [][]string) {
	if len(tables) == 0 {
		return
	}
	c.add("PRAGMA writable_schema = 1")
	for _, table := range tables {
		name := quote(table[0], '\'')
		c.add("INSERT INTO main.sqlite_master (type, name, tbl_name, rootpage, sql) VALUES ('table', %s, %s, 0, %s)",
			name, name, quote(table[1], '\''))
	}
}

// quote puts a name or a text between quotation marks.
func quote(text string, mark rune) string {
	q := string(mark)
	return q + strings.ReplaceAll(text, q, q+q) + q
}
