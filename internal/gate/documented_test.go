package gate

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The table of docs/gate.md has the kinds of findings, in their order.
func TestKindsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/gate.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## What fails\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var documented []Kind
	for _, match := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|").FindAllStringSubmatch(section, -1) {
		documented = append(documented, Kind(match[1]))
	}
	var kinds []Kind
	for _, k := range Kinds {
		kinds = append(kinds, k.Kind)
	}
	if !slices.Equal(documented, kinds) {
		t.Errorf("docs/gate.md has the kinds %q, want %q", documented, kinds)
	}
}
