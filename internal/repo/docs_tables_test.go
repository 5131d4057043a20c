package repo_test

import (
	"regexp"
	"strings"
	"testing"

	"assay/internal/build/catalog"
	"assay/internal/lint/facts"
)

// The defaults that the documentation has of drivers are those that experiments found.
func TestFairnessHasTheDefaultsOfFacts(t *testing.T) {
	drivers, err := catalog.Read("workers")
	if err != nil {
		t.Fatal(err)
	}
	table, err := facts.Load(drivers, "")
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
