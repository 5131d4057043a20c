package sqldb

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"assay/kit/wire"
)

func underscores(name, value string) string {
	switch name {
	case "busy_timeout", "journal_mode", "synchronous":
		return "_" + name + "=" + value
	}
	return ""
}

func noKeys(string, string) string { return "" }

func TestConnect(t *testing.T) {
	type settings = map[string]string
	for name, c := range map[string]struct {
		key     func(name, value string) string
		request wire.Open
		want    wire.Opened
	}{
		"nothing": {noKeys, wire.Open{Path: "/a/b.db"}, wire.Opened{DSN: "file:/a/b.db", Issued: settings{}}},
		"path":    {noKeys, wire.Open{Path: "/a b/ü?x=1&y#%41.db"}, wire.Opened{DSN: "file:/a%20b/%C3%BC%3Fx=1&y%23%2541.db", Issued: settings{}}},
		"order": {PragmaKey,
			wire.Open{Path: "/d", Settings: settings{"synchronous": "1", "auto_vacuum": "2", "journal_mode": "wal", "cache_size": "-5",
				"busy_timeout": "5000", "page_size": "512", "locking_mode": "exclusive"}},
			wire.Opened{
				DSN: "file:/d?_pragma=busy_timeout(5000)&_pragma=locking_mode(EXCLUSIVE)&_pragma=page_size(512)&_pragma=auto_vacuum(INCREMENTAL)" +
					"&_pragma=journal_mode(WAL)&_pragma=cache_size(-5)&_pragma=synchronous(NORMAL)",
				Issued: settings{"busy_timeout": "_pragma=busy_timeout(5000)", "locking_mode": "_pragma=locking_mode(EXCLUSIVE)",
					"page_size": "_pragma=page_size(512)", "auto_vacuum": "_pragma=auto_vacuum(INCREMENTAL)", "journal_mode": "_pragma=journal_mode(WAL)",
					"cache_size": "_pragma=cache_size(-5)", "synchronous": "_pragma=synchronous(NORMAL)"}}},
		"keys and PRAGMAs": {underscores,
			wire.Open{Path: "/d", Settings: settings{"mmap_size": "1024", "synchronous": "3", "busy_timeout": "10", "encoding": "UTF-8", "foreign_keys": "1"},
				Each: []string{"PRAGMA x"}},
			wire.Opened{DSN: "file:/d?_busy_timeout=10&_synchronous=EXTRA",
				Each: []string{"PRAGMA encoding = 'UTF-8'", "PRAGMA foreign_keys = 1", "PRAGMA mmap_size = 1024", "PRAGMA x"},
				Issued: settings{"busy_timeout": "_busy_timeout=10", "synchronous": "_synchronous=EXTRA", "encoding": "PRAGMA encoding = 'UTF-8'",
					"foreign_keys": "PRAGMA foreign_keys = 1", "mmap_size": "PRAGMA mmap_size = 1024"}}},
		"flags on": {PragmaKey, wire.Open{Path: "/d", Settings: settings{"read_only": "1", "immutable": "1", "shared_cache": "1"}},
			wire.Opened{DSN: "file:/d?immutable=1&mode=ro&cache=shared",
				Issued: settings{"read_only": "mode=ro", "immutable": "immutable=1", "shared_cache": "cache=shared"}}},
		"flags off": {PragmaKey, wire.Open{Path: "/d", Settings: settings{"read_only": "0", "immutable": "0", "shared_cache": "0"}},
			wire.Opened{DSN: "file:/d?immutable=0&mode=rwc&cache=private",
				Issued: settings{"read_only": "mode=rwc", "immutable": "immutable=0", "shared_cache": "cache=private"}}},
		"no keys": {nil, wire.Open{Path: "/d", Settings: settings{"cache_size": "-5"}},
			wire.Opened{DSN: "file:/d", Each: []string{"PRAGMA cache_size = -5"}, Issued: settings{"cache_size": "PRAGMA cache_size = -5"}}},
		"unknown setting": {noKeys, wire.Open{Path: "/d", Settings: settings{"frob": "7"}},
			wire.Opened{DSN: "file:/d", Each: []string{"PRAGMA frob = 7"}, Issued: settings{"frob": "PRAGMA frob = 7"}}},
		"literal": {PragmaKey, wire.Open{Path: "/d", DSN: "file:x?y", Each: []string{"PRAGMA x"}},
			wire.Opened{DSN: "file:x?y", Each: []string{"PRAGMA x"}, Issued: settings{}}},
	} {
		t.Run(name, func(t *testing.T) {
			connector, err := connect(Driver{Key: c.key}, c.request)
			must(t, err)
			if got := connector.source.Opened; !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
	_, err := connect(Driver{Name: "fake", Key: PragmaKey}, wire.Open{Path: "/d", Settings: settings{"mutex": "no"}})
	var refused *wire.Error
	if !errors.As(err, &refused) || *refused != *wire.Errorf(wire.Unsupported, `driver fake has no way to set mutex to "no"`) {
		t.Errorf("got %v", err)
	}
}

// TestSettings: every connection is asked, and those that were closed while
// idle have their settings again.
func TestSettings(t *testing.T) {
	f := &fake{respond: func(conn int, text string, _ []driver.Value) answer {
		if text == "PRAGMA known" {
			return answer{rows: [][]driver.Value{{int64(conn)}}}
		}
		return answer{}
	}}
	db := openFake(t, f, wire.Open{Readers: 3, Idle: 1, Writers: 2, Settings: map[string]string{"cache_size": "7"}})
	got, err := db.Settings([]string{"known", "unknown"})
	must(t, err)
	// Connections 1 and 2 are the writers'; of 3, 4 and 5 one stayed open.
	seen := map[string]bool{}
	for _, c := range got {
		seen[c.Settings["known"]] = true
		if _, ok := c.Settings["unknown"]; ok || len(c.Settings) != 1 {
			t.Errorf("%s reads %v", c.Name, c.Settings)
		}
	}
	if len(got) != 5 || len(seen) != 5 {
		t.Errorf("asked %v, want five connections, each once", got)
	}
	var names []string
	for _, c := range got {
		names = append(names, c.Name)
	}
	if want := []string{"reader-1", "reader-2", "reader-3", "writer-1", "writer-2"}; !reflect.DeepEqual(names, want) {
		t.Errorf("names %v, want %v", names, want)
	}
	log := strings.Join(f.did(), "\n")
	for _, want := range []string{"6: open file:/d\n6: prepare PRAGMA cache_size = 7\n6: PRAGMA cache_size = 7\n", "7: open file:/d\n7: prepare PRAGMA cache_size = 7\n7: PRAGMA cache_size = 7\n"} {
		if !strings.Contains(log, want) {
			t.Errorf("%q is not in\n%s", want, log)
		}
	}
	for _, name := range []string{"x; DROP TABLE t", "", "journal_mode=off", "A"} {
		var refused *wire.Error
		if _, err := db.Settings([]string{name}); !errors.As(err, &refused) || refused.Code != wire.Invalid {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestSettingsFail(t *testing.T) {
	f := &fake{respond: func(conn int, text string, _ []driver.Value) answer {
		if conn == 2 && text == "PRAGMA a" {
			return answer{err: errors.New("disk I/O error")}
		}
		return answer{}
	}}
	db := openFake(t, f, wire.Open{Readers: 1, Idle: 1, Writers: 1})
	if _, err := db.Settings([]string{"a"}); err == nil || err.Error() != "reader-1: read a: PRAGMA a: disk I/O error" {
		t.Errorf("got %v", err)
	}
}

func TestReadOnly(t *testing.T) {
	readonly := errors.New("attempt to write a readonly database (8)")
	for name, c := range map[string]struct {
		begin, write error
		want         map[string]string
		did          []string
	}{
		"writable":           {nil, nil, map[string]string{"read_only": "0"}, []string{"BEGIN IMMEDIATE", "PRAGMA incremental_vacuum(1)", "ROLLBACK"}},
		"read-only":          {nil, readonly, map[string]string{"read_only": "1"}, []string{"BEGIN IMMEDIATE", "PRAGMA incremental_vacuum(1)", "ROLLBACK"}},
		"another refusal":    {nil, errors.New("disk full"), map[string]string{}, []string{"BEGIN IMMEDIATE", "PRAGMA incremental_vacuum(1)", "ROLLBACK"}},
		"locked by another":  {errLocked, nil, map[string]string{}, []string{"BEGIN IMMEDIATE"}},
		"query_only refuses": {readonly, nil, map[string]string{}, []string{"BEGIN IMMEDIATE"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{respond: func(_ int, text string, _ []driver.Value) answer {
				return answer{err: map[string]error{"BEGIN IMMEDIATE": c.begin, "PRAGMA incremental_vacuum(1)": c.write}[text]}
			}}
			db := openFake(t, f, wire.Open{Readers: 1, Idle: 1})
			got, err := db.Settings([]string{"read_only"})
			if want := []wire.Connection{{Name: "reader-1", Settings: c.want}}; err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("got %v, %v; want %v", got, err, want)
			}
			if did := executed(f); !reflect.DeepEqual(did, c.did) {
				t.Errorf("did %q, want %q", did, c.did)
			}
		})
	}
}

// executed is what ran since last asked, without the connections and without
// preparing.
func executed(f *fake) []string {
	var all []string
	for _, line := range f.did() {
		_, text, _ := strings.Cut(line, ": ")
		if !strings.HasPrefix(text, "prepare ") && !strings.HasPrefix(text, "release ") && text != "close" && !strings.HasPrefix(text, "open ") {
			all = append(all, text)
		}
	}
	return all
}

type coded int

func (c coded) Error() string { return "failed" }
func (c coded) Code() int     { return int(c) }

func TestBusyCode(t *testing.T) {
	const busy, locked, busySnapshot, lockedSharedCache, full = 5, 6, 5 | 2<<8, 6 | 1<<8, 13
	for err, want := range map[error]bool{coded(busy): true, coded(locked): true, coded(busySnapshot): true, coded(lockedSharedCache): true,
		coded(full): false, coded(0): false, errLocked: false, fmt.Errorf("insert: %w", coded(busy)): true, nil: false} {
		if got := BusyCode(err); got != want {
			t.Errorf("%v %#v: %v", err, err, got)
		}
	}
}
