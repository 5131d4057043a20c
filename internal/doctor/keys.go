package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"assay/internal/dataset"
	"assay/internal/plan/sqltext"
)

func (p *patient) hasForeignKeys(ctx context.Context) (bool, error) {
	n, err := p.number(ctx, "SELECT count(*) FROM sqlite_schema, pragma_foreign_key_list(sqlite_schema.name) WHERE sqlite_schema.type = 'table'")
	return n > 0, err
}

// foreignKeys looks for rows without a parent, and for parents whose children
// are found by a scan only.
func (p *patient) foreignKeys(ctx context.Context) error {
	for _, t := range p.tables {
		keys, err := p.keysOf(ctx, t)
		if err != nil {
			return err
		}
		if err := p.violations(ctx, t, keys); err != nil {
			return err
		}
		for _, key := range keys {
			parent, there := p.table(key.parent)
			if t.rows < manyRows || !there || parent.rows == 0 || t.indexedBy(ctx, p, key.columns) {
				continue
			}
			p.add("foreign-key-index", "deleting or changing a row of "+key.parent+" reads all of "+t.name,
				fmt.Sprintf("%s has %d rows and no index that begins with %s", t.name, t.rows, strings.Join(key.columns, ", ")),
				p.sqlite3(fmt.Sprintf("CREATE INDEX %s ON %s(%s)", sqltext.Quote(t.name+"_"+strings.Join(key.columns, "_")), sqltext.Quote(t.name), quoteAll(key.columns))))
		}
	}
	return nil
}

// violations looks for rows without a parent. SQLite refuses to look where a key refers to
// nothing that is unique.
func (p *patient) violations(ctx context.Context, t table, keys []foreignKey) error {
	broken := false
	noParent := func(parents, evidence string) {
		broken = true
		p.add("foreign-key-parent", "changes of "+t.name+" or "+parents+" fail as soon as foreign keys are on", evidence,
			"the table that it refers to, with a PRIMARY KEY or a UNIQUE index on those columns; or a column without REFERENCES")
	}
	for _, key := range keys {
		why, err := p.parentless(ctx, key)
		if err != nil {
			return err
		}
		if why != "" {
			noParent(key.parent, fmt.Sprintf("%s(%s) refers to %s", t.name, strings.Join(key.columns, ", "), why))
		}
	}
	rows, err := p.texts(ctx, `SELECT parent, count(*) FROM pragma_foreign_key_check(?) GROUP BY 1 ORDER BY 2 DESC`, t.name)
	if dataset.NeedsApplication(err) && !broken && strings.Contains(err.Error(), mismatch) {
		noParent("its parent", dataset.Refusal(err)+": its UNIQUE index sorts otherwise than the columns")
	}
	if broken && dataset.NeedsApplication(err) {
		return nil
	}
	if err := p.skip("the foreign keys of", t.name, err); err != nil {
		return err
	}
	for _, row := range rows {
		if _, there := p.table(row[0]); !there {
			continue // it is said that there is no such table
		}
		p.add("foreign-key-violations", "rows refer to rows that are not there",
			fmt.Sprintf("PRAGMA foreign_key_check: %s references of %s without a row of %s", row[1], t.name, row[0]),
			p.sqlite3("PRAGMA foreign_key_check("+sqltext.Quote(t.name)+")")+" shows them; fix them, then set PRAGMA foreign_keys = 1 on each connection")
	}
	return nil
}

// mismatch is what SQLite says of a parent that is unique, but in another collation.
const mismatch = "foreign key mismatch"

// parentless says why a key refers to nothing by which SQLite finds one row; empty where
// it does.
func (p *patient) parentless(ctx context.Context, key foreignKey) (string, error) {
	kind, err := p.texts(ctx, "SELECT type FROM pragma_table_list WHERE schema = 'main' AND name = ? COLLATE NOCASE", key.parent)
	switch {
	case err != nil:
		return "", err
	case len(kind) == 0:
		return key.parent + ", which is not there", nil
	case kind[0][0] != "table":
		return key.parent + ", which is no table", nil
	}
	primary, err := p.texts(ctx, "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", key.parent)
	if err != nil {
		return "", err
	}
	if key.to == nil {
		if len(primary) == len(key.columns) {
			return "", nil
		}
		return fmt.Sprintf("the primary key of %s, which has %d columns", key.parent, len(primary)), nil
	}
	unique, err := p.uniqueTogether(ctx, key.parent)
	for _, names := range append(unique, names(primary)) {
		if sameNames(key.to, names) {
			return "", err
		}
	}
	return fmt.Sprintf("%s(%s), which no PRIMARY KEY and no UNIQUE index keeps unique", key.parent, strings.Join(key.to, ", ")), err
}

// uniqueTogether are the columns of each UNIQUE index of a table that holds all rows.
func (p *patient) uniqueTogether(ctx context.Context, table string) ([][]string, error) {
	indexes, err := p.texts(ctx, `SELECT name FROM pragma_index_list(?) WHERE "unique" AND NOT partial`, table)
	var all [][]string
	for _, index := range indexes {
		rows, err := p.texts(ctx, "SELECT coalesce(name, '') FROM pragma_index_info(?) ORDER BY seqno", index[0])
		if err != nil {
			return nil, err
		}
		all = append(all, names(rows))
	}
	return all, err
}

func names(rows [][]string) []string {
	var all []string
	for _, row := range rows {
		all = append(all, row[0])
	}
	return all
}

// sameNames reports whether names, each once, are the same in any order and case.
func sameNames(a, b []string) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(name string) bool {
		return !slices.ContainsFunc(b, func(other string) bool { return strings.EqualFold(name, other) })
	})
}

type foreignKey struct {
	parent      string
	columns, to []string // to is nil where it refers to the primary key
}

func (p *patient) keysOf(ctx context.Context, t table) ([]foreignKey, error) {
	rows, err := p.texts(ctx, `SELECT seq, "table", "from", coalesce("to", '') FROM pragma_foreign_key_list(?) ORDER BY id, seq`, t.name)
	var all []foreignKey
	for _, row := range rows {
		if row[0] == "0" {
			all = append(all, foreignKey{parent: row[1]})
		}
		last := &all[len(all)-1]
		last.columns = append(last.columns, row[2])
		if row[3] != "" {
			last.to = append(last.to, row[3])
		}
	}
	return all, err
}

func quoteAll(names []string) string {
	var all []string
	for _, name := range names {
		all = append(all, sqltext.Quote(name))
	}
	return strings.Join(all, ", ")
}
