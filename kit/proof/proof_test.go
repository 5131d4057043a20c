package proof

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"assay/kit/sqlite"
	"assay/kit/wire"
)

// locked is a connection to a database that another one has locked. It waits, as
// long as its driver does by default, unless it was told not to.
type locked struct{ ran *[]string }

func (c locked) Exec(sql string) error {
	*c.ran = append(*c.ran, sql)
	return nil
}

func (c locked) Texts(sql string) ([][]string, error) {
	*c.ran = append(*c.ran, sql)
	return nil, errors.New("database is locked")
}

func (locked) Close() error { return nil }

// onDisk is a connection to a database in a file.
type onDisk struct{ locked }

func (onDisk) Texts(string) ([][]string, error) { return [][]string{{"0", "main", "/data.db"}}, nil }

// A database that is locked for good is not waited for.
func TestMemoryOfALockedDatabase(t *testing.T) {
	var ran []string
	p := New(Driver{Plain: func(string) (sqlite.Conn, error) { return locked{&ran}, nil }}, wire.Open{Path: "/data.db"})
	value, known, err := p.Setting(onDisk{}, "memory")
	if value != "0" || !known || err != nil {
		t.Errorf("got %q, %v, %v, want that it is in a file", value, known, err)
	}
	asked := slices.IndexFunc(ran, func(sql string) bool { return strings.HasPrefix(sql, "SELECT") })
	if told := slices.Index(ran, "PRAGMA busy_timeout = 0"); told < 0 || asked < told {
		t.Errorf("the other connection ran %q, want that it does not wait for the lock", ran)
	}
}
