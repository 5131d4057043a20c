package audit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay"
	"assay/internal/analysis"
	"assay/internal/audit"
	"assay/published"
)

// refuted is a claim that fails here: a is slower than b.
func refuted(clients int, n string) func(*testing.T, published.Source, published.Claim) audit.Finding {
	return func(t *testing.T, s published.Source, c published.Claim) audit.Finding {
		t.Helper()
		change := func(t *assay.Trial) {
			t.Cell.Clients, t.Cell.Pool, t.Cell.Params = clients, 100, map[string]string{"n": n}
		}
		run := assay.Run{ID: "r1", Plan: "p", Baseline: assay.ParseBaseline("a@v1"), Host: map[string]string{"cores": "2"}}
		return judge(t, s, c, listed(t, run, append(cellTrials("a", 6, 2000, change), cellTrials("b", 6, 1000, change)...)))
	}
}

// What fails under another condition than the source's own does not refute it.
func TestOtherConditionsRefuteNothing(t *testing.T) {
	versions := map[string]string{"a": "v1", "b": "v1"}
	home := published.Conditions{OS: "linux", Arch: "amd64", Cores: "2"}
	with := func(change func(*published.Conditions)) published.Conditions {
		own := home
		change(&own)
		return own
	}
	for name, test := range map[string]struct {
		source  published.Source
		change  func(*published.Claim)
		clients int
		want    audit.Verdict
		differs string
	}{
		"the source's own":  {published.Source{Conditions: home, Versions: versions}, nil, 8, audit.Fails, ""},
		"cores":             {published.Source{Conditions: with(func(c *published.Conditions) { c.Cores = "4" }), Versions: versions}, nil, 8, audit.NotReproduced, "cores 2, the source's 4"},
		"cores, one client": {published.Source{Conditions: with(func(c *published.Conditions) { c.Cores = "4" }), Versions: versions}, nil, 1, audit.Fails, ""},
		"cores, two":        {published.Source{Conditions: with(func(c *published.Conditions) { c.Cores = "4" }), Versions: versions}, nil, 2, audit.NotReproduced, "cores 2, the source's 4"},
		"system":            {published.Source{Conditions: with(func(c *published.Conditions) { c.OS = "darwin" }), Versions: versions}, nil, 1, audit.NotReproduced, "linux/amd64, the source's darwin/amd64"},
		"architecture":      {published.Source{Conditions: with(func(c *published.Conditions) { c.Arch = "arm64" }), Versions: versions}, nil, 1, audit.NotReproduced, "linux/amd64, the source's linux/arm64"},
		"n":                 {published.Source{Conditions: with(func(c *published.Conditions) { c.Cell = map[string]string{"n": "64"} }), Versions: versions}, nil, 1, audit.NotReproduced, "n 4, the source's 64"},
		"n of the claim":    {published.Source{Conditions: home, Versions: versions}, func(c *published.Claim) { c.Conditions = map[string]string{"n": "40"} }, 1, audit.NotReproduced, "n 4, the source's 40"},
		"pool":              {published.Source{Conditions: with(func(c *published.Conditions) { c.Cell = map[string]string{"pool": "not stated"} }), Versions: versions}, nil, 8, audit.NotReproduced, "pool 100, the source's not stated"},
		"pool, one client":  {published.Source{Conditions: with(func(c *published.Conditions) { c.Cell = map[string]string{"pool": "not stated"} }), Versions: versions}, nil, 1, audit.Fails, ""},
		"version":           {published.Source{Conditions: home, Versions: map[string]string{"a": "v0", "b": "v1"}}, nil, 1, audit.NotReproduced, "a v1, the source's v0"},
		"no version":        {published.Source{Conditions: home, Versions: map[string]string{"a": "v1"}}, nil, 1, audit.NotReproduced, "b v1, the source's not stated"},
		"a phase":           {published.Source{Conditions: home, Versions: versions}, func(c *published.Claim) { c.Differs = []string{"closing counts elsewhere"} }, 1, audit.NotReproduced, "closing counts elsewhere"},
		"our condition":     {published.Source{Conditions: home, Versions: versions}, func(c *published.Claim) { c.Provenance = published.Inferred }, 1, audit.NotReproduced, "the condition is not the source's"},
		"of no matter": {published.Source{Conditions: with(func(c *published.Conditions) { c.OS = "darwin" }), Versions: versions},
			func(c *published.Claim) { c.Immaterial = map[string]string{"platform": "both were measured"} }, 1, audit.Fails, ""},
	} {
		c := claim(published.Faster, 0)
		if test.change != nil {
			test.change(&c)
		}
		f := refuted(test.clients, "4")(t, test.source, c)
		var differs []string
		for _, d := range f.Evidence[0].Differs {
			differs = append(differs, d.Says)
		}
		if got := strings.Join(differs, "; "); f.Verdict != test.want || got != test.differs {
			t.Errorf("%s: got %s, differs: %q; want %s, %q", name, f.Verdict, got, test.want, test.differs)
		}
		if test.want == audit.NotReproduced && !strings.HasSuffix(f.Reason, "under another condition: "+test.differs) {
			t.Errorf("%s: the reason %q does not name the difference", name, f.Reason)
		}
		c.Compare[0].Expect = published.Slower
		if f := refuted(test.clients, "4")(t, test.source, c); f.Verdict != audit.Holds {
			t.Errorf("%s: got %s, want that the reverse holds", name, f.Verdict)
		}
	}
}

// Of runs and rows, those of the source's own condition are judged by, however old.
func TestRunsOfTheSourcesCondition(t *testing.T) {
	version := func(v string) func(*assay.Trial) { return func(t *assay.Trial) { t.Cell.DriverVersion = v } }
	of := func(id string, trials ...[]assay.Trial) *analysis.Result {
		r, err := listed(t, assay.Run{ID: id, Plan: "p", Baseline: assay.ParseBaseline("b@v1")}, slices.Concat(trials...))("p", 0)
		must(t, err)
		return r
	}
	old, now, b := cellTrials("a", 6, 500, version("v0")), cellTrials("a", 6, 2000, nil), cellTrials("b", 6, 1000, nil)
	for name, c := range map[string]struct {
		ages []*analysis.Result
		run  string
		want audit.Verdict
	}{
		"today's alone":       {[]*analysis.Result{of("now", now, b)}, "now", audit.NotReproduced},
		"an older run":        {[]*analysis.Result{of("now", now, b), of("old", old, b)}, "old", audit.Holds},
		"the newest run":      {[]*analysis.Result{of("old", old, b), of("now", now, b)}, "old", audit.Holds},
		"both in one run":     {[]*analysis.Result{of("both", now, old, b)}, "both", audit.Holds},
		"an older run, alone": {[]*analysis.Result{of("now", now, b), of("old", old)}, "now", audit.NotReproduced},
	} {
		source := published.Source{Versions: map[string]string{"a": "v0", "b": "v1"}}
		f := judge(t, source, claim(published.Faster, 0), ages(c.ages...))
		if f.Verdict != c.want || f.Evidence[0].Report.Run.ID != c.run {
			t.Errorf("%s: got %s by run %s, want %s by %s", name, f.Verdict, f.Evidence[0].Report.Run.ID, c.want, c.run)
		}
	}
}

// A version that can be built is measured, though a run of another one has a verdict.
func TestVersionsAreMeasured(t *testing.T) {
	for version, want := range map[string]string{"v0": "assay run p --only driver=a,b --only operation=scan --drivers a@v0,b", "not a version": ""} {
		c := claim(published.Faster, 0)
		c.Versions = map[string]string{"a": version}
		f := refuted(1, "4")(t, published.Source{Versions: map[string]string{"a": version, "b": "v1"}}, c)
		if got := printed(t, f); f.Verdict != audit.NotReproduced || strings.Contains(got, "    assay run p") != (want != "") || !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want that it is not reproduced, with the command %q, in\n%s", version, f.Verdict, want, got)
		}
	}
}

// Several processes of one client need several processors, too.
func TestCoresOfProcesses(t *testing.T) {
	for processes, want := range map[int]audit.Verdict{1: audit.Fails, 4: audit.NotReproduced} {
		change := func(t *assay.Trial) { t.Cell.Processes = processes }
		run := assay.Run{ID: "r1", Plan: "p", Baseline: assay.ParseBaseline("a@v1"), Host: map[string]string{"cores": "2"}}
		source := published.Source{Conditions: published.Conditions{OS: "linux", Arch: "amd64", Cores: "4"}}
		if f := judge(t, source, claim(published.Faster, 0), listed(t, run, append(cellTrials("a", 6, 2000, change), cellTrials("b", 6, 1000, change)...))); f.Verdict != want {
			t.Errorf("%d processes: got %s, want %s", processes, f.Verdict, want)
		}
	}
}

// The comparisons of a claim are one family: a refutation that chance explains in so many is none.
func TestComparisonsAreOneFamily(t *testing.T) {
	noisy := func(driver string, ns float64) []assay.Trial {
		return cellTrials(driver, 6, ns, func(t *assay.Trial) {
			t.Figures[assay.NsPerOp] = ns * (1 + 0.02*float64((t.Launch*5+int(driver[0]))%7-3))
		})
	}
	verdicts := map[int]audit.Verdict{}
	for _, others := range []int{0, 12} {
		c := asked("c", "p", "a", "b")
		c.Compare[0].Expect, c.Compare[0].Size = published.NotSlower, 1.001 // a size has no family in its table
		trials := [][]assay.Trial{cellTrials("a", 6, 1000, nil), noisy("b", 940)}
		for i := range others {
			name := fmt.Sprint("d", i)
			trials = append(trials, noisy(name, 2000))
			c.Compare = append(c.Compare, published.Comparison{A: map[string]string{"driver": "a"}, B: map[string]string{"driver": name}, Expect: published.Faster})
		}
		source := published.Source{Versions: map[string]string{"a": "v1", "b": "v1"}}
		for i := range others {
			source.Versions[fmt.Sprint("d", i)] = "v1"
		}
		run := assay.Run{ID: "r1", Plan: "p", Baseline: assay.ParseBaseline("x@v1")}
		f := judge(t, source, c, listed(t, run, slices.Concat(trials...)))
		verdicts[others] = f.Evidence[0].Verdict
	}
	if verdicts[0] != audit.Fails || verdicts[12] != audit.Unknown {
		t.Errorf("got %s alone, %s beside twelve others; want that it fails, and that it cannot be told", verdicts[0], verdicts[12])
	}
}

// A few failed requests do not void a claim about the speed of all others: the rate is said, and
// every launch counts.
func TestFailedRequests(t *testing.T) {
	for name, test := range map[string]struct {
		failed float64 // of the requests of a launch
		every  bool    // launch, instead of one
		want   audit.Verdict
		says   string
	}{
		"one of a million":                 {6e-6, false, audit.Holds, "failed-requests: 0.0001 % of the requests failed"},
		"one of two hundred, every launch": {0.005, true, audit.Holds, "failed-requests: 0.5 % of the requests failed"},
		"over one of a hundred":            {0.011, true, audit.Broken, "; 1.1 % of its requests failed"},
		"one of ten":                       {0.6, false, audit.Broken, "; 10 % of its requests failed"},
		"no rate":                          {0, false, audit.Broken, "busy"},
	} {
		f := ofRun(t, 0, cellTrials("a", 6, 1000, nil), cellTrials("b", 6, 2000, func(t *assay.Trial) {
			if test.failed > 0 {
				t.Figures[assay.FailedOp] = 0
			}
			if test.every || t.Launch == 3 {
				t.Outcome, t.Reason = assay.Failed, "busy"
				if test.failed > 0 {
					t.Figures[assay.FailedOp] = test.failed
				}
			}
		}))
		if got := printed(t, f); f.Verdict != test.want || !strings.Contains(got, test.says) {
			t.Errorf("%s: got %s, want %s and %q in\n%s", name, f.Verdict, test.want, test.says, got)
		}
		if e := f.Evidence[0]; f.Verdict == audit.Holds && e.Here.Ratio.N != 6 {
			t.Errorf("%s: the ratio is of %d launches, want 6", name, e.Here.Ratio.N)
		}
	}
}

// What excludes the claimed direction decides, whether it is a tie or the opposite; in the one
// layout of two drivers it excludes nothing.
func TestExcludedDirections(t *testing.T) {
	for name, test := range map[string]struct {
		expect    published.Expectation
		ns        float64 // of a; that of b is 1000
		spread    float64
		oneDriver bool
		want      audit.Verdict
	}{
		"not faster refutes faster":       {published.Faster, 1020, 30, true, audit.NotReproduced},
		"not slower refutes slower":       {published.Slower, 980, 30, true, audit.NotReproduced},
		"not faster holds":                {published.NotFaster, 1020, 30, true, audit.Holds},
		"not slower holds":                {published.NotSlower, 980, 30, true, audit.Holds},
		"slower is open to not faster":    {published.Slower, 1020, 30, true, audit.Unknown},
		"faster is open to not slower":    {published.NotSlower, 1020, 30, true, audit.Unknown},
		"too wide for either":             {published.Faster, 1020, 60, true, audit.Unknown},
		"drivers of one layout each":      {published.Faster, 1020, 30, false, audit.Unknown},
		"drivers of one layout, and slow": {published.Faster, 1200, 30, false, audit.Fails},
	} {
		a := cellTrials("a", 6, test.ns, func(t *assay.Trial) {
			t.Figures[assay.NsPerOp] += test.spread * float64(t.Launch%2*2-1)
		})
		b := cellTrials("b", 6, 1000, nil)
		c := claim(test.expect, 0)
		if test.oneDriver {
			for i := range b {
				a[i].Cell.Profile, b[i].Cell.Profile, b[i].Cell.Driver = "p", "q", "a"
			}
			c.Compare[0].A, c.Compare[0].B = map[string]string{"profile": "p"}, map[string]string{"profile": "q"}
		}
		run := assay.Run{ID: "r1", Plan: "p", Baseline: assay.ParseBaseline("a@v1"), Options: assay.Options{Margin: 0.02}}
		f := judge(t, published.Source{}, c, listed(t, run, append(a, b...)))
		if e := f.Evidence[0]; f.Verdict != test.want {
			t.Errorf("%s: got %s (%s; %+v), want %s", name, f.Verdict, e.Reason, e.Here, test.want)
		}
	}
}
