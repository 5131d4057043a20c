package sqldb

import (
	"database/sql/driver"
	"errors"
	"reflect"
	"testing"

	"assay/kit/setting"
	"assay/kit/wire"
)

// duck is a fake of an engine that is not SQLite.
func duck(f *fake) Driver {
	d := f.register()
	d.Other = &Other{Engine: "duck", Capability: "ducks", Version: "VERSION", Setting: "SETTING", Durability: "power",
		Settings: setting.Table{setting.Integer("threads", 1, 9), setting.Words("limit", "1 GiB", "2 GiB")},
		Attach:   func(path string) []string { return []string{"ATTACH " + path} },
		Refused:  func(err error) bool { return err.Error() == "no such word" }}
	return d
}

// Another engine is asked in its own words, and said to be what it is.
func TestOther(t *testing.T) {
	f := &fake{respond: func(_ int, text string, args []driver.Value) answer {
		switch {
		case text == "VERSION":
			return answer{rows: [][]driver.Value{{"v1.2"}}}
		case text == "SETTING" && args[0] == "threads":
			return answer{rows: [][]driver.Value{{"2"}}}
		case text == "EXPLAIN SELECT 1":
			return answer{rows: [][]driver.Value{{"plan", "scan"}}}
		case text == "EXPLAIN SAVEPOINT a":
			return answer{err: errors.New("no such word")}
		}
		return answer{}
	}}
	d := duck(f)
	target, err := New(d).Target()
	if err != nil || target.Engine != "duck" || target.EngineVersion != "1.2" || len(target.CompileOptions) > 0 {
		t.Errorf("got %+v, %v", target, err)
	}
	if got := New(d).Capabilities(); !reflect.DeepEqual(got, []string{"sql", "http", "answers", "ordered", "ducks"}) {
		t.Errorf("capabilities %v", got)
	}
	db, opened, err := New(d).Open(wire.Open{Path: "/d", Readers: 1, Idle: 1, Writers: 1, Settings: map[string]string{"threads": "2", "limit": "1 GiB"}})
	must(t, err)
	defer db.Close()
	if want := (wire.Opened{DSN: "/d?limit=1+GiB&threads=2", Issued: map[string]string{"limit": "limit=1+GiB", "threads": "threads=2"}, Durability: "power"}); !reflect.DeepEqual(opened, want) {
		t.Errorf("opened %+v, want %+v", opened, want)
	}
	read, err := db.(*database).Settings([]string{"threads", "unknown"})
	if want := map[string]string{"threads": "2"}; err != nil || len(read) != 2 || !reflect.DeepEqual(read[1].Settings, want) {
		t.Errorf("read %v, %v, want %v on two connections", read, err, want)
	}
	plan, err := db.(*database).Prepare(wire.Operation{Name: "o", Steps: []wire.Step{{SQL: "SELECT 1", Query: true, Returns: []string{"int"}}}}, openTrace(t, 7))
	if err != nil || plan.QueryPlan() != "scan" {
		t.Errorf("plan %v, %v", plan, err)
	}
	_, err = db.(*database).Prepare(wire.Operation{Name: "p", Changes: true, Steps: []wire.Step{{SQL: "SAVEPOINT a"}}}, openTrace(t, 7))
	if refused, is := errors.AsType[*wire.Error](err); !is || refused.Code != wire.Unsupported {
		t.Errorf("got %v, want unsupported", err)
	}
}

// What is no setting of the engine is refused, and a path that a DSN cannot have is attached.
func TestOtherSource(t *testing.T) {
	d := duck(&fake{})
	for _, c := range []struct {
		request wire.Open
		dsn     string
		each    []string
	}{
		{wire.Open{Path: "/a b", Each: []string{"X"}}, "/a b", []string{"X"}},
		{wire.Open{Path: "/a?b", Each: []string{"X"}, Settings: map[string]string{"threads": "1"}}, ":memory:?threads=1", []string{"ATTACH /a?b", "X"}},
		{wire.Open{Path: "/a?b", DSN: "own", Each: []string{"X"}}, "own", []string{"X"}},
	} {
		s, err := d.Other.source(c.request)
		if err != nil || s.DSN != c.dsn || !reflect.DeepEqual(s.Each, c.each) {
			t.Errorf("%+v: got %+v, %v, want %s and %v", c.request, s, err, c.dsn, c.each)
		}
	}
	_, err := d.Other.source(wire.Open{Path: "/d", Settings: map[string]string{"journal_mode": "wal"}})
	if refused, is := errors.AsType[*wire.Error](err); !is || refused.Code != wire.Unsupported {
		t.Errorf("got %v, want unsupported", err)
	}
}

// A transaction begins as the engine says, and a commit that failed has ended it.
func TestOtherTransaction(t *testing.T) {
	f := &fake{}
	opened, _, err := New(duck(f)).Open(wire.Open{Path: "/d", Writers: 1})
	must(t, err)
	db := opened.(*database)
	defer db.Close()
	batch := insert
	batch.Transaction = 1
	_, client := prepareOn(t, f, db, batch, openTrace(t, 7))
	f.did()
	f.respond = func(_ int, text string, _ []driver.Value) answer {
		return answer{err: map[string]error{"COMMIT": errLocked, "ROLLBACK": errors.New("no transaction")}[text]}
	}
	if _, err := client.Do(0); !errors.Is(err, errLocked) || err.Error() != "database is busy: COMMIT: locked" {
		t.Errorf("got %v", err)
	}
	checkExecuted(t, f, "BEGIN", "INSERT [7]", "COMMIT", "ROLLBACK")
}
