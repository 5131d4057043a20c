package proof

import (
	"errors"
	"testing"

	"assay/kit/sqlite"
	"assay/kit/wire"
)

// database is a connection to a main database in a file, or in memory where file
// is empty, with so many tables.
type database struct {
	file   string
	tables int
}

func (database) Exec(string) error { return nil }

func (d database) Texts(sql string) ([][]string, error) {
	if sql == "PRAGMA database_list" {
		return [][]string{{"0", "main", d.file}}, nil
	}
	return make([][]string, d.tables), nil
}

func (database) Close() error { return nil }

// The prepared file is opened once, and only where its tables decide: one with
// exclusive locking is locked for good, and a driver may wait seconds for it.
func TestMemory(t *testing.T) {
	for _, c := range []struct {
		tested database
		want   string
		opened int // times of the prepared file, by two questions
	}{
		{database{file: "/data.db"}, "0", 0}, {database{tables: 3}, "1", 1}, {database{tables: 2}, "private", 1},
	} {
		opened := 0
		p := New(Driver{Plain: func(dsn string) (sqlite.Conn, error) {
			if opened++; dsn != "file:/data.db?mode=ro" {
				return nil, errors.New("another file")
			}
			return database{tables: 3}, nil
		}}, wire.Open{Path: "/data.db"})
		for range 2 {
			if value, known, err := p.Setting(c.tested, "memory"); value != c.want || !known || err != nil {
				t.Errorf("%+v: got %q, %v, %v, want %q", c.tested, value, known, err, c.want)
			}
		}
		if opened != c.opened {
			t.Errorf("%+v: the prepared file was opened %d times, want %d", c.tested, opened, c.opened)
		}
	}
}
