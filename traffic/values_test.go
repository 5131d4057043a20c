package traffic_test

import (
	"bytes"
	"database/sql"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay/internal/draft/recorded"
	"assay/traffic"

	"modernc.org/sqlite"
)

// Values come out of a log as SQLite got them, in all languages.
func TestValues(t *testing.T) {
	all := shops()
	for _, l := range []language{
		{name: "Go"},
		{"Python", "values.py", "python3", nil, all[0].probe, all[0].install},
		{"Rails", "values.rb", "ruby", nil, all[4].probe, all[4].install},
		{"better-sqlite3", "values.js", "node", nil, all[5].probe, all[5].install},
	} {
		t.Run(l.name, func(t *testing.T) {
			folder := t.TempDir()
			log, database := filepath.Join(folder, "log"), filepath.Join(folder, "app.db")
			db := must[*sql.DB](t)(sql.Open("sqlite", database))
			must[sql.Result](t)(db.Exec("CREATE TABLE v (x)"))
			if l.script == "" {
				bindValues(t, log, database, db)
			} else if _, err := l.run(t, "", log, database); err != nil {
				t.Fatal(err)
			}
			start := must[*sql.DB](t)(sql.Open("sqlite", log+".start.db"))
			defer start.Close()
			var before int
			err := start.QueryRow("SELECT count(*) FROM v").Scan(&before)
			if info := must[os.FileInfo](t)(os.Stat(log + ".start.db")); err != nil || before != 0 || info.Mode().Perm() != 0o600 {
				t.Errorf("the database as it was: got %v, %d rows and mode %v, want none and 0600", err, before, info.Mode())
			}
			got := boundValues(t, log)
			rows := must[*sql.Rows](t)(db.Query("SELECT typeof(x), x, length(CAST(x AS BLOB)) FROM v ORDER BY rowid"))
			n := 0
			for ; rows.Next(); n++ {
				var kind string
				var want any
				var length sql.NullInt64
				noError(t, rows.Scan(&kind, &want, &length))
				if n >= len(got) {
					continue
				}
				if size := int(length.Int64); size > 1<<20 && kind == "text" { // the log has its length alone
					want = strings.Repeat(" ", size)
				} else if size > 1<<20 {
					want = make([]byte, size)
				}
				if !same(got[n].Of, kind, want) {
					t.Errorf("value %d: got %T %.99v, want %s %.99v", n, got[n].Of, got[n].Of, kind, want)
				}
			}
			if err := errors.Join(rows.Err(), db.Close()); err != nil || n != len(got) || n < 20 {
				t.Errorf("got %d values of %d and error %v", len(got), n, err)
			}
		})
	}
}

// same reports whether a value is of a type and exactly like a stored one. SQLite stores
// what is no number as NULL.
func same(got any, kind string, want any) bool {
	switch v := got.(type) {
	case nil:
		return kind == "null"
	case int64:
		return kind == "integer" && v == want
	case float64:
		stored, _ := want.(float64)
		return kind == "null" && math.IsNaN(v) || kind == "real" && math.Float64bits(v) == math.Float64bits(stored)
	case string:
		return kind == "text" && v == want
	case []byte:
		stored, _ := want.([]byte)
		return kind == "blob" && bytes.Equal(v, stored)
	}
	return false
}

// boundValues are those of INSERT in a log.
func boundValues(t *testing.T, log string) (all []recorded.Value) {
	t.Helper()
	texts := map[string]*recorded.Text{}
	err := recorded.Lines(must[[]byte](t)(os.ReadFile(log)), func(l *recorded.Line) error {
		if l.ID != "" {
			texts[l.ID] = recorded.TextOf(l.SQL)
		}
		if text := texts[l.S]; text != nil && strings.HasPrefix(text.Template, "INSERT") && l.Err == "" {
			values, ok := text.Values(l)
			if !ok || len(values) != 1 {
				t.Errorf("got %v for %s, want one value", values, text.Template)
			}
			all = append(all, values...)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return all
}

func bindValues(t *testing.T, log, database string, plain *sql.DB) {
	t.Helper()
	r := must[*traffic.Recorder](t)(traffic.Open(log, 64<<20))
	noError(t, r.Snapshot(t.Context(), plain))
	db := sql.OpenDB(dsn{r.Driver(&sqlite.Driver{}), database})
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	exec := must[sql.Result](t)
	for _, value := range []any{nil, 0, -1, 1<<53 + 1, int64(math.MaxInt64), int64(math.MinInt64), true, false, 0.1, math.Copysign(0, -1), 1.0, 1e22,
		math.SmallestNonzeroFloat64, math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN(), "", "é😀\u2028", "a\x00b", "\"\\\n\t\x7f'", "1", "a\xffb", every,
		strings.Repeat("x", 1<<20+1), make([]byte, 1<<20+1)} {
		exec(db.Exec("INSERT INTO v VALUES (?)", value))
	}
	exec(db.Exec("INSERT INTO v VALUES (:b)", sql.Named("b", 2)))

	noError(t, errors.Join(db.Close(), r.Close()))
}

// A time keeps its zone, as a driver writes it.
func TestTimeKeepsItsZone(t *testing.T) {
	at := time.Date(2026, 3, 1, 3, 0, 0, 0, time.FixedZone("CET", 3600))
	if got, want := traffic.Value(at), `"2026-03-01 03:00:00+01:00"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
