package sqlite

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestInOrder(t *testing.T) {
	got := InOrder(map[string]string{"cache_size": "", "journal_mode": "", "busy_timeout": "", "analysis_limit": "", "locking_mode": ""})
	want := []string{"busy_timeout", "locking_mode", "journal_mode", "analysis_limit", "cache_size"}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestSpell(t *testing.T) {
	for _, test := range []struct{ name, value, want string }{
		{"journal_mode", "wal", "WAL"}, {"synchronous", "1", "NORMAL"}, {"cache_size", "-5000", "-5000"},
		{"encoding", "UTF-8", "'UTF-8'"}, {"foreign_keys", "1", "1"}, {"mutex", "no", "NO"},
		{"synchronous", "3", "EXTRA"}, {"synchronous", "4", "4"},
	} {
		if got := Spell(test.name, test.value); got != test.want {
			t.Errorf("%s %s: %s, want %s", test.name, test.value, got, test.want)
		}
	}
}

func TestURIParameter(t *testing.T) {
	for _, test := range [][3]string{{"read_only", "1", "mode=ro"}, {"read_only", "0", "mode=rwc"}, {"immutable", "1", "immutable=1"}, {"immutable", "0", "immutable=0"},
		{"shared_cache", "0", "cache=private"}, {"shared_cache", "1", "cache=shared"}, {"journal_mode", "wal", ""}} {
		if got := URIParameter(test[0], test[1]); got != test[2] {
			t.Errorf("%s %s: %q, want %q", test[0], test[1], got, test[2])
		}
	}
}

func TestIsWAL(t *testing.T) {
	header := make([]byte, 100)
	path := filepath.Join(t.TempDir(), "x.db")
	for _, versions := range [][2]byte{{1, 1}, {2, 2}, {2, 1}, {1, 2}} { // to write, and to read
		header[18], header[19] = versions[0], versions[1]
		if err := os.WriteFile(path, header, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := IsWAL(path); got != (versions == [2]byte{2, 2}) || err != nil {
			t.Errorf("versions %d: %t, %v", versions, got, err)
		}
	}
}
