package dataset

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay"
)

// Script writes every type as COPY reads it.
func TestScript(t *testing.T) {
	ds := assay.Dataset{Seed: 1, Schema: "CREATE TABLE t (id INTEGER PRIMARY KEY, s TEXT, b BLOB, x REAL, yes INTEGER, no TEXT) STRICT;\n",
		Tables: []assay.Table{{Name: "t", Select: "SELECT value, 'a' || char(9) || 'b\\c' || char(10) || 'd' || char(13), x'40a7', -0.5, true, NULL FROM generate_series(7, 8)"}}}
	data := prepare(t, ds)
	var out strings.Builder
	must(t, data.Script(t.Context(), &out, 1500*time.Millisecond))
	want := `SET statement_timeout = '1500000us';
BEGIN;
CREATE TABLE t (id bigint PRIMARY KEY, s TEXT, b bytea, x double precision, yes bigint, no TEXT);
COPY t (id, s, b, x, yes, no) FROM STDIN;
7	a\tb\\c\nd\r	\\x40a7	-0.5	1	\N
8	a\tb\\c\nd\r	\\x40a7	-0.5	1	\N
\.
COMMIT;
SET statement_timeout = 0;
VACUUM (FREEZE, ANALYZE);
CHECKPOINT;
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	out.Reset()
	ds.Tables[0].Select = strings.Replace(ds.Tables[0].Select, "(7, 8)", fmt.Sprintf("(1, %d)", copyRows+1), 1)
	data = prepare(t, ds)
	must(t, data.Script(t.Context(), &out, 0))
	if got := strings.Count(out.String(), "\n"+`\.`+"\n"); got != 2 {
		t.Errorf("%d rows are copied by %d statements, want 2", copyRows+1, got)
	}
	data.Spec.File = "own.db"
	if err := data.Script(t.Context(), &out, 0); !errors.Is(err, ErrFile) {
		t.Errorf("a file: %v", err)
	}
}

// A cluster is made once, and again when it is no longer what it was.
func TestCluster(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "cache")
	must(t, os.MkdirAll(filepath.Join(cache, "key"), 0o755))
	data := &Data{Path: filepath.Join(cache, "key", "data.db")}
	made := 0
	fill := func(path string) error {
		made++
		if err := os.Mkdir(path, 0o700); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(path, "PG_VERSION"), []byte("15\n"), 0o600)
	}
	var store *Store
	find := func(want int) {
		t.Helper()
		var err error
		if store, err = data.Cluster("15.18", fill); err != nil || made != want {
			t.Fatalf("made %d times, want %d: %v", made, want, err)
		}
	}
	find(1)
	find(1)
	must(t, os.WriteFile(filepath.Join(store.Path, "PG_VERSION"), []byte("14\n"), 0o600))
	find(2)
	if _, err := data.Cluster("16.1", fill); err != nil || made != 3 {
		t.Errorf("another version: %d, %v", made, err)
	}
	fault := errors.New("no")
	if _, err := data.Cluster("17.0", func(string) error { return fault }); !errors.Is(err, fault) {
		t.Error(err)
	}
	left, err := filepath.Glob(filepath.Join(cache, workPrefix+"*"))
	if err != nil || len(left) > 0 {
		t.Errorf("%v, %v are left", left, err)
	}
}
