package tune

import (
	"slices"
	"testing"

	"assay"
	"assay/internal/plan"
)

const usable = `name: test
drivers: [mattn]
clients: [1, 8]
profiles: {web: {journal_mode: wal, synchronous: normal}}
workload:
  schema: CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER NOT NULL)
  data: {t: "SELECT value, random(1, 9) FROM generate_series(1, 10)"}
operations:
  read: {sql: SELECT n FROM t WHERE id = ?, args: "SELECT random(1, 10)", rows: 1, statement: [each], pool: [8]}
  write: {sql: "INSERT INTO t VALUES (?, 1)", args: SELECT 10 + :i, clients: 1, count: 200}
  both: {sql: "INSERT INTO t VALUES (?, 2)", args: SELECT 10 + :i, clients: 1, count: 200, transaction: [none, 10]}
`

// Tried is what a program may do otherwise: what changes an operation, and is not a cell
// of the plan, ruled out by --only, or too much for the memory.
func TestUsesThatAreTried(t *testing.T) {
	p, err := plan.Decode("test.yaml", []byte(usable))
	must(t, err)
	for name, c := range map[string]struct {
		only   map[string][]string
		engine string
		cache  string
		want   []string
	}{
		"all operations":         {nil, "sqlite", "-2000", []string{"statement: once", "pool: 2"}}, // both has transactions of 10 already
		"the reads":              {map[string][]string{"operation": {"read"}}, "sqlite", "-2000", []string{"statement: once", "pool: 2"}},
		"the write":              {map[string][]string{"operation": {"write"}}, "sqlite", "-2000", []string{"transaction: 10"}}, // 100 needs a longer block
		"a statement is chosen":  {map[string][]string{"operation": {"read"}, "statement": {"each"}}, "sqlite", "-2000", []string{"pool: 2"}},
		"one client":             {map[string][]string{"operation": {"read"}, "clients": {"1"}}, "sqlite", "-2000", []string{"statement: once"}},
		"a key-value store":      {map[string][]string{"operation": {"read"}}, "pebble", "", nil},
		"more than there may be": {map[string][]string{"operation": {"read"}}, "sqlite", "-1000000", []string{"statement: once", "pool: 2"}},
	} {
		cases, err := p.Expand([]string{"mattn"})
		must(t, err)
		tuning := &Tuning{engine: engine(c.engine), request: Request{Plan: p, Only: c.only, Memory: 256 << 20}, effective: map[string]string{"cache_size": c.cache}}
		if tuning.operations, err = plan.SelectToMeasure(cases, c.only); err != nil {
			t.Fatal(err)
		}
		tuning.tryUses()
		var got []string
		for _, point := range tuning.space.FirstPoints() {
			got = append(got, tuning.space.Use(point).String())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// A larger pool has more caches: it is tried as long as they fit into the memory.
func TestPoolWithinMemory(t *testing.T) {
	read := assay.Case{Cell: assay.Cell{Operation: "read", Clients: 8, Pool: 2, Idle: 2}, Operation: assay.Operation{Steps: []assay.Step{{Query: true}}}}
	for cache, want := range map[string]bool{"-2000": true, "-30000": true, "-40000": false} {
		tuning := &Tuning{engine: SQLiteEngine, request: Request{Memory: 256 << 20}, effective: map[string]string{"cache_size": cache}, operations: []assay.Case{read}}
		if got := tuning.isOther(assay.Use{Pool: 8}); got != want {
			t.Errorf("cache_size %s: got that 8 connections are tried %t, want %t", cache, got, want)
		}
	}
}

// The confirmation has data of its own: by those of the search, luck was chosen.
func TestSeedOfAStage(t *testing.T) {
	p, err := plan.Decode("test.yaml", []byte(usable))
	must(t, err)
	p.Seed = 7
	tuning := &Tuning{request: Request{Plan: p}, current: assay.Profile{Name: "web"}}
	for stage, want := range map[Stage]uint64{"search-1": 7, "search-2": 7, Confirmation: 8} {
		if staged, _ := tuning.stagePlan(Block{Stage: stage}, []assay.Profile{{Name: currentName}}); staged.Seed != want {
			t.Errorf("%s: got seed %d, want %d", stage, staged.Seed, want)
		}
	}
}
