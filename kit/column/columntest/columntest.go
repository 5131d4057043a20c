// Package columntest writes small column files for tests.
package columntest

import (
	"path/filepath"
	"testing"

	"assay/kit/column"
)

// Write writes rows to a file of the test's own, and returns its path.
func Write(t testing.TB, types []column.Type, rows ...[]any) string {
	t.Helper()
	builder := column.NewBuilder(types...)
	for _, row := range rows {
		if err := builder.Append(row...); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "rows.col")
	if err := builder.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// Open writes rows to a file and maps it until the test ends.
func Open(t testing.TB, types []column.Type, rows ...[]any) *column.File {
	t.Helper()
	file, err := column.Open(Write(t, types, rows...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return file
}
