//go:build unix

package workertest

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"assay/kit/wire"
)

func init() {
	var all []string
	for _, c := range slices.Concat(sqlChecks, sqliteChecks) {
		all = append(all, c.name)
	}
	fakes["impostor"] = fake{engine: idle{capabilities: []string{wire.CapSQL}}, fails: all}
}

// program returns the path of a fake.
func program(t *testing.T, name string) string {
	t.Helper()
	self, err := os.Executable()
	path := filepath.Join(t.TempDir(), name)
	if err == nil {
		err = os.Symlink(self, path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRun: the suite finds what is wrong with a worker, and nothing else.
func TestRun(t *testing.T) {
	for name, fake := range fakes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var names, failed, details []string
			for result := range Run(t.Context(), program(t, name)) {
				names = append(names, result.Name)
				if !result.OK {
					failed, details = append(failed, result.Name), append(details, result.String())
				}
			}
			if !reflect.DeepEqual(failed, fake.fails) {
				t.Errorf("failed %q\nwant   %q\n%s", failed, fake.fails, strings.Join(details, "\n"))
			}
			if len(names) != len(checks) {
				t.Errorf("%d checks of %d were run", len(names), len(checks))
			}
		})
	}
}

func TestRunEnds(t *testing.T) {
	for range Run(t.Context(), program(t, "right")) {
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for result := range Run(ctx, program(t, "right")) {
		t.Errorf("ran %s", result)
	}
}

// TestNoWorker: what cannot be started fails every check.
func TestNoWorker(t *testing.T) {
	for result := range Run(t.Context(), filepath.Join(t.TempDir(), "missing")) {
		if result.OK || !strings.Contains(result.Detail, "no such file") {
			t.Errorf("%s", result)
		}
	}
}

func TestResultString(t *testing.T) {
	for want, result := range map[string]Result{
		"ok   a":          {"a", true, ""},
		"ok   a: skipped": {"a", true, "skipped"},
		"FAIL a: why not": {"a", false, "why not"},
	} {
		if got := result.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestDocumented: the protocol's page lists the checks, in order.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(page), "\n## What assay check checks\n")
	var listed, want []string
	for line := range strings.Lines(list) {
		if name, ok := strings.CutPrefix(line, "- "); ok {
			listed = append(listed, strings.TrimSpace(name))
		}
	}
	for _, c := range checks {
		want = append(want, c.name)
	}
	if !reflect.DeepEqual(listed, want) {
		t.Errorf("docs/protocol.md lists %q\nwant %q", listed, want)
	}
}
