package tune

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"assay"
	"assay/internal/lab"
	"assay/kit/kv"
)

// storeOptions are the options of a key-value store that a tuning tries.
type storeOptions struct {
	// memtables is how many tables in memory may be there at the same time: those that
	// wait for being written out, and the one that is filled. 0: the store has none, and
	// no cache of its own.
	memtables int64
	// values are those tried of each option beside the current one.
	values []option
}

type option struct {
	name   string
	values []string
}

// stores are the key-value stores whose options tune knows, by engine. The numbers are
// those that their documentation and their users move: fewer and more tables of the
// first level than by default, values kept apart from 512 and from 64 bytes on.
var stores = map[string]storeOptions{
	"badger": {memtables: 6, values: []option{
		{kv.ValueThreshold, []string{"512", "64"}}, {kv.Compression, []string{"none", "zstd"}},
		{kv.L0Compaction, []string{"10", "2"}}, {kv.L0Stop, []string{"30"}}}},
	"bbolt":  {values: []option{{kv.FreelistType, []string{"hashmap"}}, {kv.FreelistSync, []string{"0"}}}},
	"lmdb":   {values: []option{{kv.MetaSync, []string{"0"}}, {kv.Readahead, []string{"0"}}}},
	"pebble": {memtables: 2, values: []option{{kv.L0Compaction, []string{"8", "2"}}, {kv.L0Stop, []string{"24"}}}},
}

// Engines are those whose settings tune knows.
func Engines() []string {
	return append(slices.Sorted(maps.Keys(stores)), SQLiteEngine)
}

// SQLiteEngine is how workers name their engine.
const SQLiteEngine = "sqlite"

// IsStore reports whether an engine is a key-value store that tune knows.
func IsStore(engine string) bool {
	_, ok := stores[engine]
	return ok
}

// For is the space of an engine's settings that keeps the constraints. effective are
// the current settings as they are read back.
func For(engine string, effective map[string]string, c Constraints) (Space, error) {
	if engine == SQLiteEngine {
		return SQLite(effective, c)
	}
	options, ok := stores[engine]
	if !ok {
		return Space{}, fmt.Errorf("tune knows no settings of the engine %s: it knows those of %s", engine, strings.Join(Engines(), ", "))
	}
	s := &builder{now: effective, c: c, Space: Space{StartIsCurrent: true}}
	if c.Synced != nil { // else nothing is committed
		if err := s.sync(); err != nil {
			return Space{}, err
		}
	}
	if options.memtables > 0 {
		s.divide(division{cache: kv.BlockCache, table: kv.Memtable, tables: options.memtables, unit: 1})
	}
	for _, o := range options.values {
		s.words(o.name, o.values...)
	}
	return s.Space, nil
}

// sync adds whether commits are synced: a candidate where the class allows it, and
// otherwise there for its price.
func (s *builder) sync() error {
	f := Factor{Name: kv.Sync}
	now := s.now[kv.Sync]
	other := map[string]string{"0": "1", "1": "0"}[now]
	level := Level{Settings: map[string]string{kv.Sync: other}}
	kept, otherKept := s.c.Synced[now].AtLeast(s.c.Class), s.c.Synced[other].AtLeast(s.c.Class)
	switch {
	case kept && otherKept:
		f.Levels = []Level{{}, level}
	case kept:
		level.Price = string(s.c.Synced[other])
		f.Levels = []Level{{}, level}
	case otherKept:
		s.StartIsCurrent = false
		f.Levels = []Level{level}
	default:
		return fmt.Errorf("the store does not have durability %s, with sync or without", s.c.Class)
	}
	if level.Price == "" || s.c.Synced[other] != assay.DurabilityUnknown {
		s.Factors = append(s.Factors, f)
	}
	return nil
}

// division is what shares the memory: one cache, and tables of the same size.
type division struct {
	cache, table string // the settings of both, in bytes
	tables       int64  // that there may be at the same time
	unit         int64  // bytes that both are multiples of
}

// divide adds the cache and the tables. The largest of both together keep to the bound,
// so that every combination does.
func (s *builder) divide(d division) {
	cache, table := whole(s.now[d.cache]), whole(s.now[d.table])
	size := func(name string, bytes int64) Level {
		return Level{Settings: map[string]string{name: strconv.FormatInt(bytes, 10)}}
	}
	round := func(bytes int64) int64 { return bytes / d.unit * d.unit }
	caches, tables := Factor{Name: d.cache, Levels: []Level{{}}}, Factor{Name: d.table, Levels: []Level{{}}}
	if cache+d.tables*table > s.c.Memory {
		s.StartIsCurrent = false
		cache, table = min(cache, round(s.c.Memory/2)), min(table, round(s.c.Memory/2/d.tables))
		caches.Levels, tables.Levels = []Level{size(d.cache, cache)}, []Level{size(d.table, table)}
	}
	// Beside what the other one takes now, either may take the half.
	largest := max(cache, round(min(s.c.Memory/2, s.c.Memory-d.tables*table)))
	for _, bytes := range []int64{largest, round(largest / 4)} {
		if float64(bytes) > worthwhile*float64(cache) {
			caches.Levels = append(caches.Levels, size(d.cache, bytes))
		}
	}
	most := round((s.c.Memory - largest) / d.tables)
	for _, bytes := range []int64{most, round(most / 4)} {
		if float64(bytes) > worthwhile*float64(table) {
			tables.Levels = append(tables.Levels, size(d.table, bytes))
		}
	}
	for _, f := range []Factor{caches, tables} {
		if len(f.Levels) > 1 || f.Levels[0].Settings != nil {
			s.Factors = append(s.Factors, f)
		}
	}
}

// StoreMemory is what the cache and the tables in memory of a store may take with some
// settings.
func StoreMemory(engine string, effective map[string]string) int64 {
	return whole(effective[kv.BlockCache]) + stores[engine].memtables*whole(effective[kv.Memtable])
}

// readStore completes what is known of a key-value store's current settings: it is
// opened without sync and with it, as not every store reads that back, and returns the
// class of the current settings.
func (t *Tuning) readStore(ctx context.Context) (assay.Durability, error) {
	if len(t.drivers) > 1 {
		return "", lab.AsInputError(errors.New("tune searches the settings of one key-value store at a time: name one with --drivers"))
	}
	if !slices.ContainsFunc(t.operations, func(o assay.Case) bool { return o.Operation.Changes }) {
		delete(t.base, kv.Sync)
		return assay.DurabilityUnknown, nil // nothing is committed that could be lost
	}
	t.synced = map[string]assay.Durability{}
	for _, sync := range []string{"0", "1"} {
		profile := t.current
		profile.Name, profile.Settings = "sync-"+sync, maps.Clone(t.base)
		profile.Settings[kv.Sync] = sync
		found, err := t.lab.Inspect(ctx, t.request.Plan.WithProfiles(t.request.Plan.Name, t.current.Name, []assay.Profile{profile}, t.request.Plan.Seed), t.drivers[0], profile.Name)
		if err != nil {
			return "", err
		}
		if found.Trial.Outcome != assay.OK {
			return "", fmt.Errorf("%s with sync=%s cannot be measured: %s: %s", t.drivers[0], sync, found.Trial.Outcome, found.Trial.Reason)
		}
		t.synced[sync] = t.provenStore(sync, found.Trial.Durability)
	}
	if asked, ok := t.base[kv.Sync]; ok {
		t.effective[kv.Sync] = asked
	}
	if t.effective[kv.Sync] == "" {
		return "", lab.AsInputError(fmt.Errorf("profile %s leaves sync to %s, which does not read it back", t.current.Name, string(t.engine)), "set sync in the profile")
	}
	return t.synced[t.effective[kv.Sync]], nil
}

// provenStore is what assay crash left of a class of a store with sync or without it.
func (t *Tuning) provenStore(sync string, claimed assay.Durability) assay.Durability {
	for _, p := range t.proofs {
		profile, _, err := t.request.Plan.Profile(p.Profile)
		asked := profile.Settings[kv.Sync]
		if asked == "" && p.Profile == t.current.Name {
			asked = t.effective[kv.Sync] // the store's default
		}
		if err == nil && t.isOurs(p.Target) && asked == sync {
			claimed = p.Proven(string(t.engine), claimed)
		}
	}
	return claimed
}
