package dataset

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay"
)

// DuckDB gets every type as it reads it, and tells NULL from an empty text.
func TestDuckDB(t *testing.T) {
	data := prepare(t, assay.Dataset{Seed: 1, Schema: "CREATE TABLE t (id INTEGER PRIMARY KEY, s TEXT, b BLOB, x REAL, yes INTEGER, no TEXT, e TEXT) STRICT;\n",
		Tables: []assay.Table{{Name: "t", Select: `SELECT value, 'a"b,' || char(10) || '\', x'40a7', -0.5, true, NULL, '' FROM generate_series(7, 8)`}}})
	folder := t.TempDir()
	statements, err := data.tables(t.Context(), folder)
	must(t, err)
	const row = `,"a""b,` + "\n" + `\","\x40\xa7",-0.5,1,,""` + "\n"
	got, err := os.ReadFile(filepath.Join(folder, "0.csv"))
	if want := "7" + row + "8" + row; err != nil || string(got) != want {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
	if len(statements) != 4 || strings.TrimSpace(statements[1]) != "CREATE TABLE t (id bigint PRIMARY KEY, s TEXT, b bytea, x double precision, yes bigint, no TEXT, e TEXT);" ||
		!strings.HasPrefix(statements[2], "COPY t (id, s, b, x, yes, no, e) FROM '"+filepath.Join(folder, "0.csv")+"' (") {
		t.Errorf("got %q", statements)
	}
	var filled [][]string
	fill := func(path string, statements []string) error {
		filled = append(filled, statements)
		return os.WriteFile(path, []byte("data"), 0o600)
	}
	for _, version := range []string{"1.5", "1.5", "1.6"} {
		store, err := data.DuckDB(t.Context(), version, fill)
		must(t, err)
		copied := filepath.Join(t.TempDir(), "copy")
		must(t, store.Copy(copied))
		if text, err := os.ReadFile(copied); err != nil || string(text) != "data" {
			t.Errorf("the copy has %q (%v)", text, err)
		}
	}
	if len(filled) != 2 {
		t.Errorf("the data were loaded %d times, want once for each version", len(filled))
	}
	data.Spec.File = "own.db"
	if _, err := data.tables(t.Context(), folder); !errors.Is(err, ErrFile) {
		t.Errorf("a file: %v", err)
	}
}
