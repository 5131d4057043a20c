package tune

import (
	"testing"

	"assay"
	"assay/internal/plan"
	"assay/kit/kv"
)

// What assay crash refuted counts for every driver that may be proposed, whatever its
// options are, and for what the driver in use sets by itself.
func TestRefutedByCrash(t *testing.T) {
	p, err := plan.Decode("test.yaml", []byte(`name: test
drivers: [mattn]
profiles:
  current: {busy_timeout: 5s}
  web: {journal_mode: wal, synchronous: full}
workload:
  schema: CREATE TABLE t (id INTEGER PRIMARY KEY)
  data: {t: "SELECT value FROM generate_series(1, 10)"}
operations:
  read: {sql: SELECT id FROM t WHERE id = ?, args: "SELECT random(1, 10)", rows: 1}
`))
	must(t, err)
	current, _, err := p.Profile("current")
	must(t, err)
	for name, c := range map[string]struct {
		target, profile      string
		journal, synchronous string
		want                 assay.Durability
	}{
		"a driver with options":            {"mattn@v1.14.52:ENABLE_FTS5", "web", "wal", "2", assay.Process},
		"another driver of --drivers":      {"modernc@v1.61.1", "web", "wal", "2", assay.Process},
		"a driver that nobody asked for":   {"glebarez@v1.23.0", "web", "wal", "2", assay.Power},
		"other settings":                   {"modernc@v1.61.1", "web", "wal", "3", assay.Power},
		"what the driver in use sets":      {"mattn@v1.14.52", "current", "delete", "2", assay.Process},
		"a profile that is not the user's": {"mattn@v1.14.52", "web", "delete", "2", assay.Power},
	} {
		tuning := &Tuning{engine: SQLiteEngine, request: Request{Plan: p}, current: current, drivers: []string{"mattn:ENABLE_FTS5", "modernc@v1.61.1"},
			effective: map[string]string{"journal_mode": "delete", "synchronous": "2"},
			proofs:    []assay.Proof{{Target: c.target, Profile: c.profile, States: 10, Refuted: 10, Kind: assay.Corrupts}}}
		if got := tuning.proven(map[string]string{"journal_mode": c.journal, "synchronous": c.synchronous}, assay.Power); got != c.want {
			t.Errorf("%s: got durability %s, want %s", name, got, c.want)
		}
	}
}

// Settings that durability and memory follow from are in every proposal: the next
// reader of it has other defaults.
func TestProposalsAreExplicit(t *testing.T) {
	tuning := &Tuning{engine: SQLiteEngine, effective: map[string]string{"journal_mode": "wal", "synchronous": "2", "cache_size": "-2000", "mmap_size": "0", "temp_store": "0"}}
	settings := map[string]string{"cache_size": "-64000"}
	tuning.explicit(settings)
	if got, want := len(settings), 4; got != want || settings["synchronous"] != "2" || settings["cache_size"] != "-64000" {
		t.Errorf("got %v, want journal_mode, synchronous and mmap_size as they are, and the cache as it was chosen", settings)
	}
}

// What assay crash refuted counts, too, where the profile in use leaves sync to the
// store.
func TestRefutedDefaultOfAStore(t *testing.T) {
	p, err := plan.Decode("test.yaml", []byte(`name: test
drivers: [badger]
profiles: {current: {}, synced: {sync: "1"}}
workload: {schema: CREATE TABLE t (id INTEGER PRIMARY KEY), data: {t: "SELECT value FROM generate_series(1, 10)"}}
operations: {read: {sql: SELECT id FROM t WHERE id = ?, args: "SELECT random(1, 10)", rows: 1}}
`))
	must(t, err)
	current, _, err := p.Profile("current")
	must(t, err)
	tuning := &Tuning{engine: "badger", request: Request{Plan: p}, current: current, drivers: []string{"badger"}, effective: map[string]string{kv.Sync: "0"},
		proofs: []assay.Proof{{Target: "badger@v4.9.6", Profile: "current", States: 10, Refuted: 10, Kind: assay.Corrupts}}}
	for sync, want := range map[string]assay.Durability{"0": assay.Process, "1": assay.Power} {
		if got := tuning.proven(map[string]string{kv.Sync: sync}, assay.Power); got != want {
			t.Errorf("sync %s: got durability %s, want %s", sync, got, want)
		}
	}
}
