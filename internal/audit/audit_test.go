package audit_test

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"assay"
	"assay/internal/analysis"
	"assay/internal/audit"
	"assay/internal/stat"
	"assay/published"
)

// measured is six launches in which each driver's figure is its base.
func measured(cells map[string]assay.Trial) iter.Seq2[assay.Trial, error] {
	return func(yield func(assay.Trial, error) bool) {
		for launch := 1; launch <= 6; launch++ {
			for driver, trial := range cells {
				trial.Launch, trial.Layout = launch, cmp.Or(trial.Layout, launch)
				trial.Cell.Driver, trial.Cell.Operation, trial.Cell.DriverVersion = driver, "scan", "v1"
				trial.Cell.Clients, trial.Cell.Pool = 1, 1
				trial.Figures = map[string]float64{assay.NsPerOp: trial.Figures[assay.NsPerOp] + float64(launch)}
				if !yield(trial, nil) {
					return
				}
			}
		}
	}
}

func trial(ns float64, group string) assay.Trial {
	return assay.Trial{Group: group, Outcome: assay.OK, Figures: map[string]float64{assay.NsPerOp: ns}}
}

// reports is the run r1 of plan p with these cells, or none.
func reports(t *testing.T, cells ...map[string]assay.Trial) audit.Runs {
	t.Helper()
	return func(plan string, age int) (*analysis.Result, error) {
		if plan != "p" || age > 0 || len(cells) == 0 {
			return nil, nil
		}
		return reported(t, "r1", cells[0]), nil
	}
}

func reported(t *testing.T, id string, cells map[string]assay.Trial) *analysis.Result {
	t.Helper()
	r, err := analysis.New(assay.Run{ID: id, Plan: "p", Baseline: assay.ParseBaseline("a@v1"), Host: map[string]string{"cpu": "test"}, Version: "v9",
		Started: time.Unix(0, 0), Finished: time.Unix(60, 0), Targets: []assay.Target{{Driver: "a", DriverVersion: "v1"}}}, measured(cells))
	must(t, err)
	return r
}

// ages are runs of each age, the newest first.
func ages(all ...*analysis.Result) audit.Runs {
	return func(_ string, age int) (*analysis.Result, error) {
		if age >= len(all) {
			return nil, nil
		}
		return all[age], nil
	}
}

// listed is the one run with these trials.
func listed(t *testing.T, run assay.Run, trials []assay.Trial) audit.Runs {
	t.Helper()
	r, err := analysis.New(run, func(yield func(assay.Trial, error) bool) {
		for _, one := range trials {
			if !yield(one, nil) {
				return
			}
		}
	})
	must(t, err)
	return ages(r)
}

func claim(expect published.Expectation, size float64) published.Claim {
	return published.Claim{Name: "c", Says: "a | is so", Provenance: published.Quoted, Plan: "p", Metric: assay.NsPerOp,
		Where: map[string]string{"operation": "scan"},
		Compare: []published.Comparison{{A: map[string]string{"driver": "a"}, B: map[string]string{"driver": "b"},
			Expect: expect, Size: size}}}
}

func judge(t *testing.T, s published.Source, c published.Claim, r audit.Runs) audit.Finding {
	t.Helper()
	if s.Conditions.OS == "" {
		s.Conditions.OS, s.Conditions.Arch, s.Conditions.Cores = "linux", "amd64", "4"
	}
	if s.Versions == nil {
		s.Versions = map[string]string{"a": "v1", "b": "v1", "c": "v1", "d": "v1"}
	}
	s.Claims = []published.Claim{c}
	findings, err := audit.Judge([]published.Source{s}, atHome(r))
	if err != nil || len(findings) != 1 {
		t.Fatalf("%v, %v", findings, err)
	}
	return findings[0]
}

// atHome are runs of the machine of the tests' sources.
func atHome(r audit.Runs) audit.Runs {
	return func(plan string, age int) (*analysis.Result, error) {
		result, err := r(plan, age)
		if result != nil {
			host := map[string]string{"os": "linux", "arch": "amd64"}
			maps.Copy(host, result.Run.Host)
			result.Run.Host = host
		}
		return result, err
	}
}

func TestVerdicts(t *testing.T) {
	notApplied := trial(1000, "g")
	notApplied.Outcome, notApplied.Reason = assay.NotApplied, "mmap_size was ignored"
	failed := trial(0, "g")
	failed.Outcome, failed.Reason = assay.Failed, "it died"
	layout := trial(1000, "g")
	layout.Layout = 1
	wrong, late := trial(0, "g"), trial(0, "g")
	wrong.Outcome, wrong.Reason = assay.WrongAnswer, "1 row less"
	late.Outcome, late.Reason = assay.TimedOut, "after 1m"
	tests := map[string]struct {
		a, b   assay.Trial
		expect published.Expectation
		size   float64
		want   audit.Verdict
		reason string
	}{
		"faster":                     {trial(1000, "g"), trial(2000, "g"), published.Faster, 0, audit.Holds, ""},
		"the other way round":        {trial(2000, "g"), trial(1000, "g"), published.Faster, 0, audit.Fails, "it is slower"},
		"slower":                     {trial(2000, "g"), trial(1000, "g"), published.Slower, 0, audit.Holds, ""},
		"as much as stated":          {trial(1000, "g"), trial(2500, "g"), published.Faster, 3, audit.Holds, ""},
		"less than stated":           {trial(1000, "g"), trial(1500, "g"), published.Faster, 3, audit.Fails, "less than claimed: measured 1.5x as fast (1.5x to 1.5x), claimed 2x to 5x"},
		"more than stated":           {trial(1000, "g"), trial(9000, "g"), published.Faster, 3, audit.Fails, "more than claimed: measured 8.97x as fast (8.96x to 8.99x), claimed 2x to 5x"},
		"at the edge":                {trial(1, "g"), trial(4, "g"), published.Faster, 3, audit.Unknown, "undecided: measured 1.76x as fast (1.42x to 2.19x), claimed 2x to 5x"},
		"slower as stated":           {trial(3000, "g"), trial(1000, "g"), published.Slower, 3, audit.Holds, ""},
		"less slow":                  {trial(1500, "g"), trial(1000, "g"), published.Slower, 3, audit.Fails, "less than claimed: measured 1.5x as slow (1.5x to 1.5x), claimed 2x to 5x"},
		"alike":                      {trial(1000, "g"), trial(1020, "g"), published.Alike, 1.05, audit.Holds, ""},
		"alike in one layout":        {layout, trial(1020, "g"), published.Alike, 1.05, audit.Unknown, "undecided: measured 1.02x as fast (1.02x to 1.02x), claimed 0.9524x to 1.05x; one link layout, of which others can differ by 10 %"},
		"alike in any layout":        {layout, trial(1020, "g"), published.Alike, 1.5, audit.Holds, ""},
		"not alike":                  {trial(1000, "g"), trial(1100, "g"), published.Alike, 1.05, audit.Fails, "measured 1.1x as fast (1.1x to 1.1x), claimed 0.9524x to 1.05x"},
		"little is not faster":       {trial(1000, "g"), trial(1100, "g"), published.NotFaster, 1.15, audit.Holds, ""},
		"much is faster":             {trial(1000, "g"), trial(1300, "g"), published.NotFaster, 1.15, audit.Fails, "measured 1.3x as fast (1.3x to 1.3x), claimed at most 1.15x"},
		"alike is not faster":        {trial(1000, "g"), trial(1001, "g"), published.NotFaster, 0, audit.Holds, ""},
		"a tie is no refutation":     {trial(1000, "g"), trial(1001, "g"), published.Faster, 0, audit.NotReproduced, "they tie within 2 %, and the source states no size"},
		"nor of slower":              {trial(1000, "g"), trial(1001, "g"), published.Slower, 0, audit.NotReproduced, "they tie within 2 %, and the source states no size"},
		"a tie refutes a size":       {trial(1000, "g"), trial(1001, "g"), published.Faster, 1.5, audit.Fails, "less than claimed: measured 1x as fast (1x to 1x), claimed 1.25x to 2x"},
		"a tie may be best":          {trial(1000, "g"), trial(1001, "g"), published.NotSlower, 0, audit.Holds, ""},
		"what is best is not slower": {trial(2000, "g"), trial(1000, "g"), published.NotSlower, 0, audit.Fails, "it is slower"},
		"other launches":             {trial(1000, "g"), trial(2000, "h"), published.Faster, 0, audit.Holds, ""},
		"not applied": {notApplied, trial(2000, "g"), published.Faster, 0, audit.Unknown,
			"a: not-applied here: mmap_size was ignored"},
		"failed":       {trial(1000, "g"), failed, published.Faster, 0, audit.Broken, "b: failed here: it died"},
		"wrong answer": {wrong, trial(1000, "g"), published.Faster, 0, audit.Broken, "a: wrong-answer here: 1 row less"},
		"no answer":    {late, trial(1000, "g"), published.Faster, 0, audit.Broken, "a: timed-out here: after 1m"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := reports(t, map[string]assay.Trial{"a": test.a, "b": test.b})
			f := judge(t, published.Source{Name: "s"}, claim(test.expect, test.size), r)
			if f.Verdict != test.want || f.Reason != test.reason {
				t.Errorf("%s: %s, want %s: %s", f.Verdict, f.Reason, test.want, test.reason)
			}
		})
	}
}

// The command that measures a claim's cells is told where measuring helps.
func TestCommandIsToldWhereItHelps(t *testing.T) {
	died, late := trial(0, "g"), trial(0, "g")
	died.Outcome, late.Outcome = assay.Failed, assay.NotRun
	a, b := trial(1000, "g"), trial(2000, "g")
	for name, test := range map[string]struct {
		cells map[string]assay.Trial
		want  bool
	}{
		"not measured": {map[string]assay.Trial{"a": a}, true},
		"not run":      {map[string]assay.Trial{"a": a, "b": late}, true},
		"undecided":    {map[string]assay.Trial{"a": trial(1, "g"), "b": trial(4, "g")}, true},
		"failed":       {map[string]assay.Trial{"a": a, "b": died}, false},
		"told":         {map[string]assay.Trial{"a": a, "b": b}, false},
	} {
		size := 0.0
		if name == "undecided" {
			size = 3
		}
		f := judge(t, published.Source{}, claim(published.Faster, size), reports(t, test.cells))
		var out bytes.Buffer
		must(t, audit.Formats.Write(&out, "markdown", []audit.Finding{f}))
		if got := strings.Contains(out.String(), "\n    assay run p --only driver=a,b --only operation=scan\n"); got != test.want {
			t.Errorf("%s: command told: %v, want %v:\n%s", name, got, test.want, out.String())
		}
	}
}

// What a version ignores has no effect, whatever the source's version was; only
// a condition as published can be ignored so.
func TestNoEffectIsDecidedByTheMechanism(t *testing.T) {
	ignored := trial(1000, "g")
	ignored.Outcome, ignored.Reason, ignored.Cell.AsPublished = assay.NotApplied, "mmap_size was ignored", true
	r := reports(t, map[string]assay.Trial{"a": ignored, "b": trial(2000, "g")})
	source := published.Source{Versions: map[string]string{"a": "v0"}}
	f := judge(t, source, claim(published.Faster, 0), r)
	if want := "a v1 ignores it (mmap_size was ignored); the source's version: v0"; f.Verdict != audit.NoEffect || f.Reason != want {
		t.Errorf("as published: got %s: %s, want %s: %s", f.Verdict, f.Reason, audit.NoEffect, want)
	}
	ignored.Cell.AsPublished = false
	r = reports(t, map[string]assay.Trial{"a": ignored, "b": trial(2000, "g")})
	if f := judge(t, source, claim(published.Faster, 0), r); f.Verdict != audit.Unknown {
		t.Errorf("as meant: got %s: %s, want %s", f.Verdict, f.Reason, audit.Unknown)
	}
}

func TestWhatIsNotThereCannotBeTold(t *testing.T) {
	r := reports(t, map[string]assay.Trial{"a": trial(1000, "g")})
	if f := judge(t, published.Source{}, claim(published.Faster, 0), r); f.Reason != "the run has no cell with operation=scan driver=b" {
		t.Error(f.Reason)
	}
	if f := judge(t, published.Source{}, claim(published.Faster, 0), reports(t)); f.Reason != "not measured yet" {
		t.Error(f.Reason)
	}
	c := published.Claim{Untested: "it is prose"}
	if f := judge(t, published.Source{}, c, reports(t)); f.Verdict != audit.Untested || f.Reason != "it is prose" {
		t.Errorf("%+v", f)
	}
}

// A claim about a driver is about the version that the run calls by its name alone.
func TestClaimAboutOneOfTwoVersions(t *testing.T) {
	var all []assay.Trial
	for launch := 1; launch <= 6; launch++ {
		for version, ns := range map[string]float64{"a@v1": 1000, "a@v0": 9000, "b@v1": 3000} {
			name := assay.ParseDriverName(version)
			one := trial(ns+float64(launch), "g")
			one.Launch, one.Cell = launch, assay.Cell{Driver: name.Name, DriverVersion: name.Version, Operation: "scan", Clients: 1, Pool: 1}
			all = append(all, one)
		}
	}
	run := assay.Run{ID: "r", Plan: "p", Baseline: assay.ParseBaseline("a@v1"), Options: assay.Options{Drivers: []string{"a@v0", "a", "b"}}}
	if f := judge(t, published.Source{}, claim(published.Faster, 0), listed(t, run, all)); f.Verdict != audit.Holds {
		t.Errorf("got %s, %s; want %s", f.Verdict, f.Reason, audit.Holds)
	}
}

// A sized claim about a figure that is better where it is higher has its gain in
// the same direction as the ratio.
func TestHigherIsBetter(t *testing.T) {
	a, b := trial(0, "g"), trial(0, "g")
	rates := map[string]float64{"a": 3000, "b": 1000}
	var all []assay.Trial
	for launch := 1; launch <= 6; launch++ {
		for driver, one := range map[string]assay.Trial{"a": a, "b": b} {
			one.Launch, one.Layout = launch, launch
			one.Cell = assay.Cell{Plan: "p", Operation: "scan", Driver: driver, DriverVersion: "v1", Clients: 1, Pool: 1}
			one.Figures = map[string]float64{assay.OpPerS: rates[driver] + float64(launch)}
			all = append(all, one)
		}
	}
	runs := listed(t, assay.Run{ID: "r", Plan: "p"}, all)
	for expect, want := range map[published.Expectation]audit.Verdict{published.Faster: audit.Holds, published.Slower: audit.Fails} {
		c := claim(expect, 3)
		c.Metric = assay.OpPerS
		if f := judge(t, published.Source{}, c, runs); f.Verdict != want {
			t.Errorf("%s: %s: %s", expect, f.Verdict, f.Reason)
		}
	}
}

// Noise that exceeds the margin widens what is held against a size, and is named.
func TestNoiseOfSizes(t *testing.T) {
	a, twin := trial(1000, "g"), trial(1600, "g")
	twin.Twin = true
	twin.Cell.Driver = "a"
	var all []assay.Trial
	for launch := 1; launch <= 6; launch++ {
		for _, one := range []assay.Trial{a, twin, trial(2500, "g")} {
			one.Launch, one.Layout = launch, launch
			driver := "a"
			if one.Figures[assay.NsPerOp] == 2500 {
				driver = "b"
			}
			one.Cell = assay.Cell{Plan: "p", Operation: "scan", Driver: driver, DriverVersion: "v1", Clients: 1, Pool: 1}
			all = append(all, one)
		}
	}
	runs := listed(t, assay.Run{ID: "r", Plan: "p", Baseline: assay.ParseBaseline("a@v1")}, all)
	f := judge(t, published.Source{}, claim(published.Faster, 3), runs)
	if want := "undecided: measured 2.5x as fast (2.5x to 2.5x), claimed 2x to 5x; the baseline differs from itself by 60 %, which widens the limits on both sides"; f.Verdict != audit.Unknown || f.Reason != want {
		t.Errorf("%s: %s, want %s", f.Verdict, f.Reason, want)
	}
}

// Unlike promises about the data have a verdict where a source compares them, and
// in a claim of our own where two stores were asked for the same syncs. They stand beside it.
func TestUnlikePromises(t *testing.T) {
	const unlike = "unequal-durability: b power, a process"
	sync := func(value string) []assay.Setting {
		return []assay.Setting{{Name: "sync", Connection: "writer-1", Requested: value}}
	}
	for name, c := range map[string]struct {
		provenance published.Provenance
		a, b       []assay.Setting
		want       audit.Verdict
		reason     string
	}{
		"quoted":                         {published.Quoted, nil, nil, audit.Holds, ""},
		"reconstructed":                  {published.Reconstructed, nil, nil, audit.Holds, ""},
		"ours":                           {published.Inferred, nil, nil, audit.Unknown, unlike},
		"ours, stores with equal syncs":  {published.Inferred, sync("0"), sync("0"), audit.Holds, ""},
		"ours, stores with other syncs":  {published.Inferred, sync("0"), sync("1"), audit.Unknown, unlike},
		"ours, one that is no store":     {published.Inferred, sync("0"), nil, audit.Unknown, unlike},
		"reconstructed, with one's sync": {published.Reconstructed, sync("0"), sync("1"), audit.Holds, ""},
	} {
		a, b := trial(1000, "g"), trial(2000, "g")
		a.Durability, b.Durability, a.Settings, b.Settings = assay.Process, assay.Power, c.a, c.b
		made := claim(published.Faster, 0)
		made.Provenance = c.provenance
		f := judge(t, published.Source{}, made, reports(t, map[string]assay.Trial{"a": a, "b": b}))
		if f.Verdict != c.want || f.Reason != c.reason || len(f.Evidence) != 1 || len(f.Evidence[0].Doubts) == 0 || f.Evidence[0].Doubts[0].String() != unlike {
			t.Errorf("%s: got %s: %q, doubts %v; want %s: %q, with the doubt %q", name, f.Verdict, f.Reason, f.Evidence[0].Doubts, c.want, c.reason, unlike)
		}
		if c.want == audit.Unknown && f.Evidence[0].Open {
			t.Errorf("%s: got it open, want that more measuring does not help", name)
		}
	}
}

// The interval of launches of different groups allows for their drift: one as large as
// the difference leaves it open. Each launch of these takes 1 ns more.
func TestDriftWithoutPairs(t *testing.T) {
	for name, test := range map[string]struct {
		a, b  float64 // ns
		with  string  // the group of b; a is in g
		later time.Duration
		want  audit.Verdict
	}{
		"paired":                                {2, 8, "g", 0, audit.Holds},
		"unpaired":                              {2, 8, "h", 0, audit.Unknown},
		"unpaired, a difference that is larger": {2, 80, "h", 0, audit.Holds},
		"unpaired, at another time":             {2, 80, "h", time.Hour, audit.Unknown},
		"nothing drifts":                        {1000, 2000, "h", time.Hour, audit.Holds},
	} {
		a, b := trial(test.a, "g"), trial(test.b, test.with)
		a.Started = time.Unix(0, 0)
		b.Started = a.Started.Add(test.later)
		f := judge(t, published.Source{}, claim(published.Faster, 0), reports(t, map[string]assay.Trial{"a": a, "b": b}))
		if f.Verdict != test.want {
			t.Errorf("%s: got %s: %s; want %s", name, f.Verdict, f.Reason, test.want)
		}
		if f.Verdict == audit.Unknown && !f.Evidence[0].Open {
			t.Errorf("%s: got that more measuring does not help, want it open", name)
		}
	}
}

// Where a claim's words fit several cells, more measuring does not help; where they fit
// none, it may.
func TestCellsThatAreNotOne(t *testing.T) {
	for driver, want := range map[string]struct {
		reason string
		open   bool
	}{"": {"the run has 2 cells with operation=scan", false}, "c": {"the run has no cell with operation=scan driver=c", true}} {
		c := claim(published.Faster, 0)
		c.Compare[0].A = map[string]string{}
		if driver != "" {
			c.Compare[0].A["driver"] = driver
		}
		f := judge(t, published.Source{}, c, reports(t, map[string]assay.Trial{"a": trial(1000, "g"), "b": trial(2000, "g")}))
		if f.Verdict != audit.Unknown || f.Reason != want.reason || f.Evidence[0].Open != want.open {
			t.Errorf("driver %q: got %s: %q, open %t; want %q, open %t", driver, f.Verdict, f.Reason, f.Evidence[0].Open, want.reason, want.open)
		}
	}
}

func TestFormats(t *testing.T) {
	r := reports(t, map[string]assay.Trial{"a": trial(1000, "g"), "b": trial(2000, "g")})
	f := judge(t, published.Source{Name: "s", About: "About it.", Machine: "a phone"}, claim(published.Faster, 0), r)
	f.Evidence[0].Here.Ratio = stat.Interval{N: 6, Center: 0.5, Low: 0.4, High: 0.6}
	for format, want := range map[string][]string{
		"markdown": {"| a \\| is so | s | holds here |", "Published on: a phone.", "Runs: r1.", "| r1 | p | 1m0s | v9 | cpu: test | a@v1 |",
			"| driver=a | driver=b | faster | - | 0.5 \\[0.4, 0.6\\], n = 6 | 1003 / 2003 | holds here |"},
		"csv": {"s,c,a | is so,quoted,holds here,,p,r1,operation=scan driver=a,operation=scan driver=b,faster,ns/op,,,,1003.5"},
	} {
		var out bytes.Buffer
		must(t, audit.Formats.Write(&out, format, []audit.Finding{f}))
		for _, line := range want {
			if !strings.Contains(out.String(), line) {
				t.Errorf("%s has no %q:\n%s", format, line, out.String())
			}
		}
	}
	if err := audit.Formats.Write(&bytes.Buffer{}, "xml", nil); fmt.Sprint(err) != `unknown format "xml": use one of markdown, csv` {
		t.Error(err)
	}
}

// Every source's claims can be read, and what they compare is a cell and a
// figure that there are.
func TestClaimsOfAllSources(t *testing.T) {
	sources, err := published.Claims()
	must(t, err)
	findings, err := audit.Judge(sources, reports(t))
	must(t, err)
	var against []string
	for _, f := range findings {
		want := audit.Unknown
		if f.Claim.Untested != "" {
			want = audit.Untested
		}
		if f.Verdict != want || f.Reason == "" {
			t.Errorf("%s: %s without a run: %q", f.Claim.Name, f.Verdict, f.Reason)
		}
		for _, e := range f.Evidence {
			if e.Against {
				against = append(against, fmt.Sprintf("%s: %s, %.2f", f.Claim.Name, e.Comparison.A["driver"], e.Claimed))
			}
		}
	}
	if want := []string{"single-select-by-id: mattn, 1.40", "single-select-by-id: modernc, 1.04", "single-select-all: glebarez, 2.16",
		"modernc-leads-at-1000: modernc, 1.47", "mattn-improves: , 1.02", "memory-faster-for-all: mattn, 1.39",
		"memory-mattn-single: mattn, 1.23", "memory-mattn-single: mattn, 1.18", "pool-of-cores: zombiezen, 0.92"}; !slices.Equal(against, want) {
		t.Errorf("sources whose figures are not what they claim: %q, want %q", against, want)
	}
}

// The documented table has every claim with a verdict.
// A verdict stands beside what is doubtful about the figures that it is of.
// What a driver fails at is not decided by more launches, and the first lines say so.
// Many runs are named once, at the end, and not beside each claim.

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
