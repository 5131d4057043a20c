//go:build unix

package runner

import (
	"math"
	"time"

	"assay"
	"assay/internal/stat"
)

// maxWindows bounds how many windows an operation gets in a launch.
const maxWindows = 6 * windowsPerLaunch

// effort is what the windows of an operation took so far, on all instances.
type effort struct {
	launches int
	rounds   int // windows of each instance
	took     time.Duration
}

// round is what one window on each instance takes.
func (e effort) round() time.Duration { return e.took / time.Duration(max(1, e.rounds)) }

// windowUse is what the windows of a group's operations used so far.
type windowUse struct {
	efforts   map[string]effort // by operation
	sequences map[string]int64  // how far they have used up the arguments, by operation
}

func (u *windowUse) add(peer string, rounds int, took time.Duration) {
	e := u.efforts[peer]
	u.efforts[peer] = effort{e.launches + 1, e.rounds + rounds, e.took + took}
}

// windowCount is how many windows of a length an operation gets in a launch: a
// fixed number in the launches that every cell gets, and then the number that
// gives the narrowest interval for the time, by what windows and launches have
// varied and cost. Only spreads have a say in it, never the ratios themselves. It is
// never fewer than that fixed number: what disturbs a machine lasts longer than a window,
// so that launches with few windows differ more than the estimate knows.
func (r *Runner) windowCount(g *group, peer string, w window) int {
	e, v := g.windows.efforts[peer], g.variances(peer, r.baseline)
	if g.launches.counted() < r.config.Launches || e.rounds == 0 || math.IsNaN(v.Windows) {
		return w.count()
	}
	return max(w.count(), stat.Repetitions(v.Windows, v.Launches, float64(e.round()), float64(g.share()), maxWindows))
}

// window is a window of an operation on the slowest of its instances.
type window struct {
	length time.Duration // about
	units  int64         // operations or transactions; 0: as many as fit into it
}

// minCounted is how many operations a window has at least that counts them: more than
// three times as many as a short call, or the two would not show a slow clock.
const minCounted = 4

// windowOf is the window of a case whose operations take so long each. One client
// that does few operations in a window counts them, and does as many on each slow
// instance, so that instances alternate after a few operations, and what the machine
// does in between strikes all of them alike.
func windowOf(each time.Duration, c assay.Case) window {
	unit := each * time.Duration(max(1, c.Operation.Transaction))
	switch {
	case minPerWindow*unit <= windowLength:
		return window{length: windowLength}
	case c.Cell.Clients > 1:
		return window{length: minPerWindow * unit}
	}
	units := max(minCounted, windowLength/unit)
	return window{length: units * unit, units: int64(units)}
}

// count is how many windows a launch has while nothing is known of their spread: one of an
// operation that takes long, whose launches tell more for their time than its windows.
func (w window) count() int {
	return max(1, int(min(windowsPerLaunch, longWindows/w.length)))
}

// share is what a launch costs each of its operations beside their windows: to
// start and warm up the instances, to check answers and to end them.
func (g *group) share() time.Duration {
	rest, use := g.launches.cost, g.windows
	for _, e := range use.efforts {
		rest -= e.took / time.Duration(e.launches)
	}
	return max(time.Millisecond, rest/time.Duration(max(1, len(use.efforts))))
}

// variances are those of an operation's ratios to the baseline, the mean over
// its cells.
func (g *group) variances(peer string, baseline assay.Baseline) stat.Variances {
	var all []stat.Variances
	for _, m := range g.members {
		j := m.job(peer)
		if j == nil || m.twin {
			continue
		}
		base := g.compared(j, baseline)
		if base == nil || base.Cell.Key() == j.Cell.Key() {
			continue
		}
		if v, err := stat.EstimateVariances([][][]float64{g.record.windowRatios(j.Cell.Key(), base.Cell.Key())}); err == nil {
			all = append(all, v)
		}
	}
	return meanVariances(all)
}

// meanVariances is NaN where there are none.
func meanVariances(all []stat.Variances) stat.Variances {
	n := float64(len(all))
	if n == 0 {
		return stat.Variances{Windows: math.NaN(), Launches: math.NaN()}
	}
	var sum stat.Variances
	for _, v := range all {
		sum.Windows += v.Windows / n
		sum.Launches += v.Launches / n
	}
	return sum
}
