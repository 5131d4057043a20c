//go:build unix

package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"assay"
	"assay/internal/runner/load"
	"assay/kit/wire"

	"github.com/google/go-cmp/cmp"
)

func servedJob(rate float64) *job {
	j := &job{Case: assay.Case{Cell: assay.Cell{Clients: 50, Pool: 50, Idle: 2, Rate: rate}}, warm: 100}
	j.Operation.Count, j.Operation.Serve = 1000, true
	return j
}

// A worker that does not count how often it tried operations again gives no figure.
func TestCountsBusy(t *testing.T) {
	one, two := int64(1), int64(2)
	for name, c := range map[string]struct {
		before, after *int64
		want          bool
		busy          int64
	}{"counted": {&one, &two, true, 1}, "not counted": {nil, nil, false, 0}, "counted late": {nil, &two, false, 0}} {
		before, after := wire.Stats{Busy: c.before}, wire.Stats{Busy: c.after}
		if got := countsBusy(before, after); got != c.want {
			t.Errorf("%s: got %t, want %t", name, got, c.want)
		}
		if got := measuredLoad(load.Result{}, servedJob(0), before, after).Busy; got != c.busy {
			t.Errorf("%s: got %d tried again, want %d", name, got, c.busy)
		}
	}
}

// What a worker used under load is of all requests that reached it, with those of the
// warm-up, and its time is of those that were right.
func TestMeasuredLoad(t *testing.T) {
	before, after := wire.Stats{Counters: wire.Counters{CPU: 100}}, wire.Stats{Counters: wire.Counters{CPU: 1190}}
	got := measuredLoad(load.Result{Offered: 1000, Dropped: 10, Right: 980, Failed: 10, Nanos: 5000}, servedJob(0), before, after)
	want := wire.Measured{Operations: 980, Executed: 1090, Nanos: 5000, Counters: wire.Counters{CPU: 1090}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestSplitCPUs(t *testing.T) {
	for n, want := range map[int]string{0: "[] []", 1: "[] []", 3: "[] []", 4: "[0 1] [2 3]", 8: "[0 1 2 3 4] [5 6 7]"} {
		var all []int
		for cpu := range n {
			all = append(all, cpu)
		}
		server, generator := splitCPUs(all)
		if got := fmt.Sprint(server, generator); got != want {
			t.Errorf("%d processors: %s, want %s", n, got, want)
		}
	}
}

// TestAnswered: what is wrong or failed is an outcome with the first one's words.
func TestAnswered(t *testing.T) {
	for want, result := range map[string]load.Result{
		"<nil>": {Offered: 1000, Right: 990},
		"wrong-answer: 2 of 1100 requests got a wrong answer; the first: x":             {Offered: 1000, Right: 990, Wrong: 2, WrongText: "x", Failed: 1},
		"failed: 3 of 1100 requests failed; the first: y":                               {Offered: 1000, Right: 990, Failed: 3, Error: "y"},
		"failed: no request was answered while it was measured; 9 of 1100 were dropped": {Offered: 1000, Dropped: 9},
	} {
		if got := fmt.Sprint(answered(result, servedJob(0))); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestLagged: only what is large in itself, and beside the latency, voids a cell.
func TestLagged(t *testing.T) {
	histogram := func(median, p99 int64) [][2]int64 { return [][2]int64{{median, 900}, {p99, 100}} }
	for _, c := range []struct {
		lag, latency [][2]int64
		void         bool
	}{
		{nil, histogram(1e5, 1e6), false},
		{histogram(1e5, 4e6), histogram(1.5e5, 4e6), false},
		{histogram(3e5, 4e6), histogram(5e5, 9e6), true},
		{histogram(1e5, 6e6), histogram(1e6, 9e6), true},
		{histogram(1e5, 6e6), histogram(1e6, 20e6), false},
	} {
		err := lagged(load.Result{Lag: c.lag, Histogram: c.latency})
		var f *failure
		if void := errors.As(err, &f) && f.outcome == assay.Failed && strings.HasPrefix(f.reason, "not measured: the load generator itself was late"); void != c.void {
			t.Errorf("lag %v of %v: %v", c.lag, c.latency, err)
		}
	}
}

func TestLoadWarnings(t *testing.T) {
	codes := func(result load.Result, rate float64) []string {
		var all []string
		for _, w := range loadWarnings(result, servedJob(rate), 1000) {
			if w.Code != "shared-cpus" { // which depends on the machine
				all = append(all, w.Code)
			}
		}
		return all
	}
	for _, c := range []struct {
		right, dropped int64
		rate           float64
		want           []string
	}{
		{800, 0, 0, nil}, {801, 0, 0, []string{"generator-bound"}}, {500, 0, 500, nil}, {494, 0, 500, []string{"overloaded"}},
		{500, 1, 500, []string{"overloaded"}},
	} {
		if got := codes(load.Result{Right: c.right, Nanos: 1e9, Dropped: c.dropped}, c.rate); !slices.Equal(got, c.want) {
			t.Errorf("%d a second, %d dropped, rate %g: %q, want %q", c.right, c.dropped, c.rate, got, c.want)
		}
	}
}

func TestRecordPool(t *testing.T) {
	trial := &assay.Trial{Figures: map[string]float64{}}
	recordPool(trial, servedJob(0), 1100, poolDid(&wire.Pool{Opened: 50, Closed: 48}, &wire.Pool{Opened: 160, Closed: 158, Waits: 5, Waited: 2200}))
	if trial.Figures[assay.ReopensOp] != 0.1 || trial.Figures["pool-wait-ns/op"] != 2 || len(trial.Warnings) != 1 || trial.Warnings[0].Code != "reopens" {
		t.Errorf("%+v", trial)
	}
	calm := &assay.Trial{Figures: map[string]float64{}}
	recordPool(calm, servedJob(0), 1100, poolDid(&wire.Pool{Opened: 50}, &wire.Pool{Opened: 90})) // opened late, and kept
	if calm.Figures[assay.ReopensOp] != 0 || len(calm.Warnings) != 0 {
		t.Errorf("%+v", calm)
	}
	recordPool(calm, servedJob(0), 1100, poolDid(nil, &wire.Pool{Closed: 9}))
}

// A load that does not end in time is timed out, also at a rate of a search.
func TestLoadTimesOut(t *testing.T) {
	generator := filepath.Join(t.TempDir(), "assay")
	must(t, os.WriteFile(generator, []byte("#!/bin/sh\nsleep 20\n"), 0o700))
	target := &LatencyTarget{Quantile: 0.99, Max: time.Millisecond}
	in := &instance{r: &Runner{config: Config{Machine: Machine{Assay: generator}, Timeout: 50 * time.Millisecond, LatencyTarget: target}}}
	_, direct := in.load(t.Context(), servedJob(0), "http://127.0.0.1:1", loadSize{measured: 100, warm: 10})
	in.r.observed.limits = map[int]float64{servedJob(0).Cell.Clients: 1000}
	searching := in.findCapacity(t.Context(), servedJob(0), "http://127.0.0.1:1", &assay.Trial{Figures: map[string]float64{}})
	for name, err := range map[string]error{"a block": direct, "a search": searching} {
		var ended *failure
		if !errors.As(err, &ended) || ended.outcome != assay.TimedOut || !strings.Contains(ended.reason, "were not answered within 50ms") {
			t.Errorf("%s: got %v, want timed-out", name, err)
		}
	}
}

// A load generator that cannot have so many clients fails the cells with as many, says
// what to do, and does not end the run.
func TestGeneratorWithTooManyClients(t *testing.T) {
	generator := filepath.Join(t.TempDir(), "assay")
	must(t, os.WriteFile(generator, []byte("#!/bin/sh\necho 'socket: too many open files' >&2; echo 127.0.0.1:1; exit 1\n"), 0o700))
	r := &Runner{config: Config{Machine: Machine{Assay: generator}, Timeout: time.Minute}}
	r.observed.limits, r.observed.unloadable = map[int]float64{}, map[int]error{}
	j := servedJob(0)
	must(t, r.calibrate(t.Context(), j.Cell))
	trial := assay.Trial{Outcome: assay.OK}
	must(t, end(&trial, (&instance{r: r}).runServed(t.Context(), j, &trial)))
	if trial.Outcome != assay.Failed || !strings.Contains(trial.Reason, "use fewer clients") {
		t.Errorf("got %s (%s), want that the cell failed, and what to do", trial.Outcome, trial.Reason)
	}
}

// What else the generator meets is of the machine: the run ends with it, and can be resumed.
func TestGeneratorThatFails(t *testing.T) {
	generator := filepath.Join(t.TempDir(), "assay")
	must(t, os.WriteFile(generator, []byte("#!/bin/sh\necho 'something else' >&2; echo 127.0.0.1:1; exit 1\n"), 0o700))
	r := &Runner{config: Config{Machine: Machine{Assay: generator}, Timeout: time.Minute}}
	r.observed.limits, r.observed.unloadable = map[int]float64{}, map[int]error{}
	cell := servedJob(0).Cell
	if err := r.calibrate(t.Context(), cell); err == nil || r.observed.unloadable[cell.Clients] != nil {
		t.Errorf("got %v, and the cell's outcome %v, want an error of the run alone", err, r.observed.unloadable[cell.Clients])
	}
}

func TestReady(t *testing.T) {
	for status, want := range map[int]string{http.StatusNoContent: "<nil>", http.StatusOK: "when it should be ready"} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		if err := ready(t.Context(), s.URL); !strings.HasSuffix(fmt.Sprint(err), want) {
			t.Errorf("status %d: %v", status, err)
		}
		s.Close()
	}
	if err := ready(t.Context(), "http://127.0.0.1:1"); err == nil {
		t.Error("nobody is ready")
	}
}

// TestArrivalSeed: all drivers of a launch get the same arrivals, and other launches, steps of
// a search and plans others.
func TestArrivalSeed(t *testing.T) {
	r, other := &Runner{config: Config{Seed: 7}}, &Runner{config: Config{Seed: 8}}
	if again := (&Runner{config: Config{Seed: 7}}); r.arrivalSeed(3, 0) != again.arrivalSeed(3, 0) {
		t.Error("one launch has two seeds")
	}
	seen := map[[2]uint64]bool{}
	for _, seed := range [][2]uint64{r.arrivalSeed(1, 0), r.arrivalSeed(2, 0), r.arrivalSeed(1, 1), r.arrivalSeed(1, 2), other.arrivalSeed(1, 0)} {
		if seen[seed] {
			t.Errorf("%d is the seed of two", seed)
		}
		seen[seed] = true
	}
}

// The generator is told how the cell's requests arrive.
func TestLoadArrivals(t *testing.T) {
	dir := t.TempDir()
	generator, got := filepath.Join(dir, "assay"), filepath.Join(dir, "config")
	must(t, os.WriteFile(generator, []byte("#!/bin/sh\ncat >"+got+"\necho '{}'\n"), 0o700))
	in := &instance{r: &Runner{config: Config{Machine: Machine{Assay: generator}, Timeout: time.Minute, Seed: 7}}}
	for arrivals, even := range map[string]bool{assay.EvenArrivals: true, assay.PoissonArrivals: false} {
		j := servedJob(100)
		j.Cell.Params = map[string]string{assay.ArrivalsParam: arrivals}
		seed := in.r.arrivalSeed(3, 0)
		_, err := in.load(t.Context(), j, "http://127.0.0.1:1", loadSize{measured: 100, warm: 10, rate: 100, seed: seed})
		must(t, err)
		text, err := os.ReadFile(got)
		must(t, err)
		var c load.Config
		must(t, json.Unmarshal(text, &c))
		if c.Even != even || c.Seed != seed || c.Rate != 100 {
			t.Errorf("%s: got %+v", arrivals, c)
		}
	}
}

// The steps that confirm have a hundred requests beyond the percentile, or the
// figure has a warning.
func TestStepsThatConfirm(t *testing.T) {
	target := LatencyTarget{Quantile: 0.99, Max: 5 * time.Millisecond}
	for _, c := range []struct {
		rate        float64
		search, own int
		warned      bool
	}{
		{100, 200, 300, true}, {2000, 2000, 6000, true}, {4000, 2000, 10_000, false}, {40_000, 20_000, 20_000, false},
	} {
		search, own, warned := target.requests(c.rate, false), target.requests(c.rate, true), len(target.sampleWarning(c.rate)) > 0
		if search != c.search || own != c.own || warned != c.warned {
			t.Errorf("%g requests a second: steps of %d and %d requests, warned %t, want %d, %d, %t", c.rate, search, own, warned, c.search, c.own, c.warned)
		}
	}
}

// Requests that are under way when the measured part ends are not missing by chance alone: 60 at
// 20 a second, 100 ms each, or many. Where the server answers 18 of 20, or 950 of 1000, they are.
func TestFellBehind(t *testing.T) {
	for _, c := range []struct {
		rate, seconds float64
		right         int64
		median        time.Duration
		want          bool
	}{
		{20, 3, 60, 100 * time.Millisecond, false}, {20, 3, 56, 100 * time.Millisecond, false},
		{20, 3, 54, 165 * time.Millisecond, true}, {20, 10, 180, 550 * time.Millisecond, true},
		{20, 3, 50, 300 * time.Millisecond, true},
		{1000, 2, 1980, 5 * time.Millisecond, false}, {1000, 2, 1900, 55 * time.Millisecond, true},
		{40_000, 0.5, 19_000, 20 * time.Millisecond, true},
	} {
		result := load.Result{Right: c.right, Nanos: int64(c.seconds * 1e9), Histogram: [][2]int64{{int64(c.median), c.right}}}
		if got := fellBehind(result, c.rate); got != c.want {
			t.Errorf("%d answers in %g s at %g a second, %s each: got %t, want %t", c.right, c.seconds, c.rate, c.median, got, c.want)
		}
	}
}

func TestLatencyTarget(t *testing.T) {
	target := LatencyTarget{Quantile: 0.99, Max: 5 * time.Millisecond}
	fine := load.Result{Offered: 1000, Right: 1000, Nanos: 1e9, Histogram: [][2]int64{{1e6, 990}, {9e6, 10}}}
	if !target.holds(fine, 1000) {
		t.Error("a target that holds does not")
	}
	for what, change := range map[string]func(*load.Result){
		"slow":    func(r *load.Result) { r.Histogram[0][1], r.Histogram[1][1] = 989, 11 },
		"failed":  func(r *load.Result) { r.Failed = 1 },
		"dropped": func(r *load.Result) { r.Dropped = 1 },
		"behind":  func(r *load.Result) { r.Right = 980 },
	} {
		r := fine
		r.Histogram = [][2]int64{{1e6, 990}, {9e6, 10}}
		if change(&r); target.holds(r, 1000) {
			t.Errorf("%s: the target holds", what)
		}
	}
}
