//go:build unix

package runner

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay"
	"assay/internal/dataset"
	"assay/kit/wire"
)

func TestPartsIn(t *testing.T) {
	for _, c := range []struct {
		count, transaction int
		each               time.Duration
		want               int
	}{
		{4000, 0, 10 * time.Microsecond, 8},
		{4000, 0, 2 * time.Microsecond, 1},
		{120, 0, time.Millisecond, 24},
		{10, 0, time.Second, 10},
		{100_000, 0, time.Millisecond, maxParts},
		{1000, 100, time.Millisecond, 10},
		{1050, 100, time.Millisecond, 11},
		{4000, 0, 0, 1}, // it was not warmed up
		{0, 0, time.Second, 1},
	} {
		op := assay.Operation{Count: c.count, Transaction: c.transaction}
		if got := partsIn(op, c.each); got != c.want {
			t.Errorf("%d operations of %s, %d in a transaction: got %d parts, want %d", c.count, c.each, c.transaction, got, c.want)
		}
	}
}

func TestPartAt(t *testing.T) {
	for rounds := 1; rounds <= maxParts; rounds++ {
		for parts := 1; parts <= rounds; parts++ {
			var got []int
			for round := range rounds {
				if part, has := partAt(round, rounds, parts); has {
					got = append(got, part)
				} else if round == 0 {
					t.Errorf("%d parts in %d rounds: none in the first", parts, rounds)
				}
			}
			if !slices.IsSorted(got) || len(got) != parts || got[parts-1] != parts-1 {
				t.Errorf("%d parts in %d rounds: got %v, want each once", parts, rounds, got)
			}
		}
	}
}

// Whole profiles take turns, as many as may be alive at the same time.
func TestSetsOf(t *testing.T) {
	some := func(profiles ...string) (all []*member) {
		for i, profile := range profiles {
			j := &job{Case: assay.Case{Cell: assay.Cell{Driver: fmt.Sprint("d", i), Profile: profile}}}
			all = append(all, &member{first: j, jobs: []*job{j}})
		}
		return all
	}
	many := func(profile string, n int) []string { return slices.Repeat([]string{profile}, n) }
	for name, c := range map[string]struct {
		members []*member
		want    []int // members of each set, smallest first
	}{
		"none":            {nil, nil},
		"one":             {some("p"), []int{1}},
		"all together":    {some("p", "q", "p"), []int{3}},
		"just few enough": {some(slices.Concat(many("p", 6), many("q", maxMembers-6))...), []int{maxMembers}},
		"too many":        {some(slices.Concat(many("p", 5), many("q", 5), many("r", 5))...), []int{5, 10}},
		"a large profile": {some(many("p", maxMembers+1)...), []int{maxMembers + 1}},
	} {
		r := &Runner{measurement: measurement{random: rand.New(rand.NewPCG(1, 1))}}
		var got []int
		seen, setOf := map[*member]bool{}, map[string]int{}
		for i, set := range r.setsOf(c.members) {
			got = append(got, len(set))
			for _, m := range set {
				seen[m] = true
				if other, has := setOf[m.cell().Profile]; has && other != i {
					t.Errorf("%s: profile %s is in two sets", name, m.cell().Profile)
				}
				setOf[m.cell().Profile] = i
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) || len(seen) != len(c.members) {
			t.Errorf("%s: got sets of %v with %d of %d members, want %v", name, got, len(seen), len(c.members), c.want)
		}
	}
}

// Where one member cannot take turns, none does, so that the conditions are alike for all.
func TestUndividedGroup(t *testing.T) {
	small, large := filepath.Join(t.TempDir(), "small"), filepath.Join(t.TempDir(), "large")
	must(t, os.WriteFile(small, []byte("x"), 0o644))
	must(t, os.WriteFile(large, nil, 0o644))
	must(t, os.Truncate(large, maxCopy+1))
	of := func(path string, e engine) *job { return &job{data: &dataset.Data{Path: path}, engine: e} }
	for name, c := range map[string]struct {
		j    *job
		want bool
	}{
		"a file of SQLite": {of(small, sqliteFile{}), true},
		"a large one":      {of(large, sqliteFile{}), false},
		"a server":         {of(small, postgresServer{}), false},
		"a store":          {of(small, keyValueStore{}), false},
	} {
		if got := c.j.canAlternate(); got != c.want {
			t.Errorf("%s: can take turns %t, want %t", name, got, c.want)
		}
	}
	t.Setenv(besideVariable, "yes")
	b := newBench(t, header+insert)
	b.Launches = 1
	r, err := Prepare(t.Context(), b.Config)
	must(t, err)
	r.groups[0].undivided = true
	must(t, r.Run(t.Context()))
	for _, a := range b.asked(t) {
		if a.part() && (a.Beside > 0 || a.Count != 20) {
			t.Errorf("a part of %d operations with %d others beside it, want the whole block alone", a.Count, a.Beside)
		}
	}
}

// The parts of a block are one sample, with one histogram.
func TestPartsAreJoined(t *testing.T) {
	var got tally
	got.add(wire.Measured{Operations: 2, Executed: 2, Nanos: 30, Histogram: [][2]int64{{10, 1}, {20, 1}}})
	got.add(wire.Measured{Operations: 3, Executed: 3, Nanos: 45, Histogram: [][2]int64{{5, 1}, {20, 2}}})
	got.join()
	if diff := cmp.Diff([]assay.Sample{{Operations: 5, Nanos: 75}}, got.samples); diff != "" {
		t.Errorf("samples (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([][2]int64{{5, 1}, {10, 1}, {20, 3}}, got.total.Histogram); diff != "" {
		t.Errorf("histogram (-want +got)\n%s", diff)
	}
}

// What the calls of the parts took is known together only where it is known of each.
func TestWholeOfParts(t *testing.T) {
	var b partedBlock
	call := func(operations int64, took, cpu time.Duration) wire.Call {
		return wire.Call{Measure: wire.Measure{Operation: "o", Start: operations, Operations: operations, Latency: true}, Clients: 1, Unit: 1, Took: took, CPU: cpu}
	}
	b.add(call(2, time.Second, 3))
	b.add(call(3, time.Minute, 4))
	want := call(2, time.Second+time.Minute, 7)
	want.Operations = 5
	if diff := cmp.Diff(want, b.whole); diff != "" {
		t.Errorf("the whole (-want +got)\n%s", diff)
	}
	b.add(call(1, 0, -1))
	b.add(call(1, 0, 5))
	if b.whole.CPU != -1 {
		t.Errorf("got a CPU time of %d, want none", b.whole.CPU)
	}
}

// longInsert is insert with so many operations that its block has parts.
var longInsert = strings.Replace(insert, "count: 20\n", "count: 20000\n", 1)

// A stall of the operation stays in the figure of a block that has parts.
func TestBlockThatStalls(t *testing.T) {
	b := newBench(t, strings.Replace(header, "second", stalls, 1)+longInsert)
	b.Launches = 1
	b.run(t)
	for _, trial := range b.trials {
		if trial.Outcome != assay.OK || len(trial.Samples) != 1 || trial.Samples[0].Operations != 20000 {
			t.Errorf("%s: %s, samples %v; want one of 20000 operations", trial.Cell.Driver, trial.Outcome, trial.Samples)
		}
		if least := float64(stallLength) / stallEvery; trial.Cell.Driver == stalls && trial.Figures[assay.NsPerOp] < least {
			t.Errorf("%s: got %g ns an operation, want over %g", stalls, trial.Figures[assay.NsPerOp], least)
		}
	}
}

// A worker that ends in a part costs its own outcome alone.
func TestWorkerThatEndsInAPart(t *testing.T) {
	b := newBench(t, strings.Replace(header, "second", quits, 1)+longInsert)
	b.Launches = 1
	all := b.run(t)
	got := map[string]string{}
	for _, trial := range b.trials {
		got[trial.Cell.Driver] += fmt.Sprint(trial.Outcome, " ")
		if trial.Cell.Driver == quits && !strings.Contains(trial.Reason, "exit status 3") {
			t.Errorf("got reason %q, want the exit status", trial.Reason)
		}
	}
	if strings.ReplaceAll(got["honest"], "ok ", "") != "" || got[quits] != "failed " {
		t.Errorf("got outcomes %v, want one that failed, of the worker that ends", got)
	}
	parts := 0
	for _, a := range all {
		if a.Worker == quits && a.part() {
			parts++
		}
	}
	if parts < 2 {
		t.Errorf("it ended in part %d, want a later one", parts)
	}
}

// Where the baseline or its twin cannot be started, the others are measured all the same.
func TestInstanceThatDoesNotOpen(t *testing.T) {
	failed := map[bool]int{}
	for seed := range uint64(6) {
		b := newBench(t, strings.Replace(header, "honest", retries, 1)+insert)
		b.Launches, b.Seed = 1, seed
		r, err := Prepare(t.Context(), b.Config)
		must(t, err)
		r.time.atOnce = 1 // so that the seed alone says which of both is the first
		must(t, r.Run(t.Context()))
		ok := 0
		for _, trial := range b.trials {
			if trial.Outcome == assay.OK {
				ok++
			} else if failed[trial.Twin]++; !strings.Contains(trial.Reason, "not yet") {
				t.Errorf("got reason %q, want that of the worker", trial.Reason)
			}
		}
		if ok == 0 {
			t.Errorf("seed %d: nothing was measured", seed)
		}
	}
	if failed[true]+failed[false] != 6 || failed[true] == 0 || failed[false] == 0 {
		t.Errorf("twins that failed, and others: %v; want six together, some of each", failed)
	}
}

// A clock that is too slow shows in blocks of which each part is too short to show it.
func TestSlowClockInParts(t *testing.T) {
	b := newBench(t, strings.Replace(header, "second", quarterBlock, 1)+strings.Replace(longInsert, "20000", "50000", 1))
	b.Launches = 12 // a busy machine hides it for a while, and one driver alone is not measured that often
	b.run(t)
	trials := b.of(quarterBlock)
	last := trials[len(trials)-1]
	// Which of the two is found first depends on how fast the machine is.
	found := strings.Contains(last.Reason, "its clock is too slow") || strings.Contains(last.Reason, "ms of CPU time, and the system counted")
	if last.Outcome != assay.Failed || !found {
		t.Errorf("got %s (%s) after %d launches, want its clock to be too slow", last.Outcome, last.Reason, len(trials))
	}
}
