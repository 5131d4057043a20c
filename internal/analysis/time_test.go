package analysis

import (
	"slices"
	"testing"
	"time"

	"assay"
	"assay/internal/analysis/analysistest"
	"assay/internal/stat"
)

// More launches are made of rows that may get a verdict only, and none of what fails.
func TestTimeOfLaunches(t *testing.T) {
	row := func(driver, profile string, n int, took time.Duration, synchronous string) []assay.Trial {
		trials := analysistest.Launches(analysistest.Cell("put", driver, profile), n, 1000, 1)
		class := map[string]assay.Durability{"normal": assay.Consistent, "full": assay.Power}[synchronous]
		return analysistest.Change(analysistest.Durable(trials, class, synchronous), func(t *assay.Trial) { t.Took = took })
	}
	var trials []assay.Trial
	for _, part := range [][]assay.Trial{
		row("modernc", "default", 3, 8*time.Second, "normal"), row("mattn", "default", 3, 9*time.Second, "full"),
		row("modernc", "web", 5, time.Second, "normal"), row("mattn", "web", 5, 2*time.Second, "normal"),
	} {
		trials = append(trials, part...)
	}
	failed := analysistest.Ended(analysistest.Cell("put", "glebarez", "web"), assay.Failed, "disk full")
	failed.Took = 500 * time.Millisecond
	run := analysistest.PlainRun
	run.Options.Launches = 3
	r, err := New(run, analysistest.Each(append(trials, failed)))
	must(t, err)
	table := r.Tables[0]
	for launches, want := range map[int]time.Duration{2: 2*20*time.Second + 500*time.Millisecond, 3: 3*20*time.Second + 500*time.Millisecond,
		10: 3*17*time.Second + 10*3*time.Second + 500*time.Millisecond} {
		if got := table.timeOf(launches); got != want {
			t.Errorf("%d launches take %s, want %s", launches, got, want)
		}
	}
	table.Planned = 6
	if got, want := table.timeOf(10), 6*17*time.Second+10*3*time.Second+500*time.Millisecond; got != want {
		t.Errorf("where 6 launches are planned: 10 take %s, want %s", got, want)
	}
}

// Two profiles of the baseline's driver are each other's rivals, and no comparison with a
// baseline: what decides between them is in the time all the same.
func TestLaunchesBetweenLeaders(t *testing.T) {
	var trials []assay.Trial
	for i, profile := range []string{"default", "web"} {
		trials = append(trials, analysistest.Change(analysistest.Launches(analysistest.Cell("get", "modernc", profile), 6, 1000, 1), func(t *assay.Trial) {
			t.Figures["ns/op"] *= 1 + 0.1*float64(t.Launch*(i+1)%4)
			t.Took = 20 * time.Millisecond
		})...)
	}
	r, err := New(analysistest.PlainRun, analysistest.Each(trials))
	must(t, err)
	table := r.Tables[0]
	c := table.Rankings[0].Compare(table.Rows[0], table.Rows[1])
	if got, want := table.launchesToDecide(), 6+c.LaunchesToDecide(); c.Verdict != stat.Undecided || got != want || want == 6 {
		t.Errorf("%s: got %d launches, want %d, which are more than the 6 that were made", c.Verdict, got, want)
	}
	if a := r.Answer(); len(a.Open) != 1 || a.Needs == 0 {
		t.Errorf("got %d open tables and %s, want one and its time", len(a.Open), a.Needs)
	}
	slow, err := New(analysistest.PlainRun, analysistest.Each(analysistest.Change(trials, func(t *assay.Trial) { t.Took = Patience })))
	must(t, err)
	if a := slow.Answer(); len(a.Decidable) != 0 || a.Needs != 0 {
		t.Errorf("got %s of %d tables, want no time that nobody waits for", a.Needs, len(a.Decidable))
	}
}

// The command that decides names operations: their other tables are measured, too, and no
// longer than any.
func TestTimeOfTheWholeOperation(t *testing.T) {
	of := func(operation, rows string, spread float64) (trials []assay.Trial) {
		for i, driver := range []string{"mattn", "modernc"} {
			c := analysistest.Cell(operation, driver, "web")
			c.Params = map[string]string{"rows": rows}
			trials = append(trials, analysistest.Change(analysistest.Launches(c, 6, 1000+1000*float64(i)*(1-spread), 1), func(t *assay.Trial) {
				t.Figures["ns/op"] *= 1 + spread*0.1*float64(t.Launch*(i+1)%4)
				t.Took = 500 * time.Millisecond
			})...)
		}
		return trials
	}
	run := analysistest.PlainRun
	answer := func(trials ...[]assay.Trial) Answer {
		r, err := New(run, analysistest.Each(slices.Concat(trials...)))
		must(t, err)
		return r.Answer()
	}
	one := answer(of("get", "1", 1))
	if len(one.Open) != 1 {
		t.Fatalf("%d tables are open, want one", len(one.Open))
	}
	needs := one.Open[0].timeOf(one.Open[0].launchesToDecide())
	other := one.Open[0].timeOf(stat.MinLaunches)
	if one.Needs != reserved(needs) || reserved(needs) == reserved(needs+other) {
		t.Errorf("got %s, want %s, and more with %s", one.Needs, reserved(needs), other)
	}
	if two := answer(of("get", "1", 1), of("get", "2", 0), of("scan", "1", 0)); len(two.Open) != 1 || two.Needs != reserved(needs+other) {
		t.Errorf("with another size: got %s for %d tables, want %s for one", two.Needs, len(two.Open), reserved(needs+other))
	}
	run.MinTime = time.Minute
	missing := analysistest.Ended(analysistest.Cell("new", "modernc", "web"), assay.NotRun, "the budget ended")
	missing.Launch, missing.Took, missing.Group = 0, 0, "reads"
	if all := answer(of("get", "1", 1), of("get", "2", 0), []assay.Trial{missing}); all.Needs != reserved(time.Minute+needs) {
		t.Errorf("with what was never measured: got %s, want %s: the least launches of all are in it", all.Needs, reserved(time.Minute+needs))
	}
}

// What promises otherwise than the baseline is open where it is undecided against the
// reference of its own profile.
func TestOpenApartFromTheBaseline(t *testing.T) {
	for spread, want := range map[float64]Standing{0: NotCompared, 1: Open} {
		var trials []assay.Trial
		for i, driver := range []string{"modernc", "mattn"} {
			for synchronous, profile := range map[string]string{"2": "default", "1": "web"} {
				class := map[string]assay.Durability{"1": assay.Consistent, "2": assay.Power}[synchronous]
				all := analysistest.Launches(analysistest.Cell("put", driver, profile), 6, 1000*float64(i+1), i)
				trials = append(trials, analysistest.Change(analysistest.Durable(all, class, synchronous), func(t *assay.Trial) {
					if profile == "web" {
						t.Figures["ns/op"] *= 1 + spread*float64(t.Launch*(i+1)%4)
					}
				})...)
			}
		}
		r, err := New(analysistest.PlainRun, analysistest.Each(trials))
		must(t, err)
		a := r.Answer()
		apart := map[string]Standing{}
		for _, e := range a.Lines[0].Entries {
			if e.Apart {
				apart[e.Row.Name()] = e.Standing
			}
		}
		one, has := apart["mattn (web)"]
		if spread > 0 && (!has || one != want) || spread == 0 && len(a.Open) > 0 {
			t.Errorf("with spread %g: got %v apart and %d open tables; want mattn (web) %v", spread, apart, len(a.Open), want)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
