package dataset

import (
	"path/filepath"
	"syscall"
	"testing"
)

// TestSnapshotOnFullDisk: SQLite calls it "database or disk is full: not an error".
func TestSnapshotOnFullDisk(t *testing.T) {
	out := t.TempDir()
	if err := syscall.Mount("tmpfs", out, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("mounting a small disk: %v", err)
	}
	t.Cleanup(func() { must(t, syscall.Unmount(out, 0)) })
	src := ledger(t, "delete")
	execute(t, src, "WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s LIMIT 50000) INSERT INTO credit (n) SELECT n FROM s")
	err := Snapshot(t.Context(), src, filepath.Join(out, "copy.db"))
	if want := "copy the database " + src + ": the disk of " + out + " is full: the copy needs as much space as the database has"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if got := names(t, out); len(got) != 0 {
		t.Errorf("left behind: %q", got)
	}
}
