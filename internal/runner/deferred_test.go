//go:build unix

package runner

import (
	"cmp"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"assay"
)

// A block in WAL mode without a checkpoint is warned of: by what the log says, with and without
// checkpoints of the application's own.
func TestCheckpointWarning(t *testing.T) {
	for name, c := range map[string]struct {
		journal, limit string
		rows           int
		then           string
		want           bool
	}{
		"few rows":         {journal: "wal", limit: "100", rows: 20, want: true},
		"many rows":        {journal: "wal", limit: "100", rows: 150},
		"no checkpoints":   {journal: "wal", limit: "0", rows: 150, want: true},
		"limit is unknown": {journal: "wal", rows: 20},
		"no log":           {journal: "delete", limit: "100", rows: 20},
		"truncated":        {journal: "wal", limit: "100", rows: 20, then: "PRAGMA wal_checkpoint(TRUNCATE)"},
		"begun anew":       {journal: "wal", limit: "100", rows: 20, then: "PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO t VALUES (1)"},
	} {
		path := filepath.Join(t.TempDir(), "db")
		db, err := sql.Open("sqlite", path)
		must(t, err)
		db.SetMaxOpenConns(1)
		exec := func(text string) {
			t.Helper()
			_, err := db.Exec(text)
			must(t, err)
		}
		exec(fmt.Sprintf("PRAGMA journal_mode = %s; PRAGMA synchronous = off; PRAGMA wal_autocheckpoint = %s; CREATE TABLE t (a)", c.journal, cmp.Or(c.limit, "100")))
		for i := range c.rows {
			exec(fmt.Sprintf("INSERT INTO t VALUES (%d)", i))
		}
		if c.then != "" {
			exec(c.then)
		}
		settings := []assay.Setting{{Name: "journal_mode", Effective: c.journal}}
		if c.limit != "" {
			settings = append(settings, assay.Setting{Name: "wal_autocheckpoint", Connection: "writer-1", Effective: c.limit})
		}
		in := &instance{readings: readings{settings: settings}}
		in.path = path
		for _, changes := range []bool{true, false} {
			got := in.deferredWork(assay.Operation{Changes: changes})
			if warned := len(got) == 1 && got[0].Code == "no-checkpoint"; warned != (c.want && changes) {
				t.Errorf("%s, changes %t: got %+v, want a warning: %t", name, changes, got, c.want && changes)
			}
		}
		must(t, db.Close())
	}
}

// A block of a store that fills no table in memory is warned of; one that begins another log,
// or that has none, is not.
func TestMemtableWarning(t *testing.T) {
	put := assay.Operation{Changes: true, Steps: []assay.Step{{KV: "put"}}}
	for name, c := range map[string]struct {
		before, more []string
		want         bool
	}{
		"pebble": {[]string{"000002.log", "000004.sst", "LOG"}, nil, true}, "pebble flushed": {[]string{"000002.log"}, []string{"000005.log"}, false},
		"badger": {[]string{"00001.mem", "000001.vlog"}, []string{"000002.vlog"}, true}, "badger flushed": {[]string{"00001.mem"}, []string{"00002.mem"}, false},
		"lotusdb": {[]string{"000000001.SEG.1", "000000001.VLOG.0"}, nil, true}, "lotusdb flushed": {[]string{"000000001.SEG.1"}, []string{"000000001.SEG.2"}, false},
		"a B+ tree": {[]string{"bolt.db"}, nil, false},
	} {
		in := &instance{}
		in.path = t.TempDir()
		for _, file := range c.before {
			must(t, os.WriteFile(filepath.Join(in.path, file), nil, 0o600))
		}
		in.logs = storeLogs(in.path)
		for _, file := range c.more {
			must(t, os.WriteFile(filepath.Join(in.path, file), nil, 0o600))
		}
		got := in.deferredWork(put)
		if warned := len(got) == 1 && got[0].Code == "memtable-not-filled"; warned != c.want {
			t.Errorf("%s: got %+v, want a warning: %t", name, got, c.want)
		}
	}
}
