package tune

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"assay"
)

// serverDefaults are what a new cluster of PostgreSQL 15 has, in the normal form.
func serverDefaults(changed map[string]string) map[string]string {
	all := map[string]string{"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on", "shared_buffers": "134217728", "work_mem": "4194304",
		"wal_compression": "off", "effective_io_concurrency": "1", "jit": "on"}
	maps.Copy(all, changed)
	return all
}

// Every combination keeps the class and the memory, whatever the current settings are,
// and a server can be started with it.
func TestServerSpaceKeepsTheConstraints(t *testing.T) {
	for _, now := range []map[string]string{
		serverDefaults(nil),
		serverDefaults(map[string]string{"synchronous_commit": "local", "wal_compression": "pglz", "jit": "off"}),
		serverDefaults(map[string]string{"synchronous_commit": "off"}),
		serverDefaults(map[string]string{"fsync": "off"}),
		serverDefaults(map[string]string{"full_page_writes": "off", "synchronous_commit": "off"}),
		serverDefaults(map[string]string{"shared_buffers": "17179869184", "work_mem": "1073741824"}),
	} {
		for _, class := range []assay.Durability{assay.Process, assay.Consistent, assay.Power} {
			for _, c := range []Constraints{
				{Class: class, Memory: 256 * mib, Connections: 1}, {Class: class, Memory: 1000_000_001, Connections: 8}, {Class: class, Memory: 64 * mib, Connections: 100},
			} {
				s, err := For("postgresql", now, c)
				if err != nil {
					t.Fatal(err)
				}
				if want := ServerClass(now).AtLeast(class) && ServerMemory(now, c.Connections) <= c.Memory; s.StartIsCurrent != want {
					t.Errorf("%v, %+v: the search starts from the current settings: %t, want %t", now, c, s.StartIsCurrent, want)
				}
				combinations(s, func(p Point) {
					settings := maps.Clone(now)
					maps.Copy(settings, s.Settings(p))
					if got := ServerClass(settings); !got.AtLeast(class) {
						t.Fatalf("%v: got durability %s, want %s", s.Settings(p), got, class)
					}
					if got := ServerMemory(settings, c.Connections); got > c.Memory {
						t.Fatalf("%v with %d connections: got %d bytes, want at most %d", s.Settings(p), c.Connections, got, c.Memory)
					}
					buffers, work := whole(settings["shared_buffers"]), whole(settings["work_mem"])
					if buffers < 128*kib || buffers%(8*kib) != 0 || work < 64*kib || work%kib != 0 {
						t.Fatalf("got shared_buffers %d and work_mem %d, which no server has", buffers, work)
					}
				})
			}
		}
	}
}

func TestServerCommits(t *testing.T) {
	level := func(commit, price string) Level {
		return Level{Settings: map[string]string{"fsync": "on", "full_page_writes": "on", "synchronous_commit": commit}, Price: price}
	}
	for name, c := range map[string]struct {
		now   map[string]string
		class assay.Durability
		want  []Level
	}{
		"what less would give":                  {nil, assay.Power, []Level{{}, level("off", "consistent")}},
		"local promises what on does":           {map[string]string{"synchronous_commit": "local"}, assay.Power, []Level{{}, level("off", "consistent")}},
		"consistent is enough":                  {nil, assay.Consistent, []Level{{}, level("off", "")}},
		"what more would cost":                  {map[string]string{"synchronous_commit": "off"}, assay.Consistent, []Level{{}, level("on", "power")}},
		"more is demanded":                      {map[string]string{"synchronous_commit": "off"}, assay.Power, []Level{level("on", ""), level("off", "consistent")}},
		"fsync is off":                          {map[string]string{"fsync": "off"}, assay.Process, []Level{{}, level("off", "consistent")}},
		"fsync is off where that is not enough": {map[string]string{"fsync": "off"}, assay.Consistent, []Level{level("off", ""), level("on", "power")}},
	} {
		s, err := PostgreSQL(serverDefaults(c.now), Constraints{Class: c.class, Memory: 256 * mib, Connections: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Factors[0].Levels; !slices.EqualFunc(got, c.want, func(a, b Level) bool { return maps.Equal(a.Settings, b.Settings) && a.Price == b.Price }) {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

func TestServerSpaces(t *testing.T) {
	s, err := PostgreSQL(serverDefaults(nil), Constraints{Class: assay.Consistent, Memory: 1024 * mib, Connections: 4})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, f := range s.Factors {
		for _, level := range f.Levels[1:] {
			got[f.Name] = append(got[f.Name], level.Settings[f.Name])
		}
	}
	want := map[string][]string{"synchronous_commit": {"off"}, "shared_buffers": {"536870912"}, "work_mem": {"134217728", "33554432"},
		"wal_compression": {"lz4", "pglz"}, "effective_io_concurrency": {"200", "16"}, "jit": {"off"}}
	if !maps.EqualFunc(got, want, slices.Equal) {
		t.Errorf("got %v, want %v", got, want)
	}
	refuted := Constraints{Class: assay.Power, Memory: 256 * mib, Proven: func(map[string]string, assay.Durability) assay.Durability { return assay.Process }}
	if _, err := PostgreSQL(serverDefaults(nil), refuted); err == nil {
		t.Error("got a space although everything was refuted")
	}
	_, err = PostgreSQL(serverDefaults(nil), Constraints{Class: assay.Power, Memory: 2, Connections: 100})
	if err == nil || !strings.Contains(err.Error(), "the memory of 2 bytes is too little for PostgreSQL with 100 connections: it takes at least 12800 KiB") {
		t.Errorf("no server can be started with so little memory: got %v", err)
	}
}
