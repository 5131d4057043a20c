package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"assay"
)

// A series says of a member that cannot be measured why with each launch: of a driver that
// does not start, and of one that cannot be built. A series that is resumed says the same.
func TestSeriesWithAMemberThatCannotBeMeasured(t *testing.T) {
	l, s, request := bench(t, &watcher{})
	for name, file := range map[string]string{"silent": "worker", "unbuilt": "go.mod"} {
		dir := filepath.Join(l.Source.Dir, "workers", name)
		text := map[string]string{"worker": "#!/bin/sh\nexit 3\n", "go.mod": "module broken\n\nno such directive\n"}[file]
		for path, text := range map[string]string{file: text, "README": "Worker " + name + "\n"} {
			must(t, os.MkdirAll(dir, 0o755))
			must(t, os.WriteFile(filepath.Join(dir, path), []byte(text), 0o755))
		}
	}
	request.Drivers = []string{"one", "silent", "unbuilt"}
	members := []Member{{assay.ParseDriverName("one"), "default"}, {assay.ParseDriverName("silent"), "default"}, {assay.ParseDriverName("unbuilt"), "default"}}
	launch := func(launches int) []string {
		series, err := l.Series(t.Context(), s, request, time.Time{})
		must(t, err)
		defer series.Close(t.Context())
		var said []string
		for range launches {
			trials, err := series.Launch(t.Context(), members)
			must(t, err)
			var names []string
			for _, trial := range trials {
				if !trial.Twin {
					reason, _, _ := strings.Cut(trial.Reason, ":")
					names = append(names, fmt.Sprintf("%s %s %s", trial.Cell.Driver, trial.Outcome, reason))
				}
			}
			slices.Sort(names)
			said = append(said, strings.Join(names, "; "))
		}
		return said
	}
	first := launch(2)
	for i, got := range first {
		if want := []string{"one ok ", "silent ", "unbuilt "}; !containsAll(got, want) {
			t.Errorf("launch %d: got %q, want %q in it", i+1, got, want)
		}
	}
	request.Resume = true
	if resumed := launch(2); !slices.Equal(resumed, first) {
		t.Errorf("resumed: got %q, want %q", resumed, first)
	}
}

func containsAll(text string, parts []string) bool {
	return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(text, part) })
}
