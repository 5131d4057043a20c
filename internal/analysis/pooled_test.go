package analysis_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"assay"
	"assay/internal/analysis"
	"assay/internal/stat"
)

// pooledLaunches are launches of a driver in a group of its own, of one of several pooled
// runs; each begins a minute after the one before it.
func pooledLaunches(driver, run string, launches int, ns float64, from time.Time) []assay.Trial {
	var all []assay.Trial
	for launch := 1; launch <= launches; launch++ {
		one := sideTrial{driver, "v2", "web", ns}.trial(launch)
		one.Group, one.Run, one.Started = "g-"+driver, run, from.Add(time.Duration(launch)*time.Minute)
		one.Figures[assay.NsPerOp] = ns * (1 + 0.001*float64(launch*launch%3))
		all = append(all, one)
	}
	return all
}

// What one of two rows got in another run, or beyond what the other has in a run, was made at
// another time: it is not in their ratio.
func TestAgainstByTheLaunchesOfOneTime(t *testing.T) {
	first, second := time.Unix(0, 0), time.Unix(1e6, 0)
	join := func(parts ...[]assay.Trial) (all []assay.Trial) {
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	slow := func(ns float64) float64 { return 3 * ns } // the machine, at another time
	var ofOneRun []stat.Interval
	for name, test := range map[string]struct {
		trials []assay.Trial
		n      int
		looks  int
	}{
		"one run": {join(pooledLaunches("mattn", "r1", 6, 1000, first), pooledLaunches("modernc", "r1", 6, 2000, first)), 6, 1},
		"one has another run": {join(pooledLaunches("mattn", "r1", 6, 1000, first), pooledLaunches("modernc", "r1", 6, 2000, first),
			pooledLaunches("mattn", "r2", 30, slow(1000), second)), 6, 1},
		"one has more of the first run": {join(pooledLaunches("mattn", "r1", 12, 1000, first), pooledLaunches("modernc", "r1", 4, 2000, first),
			pooledLaunches("mattn", "r2", 4, slow(1000), second), pooledLaunches("modernc", "r2", 4, slow(2000), second)), 8, 2},
		"one has more of the second run": {join(pooledLaunches("mattn", "r1", 4, 1000, first), pooledLaunches("modernc", "r1", 4, 2000, first),
			pooledLaunches("mattn", "r2", 4, slow(1000), second), pooledLaunches("modernc", "r2", 12, slow(2000), second)), 8, 2},
	} {
		rows := slices.SortedFunc(sideRun(t, "pool", test.trials).Rows(), func(a, b *analysis.Row) int { return strings.Compare(a.Driver, b.Driver) })
		metric, _ := assay.MetricByName(assay.NsPerOp)
		got, basis, err := rows[0].Against(rows[1], metric)
		ratio := got.Ratio.Center
		if err != nil || basis != analysis.Apart || got.Ratio.N != test.n || math.Abs(ratio-0.5) > 0.001 || rows[0].Looks(rows[1]) != test.looks {
			t.Errorf("%s: got %.4f of %d launches, basis %d, %d looks, %v; want 0.5 of %d launches apart, %d looks", name, ratio, got.Ratio.N, basis, rows[0].Looks(rows[1]), err, test.n, test.looks)
		}
		if test.looks == 1 {
			ofOneRun = append(ofOneRun, got.Ratio)
		}
	}
	if len(ofOneRun) != 2 || ofOneRun[0] != ofOneRun[1] {
		t.Errorf("got the intervals %v, want one: what one has in another run widens none", ofOneRun)
	}
}

// Launches of pooled runs are in the order of the runs, and in each by number.
func TestOrderOfPooledLaunches(t *testing.T) {
	first, second := pooledLaunches("mattn", "r1", 3, 1000, time.Unix(0, 0)), pooledLaunches("mattn", "", 3, 1000, time.Unix(1e6, 0))
	first[0], first[2] = first[2], first[0]
	var got []int64
	for row := range sideRun(t, "pool", append(first, second...)).Rows() {
		for _, trial := range row.Trials {
			got = append(got, trial.Started.Unix())
		}
	}
	want := []int64{60, 120, 180, 1000060, 1000120, 1000180}
	if len(got) != len(want) {
		t.Fatalf("got launches at %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("got launches at %v, want %v", got, want)
		}
	}
}

// A verdict that was looked for before has the level of that look, on whichever basis.
func TestAgainstAfterEarlierLooks(t *testing.T) {
	metric, _ := assay.MetricByName(assay.NsPerOp)
	trials := append(pooledLaunches("mattn", "", 6, 1000, time.Unix(0, 0)), pooledLaunches("modernc", "", 6, 1050, time.Unix(0, 0))...)
	for i := range trials {
		trials[i].Figures[assay.NsPerOp] *= 1 + 0.006*float64(i*i%5)
	}
	apart := sideRun(t, "r", trials)
	for i := range trials {
		trials[i].Group = "g"
	}
	joint := sideRun(t, "r", trials)
	for name, r := range map[string]*analysis.Result{"joint": joint, "apart": apart} {
		var rows []*analysis.Row
		for row := range r.Rows() {
			rows = append(rows, row)
		}
		width := map[int]float64{}
		for looks, level := range map[int]float64{0: 0.95, 1: 0.99, 2: 1 - 0.04/9} {
			c, _, err := rows[1].AgainstAfter(looks, rows[0], metric)
			if err != nil || math.Abs(c.Level-level) > 1e-9 {
				t.Errorf("%s, after %d looks: got level %v, %v; want %v", name, looks, c.Level, err, level)
			}
			width[looks] = c.Ratio.High / c.Ratio.Low
		}
		if !(width[0] < width[1] && width[1] < width[2]) {
			t.Errorf("%s: got widths %v, want them wider after each look", name, width)
		}
		first, _, _ := rows[1].Against(rows[0], metric)
		late, _, _ := rows[1].AgainstAfter(1000, rows[0], metric)
		if first.Verdict != stat.Slower || late.Verdict != stat.Undecided || first.Ratio.Center != late.Ratio.Center {
			t.Errorf("%s: got %s of %v at first, %s of %v after 1000 looks, want the same ratio, slower and undecided", name, first.Verdict, first.Ratio, late.Verdict, late.Ratio)
		}
	}
}
