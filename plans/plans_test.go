package plans

import (
	"slices"
	"strings"
	"testing"
)

func TestPlans(t *testing.T) {
	names := Names()
	if !slices.Contains(names, "quick") || !slices.IsSorted(names) {
		t.Errorf("got %v, want sorted names with quick among them", names)
	}
	for _, name := range names {
		text, ok := Read(name)
		if !ok || !strings.Contains(string(text), "\nname: "+name+"\n") {
			t.Errorf("plan %s: found is %v, and its text does not say that name:\n%s", name, ok, text)
		}
	}
	for _, name := range []string{"", "none", "../plans/quick", "quick.yaml"} {
		if text, ok := Read(name); ok || text != nil {
			t.Errorf("Read(%q) found %q", name, text)
		}
	}
}
