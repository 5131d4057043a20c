package dataset

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"assay/internal/plan/sqltext"
	"assay/internal/sys/file"
	"assay/kit/sqlrows"
)

// Integrity holds what SQLite says about the structure of a database.
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
func firstColumn(ctx context.Context, db Reader, query string, args ...any) ([]string, error) {
	rows, err := db.QueryContext(ctx, query, args...)
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

const (
	headerSize = 100
	magic      = "SQLite format 3\x00"
)

// Header returns what a SQLite file itself says, read without SQLite:
// journal_mode (wal or rollback), page_size in bytes, auto_vacuum (none, full
// or incremental) and encoding (UTF-8, UTF-16le or UTF-16be). It is how a
// worker that only claims a setting is found out. It must not be used on a
// file that this process has open through SQLite: closing the file would drop
// SQLite's locks on it.
func Header(path string) (map[string]string, error) {
	h, err := readHeader(path)
	if err != nil {
		return nil, err
	}
	return map[string]string{
		"journal_mode": h.journalMode(),
		"page_size":    strconv.Itoa(h.pageSize()),
		"auto_vacuum":  h.autoVacuum(),
		"encoding":     h.encoding(),
	}, nil
}

// header is the first 100 bytes of a database; the format is fixed by
// SQLite's documentation ("Database File Format").
type header [headerSize]byte

func readHeader(path string) (header, error) {
	var h header
	in, err := file.Open(path)
	if err != nil {
		return h, err
	}
	defer in.Close()
	_, err = io.ReadFull(in, h[:])
	if errors.Is(err, io.EOF) {
		return h, fmt.Errorf("%s is empty", path)
	}
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return h, fmt.Errorf("read %s: %w", path, err)
	}
	if err != nil || string(h[:len(magic)]) != magic {
		return h, fmt.Errorf("%s is not an SQLite database, or an encrypted one", path)
	}
	return h, nil
}

// journalMode tells the log from all other modes: only it is in the file.
func (h *header) journalMode() string {
	if h[18] == 2 && h[19] == 2 {
		return "wal"
	}
	return "rollback"
}

func (h *header) pageSize() int {
	if size := int(binary.BigEndian.Uint16(h[16:])); size != 1 {
		return size
	}
	return 65536 // does not fit in two bytes
}

func (h *header) autoVacuum() string {
	switch {
	case binary.BigEndian.Uint32(h[52:]) == 0:
		return "none"
	case binary.BigEndian.Uint32(h[64:]) == 0:
		return "full"
	}
	return "incremental"
}

func (h *header) encoding() string {
	switch n := binary.BigEndian.Uint32(h[56:]); n {
	case 1:
		return "UTF-8"
	case 2:
		return "UTF-16le"
	case 3:
		return "UTF-16be"
	default:
		return strconv.Itoa(int(n))
	}
}
