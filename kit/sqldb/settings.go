package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"assay/kit/sqlite"
	"assay/kit/wire"
)

// inOrder returns the settings' names, the busy timeout first and then those
// that must come before others.
func inOrder(settings map[string]string) []string {
	first := []string{"busy_timeout", "locking_mode", "page_size", "auto_vacuum", "journal_mode"}
	names := slices.Sorted(maps.Keys(settings))
	slices.SortStableFunc(names, func(a, b string) int { return place(first, a) - place(first, b) })
	return names
}

func place(first []string, name string) int {
	if i := slices.Index(first, name); i >= 0 {
		return i
	}
	return len(first)
}

// uriParameters are SQLite's own URI parameters, by setting and value. All
// drivers that take file: URIs take these.
var uriParameters = map[string]string{
	"read_only=0": "mode=rwc", "read_only=1": "mode=ro",
	"immutable=0": "immutable=0", "immutable=1": "immutable=1",
	"shared_cache=0": "cache=private", "shared_cache=1": "cache=shared",
}

// spell writes a value as people do: where read-back gives a number that has
// a name, the name; words in capitals, in quotes where SQL needs them (UTF-8).
func spell(name, value string) string {
	setting, _ := sqlite.Lookup(name)
	if n, err := strconv.Atoi(value); err == nil && n >= 0 && n < len(setting.Words) {
		value = setting.Words[n]
	} else if !slices.Contains(setting.Words, value) {
		return value
	}
	word := strings.ToUpper(value)
	if strings.Contains(word, "-") {
		return "'" + word + "'"
	}
	return word
}

// escapePath makes a path fit for a file: URI.
func escapePath(path string) string { return (&url.URL{Path: path}).EscapedPath() }

// Settings reads every setting on every connection, each with a PRAGMA on
// that connection. A setting that no PRAGMA shows is absent.
func (d *database) Settings(names []string) ([]wire.Connection, error) {
	var connections []wire.Connection
	read := func(name string, conn *sql.Conn) error {
		settings, err := d.readSettings(conn, names)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		connections = append(connections, wire.Connection{Name: name, Settings: settings})
		return nil
	}
	err := errors.Join(d.eachReader(read), d.eachWriter(read))
	return connections, err
}

func (d *database) readSettings(conn *sql.Conn, names []string) (map[string]string, error) {
	settings := map[string]string{}
	for _, name := range names {
		value, ok, err := d.readSetting(conn, name)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		if ok {
			settings[name] = value
		}
	}
	return settings, nil
}

// readSetting returns a PRAGMA's value, or what behaviour shows of settings
// that have none; false where nothing is known: a PRAGMA that SQLite does not
// know answers no row.
func (d *database) readSetting(conn *sql.Conn, name string) (string, bool, error) {
	switch name {
	case "read_only":
		return readOnly(conn)
	case "immutable", "shared_cache":
		value := d.proof.setting(name)
		return value, value != "", nil
	case "mutex":
		return d.mutex(conn)
	}
	if !isWord(name) {
		return "", false, wire.Errorf(wire.Invalid, "%q is not a setting", name)
	}
	var value string
	err := conn.QueryRowContext(context.Background(), "PRAGMA "+name).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return value, err == nil, err
}

// readOnly finds out by behaviour: a read-only connection refuses a statement
// that writes with SQLite's code 8, "attempt to write a readonly database".
// The statement is one that changes no page, because a change cannot be rolled
// back with journal_mode off. BEGIN IMMEDIATE is accepted by a read-only
// connection, and refused where others hold the lock, and with query_only:
// then nothing can be told.
func readOnly(conn *sql.Conn) (string, bool, error) {
	ctx := context.Background()
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return "", false, nil
	}
	_, refused := conn.ExecContext(ctx, "PRAGMA incremental_vacuum(1)")
	_, err := conn.ExecContext(ctx, "ROLLBACK")
	switch {
	case refused == nil:
		return "0", true, err
	case strings.Contains(refused.Error(), "readonly database"):
		return "1", true, err
	}
	return "", false, err
}

// mutex asks the driver's own proof, where the worker has one.
func (d *database) mutex(conn *sql.Conn) (value string, ok bool, err error) {
	if d.driver.Mutex == nil {
		return "", false, nil
	}
	err = conn.Raw(func(raw any) error {
		value, ok = d.driver.Mutex(raw)
		return nil
	})
	return value, ok, err
}

func isWord(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") == ""
}
