package tune

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"assay"

	"github.com/google/go-cmp/cmp"
)

// defaults are what SQLite reads back where nothing is set.
func defaults(changed map[string]string) map[string]string {
	all := map[string]string{"journal_mode": "delete", "synchronous": "2", "cache_size": "-2000", "mmap_size": "0", "page_size": "4096",
		"temp_store": "0", "wal_autocheckpoint": "1000", "journal_size_limit": "-1", "auto_vacuum": "0", "locking_mode": "normal"}
	maps.Copy(all, changed)
	return all
}

// combinations calls a function with each point of candidates.
func combinations(s Space, do func(Point)) {
	p := s.start()
	for {
		do(p)
		j := 0
		for ; j < len(p); j++ {
			if p[j]++; p[j] < s.Factors[j].candidates() {
				break
			}
			p[j] = 0
		}
		if j == len(p) {
			return
		}
	}
}

// Every combination keeps the constraints, whatever the current settings are.
func TestEveryCombinationKeepsTheConstraints(t *testing.T) {
	for _, now := range []map[string]string{
		defaults(nil),
		defaults(map[string]string{"journal_mode": "wal", "synchronous": "1"}),
		defaults(map[string]string{"journal_mode": "off", "synchronous": "0"}),
		defaults(map[string]string{"cache_size": "-1000000", "mmap_size": "1073741824"}),
		defaults(map[string]string{"mmap_size": "209715200"}), // a larger cache has room beside it
		defaults(map[string]string{"cache_size": "20000", "page_size": "8192", "auto_vacuum": "1"}),
	} {
		for _, class := range []assay.Durability{assay.Process, assay.Consistent, assay.LastCommit, assay.Power} {
			for _, connections := range []int{1, 8, 100} {
				c := Constraints{Class: class, Memory: 256 * mib, Connections: connections, SingleProcess: true}
				s, err := SQLiteEngine.space(now, c)
				must(t, err)
				if want := ClassOf(now).AtLeast(class) && SQLiteEngine.memory(now, connections) <= c.Memory; s.StartIsCurrent != want {
					t.Errorf("%v, %s: the search starts from the current settings: %t, want %t", now, class, s.StartIsCurrent, want)
				}
				combinations(s, func(p Point) {
					settings := maps.Clone(now)
					maps.Copy(settings, s.Settings(p))
					if got := ClassOf(settings); !got.AtLeast(class) {
						t.Fatalf("%v: got durability %s, want %s", s.Settings(p), got, class)
					}
					if got := SQLiteEngine.memory(settings, connections); got > c.Memory {
						t.Fatalf("%v with %d connections: got %d bytes, want at most %d", s.Settings(p), connections, got, c.Memory)
					}
				})
			}
		}
	}
}

// Settings whose promise was refuted are no candidates of the class that they claim.
func TestRefutedSettingsAreNoCandidates(t *testing.T) {
	c := Constraints{Class: assay.Power, Memory: 256 * mib, Connections: 1}
	c.Proven = func(settings map[string]string, claimed assay.Durability) assay.Durability {
		if settings["journal_mode"] == "wal" {
			return assay.Process
		}
		return claimed
	}
	s, err := SQLiteEngine.space(defaults(nil), c)
	must(t, err)
	combinations(s, func(p Point) {
		if s.Settings(p)["journal_mode"] == "wal" {
			t.Errorf("got %v, whose promise was refuted", s.Settings(p))
		}
	})
	c.Proven = func(map[string]string, assay.Durability) assay.Durability { return assay.None }
	if _, err := SQLiteEngine.space(defaults(nil), c); err == nil {
		t.Error("got a space although everything was refuted")
	}
}

// Where a mapped page may be lost, nothing is mapped.
func TestUnmappedFile(t *testing.T) {
	for why, want := range map[string]bool{"": true, "the file lies on nfs4": false} {
		s, err := SQLiteEngine.space(defaults(nil), Constraints{Class: assay.Power, Memory: 256 * mib, Connections: 1, Unmapped: why})
		must(t, err)
		if got := slices.ContainsFunc(s.Factors, func(f Factor) bool { return f.Name == "mmap_size" }); got != want {
			t.Errorf("%q: mmap_size is tried: %t, want %t", why, got, want)
		}
	}
}

// What is tried depends on the settings in use: nothing is that they have already, or that is
// hardly larger, and the slowest journal only where no other keeps the durability.
func TestSpaceOfSQLite(t *testing.T) {
	for name, c := range map[string]struct {
		now  map[string]string
		c    Constraints
		want []string
	}{
		"defaults": {nil, Constraints{Class: assay.Power, Memory: 256 * mib, Connections: 1, SingleProcess: true}, []string{
			"journal_mode, synchronous: wal 2, truncate 2, persist 2, wal 1 for consistent", "cache_size: now, -131072, -32768", "mmap_size: now, 134217728",
			"page_size: now, 8192, 16384", "temp_store: now, 2", "wal_autocheckpoint: now, 10000, 100", "journal_size_limit: now, 67108864", "locking_mode: now, exclusive"}},
		"a large cache and two connections": {map[string]string{"journal_mode": "wal", "synchronous": "1", "cache_size": "-100000", "temp_store": "2"},
			Constraints{Class: assay.Consistent, Memory: 256 * mib, Connections: 2, SingleProcess: true, OwnFile: true, Drivers: []string{"a", "b"}}, []string{
				"journal_mode, synchronous: now, truncate 1, persist 1, wal 0 for process, wal 2 for power", "mmap_size: now, 62914560",
				"wal_autocheckpoint: now, 10000, 100", "journal_size_limit: now, 67108864", "driver: now, b"}},
		"a cache in pages": {map[string]string{"journal_mode": "wal", "synchronous": "0", "cache_size": "10000", "page_size": "8192"}, Constraints{Class: assay.Process, Memory: 256 * mib, Connections: 1}, []string{
			"journal_mode, synchronous: now, truncate 0, persist 0, wal 1 for consistent", "cache_size: now, -131072", "mmap_size: now, 134217728",
			"temp_store: now, 2", "wal_autocheckpoint: now, 10000, 100", "journal_size_limit: now, 67108864"}},
	} {
		s, err := SQLiteEngine.space(defaults(c.now), c.c)
		must(t, err)
		var got []string
		for _, f := range s.Factors {
			var levels []string
			for _, l := range f.Levels {
				var values []string
				for _, setting := range slices.Sorted(maps.Keys(l.Settings)) {
					values = append(values, l.Settings[setting])
				}
				if l.Price != "" {
					values = append(values, "for", l.Price)
				}
				if l.Settings == nil {
					values = []string{"now"}
				}
				levels = append(levels, strings.Join(values, " "))
			}
			got = append(got, f.Name+": "+strings.Join(levels, ", "))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

// A cache is of each connection, in KiB or in pages; the memory map is shared.
func TestMemory(t *testing.T) {
	for _, c := range []struct {
		changed     map[string]string
		connections int
		want        int64
	}{
		{nil, 1, 2000 * kib}, {nil, 8, 16000 * kib}, {map[string]string{"mmap_size": "1048576"}, 2, 4000*kib + mib},
		{map[string]string{"cache_size": "100", "page_size": "8192"}, 2, 1600 * kib}, {map[string]string{"cache_size": "100", "page_size": ""}, 1, 400 * kib},
	} {
		if got := SQLiteEngine.memory(defaults(c.changed), c.connections); got != c.want {
			t.Errorf("%v with %d connections: got %d bytes, want %d", c.changed, c.connections, got, c.want)
		}
	}
}

// A read-only database keeps its journal, and one in memory has nothing to tune.
func TestWhatCannotBeTuned(t *testing.T) {
	s, err := SQLiteEngine.space(defaults(map[string]string{"read_only": "1"}), Constraints{Class: assay.Process, Memory: 64 * mib, Connections: 1})
	must(t, err)
	for _, f := range s.Factors {
		if f.Name == "journal_mode, synchronous" || f.Name == "wal_autocheckpoint" {
			t.Errorf("got the factor %s of a database that is only read", f.Name)
		}
	}
	if _, err := SQLiteEngine.space(defaults(map[string]string{"memory": "1"}), Constraints{Class: assay.Process, Memory: 64 * mib}); err == nil {
		t.Error("got a space of a database in memory")
	}
}

// A user's file is not rewritten: that alone may make it faster.
func TestOwnFileIsNotRewritten(t *testing.T) {
	for own, want := range map[bool]int{true: 0, false: 2} {
		s, err := SQLiteEngine.space(defaults(map[string]string{"auto_vacuum": "1"}), Constraints{Class: assay.Process, Memory: 64 * mib, Connections: 1, OwnFile: own})
		must(t, err)
		got := 0
		for _, f := range s.Factors {
			if f.Name == "page_size" || f.Name == "auto_vacuum" {
				got++
			}
		}
		if got != want {
			t.Errorf("own file %t: got %d settings that only a new file takes, want %d", own, got, want)
		}
	}
}

func TestWithoutALevel(t *testing.T) {
	s, err := SQLiteEngine.space(defaults(nil), Constraints{Class: assay.Consistent, Memory: 64 * mib, Connections: 1})
	must(t, err)
	for len(s.Factors) > 0 {
		j := len(s.Factors) - 1
		before := s.Factors[j]
		s = s.Without(j, len(before.Levels)-1)
		if len(before.Levels) > 2 && len(s.Factors) == j || len(before.Levels) == 2 && len(s.Factors) > j {
			t.Fatalf("%s had %d levels: got %d factors of %d without one of them", before.Name, len(before.Levels), len(s.Factors), j+1)
		}
	}
}

// A bound below the smallest caches that the connections can have is no constraint that a
// proposal could keep.
func TestTooLittleMemoryForSQLite(t *testing.T) {
	for _, c := range []struct {
		memory int64
		want   string
	}{{80 * kib, ""}, {79 * kib, "the memory of 79 KiB is too little for SQLite with 1 connection: it takes at least 80 KiB"},
		{1, "the memory of 1 byte is too little for SQLite with 1 connection: it takes at least 80 KiB"}} {
		got := ""
		s, err := SQLiteEngine.space(defaults(nil), Constraints{Class: assay.Consistent, Memory: c.memory, Connections: 1})
		if err != nil {
			got = err.Error()
		}
		if got != c.want || err == nil && s.Settings(s.start())["cache_size"] != "-40" {
			t.Errorf("%d bytes: got %q and %v, want %q", c.memory, got, s.Factors, c.want)
		}
	}
}
