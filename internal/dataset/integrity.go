package dataset

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"assay/internal/plan/sqltext"
	"assay/kit/sqlrows"
)

// Integrity is what SQLite says about the structure of a database.
type Integrity struct {
	Damage []string
	// Unchecked are the tables that SQLite cannot check by itself.
	Unchecked []Unchecked
}

// Unchecked is a table that needs what only the application has, such as a collation, a
// function or a tokenizer.
type Unchecked struct{ Table, Why string }

// Reader reads from a database.
type Reader interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// CheckIntegrity checks a database, each table by itself where one of them cannot be
// checked. It names about as many mistakes as the limit says.
func CheckIntegrity(ctx context.Context, db Reader, limit int) (Integrity, error) {
	damage, err := integrityOf(ctx, db, fmt.Sprintf("integrity_check(%d)", limit))
	if !NeedsApplication(err) {
		return Integrity{Damage: damage}, err
	}
	tables, err := firstColumn(ctx, db, "SELECT name FROM sqlite_schema WHERE type = 'table' UNION ALL SELECT 'sqlite_schema'")
	if err != nil {
		return Integrity{}, err
	}
	var all Integrity
	for _, table := range tables {
		name := "'" + strings.ReplaceAll(table, "'", "''") + "'"
		damage, err := integrityOf(ctx, db, "integrity_check("+name+")")
		if NeedsApplication(err) {
			all.Unchecked = append(all.Unchecked, Unchecked{table, lacks(ctx, db, table, err)})
			damage, err = integrityOf(ctx, db, "quick_check("+name+")") // without the contents of indexes
		}
		if err != nil && !NeedsApplication(err) {
			return Integrity{}, err
		}
		if all.Damage = append(all.Damage, damage...); len(all.Damage) >= limit {
			break
		}
	}
	return all, nil
}

// integrityOf asks a PRAGMA of checking. A file so damaged that SQLite cannot even read it
// is damaged, too.
func integrityOf(ctx context.Context, db Reader, pragma string) ([]string, error) {
	damage, err := firstColumn(ctx, db, "PRAGMA "+pragma)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case NeedsApplication(err):
		return nil, err
	case err != nil:
		return []string{err.Error()}, nil
	case len(damage) == 1 && damage[0] == "ok":
		return nil, nil
	}
	for i, line := range damage {
		damage[i] = strings.Join(strings.Fields(line), " ")
	}
	return damage, nil
}

// NeedsApplication reports whether SQLite refused a statement for what its text or the
// schema names: a table, a function, a collation or a module that is not there. The file
// is not what it complains about.
func NeedsApplication(err error) bool {
	refused, is := errors.AsType[*driver.Error](err)
	return is && refused.Code()&0xff == sqlite3.SQLITE_ERROR
}

// Refusal is SQLite's reason alone, without its codes.
func Refusal(err error) string {
	text := err.Error()
	if at := strings.LastIndex(text, "SQL logic error"); at >= 0 {
		text = strings.TrimPrefix(text[at:], "SQL logic error")
		text = strings.TrimPrefix(text, ": ")
	}
	if at := strings.LastIndex(text, " ("); at >= 0 && strings.HasSuffix(text, ")") {
		text = text[:at]
	}
	return text
}

// lacks says what a table needs. A full-text index names its tokenizer only when it is
// searched.
func lacks(ctx context.Context, db Reader, table string, err error) string {
	if why := Refusal(err); why != "" {
		return why
	}
	name := sqltext.Quote(table)
	if _, err := firstColumn(ctx, db, "SELECT 1 FROM "+name+" WHERE "+name+" MATCH 'a'"); NeedsApplication(err) && Refusal(err) != "" {
		return Refusal(err)
	}
	return "its module refuses to be checked"
}

// firstColumn reads the first column of an answer.
func firstColumn(ctx context.Context, db Reader, query string) ([]string, error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	answer, err := sqlrows.Texts(rows)
	var all []string
	for _, row := range answer {
		all = append(all, row[0])
	}
	return all, err
}
