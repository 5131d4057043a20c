package draft

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/internal/dataset/recording"
)

// A recording has the units of a log in the order in which they ended, each with its statements
// and values as they began, and says what keeps it from being done again.
func TestRecording(t *testing.T) {
	const head = `{"traffic":2,"began":"2026-01-02T03:04:05.678Z"}
{"id":"1","sql":"UPDATE t SET n = n + 1 WHERE id = ?"}
{"id":"2","sql":"SELECT n, 5 FROM t WHERE id = :id"}
{"id":"3","sql":"PRAGMA"}
{"id":"4","sql":"DROP TABLE t"}
`
	// The transaction of connection 1 waits for the one of connection 2; a query of it ends last.
	const units = `{"at":1,"conn":2,"tx":2,"s":"begin","rows":0,"ns":1}
{"at":3,"conn":1,"tx":0,"s":"3","rows":0,"ns":1}
{"at":5,"conn":2,"tx":2,"s":"1","args":[7],"rows":1,"ns":5}
{"at":20,"conn":2,"tx":2,"s":"commit","rows":0,"ns":5}
{"at":5,"conn":1,"tx":1,"s":"begin","rows":0,"ns":21}
{"at":32,"conn":1,"tx":1,"s":"savepoint","rows":0,"ns":1}
{"at":34,"conn":1,"tx":1,"s":"1","args":["a"],"rows":0,"ns":1}
{"at":36,"conn":1,"tx":1,"s":"1","args":[9],"rows":0,"ns":1,"err":"busy"}
{"at":38,"conn":1,"tx":1,"s":"rollback to","rows":0,"ns":1}
{"at":40,"conn":1,"tx":1,"s":"release","rows":0,"ns":1}
{"at":30,"conn":1,"tx":1,"s":"2","named":{"id":7},"rows":1,"ns":12}
{"at":44,"conn":1,"tx":1,"s":"commit","rows":0,"ns":6}
{"at":45,"conn":2,"tx":0,"s":"1","args":[null],"rows":0,"ns":2}
{"at":60,"conn":2,"tx":3,"s":"begin","rows":0,"ns":1}
{"at":62,"conn":2,"tx":3,"s":"rollback","rows":0,"ns":1}
`
	record := func(text string) (*logged, string) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "recorded.db")
		out, err := recording.Create(t.Context(), path)
		must(t, err)
		l, err := recordLogs(t.Context(), out, Log{"app.ndjson", []byte(text)})
		must(t, err)
		_, err = out.Close(t.Context(), l.notReplayable)
		must(t, err)
		return l, path
	}
	l, path := record(head + units + `{"dropped":0}` + "\n")
	r, err := recording.Read(t.Context(), path)
	must(t, err)
	var got []string
	for _, part := range r.Operation.Parts {
		text := fmt.Sprint(part.Operation.Transaction, part.Weight)
		for i, step := range part.Operation.Steps {
			text += fmt.Sprintf("; %s %d %d", step.SQL, len(step.Args), part.Had[i])
		}
		got = append(got, text)
	}
	want := []string{"1 1; UPDATE t SET n = n + 1 WHERE id = ? 1 1",
		"1 1; SELECT n, 5 FROM t WHERE id = ? 1 1; SAVEPOINT s1 0 -1; UPDATE t SET n = n + 1 WHERE id = ? 1 0; ROLLBACK TO s1 0 -1; RELEASE s1 0 -1",
		"0 1; UPDATE t SET n = n + 1 WHERE id = ? 1 0"}
	if !slices.Equal(got, want) || r.Clients != 2 || r.Operation.Count != 3 {
		t.Errorf("got %d clients, %d units and\n%s\nwant 2, 3 and\n%s", r.Clients, r.Operation.Count, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	db, err := sql.Open("sqlite", path)
	must(t, err)
	defer db.Close()
	var order string
	must(t, db.QueryRow("SELECT group_concat(part || ' after ' || after, ', ' ORDER BY position) FROM unit").Scan(&order))
	if want := "1 after 0, 3 after 1, 2 after 1"; order != want {
		t.Errorf("got the order %s, want %s", order, want)
	}
	if at := l.began; !l.changes || at.UnixMilli() != time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC).UnixMilli() {
		t.Errorf("got changes %t since %s", l.changes, at)
	}
	for text, want := range map[string]string{
		head + units + `{"dropped":3}`: "its writer dropped 3 lines",
		head + units:                   "its last line is missing",
		head + units + `{"at":70,"conn":1,"tx":0,"s":"1","rows":0,"ns":2}` + "\n" + `{"dropped":0}`:                                                                      "it lacks values of a statement",
		head + units + `{"at":70,"conn":1,"tx":0,"s":"4","rows":0,"ns":2}` + "\n" + `{"dropped":0}`:                                                                      "it changes the schema (DROP)",
		head + units + `{"at":70,"conn":1,"tx":8,"s":"begin","rows":0,"ns":2}` + "\n" + `{"at":80,"conn":1,"tx":9,"s":"begin","rows":0,"ns":2}` + "\n" + `{"dropped":0}`: "it does not have the end of a transaction",
	} {
		_, path := record(text)
		if _, err := recording.Read(t.Context(), path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// A log of changes is done again on the file that the recorder kept, on one that has not been
// changed since, and on one of which the user says that it is as it was.
func TestChangedSince(t *testing.T) {
	folder := t.TempDir()
	log, database := filepath.Join(folder, "app.ndjson"), filepath.Join(folder, "app.db")
	must(t, os.WriteFile(database, nil, 0o600))
	must(t, os.WriteFile(SnapshotOf(log), nil, 0o600))
	began := time.Now().Add(-time.Hour)
	for _, c := range []struct {
		database   string
		at, wal    time.Time
		changes    bool
		asRecorded bool
		known      bool
	}{
		{database: database, at: began.Add(-time.Second), changes: true, known: true},
		{database: database, at: began.Add(time.Second), changes: true},
		{database: database, at: began.Add(-time.Second), wal: began.Add(time.Second), changes: true},
		{database: database, at: began.Add(time.Second), known: true},
		{database: database, at: began.Add(time.Second), changes: true, asRecorded: true, known: true},
		{database: SnapshotOf(log), at: began.Add(time.Second), changes: true, known: true},
	} {
		must(t, os.Chtimes(c.database, c.at, c.at))
		if err := os.Remove(database + "-wal"); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if !c.wal.IsZero() {
			must(t, os.WriteFile(database+"-wal", nil, 0o600))
			must(t, os.Chtimes(database+"-wal", c.wal, c.wal))
		}
		l := &logged{began: began, changes: c.changes}
		if why := l.changedSince(&Options{Database: c.database, Logs: []Log{{Name: log}}, AsRecorded: c.asRecorded}); (why == "") != c.known {
			t.Errorf("%+v: got %q", c, why)
		}
	}
}
