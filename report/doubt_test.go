package report

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"assay"
)

// series makes one launch for each figure.
func series(c assay.Cell, figures ...float64) []assay.Trial {
	trials := launches(c, len(figures), 1, 0)
	for i, v := range figures {
		trials[i].Figures = map[string]float64{"ns/op": v, "op/s": 1e9 / v}
	}
	return trials
}

// warned are the codes of all warnings of a report's rows, by row.
func warned(r *Report) []string {
	var all []string
	for _, t := range r.Tables {
		for _, row := range t.Rows {
			for _, w := range row.Warnings {
				all = append(all, row.Name()+": "+w.Code)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Each doubt is raised by what it is about, and not by launches that only
// spread.
func TestDoubtsOfLaunches(t *testing.T) {
	for name, c := range map[string]struct {
		figures []float64
		windows []float64 // times of the windows of each launch, as factors
		want    string
	}{
		"calm":            {figures: []float64{1000, 1010, 990, 1005, 995, 1002, 998, 1007, 993, 1001}},
		"drift":           {figures: []float64{1000, 1010, 1020, 1031, 1040, 1052, 1060, 1071, 1080, 1090}, want: "drift"},
		"two-modes":       {figures: []float64{1000, 1301, 1002, 1299, 998, 1300, 1003, 1302, 1001, 1298, 999, 1303}, want: "two-modes"},
		"skewed":          {figures: []float64{1000, 1001, 999, 1002, 998, 1000, 1001, 1400, 999, 1000, 1002, 998}, want: "skewed"},
		"autocorrelation": {figures: []float64{1000, 1001, 1010, 1020, 1022, 1024, 1020, 1011, 1002, 1001, 990, 981, 980, 979, 985, 991, 1000, 1003, 1012, 1019}, want: "autocorrelation"},
		"not-steady":      {figures: []float64{1000, 1010, 990, 1005, 995, 1002, 998}, windows: []float64{1.5, 1.3, 1.2, 1.1, 1}, want: "not-steady"},
		"steady":          {figures: []float64{1000, 1010, 990, 1005, 995, 1002, 998}, windows: []float64{1.3, 1, 1, 1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			trials := series(cell("get", "modernc", "web"), c.figures...)
			for i := range trials {
				trials[i].Samples = nil
				for _, factor := range c.windows {
					trials[i].Samples = append(trials[i].Samples, assay.Sample{Operations: 1000, Nanos: int64(1000*factor*c.figures[i]) + int64(i%3)})
				}
			}
			got := warned(mustReport(t, reference, trials))
			got = slices.DeleteFunc(got, func(s string) bool { return strings.HasSuffix(s, "stalls") })
			want := []string{"modernc (web): " + c.want}
			if c.want == "" {
				want = nil
			}
			if !slices.Equal(got, want) {
				t.Errorf("warnings %q, want %q", got, want)
			}
		})
	}
}

// Of rows without any fault, each warning has at most the stated share.
func TestDoubtsAreFew(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	counts := map[string]int{}
	const rows = 2000
	for range rows {
		var figures []float64
		for range 6 + random.IntN(20) {
			figures = append(figures, 1000*(1+0.03*random.NormFloat64()))
		}
		for _, w := range warned(mustReport(t, reference, series(cell("get", "modernc", "web"), figures...))) {
			counts[w]++
		}
	}
	for code, n := range counts {
		if n > rows*2/100 {
			t.Errorf("%s in %d of %d rows without a fault, want one in a hundred", code, n, rows)
		}
	}
}

func TestStrongerSyncFaster(t *testing.T) {
	strong := func(ns float64) []assay.Trial {
		return durable(launches(cell("put", "modernc", "full"), 8, ns, 1), assay.Power, "2")
	}
	weak := durable(launches(cell("put", "modernc", "normal"), 8, 2000, 2), assay.Consistent, "1")
	for ns, want := range map[float64]bool{1000: true, 3000: false} {
		got := warned(mustReport(t, reference, slices.Concat(strong(ns), weak)))
		if slices.Contains(got, "modernc (full): stronger-sync-faster") != want {
			t.Errorf("with %g ns: %q", ns, got)
		}
	}
}

func TestOptionWithoutEffect(t *testing.T) {
	asks := func(trials []assay.Trial, settings ...assay.Setting) []assay.Trial {
		return change(trials, func(t *assay.Trial) { t.Settings = settings })
	}
	mmap := assay.Setting{Name: "mmap_size", Requested: "1000", Effective: "1000", Applied: true}
	cache := assay.Setting{Name: "cache_size", Requested: "-2000", Effective: "-2000", Applied: true}
	plain := launches(cell("get", "modernc", "plain"), 8, 1000, 0)
	for name, c := range map[string]struct {
		trials []assay.Trial
		want   bool
	}{
		"alike":          {asks(launches(cell("get", "modernc", "mapped"), 8, 1000, 0), mmap), true},
		"faster":         {asks(launches(cell("get", "modernc", "mapped"), 8, 900, 0), mmap), false},
		"two settings":   {asks(launches(cell("get", "modernc", "mapped"), 8, 1000, 0), mmap, cache), false},
		"another target": {asks(launches(cell("get", "mattn", "mapped"), 8, 1000, 0), mmap), false},
	} {
		got := strings.Join(warned(mustReport(t, reference, slices.Concat(plain, c.trials))), " ")
		if strings.Contains(got, "option-without-effect") != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestGrows(t *testing.T) {
	puts := func(n string, transaction int, ns float64) []assay.Trial {
		c := cell("put", "modernc", "web")
		c.Params, c.Transaction = map[string]string{"n": n}, transaction
		return durable(launches(c, 6, ns, 1), assay.Consistent, "1")
	}
	for name, c := range map[string]struct {
		trials []assay.Trial
		want   string
	}{
		"whole transactions": {slices.Concat(puts("1000", 1000, 500), puts("10000", 10000, 800), puts("100000", 100000, 5000)), "an operation takes 10.0 [9.89, 10.1] times as long with n=100000 as with n=1000: the figure depends on how many there are"},
		"alike":              {slices.Concat(puts("1000", 1000, 500), puts("100000", 100000, 600)), ""},
		"one n":              {puts("1000", 1000, 500), ""},
		"other transactions": {slices.Concat(puts("1000", 1, 5000), puts("100000", 100, 50000)), ""},
	} {
		var got string
		for _, table := range mustReport(t, reference, c.trials).Tables {
			for _, row := range table.Rows {
				for _, w := range row.Warnings {
					if w.Code == "grows" {
						got += w.Evidence
					}
				}
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestBeyondDisk(t *testing.T) {
	seen := assay.Setting{Name: "sync-before-ack", Connection: "trace", Effective: "yes", Applied: true}
	run := reference
	run.Host = map[string]string{"syncs-per-second": "5000"}
	for name, c := range map[string]struct {
		ns          float64
		transaction int
		durability  assay.Durability
		traced      bool
		want        bool
	}{
		"20,000 commits a second":       {50_000, 0, assay.Power, true, true},
		"5,000":                         {200_000, 0, assay.Power, true, false},
		"20,000 in transactions of ten": {50_000, 10, assay.Power, true, false},
		"not synced":                    {50_000, 0, assay.Consistent, true, false},
		"a mix":                         {50_000, 0, assay.Power, false, false},
	} {
		put := cell("put", "modernc", "web")
		put.Transaction = c.transaction
		trials := durable(launches(put, 6, c.ns, 1), c.durability, "2")
		if c.traced {
			trials = change(trials, func(t *assay.Trial) { t.Settings = append(t.Settings, seen) })
		}
		got := warned(mustReport(t, run, trials))
		if slices.Contains(got, "modernc (web): beyond-disk") != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestSameEngine(t *testing.T) {
	facts := func(api string) map[string]string {
		return map[string]string{"source_id": "2026 abc", "cgo": "false", "api": api}
	}
	for api, want := range map[string]bool{"database/sql": true, "direct": false} {
		run := reference
		run.Targets = []assay.Target{{Driver: "mattn", DriverVersion: versions["mattn"], Engine: "sqlite", Facts: facts("database/sql")},
			{Driver: "modernc", DriverVersion: versions["modernc"], Engine: "sqlite", Facts: facts(api)}}
		got := warned(mustReport(t, run, launches(cell("get", "modernc", "web"), 6, 1000, 0)))
		if slices.Contains(got, "modernc (web): same-engine") != want {
			t.Errorf("%s: %q", api, got)
		}
	}
}
