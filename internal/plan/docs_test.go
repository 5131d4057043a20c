package plan

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"assay/kit/kv"
)

const docs = "../../docs/plan-format.md"

// examples returns the complete plans of the contract.
func examples(t *testing.T) []string {
	t.Helper()
	page, err := os.ReadFile(docs)
	must(t, err)
	var all []string
	for _, match := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		all = append(all, match[1])
	}
	if len(all) < 5 {
		t.Fatalf("found %d examples in %s", len(all), docs)
	}
	return all
}

func TestDocsExamples(t *testing.T) {
	want := map[string]int{"users": 6, "blog": 2 * 2 * (1 + 1 + 2 + 1 + 2), "mapped": 2, "stores": 3 * (2*2 + 1), "application": 2 * 2}
	for _, text := range examples(t) {
		p, err := Decode(docs, []byte(text))
		if err != nil {
			t.Errorf("%v\nin\n%s", err, text)
			continue
		}
		cases, err := p.Expand(nil)
		if err != nil {
			t.Errorf("plan %s: %v", p.Name, err)
		}
		if n, ok := want[p.Name]; !ok || len(cases) != n {
			t.Errorf("plan %s has %d cells, want %d", p.Name, len(cases), n)
		}
	}
}

// TestDocsComplete holds that the contract names every key, and every setting with its words.
func TestDocsComplete(t *testing.T) {
	page, err := os.ReadFile(docs)
	must(t, err)
	for _, name := range append(schemaKeys(t), kv.AllSettings.Names()...) {
		if !regexp.MustCompile(`\b` + name + `\b`).Match(page) {
			t.Errorf("%s does not name %s", docs, name)
		}
	}
	for _, s := range kv.AllSettings {
		for _, word := range s.Words {
			if !strings.Contains(string(page), "`"+word+"`") {
				t.Errorf("%s does not name the value %s of %s", docs, word, s.Name)
			}
		}
	}
}

func TestBuiltin(t *testing.T) {
	files, err := filepath.Glob("../../plans/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no built-in plans: %v", err)
	}
	for _, file := range files {
		p := decodeFile(t, file)
		if want := strings.TrimSuffix(filepath.Base(file), ".yaml"); p.Name != want {
			t.Errorf("%s has the name %s, want %s", file, p.Name, want)
		}
		cases := expandFile(t, file)
		keys := map[string]bool{}
		for _, c := range cases {
			if keys[c.Cell.Key()] {
				t.Errorf("%s has the cell %s twice", file, c.Cell.Key())
			}
			keys[c.Cell.Key()] = true
		}
	}
}

// The stores of kv-large that have a block cache of their own, and read its size back, get
// one of 16 MB, as its comment says, and the others none.
func TestKVLargeSetsItsCaches(t *testing.T) {
	want := map[string]string{"bbolt": "", "lmdb": "", "badger": "16777216", "pebble": "16777216", "goleveldb": "", "lotusdb": "", "mattn": "16777216"}
	seen := map[string]bool{}
	for _, c := range expandFile(t, "../../plans/kv-large.yaml") {
		seen[c.Cell.Driver] = true
		if got := c.Profile.Settings["block_cache"]; got != want[c.Cell.Driver] {
			t.Errorf("%s with profile %s: got block_cache %q, want %q", c.Cell.Driver, c.Profile.Name, got, want[c.Cell.Driver])
		}
	}
	if len(seen) != len(want) {
		t.Errorf("got cells of %v, want those of %v", seen, want)
	}
}

// No built-in plan asks a store for a setting that it does not read back, by the table of
// docs/fairness.md: such cells are not-applied, and their run fails. Of sync, a trace of
// system calls tells.
func TestBuiltinSettingsAreReadBack(t *testing.T) {
	page, err := os.ReadFile("../../docs/fairness.md")
	must(t, err)
	_, table, found := strings.Cut(string(page), "\n| store |")
	table, _, _ = strings.Cut(table, "\n\n")
	readBack := map[string]string{}
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, "|"); len(cells) > 3 {
			readBack[strings.Trim(cells[1], " `")] = cells[len(cells)-2] + "`" + kv.Sync + "`"
		}
	}
	if !found || len(readBack) < 9 {
		t.Fatalf("docs/fairness.md has the stores %v only", readBack)
	}
	files, err := filepath.Glob("../../plans/*.yaml")
	must(t, err)
	for _, file := range files {
		for _, c := range expandFile(t, file) {
			names, isStore := readBack[c.Cell.Driver]
			for name := range c.Profile.Settings {
				if _, ofStore := kv.Settings.Lookup(name); isStore && ofStore && !strings.Contains(names, "`"+name+"`") {
					t.Errorf("%s: profile %s asks %s for %s, which it does not read back", file, c.Profile.Name, c.Cell.Driver, name)
				}
			}
		}
	}
}

// TestMonster holds the size of the plan, and that each of its blocks has
// enough operations for its clients.
func TestMonster(t *testing.T) {
	cells := map[string]int{}
	for _, c := range expandFile(t, "../../plans/monster.yaml") {
		cells[c.Cell.Workload+" "+c.Cell.Operation]++
		if c.Operation.Count < 10*c.Cell.Clients {
			t.Errorf("%s: %d operations for %d clients", c.Cell.Key(), c.Operation.Count, c.Cell.Clients)
		}
	}
	pools := 4
	if cpus := runtime.NumCPU(); cpus == 1 || cpus == 100 {
		pools = 3
	}
	const profiles, drivers, clients = 2 * 9, 3, 2
	want := map[string]int{
		"monster SelectByID": profiles * drivers * clients, "monster SelectAll": profiles * drivers * clients,
		"monster-pools SelectByID": 2 * pools * drivers, "monster-multiplied SelectByID": 2 * drivers,
		"monster-1e6 SelectByID": 6 * drivers, "monster-1e6 SelectRange": 6 * drivers,
		"monster-default-pool SelectByID": 4 * drivers, "monster-default-pool SelectAll": 4 * drivers,
		"monster-single SelectByID": 2 * drivers, "monster-single SelectAll": 2 * drivers,
	}
	if !reflect.DeepEqual(cells, want) {
		t.Errorf("cells: %v, want %v", cells, want)
	}
}

// TestRails holds the size of the plan, and that its sums are of the published
// 38 operations.
func TestRails(t *testing.T) {
	cells := map[string]int{}
	for _, c := range expandFile(t, "../../plans/rails.yaml") {
		cells[c.Cell.Workload+" "+c.Cell.Profile]++
		if n := len(c.Operation.Terms); n > 0 && n != 38 {
			t.Errorf("%s is the sum of %d calls", c.Cell.Key(), n)
		}
	}
	want := map[string]int{"as-published as-published": 1}
	for profile, builds := range map[string]int{"default": 2, "tuned": 2, "tuned-full": 2, "postgresql": 1, "postgresql-async": 1} {
		want["suite "+profile], want["parallel "+profile] = 39*builds, 2*builds
	}
	if !reflect.DeepEqual(cells, want) {
		t.Errorf("cells: %v, want %v", cells, want)
	}
}

func TestQuick(t *testing.T) {
	cases := expandFile(t, "../../plans/quick.yaml")
	if want := (2*5*2 + 2 + 2 + 2) * 3; len(cases) != want {
		t.Errorf("quick has %d cells, want %d: operations with both profiles and sizes, unprepared-read with both sizes, app with 1 and 4 processes, edit that begins in two ways; drivers", len(cases), want)
	}
	got := map[string][3]int{}
	for _, c := range cases {
		if c.Cell.Params["rows"] == "100000" && c.Cell.Profile == "web" {
			got[c.Cell.Operation] = [3]int{c.Cell.Clients, c.Operation.Transaction, c.Operation.Count}
		}
	}
	want := map[string][3]int{
		"point-read": {1, 0, 10000}, "unprepared-read": {1, 0, 10000}, "range-100": {1, 0, 10000}, "full-scan": {1, 0, 100},
		"commit-one-row": {1, 0, 4000}, "insert-100": {1, 100, 100000}, "edit": {1, 1, 2000}, "app": {8, 0, 15000},
	}
	for name, w := range want {
		if got[name] != w {
			t.Errorf("%s: clients, transaction, count are %v, want %v", name, got[name], w)
		}
	}
}
