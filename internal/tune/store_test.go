package tune

import (
	"maps"
	"slices"
	"testing"

	"assay"
	"assay/kit/kv"
)

// storeDefaults are what the stores read back by default.
var storeDefaults = map[engine]map[string]string{
	"badger": {kv.Sync: "0", kv.BlockCache: "268435456", kv.Memtable: "67108864", kv.L0Compaction: "5", kv.L0Stop: "15", kv.ValueThreshold: "1048576", kv.Compression: "snappy"},
	"bbolt":  {kv.Sync: "1", kv.FreelistType: "array", kv.FreelistSync: "1"},
	"lmdb":   {kv.Sync: "1", kv.MetaSync: "1", kv.Readahead: "1"},
	"pebble": {kv.Sync: "1", kv.BlockCache: "8388608", kv.Memtable: "4194304", kv.L0Compaction: "4", kv.L0Stop: "12"},
}

var storeClasses = map[string]assay.Durability{"0": assay.Process, "1": assay.Power}

// Each store has its own options, and every combination of them that may be proposed
// keeps the memory and the class of durability.
func TestStoreSpaceKeepsTheConstraints(t *testing.T) {
	for engine, now := range storeDefaults {
		for _, memory := range []int64{64 * mib, 256 * mib, 1024 * mib, 4096 * mib} {
			for _, class := range []assay.Durability{assay.Process, assay.Power} {
				s, err := engine.space(now, Constraints{Class: class, Memory: memory, Synced: storeClasses})
				if err != nil {
					t.Fatalf("%s: %v", engine, err)
				}
				if got, want := s.StartIsCurrent, engine.memory(now, 1) <= memory && storeClasses[now[kv.Sync]].AtLeast(class); got != want {
					t.Errorf("%s, %d MiB, %s: got that the current settings keep the constraints %t, want %t", engine, memory/mib, class, got, want)
				}
				most := maps.Clone(now)
				for _, f := range s.Factors {
					for i, level := range f.Levels {
						if sync, ok := level.Settings[kv.Sync]; ok && i < f.candidates() && !storeClasses[sync].AtLeast(class) {
							t.Errorf("%s: sync=%s is a candidate for durability %s", engine, sync, class)
						}
						for name, value := range level.Settings {
							if whole(value) > whole(most[name]) || i == 0 {
								most[name] = value
							}
						}
					}
				}
				if got := engine.memory(most, 1); got > memory {
					t.Errorf("%s: the largest candidates take %d MiB together, want at most %d", engine, got/mib, memory/mib)
				}
			}
		}
	}
}

func TestStoreSpaces(t *testing.T) {
	names := func(s Space) []string {
		var all []string
		for _, f := range s.Factors {
			all = append(all, f.Name)
		}
		slices.Sort(all)
		return all
	}
	for engine, want := range map[engine][]string{
		"badger": {kv.BlockCache, kv.Compression, kv.L0Compaction, kv.L0Stop, kv.Memtable, kv.Sync, kv.ValueThreshold},
		"bbolt":  {kv.FreelistSync, kv.FreelistType, kv.Sync},
		"lmdb":   {kv.MetaSync, kv.Readahead, kv.Sync},
		"pebble": {kv.BlockCache, kv.L0Compaction, kv.L0Stop, kv.Memtable, kv.Sync},
	} {
		s, err := engine.space(storeDefaults[engine], Constraints{Class: assay.Process, Memory: 2048 * mib, Synced: storeClasses})
		if err != nil || !slices.Equal(names(s), want) {
			t.Errorf("%s: got %v, %v; want %v", engine, names(s), err, want)
		}
	}
	reading, err := engine("pebble").space(storeDefaults["pebble"], Constraints{Memory: 256 * mib})
	if err != nil || slices.Contains(names(reading), kv.Sync) {
		t.Errorf("got %v, %v of a plan that changes nothing, want no sync", names(reading), err)
	}
	priced, err := engine("pebble").space(storeDefaults["pebble"], Constraints{Class: assay.Power, Memory: 256 * mib, Synced: storeClasses})
	if err != nil || priced.Factors[0].Levels[1].Price != string(assay.Process) {
		t.Errorf("got %+v, %v; want that writing without sync has its price", priced.Factors, err)
	}
	if _, err := engine("pebble").space(storeDefaults["pebble"], Constraints{Class: assay.Power, Memory: 256 * mib, Synced: map[string]assay.Durability{"0": assay.None, "1": assay.Process}}); err == nil {
		t.Error("got a space of a store that does not keep the class")
	}
}
