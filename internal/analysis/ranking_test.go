package analysis_test

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"testing"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/analysistest"
	"assay/internal/analysis/wording"
	"assay/internal/report"
	"assay/internal/stat"
)

// rows returns the rows of a report's only table by name.
func rowsOf(t *testing.T, r *analysis.Result) map[string]*analysis.Row {
	t.Helper()
	if len(r.Tables) != 1 {
		t.Fatalf("%d tables, want 1", len(r.Tables))
	}
	byName := map[string]*analysis.Row{}
	for _, row := range r.Tables[0].Rows {
		byName[row.Name()] = row
	}
	return byName
}

// twin marks trials as the reference's repetition.
func twin(trials []assay.Trial) []assay.Trial {
	return analysistest.Change(trials, func(t *assay.Trial) { t.Twin = true })
}

// The reference runs in every group, so that a launch number is not unique.
func TestGroupsPairWithTheirOwnReference(t *testing.T) {
	trials := analysistest.InGroup(analysistest.Launches(analysistest.Cell("get", "modernc", "web"), 6, 1000, 0), "a")
	trials = append(trials, analysistest.InGroup(analysistest.Launches(analysistest.Cell("get", "mattn", "web"), 6, 500, 0), "a")...)
	trials = append(trials, analysistest.InGroup(analysistest.Launches(analysistest.Cell("get", "modernc", "web"), 6, 3000, 0), "b")...)
	trials = append(trials, analysistest.InGroup(analysistest.Launches(analysistest.Cell("get", "glebarez", "web"), 6, 1500, 0), "b")...)
	rows := rowsOf(t, mustReport(t, analysistest.PlainRun, trials))
	for _, name := range []string{"mattn (web)", "glebarez (web)"} {
		f, _ := rows[name].Figure("ns/op")
		if f.Comparison == nil || wording.Digits(f.Comparison.Ratio.Center) != "0.500" || f.Comparison.Ratio.N != 6 {
			t.Errorf("%s: %+v", name, f.Comparison)
		}
	}
	if f, _ := rows["modernc (web)"].Figure("ns/op"); f.Interval.N != 12 {
		t.Errorf("the reference has %d launches, want 12", f.Interval.N)
	}
}

func TestDurabilityKeepsRanksApart(t *testing.T) {
	trials := analysistest.Durable(analysistest.Launches(analysistest.Cell("put", "modernc", "web"), 6, 1000, 1), assay.Power, "2")
	trials = append(trials, analysistest.Durable(analysistest.Launches(analysistest.Cell("put", "mattn", "web"), 6, 100, 1), assay.Power, "1")...)
	trials = append(trials, analysistest.Durable(analysistest.Launches(analysistest.Cell("put", "glebarez", "web"), 6, 50, 1), assay.Consistent, "2")...)
	trials = append(trials, analysistest.Durable(analysistest.Launches(analysistest.Cell("put", "glebarez", "odd"), 6, 50, 1), assay.DurabilityUnknown, "2")...)
	rows := rowsOf(t, mustReport(t, analysistest.PlainRun, trials))
	tests := map[string]struct {
		rank    int
		warning string
	}{
		"mattn (web)":    {1, "unequal-syncs: modernc synchronous=FULL, mattn synchronous=NORMAL; advice: one class of durability, but different syncs: figures can differ for that alone"},
		"glebarez (web)": {1, "unequal-durability: modernc power, glebarez consistent; advice: compare what promises the same: set the durability explicitly in the profile"},
		"glebarez (odd)": {0, "unknown-durability: the settings read back do not show what a power cut loses; not ranked; advice: set what decides it in the profile, such as journal_mode and synchronous"},
		"modernc (web)":  {2, ""}, // of the class of mattn, which syncs less
	}
	for name, want := range tests {
		row := rows[name]
		got := ""
		if len(row.Warnings) > 0 {
			got = report.WarningLine(row.Warnings[len(row.Warnings)-1])
		}
		if row.Rank != want.rank || got != want.warning {
			t.Errorf("%s: rank %d, warning %q", name, row.Rank, got)
		}
		if f, _ := row.Figure("ns/op"); strings.Contains(want.warning, "modernc power") {
			if f.Comparison.Verdict != stat.Undecided || !strings.HasPrefix(want.warning, report.Why(*f.Comparison)) || !f.Comparison.Ratio.Known() {
				t.Errorf("%s: %+v", name, f.Comparison)
			}
		}
	}
}

// A row whose class is refuted is ranked within the class that is left to it: it
// leaves the rows that it was compared with, and joins others.
func TestRankFollowsARefutation(t *testing.T) {
	trials := func(engine string) (all []assay.Trial) { // of all drivers
		for _, c := range []struct {
			driver string
			ns     float64
			class  assay.Durability
		}{{"modernc", 1000, assay.Power}, {"mattn", 100, assay.Power}, {"glebarez", 500, assay.Consistent}} {
			cell := analysistest.Cell("put", c.driver, "web")
			cell.Engine = engine
			all = append(all, analysistest.Durable(analysistest.Launches(cell, 6, c.ns, 1), c.class, "2")...)
		}
		return all
	}
	proof := assay.Proof{Target: "mattn@" + analysistest.Versions["mattn"], Build: "b-mattn", Profile: "web", Fault: assay.PowerCut, Claimed: assay.Power, States: 10, Held: 9, Refuted: 1, Kind: assay.LosesCommits}
	elsewhere, killed := proof, proof
	elsewhere.Build = "another"
	killed.Fault = assay.Kill
	for name, c := range map[string]struct {
		proofs []assay.Proof
		class  assay.Durability // of mattn
		ranks  map[string]int
		engine string // empty: sqlite
	}{
		"nothing was tried":    {nil, assay.Power, map[string]int{"mattn (web)": 1, "modernc (web)": 2, "glebarez (web)": 1}, ""},
		"of another build":     {[]assay.Proof{elsewhere}, assay.Power, map[string]int{"mattn (web)": 1, "modernc (web)": 2, "glebarez (web)": 1}, ""},
		"a power cut loses":    {[]assay.Proof{proof}, assay.Consistent, map[string]int{"mattn (web)": 1, "modernc (web)": 1, "glebarez (web)": 2}, ""},
		"a killed process too": {[]assay.Proof{proof, killed}, assay.None, map[string]int{"mattn (web)": 1, "modernc (web)": 1, "glebarez (web)": 1}, ""},
		"a killed server":      {[]assay.Proof{killed}, assay.Consistent, map[string]int{"mattn (web)": 1, "modernc (web)": 1, "glebarez (web)": 2}, "postgresql"},
	} {
		run := analysistest.PlainRun
		run.Proofs = c.proofs
		rows := rowsOf(t, mustReport(t, run, trials(cmp.Or(c.engine, "sqlite"))))
		for row, want := range c.ranks {
			if got := rows[row].Rank; got != want {
				t.Errorf("%s: %s has rank %d, want %d", name, row, got, want)
			}
		}
		if got := rows["mattn (web)"].Durability; got != c.class {
			t.Errorf("%s: mattn is %s, want %s", name, got, c.class)
		}
	}
}

// In a run that found the machine busy, disturbed launches count, by CPU time where each cell has
// it in every launch that counts: beside those of another run, or of a server, wall time decides.
func TestBusyMachineIsComparedByCPUTime(t *testing.T) {
	for name, test := range map[string]struct {
		lacks func(assay.Trial) bool
		want  string
		n     int
	}{
		"all have it":           {func(assay.Trial) bool { return false }, assay.ComputePerOp, 6},
		"one driver has not":    {func(t assay.Trial) bool { return t.Cell.Driver == "modernc" }, assay.NsPerOp, 6},
		"calm ones of two runs": {func(t assay.Trial) bool { return t.Launch <= 3 }, assay.NsPerOp, 3},
	} {
		var trials []assay.Trial
		for i, driver := range []string{"mattn", "modernc"} {
			launches := analysistest.Launches(analysistest.Cell("get", driver, "web"), 6, 100, i)
			trials = append(trials, analysistest.Change(launches, func(t *assay.Trial) {
				t.Mode, t.Disqualified = assay.Windows, !strings.Contains(name, "calm") || t.Launch > 3
				if !test.lacks(*t) {
					t.Figures[assay.ComputePerOp] = 50 * float64(i+1)
				}
			})...)
		}
		table := mustReport(t, analysistest.PlainRun, trials).Tables[0]
		if got := len(table.Rows[0].Counted()); table.Primary.Name != test.want || got != test.n {
			t.Errorf("%s: compared by %s of %d launches, want %s of %d", name, table.Primary.Name, got, test.want, test.n)
		}
	}
}

// A pool that reopens connections does so without a server, too: its figures do not
// make a row one that is served.
func TestPoolIsNoServer(t *testing.T) {
	for name, c := range map[string]struct {
		clients int
		figure  string
		served  bool
		primary string
	}{
		"a pool of one client":      {1, assay.ReopensOp, false, assay.NsPerOp},
		"waiting for it":            {1, assay.PoolWaitPerOp, false, assay.NsPerOp},
		"a pool of several clients": {16, assay.ReopensOp, false, assay.OpPerS},
		"requests of one client":    {1, assay.LimitPerS, true, assay.OpPerS},
	} {
		cell := analysistest.Cell("get", "mattn", "web")
		cell.Clients, cell.Pool, cell.Idle = c.clients, 100, 2
		trials := analysistest.Change(analysistest.Launches(cell, 3, 100, 1), func(t *assay.Trial) {
			t.Mode, t.Figures[c.figure] = assay.Blocks, 0.5
		})
		table := mustReport(t, analysistest.PlainRun, trials).Tables[0]
		if got := table.Rows[0].Served(); got != c.served || table.Primary.Name != c.primary {
			t.Errorf("%s: served %v, compared by %s, want %v, %s", name, got, table.Primary.Name, c.served, c.primary)
		}
	}
}

// The reference is found by its version only where the run has several.
func TestReferenceVersion(t *testing.T) {
	older := analysistest.Cell("get", "modernc", "web")
	older.DriverVersion = "v1.50.0"
	trials := append(analysistest.Launches(older, 6, 100, 1), analysistest.Launches(analysistest.Cell("get", "modernc", "web"), 6, 100, 2)...)
	run := analysistest.PlainRun
	run.Targets = []assay.Target{{Driver: "modernc", DriverVersion: "v1.50.0"}, {Driver: "modernc", DriverVersion: "v1.61.1"}}
	rows := rowsOf(t, mustReport(t, run, trials))
	if got := rows["modernc@v1.50.0 (web)"].Reference; got != rows["modernc@v1.61.1 (web)"] || got == nil {
		t.Errorf("got %v", got)
	}
	run.Targets = nil
	never := analysistest.Cell("get", "modernc", "web")
	never.DriverVersion = ""
	rows = rowsOf(t, mustReport(t, run, []assay.Trial{analysistest.Ended(never, assay.Failed, "no worker")}))
	if rows["modernc (web)"].Reference != rows["modernc (web)"] {
		t.Error("a reference that never opened is not found")
	}
}

// One comparison has one interval, whichever of two reciprocal metrics shows it.
func TestReciprocalFiguresHaveOneInterval(t *testing.T) {
	var trials []assay.Trial
	for i, driver := range []string{"modernc", "mattn", "glebarez"} { // which tell of each other's spread
		trials = append(trials, analysistest.Launches(analysistest.Cell("get", driver, "web"), 3, 1000+float64(300*i), i)...)
	}
	for name, row := range rowsOf(t, mustReport(t, analysistest.PlainRun, trials)) {
		nanos, _ := row.Figure("ns/op")
		rate, _ := row.Figure("op/s")
		if nanos.Comparison == nil {
			continue
		}
		if want := nanos.Comparison.Ratio.Inverse(); rate.Ratio == nil || *rate.Ratio != want {
			t.Errorf("%s: op/s has the ratio %+v, want %+v", name, rate.Ratio, want)
		}
	}
}

func TestNoise(t *testing.T) {
	trials := analysistest.Launches(analysistest.Cell("get", "modernc", "web"), 6, 1000, 0)
	trials = append(trials, twin(analysistest.Launches(analysistest.Cell("get", "modernc", "web"), 6, 1100, 0))...)
	trials = append(trials, analysistest.Launches(analysistest.Cell("get", "mattn", "web"), 6, 1050, 0)...)
	r := mustReport(t, analysistest.PlainRun, trials)
	rows := rowsOf(t, r)
	if got := wording.Digits(r.Tables[0].Noise); got != "0.100" {
		t.Errorf("noise %s, want 0.100", got)
	}
	f, _ := rows["mattn (web)"].Figure("ns/op")
	if f.Comparison.Verdict != stat.Undecided {
		t.Errorf("verdict %s within the noise", f.Comparison.Verdict)
	}
	want := []string{"noise"}
	if got := rows["mattn (web)"].Codes(); !reflect.DeepEqual(got, want) {
		t.Errorf("warnings %v, want %v", got, want)
	}
}

func TestWarnings(t *testing.T) {
	trials := analysistest.Change(analysistest.Launches(analysistest.Cell("get", "modernc", "web"), 11, 1000, 0), func(t *assay.Trial) {
		t.Figures["busy/op"] = 0.25
		t.Disqualified = t.Launch <= 5
		t.Samples = []assay.Sample{{Operations: 10, Nanos: 10}, {Operations: 10, Nanos: 10}, {Operations: 10, Nanos: 40}}
		t.Warnings = []assay.Warning{{Code: "drift", Evidence: "a 1.5 %"}, {Code: "drift", Evidence: "b 2 %"}}
		if t.Launch == 2 {
			t.Warnings = []assay.Warning{{Code: "drift", Evidence: "a 9 %", Advice: "wait"}}
		}
	})
	row := rowsOf(t, mustReport(t, analysistest.PlainRun, trials))["modernc (web)"]
	var got []string
	for _, w := range row.Warnings {
		got = append(got, report.WarningLine(w))
	}
	want := []string{
		"drift: a 1.5 % (in 11 of 11 launches)",
		"drift: b 2 % (in 10 of 11 launches)",
		"dropped: 5 of 11 launches disturbed by other programs or the hypervisor, and not counted; advice: stop other programs on the machine, or use a quieter machine",
		"busy: 0.250 answers of 'busy' per operation; advice: set busy_timeout",
		"stalls: the total time per operation is 2.00 times that of the median window; advice: look for checkpoints, compactions or collections; the figure includes them",
		"not-steady: window 2 of 3 of a launch still differs from those after it: the warm-up did not end; advice: use blocks with a longer count, so that the start weighs less",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// In memory there is nothing to sync, whatever drivers show.
func TestNoPromisesInMemory(t *testing.T) {
	for memory, want := range map[string]string{"1": "slower unknown-noise", "0": "slower unknown-noise unequal-syncs"} {
		rows := func(driver, synchronous string, ns float64) []assay.Trial {
			trials := analysistest.Durable(analysistest.Launches(analysistest.Cell("put", driver, "web"), 6, ns, 1), assay.None, synchronous)
			return analysistest.Change(trials, func(t *assay.Trial) {
				t.Settings = append(t.Settings, assay.Setting{Name: "memory", Requested: memory, Effective: memory, Applied: true})
			})
		}
		row := rowsOf(t, mustReport(t, analysistest.PlainRun, slices.Concat(rows("modernc", "2", 1000), rows("mattn", "1", 2000))))["mattn (web)"]
		f, _ := row.Figure("ns/op")
		if got := string(f.Comparison.Verdict) + " " + strings.Join(row.Codes(), " "); got != want {
			t.Errorf("memory=%s: %s, want %s", memory, got, want)
		}
	}
}

func TestFailedCellsShowNoFigures(t *testing.T) {
	trials := analysistest.Launches(analysistest.Cell("get", "modernc", "web"), 6, 1000, 0)
	trials[5].Outcome, trials[5].Reason = assay.WrongAnswer, "row 3"
	row := rowsOf(t, mustReport(t, analysistest.PlainRun, trials))["modernc (web)"]
	if len(row.Figures) != 0 || row.Rank != 0 || row.Reason != "row 3" || len(row.Trials) != 6 {
		t.Errorf("%+v", row)
	}
}

// Where there is nothing to compare, the intervals of figures allow for the
// launches that were added because they were wide; elsewhere those of ratios do.
func TestIntervalsOfLoneTables(t *testing.T) {
	var alone, both []assay.Trial
	var figures []float64
	for launch := 1; launch <= 12; launch++ {
		trial := sideTrial{"mattn", "v2", "web", 1000 + float64(launch*launch)}.trial(launch)
		alone = append(alone, trial)
		both = append(both, trial, sideTrial{"modernc", "v9", "web", 3000}.trial(launch))
		figures = append(figures, trial.Figures[assay.NsPerOp])
	}
	for name, test := range map[string]struct {
		trials []assay.Trial
		want   stat.Interval
	}{
		"alone":    {alone, stat.Rule{Planned: 6}.Interval(figures)},
		"compared": {both, stat.LogInterval(figures)},
	} {
		rows := analysis.Side{Result: sideRun(t, "r", test.trials), Where: map[string]string{"driver": "mattn"}}.Rows()
		if f, ok := rows[0].Figure(assay.NsPerOp); !ok || f.Interval != test.want {
			t.Errorf("%s: %+v, want %+v", name, f.Interval, test.want)
		}
	}
}
