package tune

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"assay"
)

// The tables of docs/tune.md have the settings that are searched, and no others.
func TestSpacesAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/tune.md")
	must(t, err)
	_, section, _ := strings.Cut(string(page), "\n## The space\n")
	section, _, _ = strings.Cut(section, "\n## ")
	tables := strings.Split(section, "\n| factor | ")[1:]
	if len(tables) != 2 {
		t.Fatalf("docs/tune.md has %d tables of factors, want those of SQLite and of stores", len(tables))
	}
	stored := map[string]bool{}
	for engine := range stores {
		maps.Copy(stored, searched(t, engine))
	}
	for i, want := range []map[string]bool{searched(t, SQLiteEngine), stored} {
		documented := map[string]bool{}
		for _, cell := range regexp.MustCompile("(?m)^\\| (`[^|]+) \\|").FindAllStringSubmatch(tables[i], -1) {
			for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cell[1], -1) {
				documented[name[1]] = true
			}
		}
		if !maps.Equal(documented, want) {
			t.Errorf("table %d of docs/tune.md has %q, want %q", i+1, slices.Sorted(maps.Keys(documented)), slices.Sorted(maps.Keys(want)))
		}
	}
	for engine, options := range stores {
		for _, o := range options.values {
			row := regexp.MustCompile("(?m)^\\| `" + o.name + "` \\|.*$").FindString(tables[1])
			if name := titles[engine]; !strings.Contains(row[strings.LastIndex(strings.TrimRight(row, "| "), "|"):], name) {
				t.Errorf("docs/tune.md does not say that %s of %s is searched: %s", o.name, name, row)
			}
		}
	}
}

// titles are the stores as documents write them.
var titles = map[engine]string{"badger": "Badger", "bbolt": "bbolt", "lmdb": "LMDB", "pebble": "Pebble"}

// searched are the settings of an engine of which some candidate is tried, where nothing
// rules one out.
func searched(t *testing.T, of engine) map[string]bool {
	t.Helper()
	now := map[string]string{"journal_mode": "delete", "synchronous": "2", "cache_size": "-2000", "page_size": "4096", "auto_vacuum": "1", "sync": "1"}
	s, err := of.space(now, Constraints{Class: assay.Process, Memory: 1024 * mib, Connections: 1, SingleProcess: true,
		Synced: map[string]assay.Durability{"0": assay.Process, "1": assay.Power}})
	must(t, err)
	all := map[string]bool{}
	for _, f := range s.Factors {
		for _, name := range strings.Split(f.Name, ", ") {
			all[name] = true
		}
	}
	return all
}
