package assay_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
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
			if !s.test() && !strings.HasPrefix(s.name, "bench/") {
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
