//go:build unix

package runner

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"assay"
	"assay/internal/dataset"
	"assay/internal/runner/schedule"
	"assay/kit/process"

	"github.com/google/go-cmp/cmp"
)

// planned is a runner with a group for each cost of a launch, of one cell
// with a twin, which was launched once.
func planned(t *testing.T, config Config, costs ...time.Duration) *Runner {
	t.Helper()
	dir := t.TempDir()
	work, err := NewWorkspace(dir, "test")
	must(t, err)
	t.Cleanup(func() { _ = work.Close() })
	data := filepath.Join(dir, "data")
	must(t, os.WriteFile(data, nil, 0o644))
	config.Work, config.Launches = work, 6
	config.Emit = func(assay.Trial) error { return nil }
	r := &Runner{config: config, measurement: measurement{random: rand.New(rand.NewPCG(1, 1)), baseline: assay.ParseBaseline("a")}}
	for i, cost := range costs {
		j := at(assay.Blocks, "put"+string('0'+rune(i))+" a p")
		j.data = &dataset.Data{Path: data}
		g := groupCases([]*job{j}, assay.ParseBaseline("a"))[0]
		g.launches.add(cost, false)
		r.groups = append(r.groups, g)
	}
	return r
}

// What a resumed run has spent is spent.
func TestSpentBudgetIsNotLeft(t *testing.T) {
	r := planned(t, Config{Budget: 100 * time.Second}, time.Second)
	r.clock.spent = 97 * time.Second
	if got := r.limitsNow(); got.Left != 3*time.Second || !got.Bounded || got.MinLaunches != 6 {
		t.Errorf("limits %+v, want 3s left for 6 launches of each group", got)
	}
	r.clock.spent = 101 * time.Second
	if !r.over() {
		t.Error("101s of 100s are spent, and the budget is not over")
	}
}

// Answers are not verified once the budget is over: nothing would be measured of them. What was
// found before is kept.
func TestNothingIsBegunAfterTheBudget(t *testing.T) {
	for spent, want := range map[time.Duration]error{99 * time.Second: nil, 101 * time.Second: errBudgetEnded} {
		r := planned(t, Config{Budget: 100 * time.Second}, time.Second)
		g := r.groups[0]
		r.clock.spent = spent
		l := &jointLaunch{r: r, g: g, members: g.members, number: g.launches.begin(), tried: map[string]bool{}}
		l.g.launches.pauses, _ = process.Pauses()
		l.note(&assay.Trial{Cell: g.members[0].cell(), Outcome: assay.WrongAnswer})
		var got []assay.Outcome
		r.config.Emit = func(trial assay.Trial) error { got = append(got, trial.Outcome); return nil }
		if _, err := l.verifyAll(t.Context()); !errors.Is(err, want) {
			t.Errorf("%s of 100s are spent: got %v, want %v", spent, err, want)
		}
		if !slices.Equal(got, []assay.Outcome{assay.WrongAnswer}) {
			t.Errorf("%s of 100s are spent: got trials %v, want the one that was noted", spent, got)
		}
	}
}

// The schedule sees what was launched, what it cost, and what is still wide.
func TestScheduled(t *testing.T) {
	r := planned(t, Config{Precision: 0.02}, 20*time.Second, time.Second, time.Second)
	spread(r.groups[1], 6, 1.05)
	r.groups[2].members = nil // all of its cells have failed
	all := r.scheduled()
	if got, want := all[0], (schedule.Group{Cost: 20 * time.Second, Launches: 1, Tries: 1, Tables: 1}); got != want {
		t.Errorf("a group below the minimum: got %+v, want %+v", got, want)
	}
	if got := all[1]; got.Wide != 1 || got.Needed <= 6 || got.Launches != 6 {
		t.Errorf("a group with a wide interval: got %+v, want one that needs more than its 6 launches", got)
	}
	if next := schedule.Next(all[2:], schedule.Limits{MinLaunches: 6, Left: time.Hour}); len(next) > 0 {
		t.Errorf("a group with nothing left to measure is launched: %+v", all[2])
	}
}

// A cell without a figure to compare needs no more launches than those of all: another
// one would not have it either.
func TestNoFigureNeedsNoMore(t *testing.T) {
	for name, figures := range map[string]map[string]float64{
		"too few requests for the 99th percentile": {assay.P50: 100},
		"no figure":        {},
		"a figure of zero": {assay.P50: 0},
	} {
		r := planned(t, Config{Precision: 0.02})
		a, b := at(assay.Blocks, "serve a p"), at(assay.Blocks, "serve b p")
		a.Cell.Rate, b.Cell.Rate = 40, 40
		g := groupCases([]*job{a, b}, assay.ParseBaseline("a"))[0]
		r.groups = []*group{g}
		for launch := 1; launch <= 6; launch++ {
			for _, j := range []*job{a, b} {
				trial := trialOf(j, launch, false, 0)
				trial.Figures = figures
				g.record.note(&trial)
			}
			g.launches.add(time.Second, false)
		}
		if next := schedule.Next(r.scheduled(), schedule.Limits{MinLaunches: 6, Left: time.Hour, Bounded: true}); len(next) > 0 {
			t.Errorf("%s: another launch is made, want none", name)
		}
	}
}

// Where one launch has too few requests for the 99th percentile, all are compared by
// the median.
func TestLaunchWithFewRequests(t *testing.T) {
	j := at(assay.Blocks, "serve a p")
	j.Cell.Rate = 40
	g := groupCases([]*job{j}, assay.ParseBaseline("a"))[0]
	for launch, figures := range []map[string]float64{{assay.P50: 1, assay.P99: 10}, {assay.P50: 2}, {assay.P50: 3, assay.P99: 30}} {
		trial := trialOf(j, launch+1, false, 0)
		trial.Figures = figures
		g.record.note(&trial)
	}
	uncompared := g.comparisons(j.Cell.Peer(), assay.ParseBaseline("a")).uncompared
	for _, figures := range uncompared {
		slices.Sort(figures)
	}
	if want := [][]float64{{1, 2, 3}}; !reflect.DeepEqual(uncompared, want) {
		t.Errorf("got %v, want the medians of all launches: %v", uncompared, want)
	}
}

// spread gives the group's second cell ratios of 1/by and by in turn.
func spread(g *group, launches int, by float64) {
	b := at(assay.Blocks, g.members[0].cell().Operation+" b p")
	g.add(b)
	a := g.members[0].first
	for launch := 1; launch <= launches; launch++ {
		nanos := 100 * by
		if launch%2 == 0 {
			nanos = 100 / by
		}
		for _, trial := range []assay.Trial{trialOf(a, launch, false, 100), trialOf(b, launch, false, nanos)} {
			g.record.note(&trial)
		}
	}
	g.launches.finished = launches
}

// More launches follow from the spread so far: none where all are alike, four
// times as many for half the width.
func TestLaunchesToPrecision(t *testing.T) {
	want := func(precision, by float64) int {
		r := planned(t, Config{Precision: precision}, time.Second)
		spread(r.groups[0], 6, by)
		r.assess()
		return r.groups[0].launches.counted() + r.groups[0].need.most()
	}
	if got := want(0.01, 1); got != 6 {
		t.Errorf("%d launches are wanted where all ratios are equal, want the 6 there are", got)
	}
	if got := want(0.5, 1.05); got != 6 {
		t.Errorf("%d launches are wanted where the interval is narrow enough, want the 6 there are", got)
	}
	wide, narrow := want(0.02, 1.05), want(0.01, 1.05)
	if wide <= 6 || narrow < 3*wide || narrow > 4*wide {
		t.Errorf("%d launches for 2 %%, %d for 1 %%: want more than 6, and nearly four times as many", wide, narrow)
	}
}

// A cell that was undisturbed in launches in which others were not has more
// figures than its group has launches, and asks for no more of them for that.
func TestLaunchesOfWhichSomeAreDisturbed(t *testing.T) {
	r := planned(t, Config{Precision: 0.5}, time.Second)
	g := r.groups[0]
	spread(g, 8, 1.05)
	g.launches.disturbed = 2
	r.assess()
	if got := g.launches.counted() + g.need.most(); got != 6 {
		t.Errorf("%d launches are wanted, want the 6 there are", got)
	}
	r.config.Precision = 0.001
	r.assess()
	if got := g.launches.counted() + g.need.most(); got <= 8 {
		t.Errorf("%d launches are wanted where the interval is too wide", got)
	}
}

func TestLeast(t *testing.T) {
	r := planned(t, Config{}, time.Second, 3*time.Second)
	if got := r.MinTime(); got != 24*time.Second {
		t.Errorf("least time %s, want six launches of each group: 24s", got)
	}
	r.groups[1].members = nil // none of its cells can be measured
	if got := r.MinTime(); got != 9*time.Second {
		t.Errorf("least time %s with a group that is given up after its first launch, want 9s", got)
	}
	r.groups = append(r.groups, groupCases([]*job{at(assay.Blocks, "new a p")}, assay.ParseBaseline("a"))...)
	if got := r.MinTime(); got != 0 {
		t.Errorf("least time %s before every group was launched, want none", got)
	}
}

// A budget below the least time is told of once that is known, and where it did not do for one
// launch of every group; no other is.
func TestTellLeast(t *testing.T) {
	for _, c := range []struct {
		budget time.Duration
		notRun bool
		told   bool
	}{{23 * time.Second, false, true}, {24 * time.Second, false, false}, {0, false, false}, {23 * time.Second, true, true}} {
		var told []Event
		r := planned(t, Config{Budget: c.budget, Machine: Machine{Progress: func(e Event) { told = append(told, e) }}}, time.Second, 3*time.Second)
		if c.notRun {
			r.groups = append(r.groups, groupCases([]*job{at(assay.Blocks, "new a p")}, assay.ParseBaseline("a"))...)
		}
		r.warnOfBudget()
		want := []Event{{Phase: BudgetTooSmall, What: "6 launches of every cell", Budget: c.budget}}
		if !c.told {
			want = nil
		}
		if diff := cmp.Diff(want, told); diff != "" {
			t.Errorf("budget %s, some not run %v: (-want +got)\n%s", c.budget, c.notRun, diff)
		}
	}
}

func TestDisturbed(t *testing.T) {
	for _, c := range []struct {
		mode  assay.Mode
		noise assay.Noise
		took  time.Duration
		want  bool
	}{
		{assay.Windows, assay.Noise{}, time.Minute, false},
		{assay.Windows, assay.Noise{Steal: 0.09}, time.Minute, false},
		{assay.Windows, assay.Noise{Steal: 0.06, Foreign: 0.06}, time.Minute, true},
		{assay.Windows, assay.Noise{Foreign: 0.5}, 100 * time.Microsecond, false}, // a tick or two
		{assay.Blocks, assay.Noise{Steal: 0.06, Foreign: 0.06}, time.Minute, false},
		{assay.Blocks, assay.Noise{Steal: 0.16, Foreign: 0.06}, time.Minute, true},
	} {
		if got := disturbedLaunch(c.mode, c.noise, c.took); got != c.want {
			t.Errorf("disturbedLaunch(%s, %+v, %s) = %v, want %v", c.mode, c.noise, c.took, got, c.want)
		}
	}
}

func TestEstimate(t *testing.T) {
	once := func(op assay.Operation, profile string) time.Duration {
		return Estimate([]assay.Case{{Cell: assay.Cell{Clients: 1}, Operation: op,
			Profile: assay.Profile{Settings: map[string]string{"synchronous": profile}}}}, 1, Costs{}).Total()
	}
	single := assay.Operation{Changes: true, Count: 1000}
	batch := assay.Operation{Changes: true, Count: 1000, Transaction: 100}
	if a, b := once(single, "2"), once(batch, "2"); a <= b {
		t.Errorf("1000 commits are estimated to take %s, 10 take %s", a, b)
	}
	if a, b := once(single, "2"), once(single, "0"); a <= b {
		t.Errorf("commits with syncs are estimated to take %s, without %s", a, b)
	}
	server := func(commit string) time.Duration {
		return Estimate([]assay.Case{{Operation: single, Profile: assay.Profile{Settings: map[string]string{"synchronous_commit": commit}}}}, 1, Costs{}).Total()
	}
	if a, b := server("on"), server("off"); a <= b {
		t.Errorf("commits of a server with syncs are estimated to take %s, without %s", a, b)
	}
	if got := once(assay.Operation{}, "2"); got < windowsPerLaunch*windowLength {
		t.Errorf("windows are estimated to take %s", got)
	}
	cases := make([]assay.Case, 3)
	total := func(cases []assay.Case, launches int) time.Duration {
		return Estimate(cases, launches, Costs{}).Total()
	}
	if a, b := total(cases, 6), total(cases, 1); a != 6*b || total(nil, 6) != 0 {
		t.Errorf("six launches are estimated to take %s, one of them %s", a, b)
	}
	// The A/A test is one cell more in each table.
	if a, b := Estimate(cases, 1, Costs{})[assay.StageMeasured], Estimate(cases[:1], 1, Costs{})[assay.StageMeasured]; a != 2*b {
		t.Errorf("windows of three cells and an A/A test are estimated to take %s, of one and a test %s", a, b)
	}
}

// Each part of an estimate is what is known of it: times of operations, commits and
// checks, and the bytes of the data.
func TestEstimateOfKnownCosts(t *testing.T) {
	known := Costs{
		Pace:   func(assay.Case) Pace { return Pace{Each: time.Minute, Check: time.Hour} },
		Commit: func(assay.Case) time.Duration { return time.Second },
		Bytes:  func(assay.Case) int64 { return 2 * typicalCopied },
		Sync:   time.Millisecond,
	}
	const start = typicalInstance + syncsToOpen*time.Millisecond
	cell := assay.Cell{Driver: "a", Clients: 1}
	query := []assay.Step{{Query: true, Rows: 100}}
	const twins = 2 // the A/A test does all of it again
	block := func(op assay.Operation) []assay.Case {
		op.Changes = true
		return []assay.Case{{Cell: cell, Operation: op}}
	}
	tests := map[string]struct {
		cases []assay.Case
		stage assay.Stage
		want  time.Duration
	}{
		"a block":                        {block(assay.Operation{Count: 1000}), assay.StageMeasured, twins * 1000 * 61 * time.Second},
		"a block of transactions":        {block(assay.Operation{Count: 1000, Transaction: 100}), assay.StageMeasured, twins * (1000*time.Minute + 10*time.Second)},
		"its warm-up":                    {block(assay.Operation{Count: 1000}), assay.StageWarmUp, twins * 100 * 61 * time.Second / atOnce},
		"the warm-up of one transaction": {block(assay.Operation{Count: 1000, Transaction: 1000}), assay.StageWarmUp, twins * (1000*time.Minute + time.Second)},
		"its copies":                     {block(assay.Operation{Count: 1000}), assay.StageCopy, twins * (2*time.Second + syncsToCopy*time.Millisecond)},
		"its check":                      {block(assay.Operation{Count: 1000}), assay.StageVerify, twins * time.Hour / atOnce},
		"its turns":                      {block(assay.Operation{Count: 1000}), assay.StageTurns, twins * maxParts * typicalTurn},
		"its instances":                  {block(assay.Operation{Count: 1000}), assay.StageStart, twins * start / atOnce},
		"the check of one transaction":   {block(assay.Operation{Count: 1000, Transaction: 1000}), assay.StageVerify, twins * time.Hour},
		"the answers of a mix": {block(assay.Operation{Count: 1000, Parts: []assay.Part{{Operation: assay.Operation{Steps: query}}, {Operation: assay.Operation{Changes: true}}}}),
			assay.StageVerify, twins * (time.Hour + verifiedRows/100*time.Minute)},
		"windows":              {[]assay.Case{{Cell: cell}}, assay.StageMeasured, twins * minCounted * time.Minute},
		"turns of windows":     {[]assay.Case{{Cell: cell}}, assay.StageTurns, twins * (typicalTurn + time.Minute)},
		"answers of windows":   {[]assay.Case{{Cell: cell, Operation: assay.Operation{Steps: query}}}, assay.StageVerify, twins * (verifiedRows/100 + 1) * time.Minute / atOnce},
		"warm-up of windows":   {[]assay.Case{{Cell: cell}}, assay.StageWarmUp, 0},
		"copies of windows":    {[]assay.Case{{Cell: cell}}, assay.StageCopy, 0},
		"instances of windows": {[]assay.Case{{Cell: cell}}, assay.StageStart, twins * start / atOnce},
		"instances that windows share": {[]assay.Case{{Cell: cell}, {Cell: cell, Operation: assay.Operation{Name: "other"}}},
			assay.StageStart, twins * start / atOnce},
		"instances of profiles": {[]assay.Case{{Cell: cell}, {Cell: assay.Cell{Driver: "a", Clients: 1, Profile: "p"}}},
			assay.StageStart, (1 + twins) * (start / atOnce)},
		"a sum of others": {block(assay.Operation{Terms: []assay.Term{{}}}), assay.StageStart, 0},
	}
	for name, test := range tests {
		if got := Estimate(test.cases, 1, known)[test.stage]; got != test.want {
			t.Errorf("%s: got %s, want %s", name, got, test.want)
		}
	}
	known.Pace = func(assay.Case) Pace { return Pace{Each: time.Minute, Scans: true} }
	scan := []assay.Case{{Cell: cell, Operation: assay.Operation{Steps: []assay.Step{{Query: true, Rows: 1}}}}}
	if got, want := Estimate(scan, 1, known)[assay.StageVerify], twins*2*time.Minute/atOnce; got != want {
		t.Errorf("answers of an operation that reads a whole table: got %s, want %s", got, want)
	}
}

// Clients that ask at the same time share the processors, and wait for each other where
// they change data: a mix takes as long as the slower of both.
func TestEstimateOfSeveralClients(t *testing.T) {
	const processors, twins = 3, 2
	query := []assay.Step{{Query: true, Rows: 100}}
	parts := []assay.Part{{Operation: assay.Operation{Steps: query}, Weight: 1}, {Operation: assay.Operation{Changes: true}, Weight: 1}}
	busy := assay.Cell{Driver: "a", Clients: 8}
	for name, test := range map[string]struct {
		op     assay.Operation
		commit time.Duration
		want   time.Duration
	}{
		"reads":                       {assay.Operation{Count: 900}, time.Second, twins * 300 * time.Minute},
		"changes":                     {assay.Operation{Count: 900, Changes: true}, time.Second, twins * 900 * 61 * time.Second},
		"a mix":                       {assay.Operation{Count: 900, Changes: true, Parts: parts}, time.Second, twins * 300 * time.Minute},
		"a mix that waits for a disk": {assay.Operation{Count: 900, Changes: true, Parts: parts}, time.Hour, twins * 450 * time.Hour},
		"served":                      {assay.Operation{Count: 900, Serve: true}, time.Second, twins * 900 * (time.Minute + typicalRequest)},
	} {
		known := Costs{
			Pace:       func(assay.Case) Pace { return Pace{Each: time.Minute} },
			Commit:     func(assay.Case) time.Duration { return test.commit },
			Processors: processors,
		}
		got := Estimate([]assay.Case{{Cell: busy, Operation: test.op}}, 1, known)[assay.StageMeasured]
		if got != test.want {
			t.Errorf("%s of 8 clients: got %s, want %s", name, got, test.want)
		}
	}
}

// Each launch of a series, and what is resumed, has an order of its own.
func TestStreams(t *testing.T) {
	seen := map[uint64]bool{}
	for _, of := range []struct{ done, launch int }{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {2, 0}} {
		seen[stream(of.done, of.launch)] = true
	}
	if len(seen) != 5 {
		t.Errorf("got %d streams of random choices, want 5", len(seen))
	}
}

// What is measured together is disturbed together, by the time of all of it: however long each
// part took.
func TestWindowsAreDisturbedTogether(t *testing.T) {
	calm := disturbs
	var got []time.Duration
	disturbs = func(_ assay.Mode, _ assay.Noise, took time.Duration) bool { got = append(got, took); return true }
	defer func() { disturbs = calm }()
	j := at(assay.Windows, "read a p")
	r := &Runner{config: Config{Emit: func(assay.Trial) error { return nil }}}
	l := &jointLaunch{r: r, g: groupCases([]*job{j}, assay.ParseBaseline("a"))[0]}
	l.g.launches.begin()
	l.g.launches.pauses, _ = process.Pauses()
	for _, took := range []time.Duration{0, time.Hour} {
		l.trials = append(l.trials, &assay.Trial{Cell: j.Cell, Mode: assay.Windows, Outcome: assay.OK, Took: took})
	}
	must(t, l.operation(t.Context(), nil))
	if len(got) != 2 || got[0] != got[1] || got[0] <= 0 || got[0] >= time.Hour {
		t.Errorf("judged by %v, want both by the time of the operation", got)
	}
}

// A cell of which not one launch fits into the budget is named before anything is prepared
// for it, and the others are measured.
func TestCellsBeyondTheBudget(t *testing.T) {
	b := newBench(t, strings.Replace(header, "honest, second", "honest", 1)+insert+
		strings.NewReplacer("insert:", "huge:", "count: 20", "count: 3e7").Replace(insert)+
		strings.Replace(insert, "insert:", "crowd:", 1)+"    clients: 100000\n")
	b.Launches, b.Budget = 1, 3*time.Second
	b.run(t)
	want := map[string]assay.Outcome{"insert": assay.OK, "huge": assay.NotRun, "crowd": assay.NotRun}
	got := map[string]assay.Outcome{}
	for _, trial := range b.trials {
		if got[trial.Cell.Operation] = trial.Outcome; trial.Outcome == assay.NotRun && !strings.Contains(trial.Reason, "does not fit into the budget of 3s") {
			t.Errorf("%s: got the reason %q", trial.Cell.Operation, trial.Reason)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("outcomes (-want +got)\n%s", diff)
	}
}

// What was never launched has an estimate, so that the cheapest goes first.
func TestGuessOfAGroup(t *testing.T) {
	few, many := at(assay.Blocks, "few a p"), at(assay.Blocks, "many a p")
	few.Operation = assay.Operation{Name: "few", Changes: true, Count: 100}
	many.Operation = assay.Operation{Name: "many", Changes: true, Count: 100_000}
	a, b := groupCases([]*job{few}, assay.ParseBaseline("a"))[0], groupCases([]*job{many}, assay.ParseBaseline("a"))[0]
	if a.guess(false) <= 0 || b.guess(false) < 100*a.guess(false) {
		t.Errorf("got %s for 100 operations, and %s for 100,000", a.guess(false), b.guess(false))
	}
}

// Where the machine was busy before the first window, disturbed launches count for what comes
// next, and the CPU time of an operation that waits for nothing stands beside its wall time.
func TestBusyMachine(t *testing.T) {
	calm := disturbs
	disturbs = func(assay.Mode, assay.Noise, time.Duration) bool { return true }
	defer func() { disturbs = calm }()
	for name, test := range map[string]struct {
		busy    bool
		engine  engine
		change  func(*assay.Trial)
		counted int
		want    float64 // compute-ns/op
	}{
		"busy":                 {true, sqliteFile{}, func(*assay.Trial) {}, 1, 5},
		"quiet at first":       {false, sqliteFile{}, func(*assay.Trial) {}, 0, 0},
		"a server":             {true, postgresServer{}, func(*assay.Trial) {}, 1, 0},
		"a store, compacting":  {true, keyValueStore{}, func(*assay.Trial) {}, 1, 0},
		"in blocks":            {true, sqliteFile{}, func(t *assay.Trial) { t.Mode = assay.Blocks }, 1, 0},
		"several clients":      {true, sqliteFile{}, func(t *assay.Trial) { t.Cell.Clients = 2 }, 1, 0},
		"not ok":               {true, sqliteFile{}, func(t *assay.Trial) { t.Outcome = assay.NotApplied }, 1, 0},
		"no CPU time is known": {true, sqliteFile{}, func(t *assay.Trial) { delete(t.Figures, assay.CPUPerOp) }, 1, 0},
	} {
		j := at(assay.Windows, "read a p")
		j.engine = test.engine
		var got assay.Trial
		r := &Runner{config: Config{Emit: func(t assay.Trial) error { got = t; return nil }}}
		r.groups = groupCases([]*job{j}, assay.ParseBaseline("a"))
		if test.busy {
			r.setBusy()
		}
		g := r.groups[0]
		g.launches.begin()
		g.launches.pauses, _ = process.Pauses()
		trial := &assay.Trial{Cell: j.Cell, Mode: assay.Windows, Outcome: assay.OK, Launch: 1,
			Figures: map[string]float64{assay.NsPerOp: 9, assay.CPUPerOp: 5}}
		test.change(trial)
		must(t, r.finish(g, trial, assay.Noise{}, time.Second))
		g.launches.end(time.Second)
		if figure := got.Figures[assay.ComputePerOp]; figure != test.want || g.launches.counted() != test.counted || !got.Disqualified {
			t.Errorf("%s: compute-ns/op %g and %d launches that count, want %g and %d", name, figure, g.launches.counted(), test.want, test.counted)
		}
		if kept, want := len(g.record.counted[figuresKey(trial.Cell, false)]) == 1, test.busy && trial.Outcome == assay.OK; kept != want {
			t.Errorf("%s: the disturbed trial is recorded: %t, want %t", name, kept, want)
		}
	}
}

// Sizes of the data are told apart within an operation: by bytes, and in blocks by operations.
func TestSizesOfGroups(t *testing.T) {
	folder := t.TempDir()
	sized := func(mode assay.Mode, name string, bytes, count int) *job {
		j := at(mode, name)
		j.data, j.Operation.Count = &dataset.Data{Path: filepath.Join(folder, strconv.Itoa(bytes)), Digest: strconv.Itoa(bytes)}, count
		must(t, os.WriteFile(j.data.Path, make([]byte, bytes), 0o600))
		j.Cell.Params = map[string]string{"n": strconv.Itoa(bytes + count)}
		return j
	}
	groups := groupCases([]*job{sized(assay.Blocks, "new a p", 1000, 7), sized(assay.Blocks, "new a p", 10, 7), sized(assay.Blocks, "put a p", 10, 500),
		sized(assay.Blocks, "put a p", 10, 50), sized(assay.Blocks, "one a p", 1000, 1)}, assay.ParseBaseline("a"))
	setSizes(groups)
	var got []int
	for _, g := range groups {
		got = append(got, g.size)
	}
	if want := []int{1, 0, 1, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("got places %v, want %v", got, want)
	}
}
