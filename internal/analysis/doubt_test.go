package analysis_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/analysistest"
	"assay/internal/analysis/wording"
	"assay/internal/report"
)

// series makes one launch of five windows for each figure.
func series(c assay.Cell, figures ...float64) []assay.Trial {
	trials := analysistest.Launches(c, len(figures), 1, 0)
	for i, v := range figures {
		trials[i].Figures = map[string]float64{"ns/op": v, "op/s": 1e9 / v}
		trials[i].Samples = make([]assay.Sample, 5)
		for j := range trials[i].Samples {
			trials[i].Samples[j] = assay.Sample{Operations: 1000, Nanos: int64(1000 * v)}
		}
	}
	return trials
}

// warned are the warnings of a report's rows, without advice; of some codes, or
// of all.
func warned(r *analysis.Result, codes ...string) []string {
	var all []string
	for _, t := range r.Tables {
		for _, row := range slices.Concat(t.Rows, t.Factors) {
			for _, w := range row.Warnings {
				if len(codes) == 0 || slices.Contains(codes, w.Code) {
					all = append(all, row.Name()+": "+w.Code+": "+wording.Clean(w.Evidence))
				}
			}
		}
	}
	slices.Sort(all)
	return all
}

// Each doubt is raised by what it is about, and by nothing else.
func TestDoubtsOfLaunches(t *testing.T) {
	calm := []float64{1000, 1010, 990, 1005, 995, 1002, 998, 1007, 993, 1001}
	for name, c := range map[string]struct {
		figures []float64
		windows []float64 // times of the windows of each launch, as factors
		want    []string
	}{
		"calm": {figures: calm},
		"drift": {figures: []float64{1000, 1010, 1020, 1031, 1040, 1052, 1060, 1071, 1080, 1090},
			want: []string{"drift: over 10 launches the figure changed to 1.09 times its first value (p 6e-07)"}},
		"drift downwards": {figures: []float64{1090, 1080, 1071, 1060, 1052, 1040, 1031, 1020, 1010, 1000},
			want: []string{"drift: over 10 launches the figure changed to 0.917 times its first value (p 6e-07)"}},
		"drift within the margin": {figures: []float64{1000, 1001, 1002, 1003.1, 1004, 1005.2, 1006, 1007.1, 1008, 1009}},
		"two modes": {figures: []float64{1000, 1301, 1002, 1299, 998, 1300, 1003, 1302, 1001, 1298, 999, 1303},
			want: []string{"two-modes: 6 of 12 launches are 1.30 times the others, with nothing in between"}},
		"two modes within the margin": {figures: []float64{1000, 1013, 1000.2, 1012.9, 999.8, 1013, 1000.3, 1013.2, 1000.1, 1012.8}},
		"skewed": {figures: []float64{1000, 1001, 999, 1002, 998, 1000, 1001, 1400, 999, 1000, 1002, 998},
			want: []string{"skewed: a few of 12 launches lie far out on one side (skewness 3.0)"}},
		"autocorrelation": {figures: []float64{1000, 1001, 1010, 1020, 1022, 1024, 1020, 1011, 1002, 1001, 990, 981, 980, 979, 985, 991, 1000, 1003, 1012, 1019},
			want: []string{"autocorrelation: the figure of a launch resembles that of the launch before (rank correlation over 20 launches: 0.86)"}},
		"not steady": {figures: calm, windows: []float64{1.1, 1.06, 1.04, 1.02, 1},
			want: []string{"not-steady: window 4 of 5 of a launch still differs from those after it: the warm-up did not end"}},
		"steady from the second": {figures: calm, windows: []float64{1.1, 1, 1, 1, 1}},
		"stalls": {figures: calm, windows: []float64{1, 1.4, 1, 1, 1},
			want: []string{"stalls: the total time per operation is 1.08 times that of the median window"}},
	} {
		t.Run(name, func(t *testing.T) {
			trials := series(analysistest.Cell("get", "modernc", "web"), c.figures...)
			for _, trial := range trials {
				for i, factor := range c.windows {
					trial.Samples[i].Nanos = int64(factor * float64(trial.Samples[i].Nanos))
				}
			}
			for i := range c.want {
				c.want[i] = "modernc (web): " + c.want[i]
			}
			r := mustReport(t, analysistest.PlainRun, trials)
			if got := warned(r); !slices.Equal(got, c.want) {
				t.Errorf("warnings %q, want %q", got, c.want)
			}
			for _, w := range r.Tables[0].Rows[0].Warnings {
				if w.Severity <= 0 {
					t.Errorf("%s: got severity %v: the worst of several cannot be told", w.Code, w.Severity)
				}
			}
		})
	}
}

// Windows of a few slow operations are joined to ten of them before stalls are sought:
// single operations differ by their arguments.
func TestStallsOfSlowOperations(t *testing.T) {
	one := slices.Repeat([]float64{1}, 30)
	one[7] = 5
	for name, c := range map[string]struct {
		windows []float64 // of four operations each
		want    []string
	}{
		"each third has slow arguments": {slices.Repeat([]float64{1, 1.3, 1}, 10), nil},
		"one that stalls":               {one, []string{"modernc (web): stalls: the total time per operation is 1.13 times that of the median window"}},
	} {
		trials := series(analysistest.Cell("get", "modernc", "web"), 1000, 1000, 1000, 1000)
		analysistest.Change(trials, func(t *assay.Trial) {
			t.Samples = nil
			for _, factor := range c.windows {
				t.Samples = append(t.Samples, assay.Sample{Operations: 4, Nanos: int64(4e6 * factor)})
			}
		})
		if got := warned(mustReport(t, analysistest.PlainRun, trials), "stalls"); !slices.Equal(got, c.want) {
			t.Errorf("%s: warnings %q, want %q", name, got, c.want)
		}
	}
}

// The worker's own loop is a doubt where it is more than a twentieth of the figure.
func TestOwnLoop(t *testing.T) {
	for loop, want := range map[float64][]string{0: nil, 45: nil, 60: {"python (web): own-loop: at least 6.00 % of the figure is the worker's own loop, not the driver"}} {
		trials := series(analysistest.Cell("get", "python", "web"), 1000, 1000, 1000, 1000, 1000, 1000)
		if loop > 0 {
			analysistest.Change(trials, func(t *assay.Trial) { t.Figures[assay.LoopNsPerOp] = loop })
		}
		r := mustReport(t, analysistest.PlainRun, trials)
		if got := warned(r, "own-loop"); !slices.Equal(got, want) {
			t.Errorf("with a loop of %g of 1000 ns: warnings %q, want %q", loop, got, want)
		}
		if got := r.Tables[0].Rows[0].LoopShare(); math.Abs(got-loop/1000) > 1e-9 {
			t.Errorf("the share of the loop is %g, want %g", got, loop/1000)
		}
	}
}

// A ratio drifts where the figures spread too much to show it, and does not
// where all rows drift alike.
func TestDriftOfTheRatio(t *testing.T) {
	weather := []float64{1000, 1200, 900, 1100, 950, 1150, 1050, 980, 1120, 1010}
	for name, c := range map[string]struct {
		reference, ratio func(launch int) float64
		want             []string
	}{
		"of the ratio": {func(i int) float64 { return weather[i] }, func(i int) float64 { return 1 + 0.005*float64(i) },
			[]string{"mattn (web): drift: over 10 launches the ratio to the baseline changed to 1.04 times its first value (p 6e-07)"}},
		"of the machine": {func(i int) float64 { return 1000 + 10*float64(i) }, func(i int) float64 { return 1 + 0.001*float64(i%2) },
			[]string{"mattn (web): drift: over 10 launches the figure changed to 1.09 times its first value (p 6e-07)",
				"modernc (web): drift: over 10 launches the figure changed to 1.09 times its first value (p 6e-07)"}},
	} {
		var figures, times []float64
		for i := range 10 {
			times = append(times, c.reference(i))
			figures = append(figures, c.reference(i)*c.ratio(i))
		}
		trials := slices.Concat(series(analysistest.Cell("get", "modernc", "web"), times...), series(analysistest.Cell("get", "mattn", "web"), figures...))
		if got := warned(mustReport(t, analysistest.PlainRun, trials), "drift", "autocorrelation"); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Of rows without any fault, at most six in a hundred have some warning about
// their launches, and five of those without a ratio; each warning about a series
// one. The machine moves both rows by 5 % from launch to launch.
func TestDoubtsAreFew(t *testing.T) {
	const runs = 3000
	random := rand.New(rand.NewPCG(1, 2))
	spread := func(around, share float64) float64 { return around * math.Exp(share*random.NormFloat64()) }
	each, some := map[string]int{}, map[string]int{}
	for range runs {
		var figures [2][]float64
		for range 6 + random.IntN(25) {
			machine := spread(1000, 0.05)
			figures[0] = append(figures[0], spread(machine, 0.03))
			figures[1] = append(figures[1], spread(machine, 0.03))
		}
		trials := slices.Concat(series(analysistest.Cell("get", "modernc", "web"), figures[0]...), series(analysistest.Cell("get", "mattn", "web"), figures[1]...))
		trials = analysistest.Change(trials, func(t *assay.Trial) {
			for i := range t.Samples {
				t.Samples[i].Nanos = int64(spread(1e6, 0.07))
			}
		})
		doubtful := map[string]int{}
		for _, w := range warned(mustReport(t, analysistest.PlainRun, trials), "drift", "autocorrelation", "two-modes", "skewed", "not-steady", "stalls") {
			row, rest, _ := strings.Cut(w, ": ")
			code, evidence, _ := strings.Cut(rest, ": ")
			each[row+": "+code+map[bool]string{true: " of the ratio"}[strings.Contains(evidence, "the ratio")]]++
			doubtful[row] = 1
		}
		for row, n := range doubtful {
			some[row] += n
		}
	}
	standardError := math.Sqrt(runs * 0.01)
	for what, n := range each {
		if float64(n) > runs*0.01+3*standardError {
			t.Errorf("%s: %d of %d rows without a fault", what, n, runs)
		}
	}
	if some["modernc (web)"] > runs*5/100 || some["mattn (web)"] > runs*6/100 || len(each) != 12 {
		t.Errorf("of %d rows without a fault %v have a warning: %v", runs, some, each)
	}
}

func TestStrongerSyncFaster(t *testing.T) {
	put := func(profile string, n int, ns float64, d assay.Durability) []assay.Trial {
		return analysistest.Durable(analysistest.Launches(analysistest.Cell("put", "modernc", profile), n, ns, len(profile)), d, "2")
	}
	weak := put("normal", 8, 2000, assay.Consistent)
	for name, c := range map[string]struct {
		trials []assay.Trial
		want   []string
	}{
		"faster":            {put("full", 8, 1000, assay.Power), []string{"modernc (full): stronger-sync-faster: power with full is faster than consistent with normal (0.500 [0.499, 0.500])"}},
		"slower":            {put("full", 8, 3000, assay.Power), nil},
		"as durable":        {put("full", 8, 1000, assay.Consistent), nil},
		"unknown":           {put("full", 8, 1000, assay.DurabilityUnknown), nil},
		"too few launches":  {put("full", 1, 1000, assay.Power), nil},
		"of another target": {analysistest.Durable(analysistest.Launches(analysistest.Cell("put", "mattn", "full"), 8, 1000, 1), assay.Power, "2"), nil},
	} {
		if got := warned(mustReport(t, analysistest.PlainRun, slices.Concat(c.trials, weak)), "stronger-sync-faster"); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// asking gives trials settings that a profile asks for.
func asking(trials []assay.Trial, settings ...assay.Setting) []assay.Trial {
	return analysistest.Change(trials, func(t *assay.Trial) { t.Settings = settings })
}

func set(name, requested, effective string) assay.Setting {
	return assay.Setting{Name: name, Connection: "reader-1", Requested: requested, Issued: "_" + name + "=" + requested, Effective: effective, Applied: true}
}

func TestSettingWithoutEffect(t *testing.T) {
	mapped := func(ns float64, own int, settings ...assay.Setting) []assay.Trial {
		return asking(analysistest.Launches(analysistest.Cell("get", "modernc", "mapped"), 8, ns, own), settings...)
	}
	plain := asking(analysistest.Launches(analysistest.Cell("get", "modernc", "plain"), 8, 1000, 0), set("mmap_size", "", "0"))
	mmap := set("mmap_size", "1000", "1000")
	for name, c := range map[string]struct {
		trials []assay.Trial
		want   []string
	}{
		"alike": {mapped(1000, 1, mmap),
			[]string{"modernc (mapped): option-without-effect: modernc (mapped) with mmap_size=1000 and modernc (plain) without mmap_size are equivalent (1.0015 [1.0005, 1.0025])"}},
		"the default": {mapped(1000, 1, set("mmap_size", "0", "0")),
			[]string{"modernc (mapped): option-without-effect: modernc (mapped) with mmap_size=0 and modernc (plain) without mmap_size are equivalent (1.0015 [1.0005, 1.0025]); 0 is in effect in both"}},
		"faster":         {mapped(900, 1, mmap), nil},
		"two settings":   {mapped(1000, 1, mmap, set("cache_size", "-2000", "-2000")), nil},
		"other SQL":      {analysistest.Change(mapped(1000, 1, mmap), func(t *assay.Trial) { t.Each = []string{"PRAGMA temp_store=2"} }), nil},
		"another target": {asking(analysistest.Launches(analysistest.Cell("get", "mattn", "mapped"), 8, 1000, 1), mmap), nil},
		"undecided": {analysistest.Change(mapped(1000, 1, mmap), func(t *assay.Trial) { t.Figures["ns/op"] *= 1 + 0.1*float64(t.Launch%2) }),
			nil},
		"not applied": {analysistest.Change(mapped(1000, 1, mmap), func(t *assay.Trial) { t.Outcome = assay.NotApplied }), nil},
	} {
		if got := warned(mustReport(t, analysistest.PlainRun, slices.Concat(plain, c.trials)), "option-without-effect"); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Of two values of one setting, one row has the warning.
func TestTwoValuesWithoutEffect(t *testing.T) {
	var trials []assay.Trial
	for _, value := range []string{"1", "2"} {
		trials = append(trials, asking(analysistest.Durable(analysistest.Launches(analysistest.Cell("put", "modernc", "sync-"+value), 8, 1000, 1), map[string]assay.Durability{"1": assay.Consistent, "2": assay.Power}[value], value),
			set("synchronous", value, value))...)
	}
	r := mustReport(t, analysistest.PlainRun, trials)
	want := []string{"modernc (sync-2): option-without-effect: modernc (sync-2) with synchronous=2 and modernc (sync-1) with synchronous=1 are equivalent (1.00 [1.00, 1.00])"}
	if got := warned(r, "option-without-effect"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, w := range rowsOf(t, r)["modernc (sync-2)"].Warnings {
		if line := report.WarningLine(w); w.Code == "option-without-effect" && !strings.HasSuffix(line, "; advice: the stronger durability costs nothing here: use it") {
			t.Errorf("got %q, want the advice to use the stronger durability", line)
		}
	}
}

func TestCompileOptionWithoutEffect(t *testing.T) {
	built := func(options string, ns float64, own int) []assay.Trial {
		c := analysistest.Cell("get", "mattn", "web")
		c.Options = options
		return analysistest.Launches(c, 8, ns, own)
	}
	for name, c := range map[string]struct {
		options string
		ns      float64
		want    []string
	}{
		"alike":  {"DQS=0", 1000, []string{"mattn:DQS=0 (web): option-without-effect: mattn:DQS=0 (web) with DQS=0 and mattn (web) without DQS are equivalent (1.0015 [1.0005, 1.0025])"}},
		"a flag": {"OMIT_SHARED_CACHE", 1000, []string{"mattn:OMIT_SHARED_CACHE (web): option-without-effect: mattn:OMIT_SHARED_CACHE (web) with OMIT_SHARED_CACHE and mattn (web) without OMIT_SHARED_CACHE are equivalent (1.0015 [1.0005, 1.0025])"}},
		"slower": {"DQS=0", 1100, nil},
		"two":    {"DQS=0:THREADSAFE=0", 1000, nil},
	} {
		run := analysistest.PlainRun
		for _, options := range [][]string{nil, {c.options}} {
			run.Targets = append(slices.Clone(run.Targets), assay.Target{Driver: "mattn", DriverVersion: analysistest.Versions["mattn"], Engine: "sqlite", Options: options})
		}
		trials := slices.Concat(built("", 1000, 0), built(c.options, c.ns, 1))
		if got := warned(mustReport(t, run, trials), "option-without-effect"); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// What a factor shows stands beside it too.
func TestFactorWithoutEffect(t *testing.T) {
	whole := analysistest.Ablation(asking(analysistest.Launches(analysistest.Cell("get", "mattn", "web"), 6, 1000, 1), set("cache_size", "-65536", "-65536"), set("mmap_size", "1000", "1000")))
	trials := slices.Concat(whole, analysistest.Launches(analysistest.Cell("get", "mattn", "web"), 6, 1000, 1),
		analysistest.Without(analysistest.Launches(analysistest.Cell("get", "mattn", "web"), 6, 2000, 1), "cache_size"), analysistest.Without(analysistest.Launches(analysistest.Cell("get", "mattn", "web"), 6, 1000, 1), "mmap_size"))
	want := []string{"mattn (web): option-without-effect: mattn (web) without mmap_size and mattn (web) with mmap_size=1000 are equivalent (1.00 [1.00, 1.00])"}
	if got := warned(mustReport(t, analysistest.PlainRun, trials), "option-without-effect"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestGrows(t *testing.T) {
	puts := func(param, n string, transaction int, ns float64) []assay.Trial {
		c := analysistest.Cell("put", "modernc", "web")
		c.Params, c.Transaction = map[string]string{param: n}, transaction
		return analysistest.Durable(analysistest.Launches(c, 6, ns, 1), assay.Consistent, "1")
	}
	read := func(n string, ns float64) []assay.Trial {
		c := analysistest.Cell("scan", "modernc", "web")
		c.Params = map[string]string{"n": n}
		return analysistest.Launches(c, 6, ns, 1)
	}
	for name, c := range map[string]struct {
		trials []assay.Trial
		want   []string
	}{
		"whole transactions": {slices.Concat(puts("n", "1000", 1000, 500), puts("n", "10000", 10000, 800), puts("n", "100000", 100000, 5000)),
			[]string{"modernc (web): grows: an operation takes 10.0 [9.89, 10.1] times as long with n=100000 as with n=1000: the figure depends on the number of operations"}},
		"perhaps": {slices.Concat(puts("n", "1000", 1000, 500), analysistest.Change(puts("n", "100000", 100000, 1500), func(t *assay.Trial) {
			t.Figures[assay.NsPerOp] *= 0.3 + float64(t.Launch%3)
		})), nil},
		"perhaps it drifts": {slices.Concat(puts("n", "1000", 1000, 500), analysistest.Change(puts("n", "100000", 100000, 400), func(t *assay.Trial) {
			t.Figures[assay.NsPerOp] *= 1.8 + 0.1*float64(t.Launch)
		})), nil},
		"alike":              {slices.Concat(puts("n", "1000", 1000, 500), puts("n", "100000", 100000, 600)), nil},
		"one n":              {puts("n", "1000", 1000, 500), nil},
		"other transactions": {slices.Concat(puts("n", "1000", 1, 5000), puts("n", "100000", 100, 50000)), nil},
		"rows":               {slices.Concat(puts("rows", "1000", 1, 500), puts("rows", "100000", 1, 5000)), nil},
		"a scan":             {slices.Concat(read("1000", 500), read("100000", 50000)), nil},
		"not numbers":        {slices.Concat(puts("n", "few", 1, 500), puts("n", "many", 1, 5000)), nil},
	} {
		if got := warned(mustReport(t, analysistest.PlainRun, c.trials), "grows"); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestBeyondDisk(t *testing.T) {
	for name, c := range map[string]struct {
		rate        string
		ns          float64
		transaction int
		clients     int
		syncs       float64 // an operation
		seen        string  // whether they come before the answer; empty: not traced
		want        string
	}{
		"20,000 commits a second":       {"5000", 50_000, 0, 1, 1, "yes", "20000 synced commits per second, but the disk did 5000 syncs per second for one client when assay probed it"},
		"5,000":                         {"5000", 200_000, 0, 1, 1, "yes", ""},
		"20,000 in transactions of ten": {"5000", 50_000, 10, 1, 0.1, "yes", ""},
		"20,000 by rows, ten a commit":  {"5000", 50_000, 0, 1, 0.1, "yes", ""},
		"several syncs a commit":        {"5000", 200_000, 0, 1, 4, "yes", ""},
		"eight clients share syncs":     {"5000", 50_000, 0, 8, 1, "yes", ""},
		"synced later":                  {"5000", 50_000, 0, 1, 1, "no", ""},
		"not traced":                    {"5000", 50_000, 0, 1, 0, "", ""},
		"the disk's rate unknown":       {"", 50_000, 0, 1, 1, "yes", ""},
		"no rate":                       {"0", 50_000, 0, 1, 1, "yes", ""},
	} {
		run := analysistest.PlainRun
		run.Host = map[string]string{"syncs-per-second": c.rate}
		put := analysistest.Cell("put", "modernc", "web")
		put.Transaction, put.Clients = c.transaction, c.clients
		trials := analysistest.Change(analysistest.Durable(analysistest.Launches(put, 6, 1, 1), assay.Power, "2"), func(t *assay.Trial) {
			t.Figures = map[string]float64{"ns/op": c.ns, "op/s": 1e9 / c.ns}
			if c.seen != "" {
				t.Figures["syncs/op"] = c.syncs
				t.Settings = append(t.Settings, assay.Setting{Name: analysis.SyncBeforeAck, Connection: "trace", Effective: c.seen, Applied: true})
			}
		})
		var want []string
		if c.want != "" {
			want = []string{"modernc (web): beyond-disk: " + c.want}
		}
		if got := warned(mustReport(t, run, trials), "beyond-disk"); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestSameEngine(t *testing.T) {
	target := func(driver, version, source, cgo, api string, options ...string) assay.Target {
		return assay.Target{Driver: driver, DriverVersion: version, Engine: "sqlite", EngineVersion: "3.53.4", CompileOptions: options,
			Facts: map[string]string{"source_id": source, "cgo": cgo, "api": api}}
	}
	modernc := target("modernc", analysistest.Versions["modernc"], "2026 abc", "false", "database/sql", "DQS=0")
	for name, c := range map[string]struct {
		other assay.Target
		want  []string
	}{
		"alike": {target("glebarez", "v1", "2026 abc", "false", "database/sql", "DQS=0"),
			[]string{"modernc (web): same-engine: the same engine source with the same options, as modernc@v1.61.1 and glebarez@v1"}},
		"another version of it": {target("modernc", "v1", "2026 abc", "false", "database/sql", "DQS=0"), nil},
		"another source":        {target("glebarez", "v1", "2026 abd", "false", "database/sql", "DQS=0"), nil},
		"another option":        {target("glebarez", "v1", "2026 abc", "false", "database/sql", "DQS=3"), nil},
		"by cgo":                {target("glebarez", "v1", "2026 abc", "true", "database/sql", "DQS=0"), nil},
		"another API":           {target("glebarez", "v1", "2026 abc", "false", "direct", "DQS=0"), nil},
		"nothing known":         {target("glebarez", "v1", "", "", "", "DQS=0"), nil},
	} {
		run := analysistest.PlainRun
		run.Targets = []assay.Target{modernc, c.other}
		if got := warned(mustReport(t, run, analysistest.Launches(analysistest.Cell("get", "modernc", "web"), 6, 1000, 0)), "same-engine"); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
