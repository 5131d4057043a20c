package analysis

import (
	"testing"
	"time"

	"assay"
	"assay/internal/analysis/analysistest"
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
	if err != nil {
		t.Fatal(err)
	}
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
