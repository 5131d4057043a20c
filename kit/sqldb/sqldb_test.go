package sqldb

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"testing"

	"assay/kit/wire"
)

func TestTarget(t *testing.T) {
	f := &fake{respond: func(_ int, text string, _ []driver.Value) answer {
		switch text {
		case "SELECT sqlite_version(), sqlite_source_id()":
			return answer{rows: [][]driver.Value{{"3.99", "source"}}}
		case "PRAGMA compile_options":
			return answer{rows: [][]driver.Value{{"A=1"}, {"B"}}}
		}
		return answer{}
	}}
	d := f.register()
	d.Module = "example.org/none"
	got, err := New(d).Target()
	want := wire.Target{Driver: "fake", DriverVersion: "unknown", Engine: "sqlite", EngineVersion: "3.99",
		Facts: map[string]string{"api": "database/sql", "cgo": "false", "go": runtime.Version(), "module": "example.org/none", "pool": "database/sql",
			"source_id": "source", "statement_cache": "none",
			"uncounted": "B/op and allocs/op leave out what SQLite itself allocates"},
		CompileOptions: []string{"A=1", "B"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
	if f.open != 0 {
		t.Errorf("%d connections are still open", f.open)
	}
	if got := New(d).Capabilities(); !reflect.DeepEqual(got, []string{"sql", "http", "answers", "ordered"}) {
		t.Errorf("capabilities %v", got)
	}
	if _, err := New(Driver{SQLName: "nobody registered it"}).Target(); err == nil {
		t.Error("a driver that is not there has a target")
	}
	f.respond = func(int, string, []driver.Value) answer { return answer{err: errors.New("no such function")} }
	if _, err := New(d).Target(); err == nil || err.Error() != "SELECT sqlite_version(), sqlite_source_id(): no such function" {
		t.Errorf("got %v", err)
	}
}

// TestOpen: everything is open before measuring, each connection with its
// settings first, and SQL that runs once is on one.
func TestOpen(t *testing.T) {
	f := &fake{}
	_, opened, err := New(f.register()).Open(wire.Open{Path: "/d", Readers: 2, Idle: 2, Writers: 1,
		Settings: map[string]string{"cache_size": "7"}, Each: []string{"PRAGMA x"}, Once: []string{"CREATE TABLE t"}})
	must(t, err)
	want := wire.Opened{DSN: "file:/d", Each: []string{"PRAGMA cache_size = 7", "PRAGMA x"}, Issued: map[string]string{"cache_size": "PRAGMA cache_size = 7"}}
	if !reflect.DeepEqual(opened, want) {
		t.Errorf("opened %+v, want %+v", opened, want)
	}
	var did []string
	for id := 1; id <= 3; id++ {
		for _, text := range []string{"open file:/d", "prepare PRAGMA cache_size = 7", "PRAGMA cache_size = 7", "release PRAGMA cache_size = 7",
			"prepare PRAGMA x", "PRAGMA x", "release PRAGMA x"} {
			did = append(did, fmt.Sprintf("%d: %s", id, text))
		}
	}
	log := f.did()
	if !reflect.DeepEqual(log[:len(did)], did) || f.open != 3 {
		t.Errorf("did  %q\nwant %q", log, did)
	}
	// Which reader runs it is the pool's choice.
	if once := log[len(did):]; len(once) != 3 || once[1] != "2: CREATE TABLE t" && once[1] != "3: CREATE TABLE t" {
		t.Errorf("once: %q", once)
	}
}

func TestIdle(t *testing.T) {
	for idle, want := range map[int]int{0: 0, 1: 1, 3: 3, 5: 3} {
		f := &fake{}
		openFake(t, f, wire.Open{Readers: 3, Idle: idle})
		if f.all != 3 || f.open != want {
			t.Errorf("idle %d: %d of %d connections stay open, want %d of 3", idle, f.open, f.all, want)
		}
	}
}

func TestOpenWithConnector(t *testing.T) {
	f := &fake{respond: func(_ int, text string, _ []driver.Value) answer {
		return answer{rows: [][]driver.Value{{"old value"}, {"another"}}} // of a PRAGMA
	}}
	d := f.register()
	d.SQLName += "-modern"
	sql.Register(d.SQLName, modern{f})
	db, _, err := New(d).Open(wire.Open{Path: "/d", Readers: 1, Idle: 1, Each: []string{"PRAGMA x"}})
	must(t, err)
	want := []string{"1: open file:/d by connector", "1: prepare PRAGMA x", "1: PRAGMA x", "1: release PRAGMA x"}
	if did := f.did(); !reflect.DeepEqual(did, want) {
		t.Errorf("did  %q\nwant %q", did, want)
	}
	if err := db.Close(); err != nil || f.open != 0 {
		t.Errorf("close: %v, %d connections are open", err, f.open)
	}
	if _, _, err := New(d).Open(wire.Open{DSN: "x?bad", Readers: 1}); err == nil || err.Error() != "open x?bad: bad DSN" {
		t.Errorf("got %v", err)
	}
}

// TestOpenFails: nothing stays open, and the error says what did not work.
func TestOpenFails(t *testing.T) {
	f := &fake{respond: func(conn int, text string, _ []driver.Value) answer {
		switch {
		case text == "bad", text == "bad on 2" && conn == 2:
			return answer{err: errors.New("syntax error")}
		case text == "bad row":
			return answer{rows: [][]driver.Value{{1}, {errors.New("disk I/O error")}}}
		}
		return answer{}
	}}
	d := f.register()
	for want, request := range map[string]wire.Open{
		"open a connection: no such file":               {Path: "/missing", Writers: 1},
		"connection 1 of 2: no such file":               {Path: "/missing", Readers: 2},
		"open a connection: bad: syntax error":          {Path: "/d", Writers: 1, Each: []string{"good", "bad"}},
		"connection 1 of 1: bad row: disk I/O error":    {Path: "/d", Readers: 1, Each: []string{"bad row"}},
		"connection 1 of 2: bad on 2: syntax error":     {Path: "/d", Readers: 2, Writers: 1, Each: []string{"bad on 2"}},
		"connection 1 of 1: SELEKT: syntax error":       {Path: "/d", Readers: 1, Each: []string{"SELEKT"}},
		"bad: syntax error":                             {Path: "/d", Readers: 1, Writers: 1, Once: []string{"good", "bad", "not reached"}},
		`driver fake has no way to set mutex to "full"`: {Path: "/d", Readers: 1, Settings: map[string]string{"mutex": "full"}},
	} {
		t.Run(want, func(t *testing.T) {
			f.all = 0
			if _, _, err := New(d).Open(request); err == nil || err.Error() != want {
				t.Errorf("got %v", err)
			}
			if f.open != 0 {
				t.Errorf("%d connections are still open", f.open)
			}
		})
	}
}

// TestQuery: whoever has only writers asks through one.
func TestQuery(t *testing.T) {
	f := &fake{respond: func(conn int, text string, _ []driver.Value) answer {
		if text == "locked" {
			return answer{err: errLocked}
		}
		return answer{rows: [][]driver.Value{{int64(conn), "a"}, {int64(5), nil}}}
	}}
	types := []string{"int", "text?"}
	for name, c := range map[string]struct {
		request wire.Open
		conn    int64
	}{
		"reader": {wire.Open{Readers: 1, Idle: 1, Writers: 1}, 2},
		"writer": {wire.Open{Writers: 2}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			f.all = 0
			db := openFake(t, f, c.request)
			var got [][]any
			visit := func(row []any) error { got = append(got, append([]any{}, row...)); return nil }
			must(t, db.Query("SELECT", types, visit))
			if want := [][]any{{c.conn, "a"}, {int64(5), nil}}; !reflect.DeepEqual(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
			enough := errors.New("enough")
			if err := db.Query("SELECT", types, func([]any) error { return enough }); !errors.Is(err, enough) {
				t.Errorf("visit: %v", err)
			}
			if err := db.Query("locked", types, visit); err == nil || err.Error() != "locked: locked" {
				t.Errorf("got %v", err)
			}
		})
	}
}
