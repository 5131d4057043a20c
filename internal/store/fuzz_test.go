package store

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"assay"
)

// hostileChanges are SQL that makes a store one which no assay wrote.
var hostileChanges = []string{
	"",
	"UPDATE run SET id = '../../victim'",
	"UPDATE run SET id = '20261120-153000-0001' || char(27) || '[2J'",
	"UPDATE run SET options = '{', host = '[1]', files = 'null'",
	"UPDATE run SET options = '{\"budget_ns\": 1e999}'",
	"UPDATE run SET seed = '-1', started = 'yesterday', status = 'best'",
	"UPDATE run SET least_ns = -9223372036854775808, targets = -1",
	"UPDATE trial SET samples = '[1e999]', histogram = '[[-1, 9223372036854775807]]'",
	"UPDATE trial SET samples = '[' || hex(zeroblob(100000)), warnings = '{}', params = '7', each_sql = 'x'",
	"UPDATE trial SET outcome = 'better', mode = '', launch = -1, clients = -9223372036854775808",
	"UPDATE trial SET figures = -5, settings = 9223372036854775807",
	"UPDATE figure SET value = 9e999",
	"UPDATE figure SET metric = char(0) || 'ns/op'",
	"UPDATE goose_db_version SET version_id = 9223372036854775807",
	"DELETE FROM goose_db_version",
	"DROP TABLE figure",
	"DROP TABLE trial; CREATE TABLE trial (id)",
	"DROP TABLE target; CREATE VIEW target AS SELECT * FROM run",
	"PRAGMA application_id = 7",
	"PRAGMA writable_schema = on; UPDATE sqlite_schema SET sql = 'CREATE TABLE run (id' WHERE name = 'run'",
	"PRAGMA writable_schema = on; UPDATE sqlite_schema SET rootpage = 4000000000 WHERE name = 'trial'",
}

// hostileStores are the contents of such files, and of damaged ones.
func hostileStores(f *testing.F) (all [][]byte) {
	f.Helper()
	for _, text := range hostileChanges {
		path := filepath.Join(f.TempDir(), "a.db")
		s := open(f, path)
		must(f, s.Begin(f.Context(), start("20261120-153000-0001", "quick", 0)))
		must(f, s.Append(f.Context(), "20261120-153000-0001", assay.Trial{Launch: 1, Outcome: assay.OK, Figures: map[string]float64{assay.NsPerOp: 7},
			Settings: []assay.Setting{{Name: "cache_size"}}}))
		must(f, s.Close())
		if text != "" {
			execute(f, path, text)
		}
		data, err := os.ReadFile(path)
		must(f, err)
		all = append(all, data)
	}
	whole := all[0]
	damaged := append([]byte{}, whole...)
	for i := 4096; i < len(damaged); i += 97 {
		damaged[i] ^= 0xff
	}
	return append(all, nil, whole[:100], whole[:len(whole)/2], damaged)
}

// FuzzRead: whatever a file of results has in it, reading it ends, and names no run
// that could be another file.
func FuzzRead(f *testing.F) {
	for _, data := range hostileStores(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "a.db")
		must(t, os.WriteFile(path, data, 0o644))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		readAll(ctx, t, path)
		if ctx.Err() != nil {
			t.Error("reading took a minute")
		}
	})
}

func readAll(ctx context.Context, t *testing.T, path string) {
	s, err := OpenToRead(ctx, path)
	if err != nil {
		return
	}
	defer s.Close()
	runs, err := s.Runs(ctx)
	if err != nil {
		return
	}
	for _, run := range runs {
		if !assay.ValidRunID(run.ID) {
			t.Errorf("got a run %q, which is no ID", run.ID)
		}
		for range s.Trials(ctx, run.ID) { // its errors are as good as its trials
		}
		_, _ = s.Run(ctx, run.ID)
		_, _ = s.Unfinished(ctx, run.Plan, run.PlanFile, nil)
	}
}
