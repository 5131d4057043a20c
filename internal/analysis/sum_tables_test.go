package analysis_test

import (
	"slices"
	"testing"
	"time"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/analysistest"
)

// A run that was asked for a sum is open where the sum is. To decide that takes launches
// of all operations that the sum adds up.
func TestOpenSum(t *testing.T) {
	var trials []assay.Trial
	add := func(operation, rows string, sum bool) {
		for i, driver := range []string{"modernc", "mattn"} {
			c := analysistest.Cell(operation, driver, "web")
			c.Params = map[string]string{"rows": rows}
			trials = append(trials, analysistest.Change(analysistest.Launches(c, 6, 100, i), func(t *assay.Trial) {
				if i == 1 {
					t.Figures[assay.NsPerOp] *= []float64{0.9, 1.1}[t.Launch%2]
				}
				t.Took = 20 * time.Millisecond
				if sum {
					t.Mode, t.Took = assay.Blocks, 0
				}
			})...)
		}
	}
	add("first", "1000", false)
	add("second", "1000", false)
	add("total", "1000", true)
	add("second", "20", false)
	add("total", "20", true)
	const first, second = 2 * 20 * time.Millisecond, 2 * 20 * time.Millisecond // of both drivers
	for _, c := range []struct {
		name string
		only map[string][]string
		open []string
		want map[string]time.Duration // of one launch
	}{
		{"all", nil, []string{"first 1000", "second 20", "second 1000", "total 20", "total 1000"},
			map[string]time.Duration{"total 20": 0, "total 1000": 0}},
		{"the sums", map[string][]string{"operation": {"total"}, "driver": {"mattn", "modernc"}, "rows": {"1e3", "20"}}, []string{"total 20", "total 1000"},
			map[string]time.Duration{"total 20": second, "total 1000": first + second}},
		{"sums and an operation of them", map[string][]string{"operation": {"total", "first"}}, []string{"first 1000", "total 20", "total 1000"},
			map[string]time.Duration{"total 20": second, "total 1000": second}},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := analysistest.PlainRun
			run.Options.Only, run.MinTime = c.only, time.Second
			r, err := analysis.New(run, analysistest.Each(trials))
			must(t, err)
			name := func(table *analysis.Table) string { return table.Cell().Operation + " " + table.Cell().Params["rows"] }
			a := r.Answer()
			var open []string
			for _, table := range a.Open {
				open = append(open, name(table))
			}
			slices.Sort(open)
			slices.Sort(c.open)
			if !slices.Equal(open, c.open) {
				t.Errorf("open are %q, want %q", open, c.open)
			}
			if c.only != nil && a.Needs == 0 {
				t.Error("got no time to decide, want one")
			}
			for _, table := range r.Tables {
				if want, has := c.want[name(table)]; has && table.Launch != want {
					t.Errorf("a launch of %s takes %s, want %s", name(table), table.Launch, want)
				}
			}
		})
	}
}

// A row that is not compared, because it promises another durability, does not hide how
// long the others take to decide.
func TestUnlikeRowsAreNotWaitedFor(t *testing.T) {
	var trials []assay.Trial
	for i, driver := range []string{"mattn", "modernc", "glebarez"} {
		all := analysistest.Change(analysistest.Launches(analysistest.Cell("insert", driver, "web"), 6, 100, i), func(t *assay.Trial) {
			t.Figures[assay.NsPerOp] *= []float64{0.95, 1.05 + 0.02*float64(i)}[t.Launch>>i&1]
			t.Took = 20 * time.Millisecond
		})
		class, synchronous := assay.Power, "2"
		if driver == "glebarez" {
			class, synchronous = assay.Consistent, "1"
		}
		trials = append(trials, analysistest.Durable(all, class, synchronous)...)
	}
	r, err := analysis.New(analysistest.PlainRun, analysistest.Each(trials))
	must(t, err)
	if a := r.Answer(); len(a.Open) != 1 || len(a.Decidable) != 1 || a.Needs == 0 {
		t.Errorf("%d tables are open, %d can be decided, in %s; want one, one, and a time", len(a.Open), len(a.Decidable), a.Needs)
	}
}
