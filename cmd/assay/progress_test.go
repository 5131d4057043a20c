//go:build unix

package main

import (
	"strings"
	"testing"
	"time"

	"assay/internal/build"
	"assay/internal/runner"
)

// The bar moves with the time, and what is left is known from preparing on.
func TestStatusLine(t *testing.T) {
	const budget = 100 * time.Second
	for _, test := range []struct {
		event  runner.Event
		filled int
		left   string
	}{
		{runner.Event{Phase: "prepare", What: "data", Budget: budget}, 0, "about 1m40s left"},
		{runner.Event{Phase: "measure", What: "reads", Total: budget, Budget: budget, Round: 1}, 0, "about 1m40s left"},
		{runner.Event{Phase: "measure", What: "reads", Done: 25 * time.Second, Total: budget, Budget: budget, Round: 2}, 5, "about 1m15s left"},
		{runner.Event{Phase: "measure", What: "reads", Done: 99 * time.Second, Total: budget, Budget: budget, Round: 9}, 19, "about 1s left"},
		{runner.Event{Phase: "measure", What: "reads", Done: 110 * time.Second, Total: budget, Budget: budget, Round: 9}, 20, "round 9: reads"},
	} {
		line := statusLine(test.event)
		if got := strings.Count(line, "="); got != test.filled || !strings.Contains(line, test.left) || !strings.Contains(line, test.event.What) {
			t.Errorf("%+v: got %q, want %d of 20 and %q", test.event, line, test.filled, test.left)
		}
	}
}

func TestCommandLine(t *testing.T) {
	for _, test := range []struct {
		store string
		words []string
		want  string
	}{
		{"", []string{"run", "quick", "--resume"}, "assay run quick --resume"},
		{"my results.db", []string{"report", "20261122-1"}, "assay report 20261122-1 --store 'my results.db'"},
		{"a.db", []string{"run", "it's.yaml"}, `assay run 'it'\''s.yaml' --store a.db`},
	} {
		if got := (&app{store: test.store}).commandLine(test.words...); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}

// A build that takes minutes is not silent.
func TestBuildsAreTold(t *testing.T) {
	var out strings.Builder
	p := &progress{out: &out}
	for _, e := range []build.Event{{Worker: "slow", State: build.Building}, {Worker: "slow", State: build.Building, Took: 90 * time.Second},
		{Worker: "slow", State: build.Built, Took: 100 * time.Second}, {Worker: "slow", State: build.Building}} {
		p.Build(e)
	}
	const begins = "building worker slow: the first build compiles its driver and may take minutes\n"
	want := begins + "still building worker slow after 1m30s\nbuilt worker slow in 1m40s\n" + begins
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
