package tune

import (
	"math"
	"strings"
	"testing"
	"time"

	"assay"
	"assay/internal/lab"
	"assay/internal/plan"

	"github.com/google/go-cmp/cmp"
)

// measured is a trial of the operation read.
func measured(profile string, figures map[string]float64) assay.Trial {
	return assay.Trial{Cell: assay.Cell{Operation: "read", Driver: "mattn", Profile: profile, Clients: 1}, Launch: 1, Outcome: assay.OK, Figures: figures}
}

// A candidate that was measured is refused where it failed, or broke a constraint as it
// was measured; the current settings may break one.
func TestRefusedCandidates(t *testing.T) {
	space := Space{StartIsCurrent: true, Factors: []Factor{
		{Name: "journal_mode", Levels: []Level{{}, {Settings: map[string]string{"journal_mode": "wal"}}, {Price: "process"}}},
		{Name: "statistics", First: true, Levels: []Level{{}, {Prepare: []string{"ANALYZE"}}}},
	}}
	tuning := &Tuning{space: space, class: assay.Consistent, request: Request{Memory: 100}}
	candidate, price, data := Point{1, 0}, Point{2, 0}, Point{0, 1}
	with := func(peak float64, class assay.Durability, outcome assay.Outcome) assay.Trial {
		trial := measured("p", map[string]float64{"peak-B": peak})
		trial.Durability, trial.Outcome, trial.Reason = class, outcome, "a reason"
		return trial
	}
	for name, c := range map[string]struct {
		point Point
		now   float64 // peak memory
		then  assay.Trial
		want  string
	}{
		"as it should be":                       {candidate, 10, with(100, assay.Power, assay.OK), ""},
		"a class that nothing shows":            {candidate, 10, with(100, assay.DurabilityUnknown, assay.OK), ""},
		"a weaker class":                        {candidate, 10, with(100, assay.Process, assay.OK), "its durability was read back as process"},
		"a weaker class for its price":          {price, 10, with(100, assay.Process, assay.OK), ""},
		"too much memory":                       {candidate, 10, with(101, assay.Power, assay.OK), "its peak memory exceeds --memory 100"},
		"not much more than now":                {candidate, 200, with(219, assay.Power, assay.OK), ""},
		"much more than now":                    {candidate, 200, with(221, assay.Power, assay.OK), "its peak memory exceeds --memory 100"},
		"other data, with the current settings": {data, 10, with(101, assay.Process, assay.OK), ""},
		"a failure":                             {candidate, 10, with(10, assay.Power, assay.Failed), "failed: a reason"},
		"a failure with other data":             {data, 10, with(10, assay.Power, assay.WrongAnswer), "wrong-answer: a reason"},
		"the end of the budget":                 {candidate, 10, with(0, assay.DurabilityUnknown, assay.NotRun), ""},
	} {
		if got := tuning.refuse(c.point, with(c.now, assay.Power, assay.OK), c.then); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// A gain is the logarithm of how much better, whichever way the metric goes. A launch without
// the metric has none, and not that of another metric.
func TestGain(t *testing.T) {
	for name, c := range map[string]struct {
		metric    string
		now, then map[string]float64
		want      float64
	}{
		"time":                          {assay.NsPerOp, map[string]float64{assay.NsPerOp: 200}, map[string]float64{assay.NsPerOp: 100}, math.Log(2)},
		"capacity":                      {assay.CapacityPerS, map[string]float64{assay.CapacityPerS: 100, assay.NsPerOp: 1}, map[string]float64{assay.CapacityPerS: 200, assay.NsPerOp: 9}, math.Log(2)},
		"latency":                       {assay.P99, map[string]float64{assay.P50: 1, assay.P99: 20}, map[string]float64{assay.P50: 1, assay.P99: 10}, math.Log(2)},
		"latency of few requests":       {assay.P50, map[string]float64{assay.P50: 4}, map[string]float64{assay.P50: 2}, math.Log(2)},
		"too few requests in one trial": {assay.P99, map[string]float64{assay.P50: 4, assay.P99: 9}, map[string]float64{assay.P50: 2}, math.NaN()},
		"no figure":                     {assay.NsPerOp, map[string]float64{assay.NsPerOp: 200}, map[string]float64{}, math.NaN()},
	} {
		tuning := &Tuning{}
		got := tuning.gain(c.metric, "read", measured("current", c.now), measured("p1", c.then))
		if math.Abs(got-c.want) > 1e-9 || math.IsNaN(got) != math.IsNaN(c.want) {
			t.Errorf("%s: got %g, want %g", name, got, c.want)
		}
		if few := name == "too few requests in one trial"; (len(tuning.notes) == 1) != few {
			t.Errorf("%s: got the notes %q, want one: %t", name, tuning.notes, few)
		}
	}
}

// An operation is compared by one metric in all launches, whatever these have: the one that all
// trials of the current settings have in the first launch.
func TestOneMetric(t *testing.T) {
	cell := assay.Cell{Operation: "read", Driver: "mattn", Clients: 1, Rate: 40}
	trial := func(profile string, twin bool, p50, p99 float64) assay.Trial {
		all := measured(profile, map[string]float64{assay.P50: p50})
		all.Cell.Rate, all.Twin = cell.Rate, twin
		if p99 > 0 {
			all.Figures[assay.P99] = p99
		}
		return all
	}
	p := Point{1}
	few := []assay.Trial{trial(currentName, false, 4, 0), trial(currentName, true, 4, 0), trial("p1", false, 2, 0)}
	many := []assay.Trial{trial(currentName, false, 4, 90), trial(currentName, true, 4, 90), trial("p1", false, 2, 30)}
	mixed := []assay.Trial{trial(currentName, false, 4, 90), trial(currentName, true, 4, 0), trial("p1", false, 2, 30)}
	for _, c := range []struct {
		name     string
		launches [][]assay.Trial
		metric   string
		want     []float64
	}{
		{"the median", [][]assay.Trial{few, many}, assay.P50, []float64{math.Log(2), math.Log(2)}},
		{"the percentile", [][]assay.Trial{many, few}, assay.P99, []float64{math.Log(3), math.NaN()}},
		{"the median, as the twin has no percentile", [][]assay.Trial{mixed, many}, assay.P50, []float64{math.Log(2), math.Log(2)}},
	} {
		tuning := &Tuning{drivers: []string{"mattn"}, operations: []assay.Case{{Cell: cell}}, request: Request{Memory: 100}, engine: SQLiteEngine,
			space: Space{Factors: []Factor{{Name: "cache", Levels: make([]Level, 2)}}}}
		for i, trials := range c.launches {
			must(t, tuning.settle(trials))
			got := tuning.judge(Block{Stage: Confirmation}, p, trials)
			if len(got.Gains) != 1 || math.IsNaN(got.Gains[0]) != math.IsNaN(c.want[i]) || math.Abs(got.Gains[0]-c.want[i]) > 1e-9 {
				t.Errorf("%s, launch %d: got %+v, want the gain %g", c.name, i+1, got, c.want[i])
			}
		}
		if got := tuning.metric("", tuning.operations[0], nil); got != c.metric {
			t.Errorf("%s: the report shows %s, want %s", c.name, got, c.metric)
		}
	}
}

// Instances take turns in windows: all of a launch begin together, and what each took
// are its own turns.
func TestTimeOfALaunch(t *testing.T) {
	var trials []assay.Trial
	for range 13 {
		trials = append(trials, assay.Trial{Launch: 1, Started: time.Unix(1, 0), Took: 10 * time.Second})
	}
	trials = append(trials, assay.Trial{}) // never started
	if got, want := wallTime(trials), 169*time.Second; got != want {
		t.Errorf("got %s, want %s: 13 turns of 10s, and 30 %% for the rest", got, want)
	}
}

// An operation that fails, or has nothing to be compared by, is left out, and the reader is told
// why. What reads whole tables is told once, of the first launch.
func TestSettledWithoutAFigure(t *testing.T) {
	read := assay.Case{Cell: assay.Cell{Operation: "read", Clients: 1}}
	served := assay.Case{Cell: assay.Cell{Operation: "served", Clients: 1, Rate: 40}}
	failing := assay.Case{Cell: assay.Cell{Operation: "failing", Clients: 1}}
	tuning := &Tuning{drivers: []string{"mattn"}, operations: []assay.Case{read, served, failing}}
	good, request, failed := measured(currentName, map[string]float64{assay.NsPerOp: 7}), measured(currentName, map[string]float64{assay.NsPerOp: 7}), measured(currentName, nil)
	good.QueryPlan = "SCAN t"
	request.Cell.Operation, request.Cell.Rate = "served", 40
	failed.Cell.Operation, failed.Outcome, failed.Reason = "failing", assay.WrongAnswer, "2 rows, want 1"
	for range 2 {
		must(t, tuning.settle([]assay.Trial{good, request, failed}))
	}
	if len(tuning.operations) != 1 || tuning.operations[0].Cell.Operation != "read" {
		t.Errorf("got %+v, want read alone", tuning.operations)
	}
	want := []string{"served, 40 arrivals/s is not compared: it has no p50", "failing is not compared: with the current settings it is wrong-answer: 2 rows, want 1"}
	if diff := cmp.Diff(want, tuning.notes); diff != "" {
		t.Errorf("notes (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"read reads all of t"}, tuning.unindexed); diff != "" {
		t.Errorf("whole tables (-want +got)\n%s", diff)
	}
}

// What to know of a driver is said once, whatever was measured of it.
func TestCautionOfTheDriver(t *testing.T) {
	all := []assay.Trial{measured(currentName, nil), measured("p1", nil)}
	for i := range all {
		all[i].Warnings = []assay.Warning{{Code: "caution", Evidence: "old is in beta", Advice: "prefer another"}, {Code: "layout", Evidence: "x", Advice: "y"}}
	}
	tuning := &Tuning{drivers: []string{"old"}, figures: all, request: Request{Plan: &plan.Plan{}}, space: Space{StartIsCurrent: true}}
	r, err := tuning.report(&Outcome{})
	if diff := cmp.Diff([]string{"old is in beta; prefer another"}, r.notes()); err != nil || diff != "" {
		t.Errorf("%v, (-want +got)\n%s", err, diff)
	}
}

// The figures of the answer are those of the launches that it was decided by.
func TestFiguresOfTheConfirmation(t *testing.T) {
	tuning := &Tuning{drivers: []string{"mattn"}, figures: []assay.Trial{measured(currentName, map[string]float64{assay.NsPerOp: 7}), measured("p1", map[string]float64{assay.NsPerOp: 5})}}
	read := assay.Case{Cell: assay.Cell{Operation: "read", Clients: 1}}
	for profile, want := range map[string]float64{currentName: 7, "p1": 5} {
		got := tuning.figuresOf(lab.Member{Driver: assay.ParseDriverName("mattn"), Profile: profile}, read, tuning.metric("", read, tuning.figures))
		if len(got) != 1 || got[0] != want {
			t.Errorf("%s: got %v, want %g", profile, got, want)
		}
	}
}

// On storage that loses what was synced, all classes would look alike.
func TestStorageThatLosesSyncs(t *testing.T) {
	write := []assay.Case{{Operation: assay.Operation{Changes: true}}}
	for name, c := range map[string]struct {
		storage, asked assay.Durability
		operations     []assay.Case
		want           string
	}{
		"a disk":                    {assay.Power, "", write, ""},
		"tmpfs":                     {assay.Process, "", write, "the databases that tune measures would lie on storage that loses what was synced: tmpfs"},
		"tmpfs, and it has to keep": {assay.Process, assay.Consistent, write, "no settings have durability consistent where tune measures: tmpfs"},
		"tmpfs, and it need not":    {assay.Process, assay.Process, write, ""},
		"tmpfs, and nothing writes": {assay.Process, "", []assay.Case{{}}, ""},
	} {
		got := ""
		if err := checkStorage(c.storage, "tmpfs", c.asked, c.operations); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// Candidates keep what is asked for, or else what the current settings have; where something
// is committed that has to be a class that can be kept.
func TestClassToKeep(t *testing.T) {
	const refused = "which tune does not search within"
	for name, c := range map[string]struct {
		asked, current, want assay.Durability
		known                bool
		err                  string
	}{
		"what is asked for":                     {assay.Consistent, assay.Power, assay.Consistent, true, ""},
		"what is asked for goes before none":    {assay.Process, assay.None, assay.Process, true, ""},
		"that of the current settings":          {"", assay.Power, assay.Power, true, ""},
		"none":                                  {"", assay.None, assay.None, true, refused},
		"a class that is not known":             {"", assay.DurabilityUnknown, assay.DurabilityUnknown, true, refused},
		"nothing is committed, and none is had": {"", assay.None, assay.None, false, ""},
	} {
		got, err := classToKeep(c.asked, c.current, c.known)
		if got != c.want || (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: got %q and %v, want %q and %q", name, got, err, c.want, c.err)
		}
	}
}
