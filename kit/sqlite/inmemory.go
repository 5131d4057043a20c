package sqlite

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Conn is what copying and proving need of a driver's connection.
type Conn interface {
	// Exec runs one statement.
	Exec(sql string) error
	// Texts returns the rows of a query, every value as SQLite's text for it;
	// NULL is empty.
	Texts(sql string) ([][]string, error)
	Close() error
}

// rows returns those of a query, which have at least so many columns: a worker that answers for
// its driver may say anything.
func rows(query func(string) ([][]string, error), sql string, columns int) ([][]string, error) {
	all, err := query(sql)
	if err == nil && slices.ContainsFunc(all, func(row []string) bool { return len(row) < columns }) {
		err = fmt.Errorf("a row has less than %d columns", columns)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", sql, err)
	}
	return all, nil
}

// Value returns the first value that a query answers, empty where there is none.
func Value(query func(string) ([][]string, error), sql string) (string, error) {
	all, err := rows(query, sql, 1)
	if err != nil || len(all) == 0 {
		return "", err
	}
	return all[0][0], nil
}

// memoryName is the name of a database in memory that all connections of this
// process share.
func memoryName() string { return fmt.Sprintf("/assay-%d", os.Getpid()) }

// MemoryDSN is the DSN of a database in memory, one that connections share by SQLite's own
// VFS memdb (3.36 and newer), or one connection's own. ncruces takes :memory:?_pragma=...
// for the name of a file.
func MemoryDSN(shared bool) string {
	if shared {
		return "file:" + memoryName() + "?vfs=memdb"
	}
	return "file::memory:"
}

// Fill copies the database in a file into an empty one in memory. The file is
// a connection to it, opened by the same driver, and vfs the name of the VFS
// through which the driver opens files.
func Fill(memory, file Conn, path, vfs string) error {
	source := "file:" + EscapePath(path) + "?vfs=" + vfs // ATTACH would take memdb, as the main database has
	// The settings that would refuse rows are those of the connection that is
	// filled; the rest is the file's.
	ask := func(sql string) ([][]string, error) {
		if refusing[sql] {
			return memory.Texts(sql)
		}
		return file.Texts(sql)
	}
	statements, err := CopyStatements(source, ask)
	for i := 0; i < len(statements) && err == nil; i++ {
		err = memory.Exec(statements[i])
	}
	if err != nil {
		return fmt.Errorf("copy %s into memory: %w", path, err)
	}
	return nil
}

// refusing are the questions about settings that can refuse rows which a file has.
var refusing = map[string]bool{"PRAGMA query_only": true, "PRAGMA foreign_keys": true, "PRAGMA ignore_check_constraints": true}

// InMemory tells where a connection's main database is: "0" for a file, "1" for
// one in memory with at least so many tables as the prepared file has, and
// "private" for one in memory without them. The file is asked for its tables only
// where that decides: it may be locked.
func InMemory(c Conn, tables func() int) (string, error) {
	list, err := rows(c.Texts, "PRAGMA database_list", 3)
	if err != nil {
		return "", err
	}
	for _, row := range list {
		if row[1] == "main" && row[2] != "" && strings.TrimPrefix(row[2], "/") != strings.TrimPrefix(memoryName(), "/") {
			return "0", nil
		}
	}
	has, err := Tables(c)
	if err != nil {
		return "", err
	}
	if has < tables() {
		return "private", nil
	}
	return "1", nil
}

// Tables returns how many tables the main database has.
func Tables(c Conn) (int, error) {
	rows, err := c.Texts("SELECT name FROM main.sqlite_master WHERE type = 'table'")
	return len(rows), err
}
