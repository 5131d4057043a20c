//go:build unix

package main

import (
	"strings"
	"testing"
	"time"

	"assay"
	"assay/internal/build"
	"assay/internal/runner"
	"assay/internal/runner/host"
)

// The bar moves with the time, and what is left is bounded from preparing on, and known once
// each operation was measured.
func TestStatusLine(t *testing.T) {
	const budget = 100 * time.Second
	for _, test := range []struct {
		event  runner.Event
		filled int
		left   string
	}{
		{runner.Event{Phase: runner.Preparing, What: "data", Budget: budget}, 0, "at most 1m40s left ["},
		{runner.Event{Phase: runner.Measuring, What: "reads", Budget: budget, Round: 1}, 0, "at most 1m40s left ["},
		{runner.Event{Phase: runner.Measuring, What: "reads", Done: time.Second, Round: 1}, 0, "["},
		{runner.Event{Phase: runner.Measuring, What: "reads", Done: 25 * time.Second, Total: budget, Budget: budget, Round: 2}, 5, "about 1m15s left"},
		{runner.Event{Phase: runner.Measuring, What: "reads", Done: 99 * time.Second, Total: budget, Budget: budget, Round: 9}, 19, "about 1s left"},
		{runner.Event{Phase: runner.Measuring, What: "reads", Done: 110 * time.Second, Total: budget, Budget: budget, Round: 9}, 20, "["},
	} {
		if short := statusLine(test.event, 80); strings.Index(short, "]")-strings.Index(short, "[") != 6 || len(short) > 60 {
			t.Errorf("%+v: got %q at 60 columns, want a bar of 5 and all of it", test.event, short)
		}
		line := statusLine(test.event, 100)
		if got := strings.Count(line, "="); got != test.filled || !strings.HasPrefix(line, test.left) || !strings.Contains(line, test.event.What) {
			t.Errorf("%+v: got %q, want %d of 20 and %q", test.event, line, test.filled, test.left)
		}
	}
}

// Each phase has its own words where there is no terminal.
func TestPhasesAreTold(t *testing.T) {
	const second = time.Second
	for phase, want := range map[runner.Phase]string{
		runner.Preparing:      "preparing WHAT\n",
		runner.Waiting:        "waiting for WHAT\n",
		runner.Measuring:      "measuring, round 2: WHAT; about 20s left\n",
		runner.BudgetTooSmall: "the budget of 20s is too small for WHAT: some comparisons will stay undecided\n",
		runner.LeftOut:        "WHAT\n",
	} {
		var out strings.Builder
		(&progress{out: &out}).Measure(runner.Event{Phase: phase, What: "WHAT", Done: 10 * second, Total: 30 * second, Budget: 20 * second, Round: 2})
		if got := out.String(); got != want {
			t.Errorf("phase %d: got %q, want %q", phase, got, want)
		}
	}
}

// Who wants no progress is told once that a run waits for another one, however often it does.
func TestQuietTellsOfWaiting(t *testing.T) {
	var out strings.Builder
	p := &progress{out: &out, quiet: true}
	for _, phase := range []runner.Phase{runner.Preparing, runner.Waiting, runner.Measuring, runner.MachineBusy, runner.Waiting} {
		p.Measure(runner.Event{Phase: phase, What: "another"})
	}
	if got, want := out.String(), "waiting for another\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A busy machine is told of with the programs that take the time, whose names are harmless.
func TestBusyMachineIsTold(t *testing.T) {
	load := host.Load{Noise: assay.Noise{Foreign: 0.55}, Users: []host.User{{Name: "a\x1b[2Jb", Share: 0.9}, {Name: "gopls", Share: 0.2}}}
	var out strings.Builder
	(&progress{out: &out}).Measure(runner.Event{Phase: runner.MachineBusy, Load: load})
	for _, want := range []string{"others take 55 %", "[2Jb 90 % of one processor", "gopls 20 %"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got %q, want %q in it", out.String(), want)
		}
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("%q: a program's name reaches the terminal as it is", out.String())
	}
}

// Without a terminal, a table whose making is told is told to be done.
func TestDataIsToldToItsEnd(t *testing.T) {
	var out strings.Builder
	p := &progress{out: &out}
	for _, done := range []int{10_048, 20_096, 100_000} {
		p.Data("user", done, 100_000)
	}
	p.Data("item", 50_000, 100_000)
	p.Data("item", 100_000, 100_000) // soon after: neither is told
	const want = "making data: table user, 10048 of 100000 rows\nmaking data: table user, 100000 of 100000 rows\n"
	if got := out.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
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
