package analysis_test

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/analysistest"
	"assay/internal/report"
	"assay/internal/stat"

	"github.com/google/go-cmp/cmp"
)

// launches of a run: driver@version, profile and figure.
type sideTrial struct {
	driver, version, profile string
	ns                       float64
}

// trial is what one launch found.
func (c sideTrial) trial(launch int) assay.Trial {
	return assay.Trial{Group: "g", Launch: launch, Outcome: assay.OK,
		Cell:    assay.Cell{Plan: "p", Operation: "read", Driver: c.driver, DriverVersion: c.version, Profile: c.profile, Clients: 1, Pool: 1, Idle: 1},
		Figures: map[string]float64{assay.NsPerOp: c.ns + float64(launch)}}
}

func sideReport(t *testing.T, id string, cells ...sideTrial) *analysis.Result {
	t.Helper()
	var all []assay.Trial
	for launch := 1; launch <= 6; launch++ {
		for _, c := range cells {
			all = append(all, c.trial(launch))
		}
	}
	return sideRun(t, id, all)
}

// sideRun is a report of a run that fixed six launches beforehand.
func sideRun(t *testing.T, id string, trials []assay.Trial) *analysis.Result {
	t.Helper()
	var all iter.Seq2[assay.Trial, error] = func(yield func(assay.Trial, error) bool) {
		for _, trial := range trials {
			if !yield(trial, nil) {
				return
			}
		}
	}
	r, err := analysis.New(assay.Run{ID: id, Plan: "p", Baseline: assay.ParseBaseline("mattn@v2"), Options: assay.Options{Launches: 6}, Started: time.Unix(0, 0).UTC(),
		Host: map[string]string{"cpu": id}}, all)
	must(t, err)
	return r
}

func versus(t *testing.T, r *analysis.Result, a, b string) *analysis.Versus {
	t.Helper()
	left, err := analysis.NewSide(r, a)
	must(t, err)
	right, err := analysis.NewSide(r, b)
	must(t, err)
	v, err := analysis.NewVersus(left, right)
	must(t, err)
	return v
}

// said is what a comparison says, a line each.
func said(v *analysis.Versus) []string {
	var lines []string
	for _, l := range v.Lines {
		lines = append(lines, strings.Join([]string{l.A.Cell.DriverVersion, l.B.Cell.DriverVersion, l.Cell, string(l.Comparison.Verdict)}, " "))
	}
	return lines
}

func TestVersus(t *testing.T) {
	r := sideReport(t, "r1", sideTrial{"mattn", "v2", "web", 1000}, sideTrial{"mattn", "v1", "web", 2000},
		sideTrial{"modernc", "v9", "web", 3000}, sideTrial{"modernc", "v9", "default", 4000})
	tests := map[[2]string][]string{
		{"mattn@v2", "mattn@v1"}:           {"v2 v1 (web) faster"},
		{"mattn", "mattn@v1"}:              {"v2 v1 (web) faster"},
		{"modernc", "mattn@v1"}:            {"v9 v1 (web) slower"},
		{"default", "web"}:                 {"v9 v9 modernc slower"},
		{"profile=web", "profile=default"}: {"v9 v9 modernc faster"},
	}
	for names, want := range tests {
		v := versus(t, r, names[0], names[1])
		if got := said(v); !reflect.DeepEqual(got, want) {
			t.Errorf("%v: %q, want %q", names, got, want)
		}
		for _, l := range v.Lines {
			if l.Basis != analysis.Joint || l.Comparison.Ratio.N != 6 {
				t.Errorf("%v: not paired: %+v", names, l)
			}
		}
	}
	if v := versus(t, r, "modernc", "mattn@v1"); !reflect.DeepEqual(v.OnlyA, []string{"read, 1 client: modernc (default)"}) || v.OnlyB != nil {
		t.Errorf("got %q in A alone and %q in B alone, want the default profile of modernc in A", v.OnlyA, v.OnlyB)
	}
	if _, err := analysis.NewSide(r, "oracle"); err == nil {
		t.Error("there is no oracle")
	}
	if diff := cmp.Diff([]string{"default", "mattn@v1", "mattn@v2", "modernc@v9", "web"}, analysis.SideNames(r)); diff != "" {
		t.Errorf("names of sides (-want +got)\n%s", diff)
	}
}

// Where a run has several builds of a driver, its name means the one that the run calls
// so, and no side is several of them.
func TestVersusOfSeveralBuilds(t *testing.T) {
	r := sideReport(t, "r1", sideTrial{"mattn", "v2", "web", 1000}, sideTrial{"mattn", "v1", "web", 4000}, sideTrial{"modernc", "v9", "web", 2000})
	left, _ := analysis.NewSide(r, "mattn")
	right, _ := analysis.NewSide(r, "modernc")
	for _, sides := range [][2]analysis.Side{{left, right}, {right, left}} {
		const want = "mattn means mattn@v2 and mattn@v1 here: these are several builds of one driver, name one"
		if _, err := analysis.NewVersus(sides[0], sides[1]); !errors.Is(err, analysis.ErrSeveralBuilds) || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	r.Run.Options.Drivers = []string{"mattn", "mattn@v1", "modernc"}
	for _, c := range []struct{ a, b, want string }{{"mattn", "modernc", "v2 v9 (web) faster"}, {"modernc", "mattn", "v9 v2 (web) slower"}, {"mattn@v1", "modernc", "v1 v9 (web) slower"}} {
		if got := said(versus(t, r, c.a, c.b)); !reflect.DeepEqual(got, []string{c.want}) {
			t.Errorf("%s and %s: got %q, want %q", c.a, c.b, got, c.want)
		}
	}
	other := sideReport(t, "r2", sideTrial{"mattn", "v1", "web", 2000})
	v, err := analysis.NewVersus(analysis.Side{Result: r, Name: "r1"}, analysis.Side{Result: other, Name: "r2"})
	must(t, err)
	if got := said(v); !reflect.DeepEqual(got, []string{"v1 v1 mattn@v1 (web) slower"}) {
		t.Errorf("of two runs: got %q, want that the same version is compared", got)
	}
}

// A floor is named by the driver whose SQLite it is made of.
func TestVersusOfFloors(t *testing.T) {
	r := sideReport(t, "r1", sideTrial{"mattn", "v2", "web", 2000}, sideTrial{"sqlite-c", "3.53.4", "web", 1500}, sideTrial{"sqlite-c", "3.53.4+mattn", "web", 1000})
	for names, want := range map[[2]string][]string{
		{"mattn", "sqlite-c@mattn"}:           {"v2 3.53.4+mattn (web) slower"},
		{"sqlite-c", "sqlite-c@mattn"}:        {"3.53.4 3.53.4+mattn (web) slower"},
		{"sqlite-c@3.53.4", "sqlite-c@mattn"}: {"3.53.4 3.53.4+mattn (web) slower"},
	} {
		if got := said(versus(t, r, names[0], names[1])); !reflect.DeepEqual(got, want) {
			t.Errorf("%v: got %q, want %q", names, got, want)
		}
	}
}

// Classes of durability that differ leave no verdict, whatever the profiles are.
func TestVersusOfUnlikePromises(t *testing.T) {
	var all []assay.Trial
	for launch := 1; launch <= 6; launch++ {
		for i, c := range []sideTrial{{"mattn", "v2", "web", 1000}, {"modernc", "v9", "web", 3000}, {"mattn", "v2", "fast", 500}} {
			trial := c.trial(launch)
			trial.Durability = []assay.Durability{assay.Power, assay.Process, assay.None}[i]
			all = append(all, trial)
		}
	}
	r := sideRun(t, "r1", all)
	for names, want := range map[[2]string]string{
		{"mattn", "modernc"}: "undecided|unequal-durability: modernc process, mattn power|modernc process, mattn power",
		{"fast", "web"}:      "undecided|unequal-durability: mattn (web) power, mattn (fast) none|mattn (web) power, mattn (fast) none",
	} {
		v := versus(t, r, names[0], names[1])
		if len(v.Lines) != 1 {
			t.Fatalf("%v: %d lines", names, len(v.Lines))
		}
		l := v.Lines[0]
		unequal := ""
		if l.Unequal != nil {
			unequal = l.Unequal.Warning().Evidence
		}
		if got := fmt.Sprint(l.Comparison.Verdict, "|", report.Why(l.Comparison), "|", unequal); got != want {
			t.Errorf("%v: %s, want %s", names, got, want)
		}
		if v.Lines[0].Comparison.Ratio.N != 6 {
			t.Errorf("%v: no ratio", names)
		}
	}
}

// A read promises nothing about the data: against a write it has a verdict.
func TestVersusOfReadAndWrite(t *testing.T) {
	var all []assay.Trial
	for launch := 1; launch <= 6; launch++ {
		read, write := sideTrial{"mattn", "v2", "web", 1000}.trial(launch), sideTrial{"mattn", "v2", "web", 3000}.trial(launch)
		write.Cell.Operation, write.Durability = "insert", assay.Power
		all = append(all, read, write)
	}
	v := versus(t, sideRun(t, "r1", all), "operation=read", "operation=insert")
	want := []string{"v2 v2 mattn (web) faster"}
	if diff := cmp.Diff(want, said(v)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, l := range v.Lines {
		if l.Unequal != nil {
			t.Errorf("unequal promises: got %v, want none", l.Unequal)
		}
	}
}

// Rows with more launches than were fixed have the wider interval that allows
// for it, paired or not.
func TestAgainstAllowsForAddedLaunches(t *testing.T) {
	var all []assay.Trial
	var x, y []float64
	for launch := 1; launch <= 12; launch++ {
		for _, c := range []sideTrial{{"mattn", "v2", "web", 1000}, {"modernc", "v9", "web", 3000 + float64(launch*launch)}} {
			all = append(all, c.trial(launch))
		}
		x, y = append(x, all[len(all)-2].Figures[assay.NsPerOp]), append(y, all[len(all)-1].Figures[assay.NsPerOp])
	}
	metric, _ := assay.MetricByName(assay.NsPerOp)
	rule := stat.Rule{Margin: analysis.DefaultMargin, Planned: 6}
	row := func(r *analysis.Result, driver string) *analysis.Row {
		return analysis.Side{Result: r, Where: map[string]string{"driver": driver}}.Rows()[0]
	}
	one, two := sideRun(t, "r1", all), sideRun(t, "r2", all)
	for name, other := range map[string]*analysis.Result{"one run": one, "two runs": two} {
		p, err := stat.NewPairs(x, y)
		must(t, err)
		want := rule.JudgeOne(p, stat.Prior{}, false)
		if other == two {
			if want, err = rule.CompareUnpaired(x, y, false); err == nil {
				want = want.Allowing(stat.Dependent(x, y), false)
			}
		}
		must(t, err)
		got, basis, err := row(one, "mattn").Against(row(other, "modernc"), metric)
		if err != nil || !sameRatio(got.Ratio, want.Ratio) || got.Verdict != want.Verdict || (basis == analysis.Joint) != (other == one) {
			t.Errorf("%s: %+v, basis %v, %v; want %+v", name, got, basis, err, want)
		}
	}
}

// Which side is the first has no say in the interval of two runs.
func TestAgainstIsSymmetric(t *testing.T) {
	side := func(id string, driver string, launches int) *analysis.Row {
		var all []assay.Trial
		for launch := 1; launch <= launches; launch++ {
			all = append(all, sideTrial{driver, "v2", "web", 1000 + float64(launch*launch%50)}.trial(launch))
		}
		return analysis.Side{Result: sideRun(t, id, all)}.Rows()[0]
	}
	metric, _ := assay.MetricByName(assay.NsPerOp)
	a, b := side("r1", "mattn", 20), side("r2", "modernc", 6)
	b.Table.Planned = 24
	one, _, err := a.Against(b, metric)
	must(t, err)
	other, _, err := b.Against(a, metric)
	if err != nil || math.Abs(one.Ratio.Low*other.Ratio.High-1) > 1e-12 || math.Abs(one.Ratio.High*other.Ratio.Low-1) > 1e-12 {
		t.Errorf("%+v and %+v, %v", one.Ratio, other.Ratio, err)
	}
}

// Few launches in common do not keep two rows from being compared that have
// enough of their own; of those, the ones of the same time count.
func TestAgainstWithFewInCommon(t *testing.T) {
	var all []assay.Trial
	for launch := 1; launch <= 12; launch++ {
		for i, c := range []sideTrial{{"mattn", "v2", "web", 1000}, {"modernc", "v9", "web", 3000}} {
			trial := c.trial(launch)
			if i == 1 && launch > 1 {
				trial.Group = "h"
			}
			if i == 0 || launch != 12 {
				all = append(all, trial)
			}
		}
	}
	metric, _ := assay.MetricByName(assay.NsPerOp)
	r := sideRun(t, "r", all)
	row := func(driver string) *analysis.Row {
		return analysis.Side{Result: r, Where: map[string]string{"driver": driver}}.Rows()[0]
	}
	c, basis, err := row("mattn").Against(row("modernc"), metric)
	if err != nil || basis != analysis.Apart || c.Ratio.N != 11 {
		t.Errorf("%+v, basis %v, %v; want 11 launches each, apart", c.Ratio, basis, err)
	}
	if v := (&analysis.Ranking{Table: r.Tables[0]}).Compare(row("mattn"), row("modernc")); v.Verdict != stat.Undecided || v.Reason != stat.TooFew {
		t.Errorf("ranked by %+v", v)
	}
}

func TestVersusOfTwoRuns(t *testing.T) {
	a := sideReport(t, "r1", sideTrial{"mattn", "v1", "web", 1000}, sideTrial{"modernc", "v9", "web", 3000})
	b := sideReport(t, "r2", sideTrial{"mattn", "v2", "web", 2000})
	v, err := analysis.NewVersus(analysis.Side{Result: a, Name: "r1"}, analysis.Side{Result: b, Name: "r2"})
	must(t, err)
	if diff := cmp.Diff([]string{"v1 v2 mattn (web) faster"}, said(v)); diff != "" {
		t.Errorf("lines (-want +got)\n%s", diff)
	}
	if l := v.Lines[0]; l.Basis != analysis.Apart || l.Comparison.Verdict != stat.Faster {
		t.Errorf("%+v", l)
	}
}

// sameRatio reports whether intervals are equal but for rounding.
func sameRatio(a, b stat.Interval) bool {
	near := func(x, y float64) bool { return math.Abs(x-y) <= 1e-12*math.Abs(y) }
	return a.N == b.N && near(a.Center, b.Center) && near(a.Low, b.Low) && near(a.High, b.High)
}

// Whether launches drift is looked for in all of them, not only in as many as the other
// side has: too few to find anything.
func TestAgainstLooksAtAllLaunches(t *testing.T) {
	var all []assay.Trial
	for launch := 1; launch <= 40; launch++ {
		long := sideTrial{"mattn", "v2", "web", 1000 + 10*float64(launch)}.trial(launch)
		long.Group = "long"
		all = append(all, long)
		if launch <= 5 {
			all = append(all, sideTrial{"modernc", "v9", "default", 1150 + 3*float64(launch%2)}.trial(launch))
		}
	}
	r := sideRun(t, "r1", all)
	row := func(driver string) *analysis.Row {
		return analysis.Side{Result: r, Where: map[string]string{"driver": driver}}.Rows()[0]
	}
	metric, _ := assay.MetricByName(assay.NsPerOp)
	got, basis, err := row("mattn").Against(row("modernc"), metric)
	if err != nil || basis != analysis.Apart || got.Ratio.N != 5 || got.Verdict != stat.Undecided || got.Ratio.High < 1.1 {
		t.Errorf("got %+v, basis %v, %v; want five launches without a verdict: in 40 the figure rises by a third", got, basis, err)
	}
}

// Figures of two groups that rise together, to twice in 24 launches, are told apart by
// the launches that follow each other, and only by those.
func TestAgainstInTurn(t *testing.T) {
	for name, test := range map[string]struct {
		change func(trial *assay.Trial, second bool) // of how the launches were made
		want   analysis.Basis
		n      int
	}{
		"in turn": {func(*assay.Trial, bool) {}, analysis.InTurn, 24},
		"the second first": {func(trial *assay.Trial, second bool) {
			trial.Started = trial.Started.Add(-later(second, 45*time.Second))
		}, analysis.InTurn, 24},
		"all of one after the other's": {func(trial *assay.Trial, second bool) { trial.Started = trial.Started.Add(later(second, time.Hour)) }, analysis.Apart, 24},
		"in two runs":                  {func(trial *assay.Trial, second bool) { trial.Run = map[bool]string{true: "r2"}[second] }, analysis.Apart, 24},
		"few in turn": {func(trial *assay.Trial, second bool) {
			if second && trial.Launch > 18 {
				trial.Started = trial.Started.Add(time.Hour)
			}
		}, analysis.Apart, 24},
		"eight link layouts": {func(trial *assay.Trial, _ bool) { trial.Layout = 1 + trial.Launch%8 }, analysis.Apart, 8},
		"at unknown times":   {func(trial *assay.Trial, _ bool) { trial.Started = time.Time{} }, analysis.Apart, 24},
	} {
		var all []assay.Trial
		for launch := 1; launch <= 24; launch++ {
			for i, driver := range []string{"mattn", "modernc"} {
				second := i == 1
				trial := sideTrial{driver, "v2", "web", 0}.trial(launch)
				trial.Group += driver
				trial.Figures[assay.NsPerOp] = 1000 * math.Pow(1.03, float64(launch)) * (1 + 0.2*float64(i)) * (1 + 0.004*float64(launch*launch%3))
				trial.Started = time.Unix(int64(60*launch+15*i), 0)
				test.change(&trial, second)
				all = append(all, trial)
			}
		}
		r := sideRun(t, "r1", all)
		row := func(driver string) *analysis.Row {
			return analysis.Side{Result: r, Where: map[string]string{"driver": driver}}.Rows()[0]
		}
		metric, _ := assay.MetricByName(assay.NsPerOp)
		got, basis, err := row("modernc").Against(row("mattn"), metric)
		if err != nil || basis != test.want || got.Ratio.N != test.n {
			t.Errorf("%s: %d launches, basis %d, %v; want %d launches, basis %d", name, got.Ratio.N, basis, err, test.n, test.want)
		}
		if decided := got.Verdict == stat.Slower; decided != (test.want == analysis.InTurn) {
			t.Errorf("%s: %s, %+v", name, got.Verdict, got.Ratio)
		}
	}
}

// later is some time for the second of two, and none for the first.
func later(second bool, some time.Duration) time.Duration {
	if second {
		return some
	}
	return 0
}

// Launches of two runs of one time are not in turn: they may be of two machines.
func TestTwoRunsAreNotInTurn(t *testing.T) {
	var rows []*analysis.Row
	for i, id := range []string{"r1", "r2"} {
		var all []assay.Trial
		for launch := 1; launch <= 24; launch++ {
			trial := sideTrial{"mattn", "v2", "web", 0}.trial(launch)
			trial.Figures[assay.NsPerOp] = 1000 * math.Pow(1.03, float64(launch)) * (1 + 0.2*float64(i)) * (1 + 0.004*float64(i)*float64(launch*launch%3))
			trial.Started = time.Unix(int64(60*launch+15*i), 0)
			all = append(all, trial)
		}
		rows = append(rows, analysis.Side{Result: sideRun(t, id, all)}.Rows()[0])
	}
	metric, _ := assay.MetricByName(assay.NsPerOp)
	if got, basis, err := rows[1].Against(rows[0], metric); err != nil || basis != analysis.Apart || got.Verdict != stat.Undecided {
		t.Errorf("got basis %d, %s, %v; want launches apart without a verdict", basis, got.Verdict, err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A run on a busy machine and one on a quiet machine are compared by what both have, in either
// order.
func TestVersusByACommonMetric(t *testing.T) {
	make := func(id string, busy bool) *analysis.Result {
		run := analysistest.PlainRun
		run.ID = id
		return mustReport(t, run, analysistest.Change(analysistest.Launches(analysistest.Cell("read", "mattn", "web"), 6, 1000, 1), func(t *assay.Trial) {
			if busy {
				t.Figures[assay.ComputePerOp] = 500
			}
		}))
	}
	busy, calm := make("r1", true), make("r2", false)
	for _, pair := range [][2]*analysis.Result{{busy, calm}, {calm, busy}} {
		a, err := analysis.NewSide(pair[0], "mattn")
		must(t, err)
		b, err := analysis.NewSide(pair[1], "mattn")
		must(t, err)
		v, err := analysis.NewVersus(a, b)
		must(t, err)
		if l := v.Lines[0]; l.Metric.Name != assay.NsPerOp || l.Comparison.Ratio.N == 0 {
			t.Errorf("%s against %s: got %+v, want a comparison by %s", pair[0].Run.ID, pair[1].Run.ID, l, assay.NsPerOp)
		}
	}
}
