package assay_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"assay/internal/facts"
)

// The table of files names every folder of the cache.
func TestArchitectureNamesTheCache(t *testing.T) {
	_, table, found := strings.Cut(documents(t)["docs/architecture.md"], "\n## Files\n")
	if table, _, _ = strings.Cut(table, "\n## "); !found {
		t.Fatal("docs/architecture.md has no section Files")
	}
	folders := map[string]bool{}
	for _, s := range sources(t) {
		text, err := os.ReadFile(s.name)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range regexp.MustCompile(`filepath\.Join\((?:\w\.Cache|cache|cacheDir), "(\w+)"`).FindAllStringSubmatch(string(text), -1) {
			if !s.test() && !strings.HasPrefix(s.name, "tools/") {
				folders[match[1]] = true
			}
		}
	}
	if len(folders) < 10 {
		t.Errorf("found the folders %v only", folders)
	}
	for name := range folders {
		if !strings.Contains(table, "`assay/"+name+"/") {
			t.Errorf("the table of files does not name assay/%s of the cache", name)
		}
	}
}

// The defaults that the documentation has of drivers are those that experiments found.
func TestFairnessHasTheDefaultsOfFacts(t *testing.T) {
	table, err := facts.Load(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	held := 0
	for line := range strings.Lines(documents(t)["docs/fairness.md"]) {
		cells := strings.Split(line, "|")
		if len(cells) != 9 {
			continue // a row of another table
		}
		for _, f := range table.Versions(strings.Trim(cells[1], " `")) {
			if f.Version != strings.TrimSpace(cells[2]) {
				continue
			}
			held++
			for i, want := range []string{f.Engine, f.Defaults["journal_mode"], f.Defaults["synchronous"], f.Defaults["busy_timeout"]} {
				if !regexp.MustCompile(`(^|[ ])` + regexp.QuoteMeta(want) + `\b`).MatchString(cells[3+i]) { // which may have several
					t.Errorf("docs/fairness.md has the default%sof %s, want %s", cells[3+i], f.Name(), want)
				}
			}
		}
	}
	if held < 4 {
		t.Errorf("the defaults of %d drivers are compared, want those of all that have facts", held)
	}
}
