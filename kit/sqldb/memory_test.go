package sqldb

import (
	"database/sql/driver"
	"strings"
	"testing"

	"assay/kit/wire"
)

// TestMemoryDSN: one connection that stays open has a database of its own. What
// is said of a file cannot be said of it.
func TestMemoryDSN(t *testing.T) {
	const own, shared = "file::memory:", "file:/assay-N?vfs=memdb"
	d := Driver{Name: "d", Key: func(name, value string) string { return "_" + name + "=" + value }}
	for name, c := range map[string]struct {
		request   wire.Open
		settings  map[string]string
		dsn, fail string
	}{
		"one reader":                {wire.Open{Readers: 1, Idle: 1}, nil, own, ""},
		"one writer":                {wire.Open{Writers: 1}, nil, own, ""},
		"one that is opened again":  {wire.Open{Readers: 1}, nil, shared, ""},
		"several":                   {wire.Open{Readers: 1, Idle: 1, Writers: 1}, nil, shared, ""},
		"a key":                     {wire.Open{Writers: 1}, map[string]string{"journal_mode": "off"}, own + "?_journal_mode=OFF", ""},
		"several with a key":        {wire.Open{Writers: 2}, map[string]string{"locking_mode": "normal"}, shared + "&_locking_mode=NORMAL", ""},
		"read-only":                 {wire.Open{Writers: 1}, map[string]string{"read_only": "1"}, "", "a database in memory is not opened with mode=ro"},
		"immutable":                 {wire.Open{Writers: 2}, map[string]string{"immutable": "1"}, "", "a database in memory is not opened with immutable=1"},
		"shared cache":              {wire.Open{Writers: 2}, map[string]string{"shared_cache": "1"}, "", "a database in memory is not opened with cache=shared"},
		"the file":                  {wire.Open{Writers: 1}, map[string]string{"memory": "0", "read_only": "0"}, "file:/d?mode=rwc", ""},
		"a DSN of which it is none": {wire.Open{Writers: 1, DSN: ":memory:"}, nil, ":memory:", ""},
	} {
		t.Run(name, func(t *testing.T) {
			c.request.Path, c.request.Settings = "/d", map[string]string{"memory": "1"}
			for name, value := range c.settings {
				c.request.Settings[name] = value
			}
			got, err := connect(d, c.request)
			if c.fail != "" {
				if err == nil || err.Error() != c.fail {
					t.Errorf("got %v, want %s", err, c.fail)
				}
				return
			}
			must(t, err)
			if dsn := withoutNumber(got.source.DSN); dsn != c.dsn {
				t.Errorf("opened %s, want %s", dsn, c.dsn)
			}
		})
	}
}

// withoutNumber writes N for the process's number.
func withoutNumber(dsn string) string {
	before, after, found := strings.Cut(dsn, "assay-")
	if !found {
		return dsn
	}
	return before + "assay-N" + strings.TrimLeft(after, "0123456789")
}

// TestMemoryNotShared: an old SQLite gives each connection a database of its own.
func TestMemoryNotShared(t *testing.T) {
	for version, want := range map[string]string{
		"3.35.5": "SQLite 3.35.5 has no database in memory that connections share",
		"3.36.0": "", "3.53.4": "", "4.0.0": "",
	} {
		f := &fake{respond: func(_ int, text string, _ []driver.Value) answer {
			if text == "SELECT sqlite_version()" {
				return answer{rows: [][]driver.Value{{version}}}
			}
			return answer{}
		}}
		db, _, err := New(f.register()).Open(wire.Open{Path: "/d", Readers: 2, Idle: 2, Settings: map[string]string{"memory": "1"}})
		if err == nil {
			err = db.Close()
		}
		if (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%s: %v, want %s", version, err, want)
		}
		if f.open != 0 {
			t.Errorf("%s: %d connections are still open", version, f.open)
		}
	}
}
