package store

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"unicode/utf8"

	"assay/kit/postgres"
)

// This file says to PostgreSQL what the package says to SQLite: migrations,
// placeholders, and texts that PostgreSQL does not hold.

// translated has the migrations in PostgreSQL's SQL. Texts are ordered by their
// bytes, as SQLite orders them.
type translated struct{ from fs.FS }

var toPostgres = strings.NewReplacer(
	") STRICT, WITHOUT ROWID;", ");",
	") STRICT;", ");",
	" INTEGER PRIMARY KEY", " BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
	" INTEGER", " BIGINT",
	" REAL", " DOUBLE PRECISION",
	" TEXT", ` TEXT COLLATE "C"`,
	"PRAGMA application_id = 1634956129;", "SELECT 1;", // the schema has a name of its own
)

func (t translated) Open(name string) (fs.File, error) {
	f, err := t.from.Open(name)
	if err != nil || !strings.HasSuffix(name, ".sql") {
		return f, err
	}
	text, err := io.ReadAll(f)
	return sqlFile{f, strings.NewReader(toPostgres.Replace(string(text)))}, err
}

type sqlFile struct {
	fs.File
	text io.Reader
}

func (f sqlFile) Read(p []byte) (int, error) { return f.text.Read(p) }

// connector makes connections that understand this package.
type connector struct{ driver.Connector }

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	made, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	inner, whole := made.(serverConn)
	if !whole {
		return nil, fmt.Errorf("the driver's connection, %T, lacks a method", made)
	}
	return dialectConn{inner}, nil
}

// serverConn is what the driver's connections can do.
type serverConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.NamedValueChecker
	driver.Pinger
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
}

type dialectConn struct{ serverConn }

func (c dialectConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return c.serverConn.ExecContext(ctx, statement(query, args), escapeAll(args))
}

func (c dialectConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := c.serverConn.QueryContext(ctx, statement(query, args), escapeAll(args))
	if err != nil {
		return nil, err
	}
	return unescapedRows{rows}, nil
}

func statement(query string, args []driver.NamedValue) string {
	if len(args) == 0 {
		return query
	}
	return postgres.Statement(query)
}

func escapeAll(args []driver.NamedValue) []driver.NamedValue {
	for i, arg := range args {
		switch value := arg.Value.(type) {
		case string:
			args[i].Value = escape(value)
		case bool: // a number, as in SQLite
			args[i].Value = int64(0)
			if value {
				args[i].Value = int64(1)
			}
		}
	}
	return args
}

type unescapedRows struct{ driver.Rows }

func (r unescapedRows) Next(values []driver.Value) error {
	if err := r.Rows.Next(values); err != nil {
		return err
	}
	for i, value := range values {
		if text, is := value.(string); is {
			values[i] = unescape(text)
		}
	}
	return nil
}

// escaped begins a byte that PostgreSQL keeps in no text: a NUL, or one that is not
// UTF-8. Its two hexadecimal digits follow. It is rare enough to be escaped itself.
const escaped = '\x1a'

func escape(text string) string {
	if !strings.ContainsAny(text, "\x00\x1a") && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == 0 || r == escaped || r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&b, "%c%02x", escaped, text[i])
		} else {
			b.WriteString(text[i : i+size])
		}
		i += size
	}
	return b.String()
}

func unescape(text string) string {
	parts := strings.Split(text, string(escaped))
	for i, part := range parts[1:] {
		if len(part) >= 2 {
			if value, err := strconv.ParseUint(part[:2], 16, 8); err == nil {
				parts[i+1] = string([]byte{byte(value)}) + part[2:]
				continue
			}
		}
		parts[i+1] = string(escaped) + part
	}
	return strings.Join(parts, "")
}
