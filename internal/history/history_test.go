package history

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/analysistest"
)

// run is one in which mattn takes so many times as long as modernc, and its further
// versions twice as long.
func run(t *testing.T, day int, version string, times float64, change func(*assay.Run), further ...string) *analysis.Result {
	t.Helper()
	r := analysistest.PlainRun
	r.ID, r.Plan, r.Started = fmt.Sprintf("202611%02d-000000-aaaa", day), "quick", analysistest.SampleStart.Add(time.Duration(day)*24*time.Hour)
	r.Host = map[string]string{"cpu": "x", "cores": "2"}
	if change != nil {
		change(&r)
	}
	head := analysistest.Cell("read", "mattn", "web")
	head.DriverVersion = version
	machine := 1 + float64(day%4)/5 // raw times move by more than any ratio
	trials := analysistest.Launches(analysistest.Cell("read", "modernc", "web"), 6, 10000*machine, 1)
	trials = append(trials, analysistest.Launches(head, 6, 10000*machine*times, 2+day%3)...)
	for i, version := range further {
		head.DriverVersion = version
		trials = append(trials, analysistest.Launches(head, 6, 20000*machine, 5+i)...)
	}
	result, err := analysis.New(r, analysistest.Each(trials))
	must(t, err)
	return result
}

// series has a shift of 20 % with the seventh run, and the version that did it.
func series(t *testing.T) []*Series {
	t.Helper()
	filter, err := NewFilter([]string{"read", "driver=mattn"})
	must(t, err)
	h := New(filter)
	for day := range 12 {
		version, times := "v1.0.0", 1+float64(day%3)/500
		if day >= 6 {
			version, times = "v1.1.0", times*1.2
		}
		h.Add(Entries(run(t, 12-day, version, times, nil))) // as the store has them, the newest first
	}
	return h.Series()
}

func TestSeries(t *testing.T) {
	all := series(t)
	if len(all) != 1 || len(all[0].Points) != 12 {
		t.Fatalf("got %+v, want one series of 12 runs", all)
	}
	s := all[0]
	if s.Driver != "mattn" || s.Profile != "web" || s.Baseline != "modernc@v1.61.1" || !s.Points[0].Started.Before(s.Points[1].Started) {
		t.Errorf("got %+v, want mattn with web against modernc, the oldest run first", s)
	}
	if len(s.Changes) != 1 || s.Changes[0].At != 6 || s.Points[6].Version != "v1.0.0" || s.Changes[0].Before < 1.15 || s.Changes[0].After > 1.05 {
		t.Errorf("got changes %+v, want one at the seventh run", s.Changes)
	}
}

// Ratios to another baseline, of another plan text or of other options are series
// of their own, and other cells are none.
func TestSeriesAreOfOneThing(t *testing.T) {
	filter, err := NewFilter([]string{"operation=read"})
	must(t, err)
	h := New(filter)
	h.Add(Entries(run(t, 1, "v1.0.0", 1.2, nil)))
	h.Add(Entries(run(t, 2, "v1.0.0", 1.2, func(r *assay.Run) { r.PlanText = "another" })))
	h.Add(Entries(run(t, 3, "v1.1.0", 1.2, nil)))
	all := h.Series()
	if len(all) != 2 || len(all[0].Points) != 2 || len(all[1].Points) != 1 {
		t.Errorf("got %d series, want one of two runs and one of the other plan", len(all))
	}
	other := New(Filter{"operation": "write"})
	other.Add(Entries(run(t, 1, "v1.0.0", 1.2, nil)))
	if got := other.Series(); len(got) > 0 {
		t.Errorf("got %+v of another operation, want none", got)
	}
}

// The same cell by CPU time, of a run on a busy machine, is another series.
func TestSeriesAreOfOneMetric(t *testing.T) {
	h := New(Filter{"operation": "read"})
	for _, busy := range []bool{false, true} {
		var trials []assay.Trial
		for seed, driver := range []string{"modernc", "mattn"} {
			trials = append(trials, analysistest.Launches(analysistest.Cell("read", driver, "web"), 6, 10000, 1+seed)...)
		}
		for i := range trials {
			if busy {
				trials[i].Figures[assay.ComputePerOp] = 5000 + float64(i)
			}
		}
		result, err := analysis.New(analysistest.PlainRun, analysistest.Each(trials))
		must(t, err)
		h.Add(Entries(result))
	}
	all := h.Series()
	if len(all) != 2 || len(all[0].Points) != 1 || all[0].Name() == all[1].Name() {
		t.Errorf("got %+v, want two series of one run each, of different names", all)
	}
}

// A cell that promises another durability than its baseline has no ratio to follow.
func TestUnlikePromisesAreNotFollowed(t *testing.T) {
	for durability, want := range map[assay.Durability]int{assay.Power: 1, assay.Consistent: 0} {
		trials := analysistest.Durable(analysistest.Launches(analysistest.Cell("insert", "modernc", "web"), 6, 250000, 1), assay.Power, "2")
		trials = append(trials, analysistest.Durable(analysistest.Launches(analysistest.Cell("insert", "mattn", "web"), 6, 30000, 2), durability, "2")...)
		result, err := analysis.New(analysistest.PlainRun, analysistest.Each(trials))
		must(t, err)
		if got := Entries(result); len(got) != want {
			t.Errorf("%s against %s: got %+v, want %d entries", durability, assay.Power, got, want)
		}
	}
}

// Two versions of one run are two series: a jump between them would be no change
// with time.
func TestVersionsOfOneRun(t *testing.T) {
	h := New(Filter{"operation": "read", "driver": "mattn"})
	for day := range 4 {
		h.Add(Entries(run(t, day, "v1.0.0", 1, nil, "v1.1.0")))
	}
	h.Add(Entries(run(t, 5, "v1.1.0", 1, nil)))
	var got []string
	for _, s := range h.Series() {
		got = append(got, fmt.Sprint(s.Driver, " ", len(s.Points)))
	}
	if want := []string{"mattn@v1.0.0 4", "mattn@v1.1.0 4", "mattn 1"}; !slices.Equal(got, want) {
		t.Errorf("got series of %q, want %q", got, want)
	}
}

// Machines are of one class where all is alike that decides how fast they are.
func TestSameClass(t *testing.T) {
	facts := map[string]string{"cpu": "x", "cores": "2", "memory": "4 GB", "virtualization": "kvm", "filesystem": "ext4", "kernel": "6.1"}
	for fact := range facts {
		other := maps.Clone(facts)
		other[fact] = "another"
		a, b := assay.Run{ID: "a", Host: facts}, assay.Run{ID: "b", Host: other}
		want := fact == "kernel"
		if got := SameClass(a, b); got != want {
			t.Errorf("another %s: got %v, want %v", fact, got, want)
		}
		if got := OfClass([]assay.Run{a, b, a}); len(got) != map[bool]int{true: 3, false: 2}[want] {
			t.Errorf("another %s: got %d of 3 runs of the first one's class", fact, len(got))
		}
	}
}

// Runs that were interrupted have no place in a history, nor those of another plan.
func TestFinished(t *testing.T) {
	runs := []assay.Run{{ID: "a", Plan: "quick", Status: assay.Finished}, {ID: "b", Plan: "quick", Status: assay.Interrupted},
		{ID: "c", Plan: "quick", Status: assay.Running}, {ID: "d", Plan: "kv", Status: assay.Finished}}
	for plan, want := range map[string]string{"": "ad", "quick": "a"} {
		got := ""
		for _, r := range (Filter{"plan": plan}).Finished(runs) {
			got += r.ID
		}
		if got != want {
			t.Errorf("plan %q: got the runs %s, want %s", plan, got, want)
		}
	}
}

func TestFilter(t *testing.T) {
	for _, words := range [][]string{nil, {"a", "b"}, {"=x"}, {"x="}, {"driver=a", "driver=b"}} {
		if f, err := NewFilter(words); err == nil {
			t.Errorf("%q: got %v, want an error", words, f)
		}
	}
}

func TestFormats(t *testing.T) {
	for name, want := range map[string][]string{
		"text": {"read, 1k rows, 1 client: mattn (web) / modernc@v1.61.1, plan quick, 12 runs\n", "-- change: 1.20x -> 1.00x (-16.", "with v1.1.0 -> v1.0.0", "20261107-000000-aaaa"},
		"csv":  {"plan,operation,driver,profile,baseline,run,started,version,ratio,low,high,launches,segment\n", ",v1.1.0,", ",6,1\n", ",6,2\n"},
		"json": {`"at": "20261107-000000-aaaa"`, `"baseline": "modernc@v1.61.1"`},
	} {
		format, err := Formats().Named(name)
		must(t, err)
		var text bytes.Buffer
		must(t, format.Write(&text, series(t)))
		for _, part := range want {
			if !strings.Contains(text.String(), part) {
				t.Errorf("%s does not have %q:\n%s", name, part, text.String())
			}
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
