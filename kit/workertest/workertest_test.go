//go:build unix

package workertest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

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
			for result := range Run(t.Context(), program(t, name), Options{}) {
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
	for range Run(t.Context(), program(t, "right"), Options{}) {
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for result := range Run(ctx, program(t, "right"), Options{}) {
		t.Errorf("ran %s", result)
	}
}

// TestNoWorker: what cannot be started fails one check, which says why, and is
// not started again.
func TestNoWorker(t *testing.T) {
	var all []Result
	for result := range Run(t.Context(), filepath.Join(t.TempDir(), "missing"), Options{}) {
		all = append(all, result)
	}
	if len(all) != len(checks) || all[0].OK || all[0].Skipped || !strings.Contains(all[0].Detail, "no such file") {
		t.Fatalf("%d results, the first is %v; want %d, the first saying that there is no such file", len(all), all[0], len(checks))
	}
	for _, result := range all[1:] {
		if result.OK || !result.Skipped {
			t.Errorf("got %v, want it skipped", result)
		}
	}
}

// TestOnly: the checks that were asked for are run, and the talk is copied.
func TestOnly(t *testing.T) {
	var trace bytes.Buffer
	options := Options{Only: []string{"HELLO", "garbage"}, Trace: &trace}
	var got []string
	for result := range Run(t.Context(), program(t, "right"), options) {
		got = append(got, result.String())
	}
	want := []string{"ok   hello names the target", "ok   garbage is answered invalid or ends the worker with an error"}
	if !reflect.DeepEqual(got, want) || len(Names(options)) != 2 {
		t.Errorf("got %q and %q, want %q", got, Names(options), want)
	}
	for _, part := range []string{"# hello names the target", "hello", "not json"} {
		if !strings.Contains(trace.String(), part) {
			t.Errorf("the trace lacks %q:\n%s", part, trace.String())
		}
	}
}

// TestStandardError: what a worker writes to its standard error stands with the
// check that failed.
func TestStandardError(t *testing.T) {
	for result := range Run(t.Context(), program(t, "complaining"), Options{Only: []string{"a second open"}}) {
		if result.OK || !strings.Contains(result.Detail, "standard error:\n  the driver has its own words") {
			t.Errorf("got %s, want a failure with the worker's own words", result)
		}
	}
}

func TestResultString(t *testing.T) {
	for want, result := range map[string]Result{
		"ok   a":          {Name: "a", OK: true},
		"skip a: why":     {Name: "a", OK: true, Skipped: true, Detail: "why"},
		"FAIL a: why not": {Name: "a", Detail: "why not"},
	} {
		if got := result.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestDocumented: each check holds a rule of the protocol's page, which names a part of
// the check behind it, in italics; and each of these names is that of a check.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/protocol.md")
	more, moreErr := os.ReadFile("../../docs/capabilities.md")
	if err := errors.Join(err, moreErr); err != nil {
		t.Fatal(err)
	}
	page = append(page, more...)
	named := map[string]bool{}
	for _, match := range regexp.MustCompile(`\*([^*\n]+)\*`).FindAllStringSubmatch(strings.ReplaceAll(string(page), "**", ""), -1) {
		names := Names(Options{Only: match[1:]})
		if len(names) == 0 && match[1] != "italics" {
			t.Errorf("the pages on workers name the check %q, which does not exist", match[1])
		}
		for _, name := range names {
			named[name] = true
		}
	}
	for _, c := range checks {
		if !named[c.name] {
			t.Errorf("the pages on workers have no rule with the check %q behind it", c.name)
		}
	}
}

// An operation of the worker's own prepares each unit within the call, which may take
// much longer than what it measures: a run allows that, too.
func TestCallPreparesWithin(t *testing.T) {
	sql := wire.Prepare{Operation: wire.Operation{Name: "sql", Steps: []wire.Step{{SQL: "SELECT 1", Query: true, Rows: 1}}}, Clients: 1}
	for _, c := range []struct {
		prepare wire.Prepare
		can     bool
	}{{prepareCall("own", 2), true}, {sql, false}} {
		b := &bench{}
		if err := b.untrue(c.prepare, nil, 0); err != nil {
			t.Fatal(err)
		}
		cpu := int64(50 * time.Millisecond)
		m := &wire.Measured{Operations: 3, Executed: 3, Nanos: int64(70 * time.Millisecond), Counters: wire.Counters{CPU: cpu}}
		name := c.prepare.Operation.Name
		if err := b.untrue(wire.Measure{Operation: name, Operations: 3}, m, 5*time.Second); (err == nil) != c.can {
			t.Errorf("%s: 70 ms of a call of 5 s: got %v, want that it can be true: %v", name, err, c.can)
		}
	}
}
