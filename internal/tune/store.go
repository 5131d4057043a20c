package tune

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

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
	// values holds the values tried of each option beside the current one.
	values []option
}

type option struct {
	name   string
	values []string
}

// stores are the key-value stores whose options tune knows, by engine. The numbers are
// those that their documentation and their users move: fewer and more tables of the
// first level than by default, values kept apart from 512 and from 64 bytes on.
var stores = map[engine]storeOptions{
	"badger": {memtables: 6, values: []option{
		{kv.ValueThreshold, []string{"512", "64"}}, {kv.Compression, []string{"none", "zstd"}},
		{kv.L0Compaction, []string{"10", "2"}}, {kv.L0Stop, []string{"30"}}}},
	"bbolt":  {values: []option{{kv.FreelistType, []string{"hashmap"}}, {kv.FreelistSync, []string{"0"}}}},
	"lmdb":   {values: []option{{kv.MetaSync, []string{"0"}}, {kv.Readahead, []string{"0"}}}},
	"pebble": {memtables: 2, values: []option{{kv.L0Compaction, []string{"8", "2"}}, {kv.L0Stop, []string{"24"}}}},
}

// store adds the settings of a key-value store.
func (s *builder) store(options storeOptions) error {
	if s.c.Synced != nil { // else nothing is committed
		if err := s.sync(); err != nil {
			return err
		}
	}
	if options.memtables > 0 {
		s.divide(options.memtables)
	}
	for _, o := range options.values {
		s.words(o.name, o.values...)
	}
	return nil
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

// divide adds the cache, and as many tables of the same size as there may be at the same time. The
// largest of both together keep to the bound, so that every combination does.
func (s *builder) divide(count int64) {
	cache, table := whole(s.now[kv.BlockCache]), whole(s.now[kv.Memtable])
	size := func(name string, bytes int64) Level {
		return Level{Settings: map[string]string{name: strconv.FormatInt(bytes, 10)}}
	}
	caches, tables := Factor{Name: kv.BlockCache, Levels: []Level{{}}}, Factor{Name: kv.Memtable, Levels: []Level{{}}}
	if cache+count*table > s.c.Memory {
		s.StartIsCurrent = false
		cache, table = min(cache, s.c.Memory/2), min(table, s.c.Memory/2/count)
		caches.Levels, tables.Levels = []Level{size(kv.BlockCache, cache)}, []Level{size(kv.Memtable, table)}
	}
	// Beside what the other one takes now, either may take the half.
	largest := max(cache, min(s.c.Memory/2, s.c.Memory-count*table))
	most := (s.c.Memory - largest) / count
	for _, part := range []int64{1, 4} {
		if bytes := largest / part; float64(bytes) > worthwhile*float64(cache) {
			caches.Levels = append(caches.Levels, size(kv.BlockCache, bytes))
		}
		if bytes := most / part; float64(bytes) > worthwhile*float64(table) {
			tables.Levels = append(tables.Levels, size(kv.Memtable, bytes))
		}
	}
	s.add(caches, tables)
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
		t.synced[sync] = t.proven(map[string]string{kv.Sync: sync}, found.Trial.Durability)
	}
	if asked, ok := t.base[kv.Sync]; ok {
		t.effective[kv.Sync] = asked
	}
	if t.effective[kv.Sync] == "" {
		return "", lab.AsInputError(fmt.Errorf("profile %s leaves sync to %s, which does not read it back", t.current.Name, string(t.engine)), "set sync in the profile")
	}
	return t.synced[t.effective[kv.Sync]], nil
}
