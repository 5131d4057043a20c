package lab

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"
	"time"

	"assay"
	"assay/internal/analysis"
	"assay/internal/stat"
	"assay/internal/store"

	"github.com/google/go-cmp/cmp"
)

// Launches of runs that are alike count together, and are never paired across
// runs; those of another machine, plan, build or data do not.
func TestPool(t *testing.T) {
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "assay.db"))
	must(t, err)
	defer s.Close()
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	targets := func(b string) []assay.Target {
		return []assay.Target{{Driver: "a", DriverVersion: "v1", Build: "x"}, {Driver: "b", DriverVersion: "v1", Build: b}}
	}
	newest := assay.Run{ID: "20261120-120400-0005", Plan: "p", PlanText: "name: p", Started: at, Status: assay.Finished, Host: map[string]string{"cpu": "one"},
		Targets: targets("y"), Baseline: assay.ParseBaseline("a@v1"), Options: assay.Options{Launches: 6}}
	same, rebuilt, elsewhere, otherPlan, grown, earlier := newest, newest, newest, newest, newest, newest
	grown.ID, grown.Files = "20261120-115950-0001", map[string]string{"/app.db": "grown"}
	earlier.ID, earlier.Version = "20261120-115900-0000", "v0"
	same.ID, rebuilt.ID, elsewhere.ID, otherPlan.ID = "20261120-120300-0004", "20261120-120200-0003", "20261120-120100-0002", "20261120-120000-0001"
	rebuilt.Targets = targets("z")
	elsewhere.Host = map[string]string{"cpu": "two"}
	otherPlan.PlanText = "name: p # other"
	runs := []assay.Run{newest, same, rebuilt, elsewhere, otherPlan, grown, earlier}
	for _, run := range runs {
		must(t, s.Begin(t.Context(), run))
		for launch := 1; launch <= 2; launch++ {
			for driver, ns := range map[string]float64{"a": 1000, "b": 2000} {
				trial := assay.Trial{Group: "g", Launch: launch, Outcome: assay.OK, Figures: map[string]float64{assay.NsPerOp: ns + float64(launch)},
					Cell: assay.Cell{Plan: "p", Operation: "get", Driver: driver, DriverVersion: "v1", Clients: 1, Pool: 1, Idle: 1}}
				must(t, s.Append(t.Context(), run.ID, trial))
			}
		}
	}
	pooled, err := Pool(t.Context(), s, runs)
	must(t, err)
	got := map[string]int{}
	for _, row := range pooled.Tables[0].Rows {
		got[row.Cell.Driver] = len(row.Counted())
	}
	// a: the newest run, same and rebuilt; b: not that of another build.
	if got["a"] != 6 || got["b"] != 4 || len(pooled.Earlier) != 2 {
		t.Errorf("got launches %v of %d earlier runs, want a: 6, b: 4 of 2", got, len(pooled.Earlier))
	}
	a, b := pooled.Tables[0].Rows[0], pooled.Tables[0].Rows[1]
	metric, _ := assay.MetricByName(assay.NsPerOp)
	c, paired, err := a.Against(b, metric)
	if err != nil || c.Ratio.N != 4 {
		t.Errorf("compared in %d launches, paired: %v, %v; want 4 pairs", c.Ratio.N, paired, err)
	}
	// The second run is the second look.
	p, err := stat.NewPairs([]float64{1001, 1002, 1001, 1002}, []float64{2001, 2002, 2001, 2002})
	must(t, err)
	width := func(i stat.Interval) float64 { return math.Log(i.High / i.Low) }
	once := stat.Rule{}.JudgeOne(p, stat.Prior{}, false).Ratio
	p.Looks = 2
	twice := stat.Rule{}.JudgeOne(p, stat.Prior{}, false).Ratio
	if width(c.Ratio) <= 1.5*width(once) || math.Abs(width(c.Ratio)/width(twice)-1) > 1e-9 {
		t.Errorf("interval %v: want that of two looks, %v, not of one, %v", c.Ratio, twice, once)
	}
	// Behind the newest: earlier builds, then an earlier assay; never another machine or plan text.
	var kept Kept
	pools := Pools(t.Context(), s, runs, &kept)
	var ages []string
	for age := 0; age < 4; age++ {
		r, err := pools("p", age)
		must(t, err)
		if r == nil {
			break
		}
		for _, row := range r.Tables[0].Rows {
			ages = append(ages, fmt.Sprint(r.Run.ID, " ", row.Cell.Driver, " ", len(row.Counted())))
		}
	}
	want := []string{newest.ID + " a 6", newest.ID + " b 4", rebuilt.ID + " a 2", rebuilt.ID + " b 2", earlier.ID + " a 2", earlier.ID + " b 2"}
	if diff := cmp.Diff(want, ages); diff != "" {
		t.Errorf("runs by age (-want +got)\n%s", diff)
	}
	// Asked again with one run less, the pools of other runs are those that were kept.
	of := func(age int, runs []assay.Run) *analysis.Result {
		r, err := Pools(t.Context(), s, runs, &kept)("p", age)
		must(t, err)
		return r
	}
	first, last := of(0, runs), of(2, runs)
	if again := of(2, runs[1:]); again != last {
		t.Error("the pool of an earlier assay is made again")
	}
	if again := of(0, runs[1:]); again == first || len(again.Earlier) != 1 {
		t.Errorf("without the newest run there are %d earlier ones, want 1", len(again.Earlier))
	}
}

// Runs of one machine count together, those of two are two results; who does not say
// which machine it was is left out, and so are another plan text, other data and another assay.
func TestMachines(t *testing.T) {
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "assay.db"))
	must(t, err)
	defer s.Close()
	var runs []assay.Run
	for i, machine := range []string{"one", "two", "one", "", "one", "one", "two"} {
		run := assay.Run{ID: fmt.Sprintf("run-%d", i), Plan: "p", PlanText: "name: p", Status: assay.Finished, Host: map[string]string{"machine": machine, "cpu": "x"},
			Files:   map[string]string{"/home/" + machine + "/app.db": "sum"},
			Targets: []assay.Target{{Driver: "a", DriverVersion: "v1", Build: "x"}}}
		switch i {
		case 4:
			run.PlanText += " # other"
		case 5:
			run.Files["/home/one/app.db"] = "grown"
		case 6:
			run.Version = "v0"
		}
		must(t, s.Begin(t.Context(), run))
		for launch := 1; launch <= 3; launch++ {
			trial := assay.Trial{Group: "g", Launch: launch, Outcome: assay.OK, Figures: map[string]float64{assay.NsPerOp: 1000},
				Cell: assay.Cell{Plan: "p", Operation: "get", Driver: "a", DriverVersion: "v1", Clients: 1, Pool: 1, Idle: 1}}
			must(t, s.Append(t.Context(), run.ID, trial))
		}
		runs = append(runs, run)
	}
	results, unknown, unlike, err := Machines(t.Context(), s, runs)
	if err != nil || len(results) != 2 || unknown != 1 || unlike != 2 {
		t.Fatalf("got %d machines, %d runs of unknown ones, %d of other data or assay, %v; want 2, 1 and 2", len(results), unknown, unlike, err)
	}
	for i, want := range []int{6, 3} {
		if got := len(results[i].Tables[0].Rows[0].Counted()); got != want {
			t.Errorf("machine %s: got %d launches, want %d", results[i].Run.Host["machine"], got, want)
		}
	}
	if results, _, _, err := Machines(t.Context(), s, nil); err != nil || len(results) != 0 {
		t.Errorf("no runs: got %d results, %v", len(results), err)
	}
}
