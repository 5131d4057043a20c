package tune

import (
	"context"
	"math"
	"slices"
	"time"

	"assay/internal/stat"
)

const (
	// indexLaunches is how many launches tell what indexes and statistics do, and
	// minIndexLaunches the fewest that a budget must pay for them.
	indexLaunches    = 6
	minIndexLaunches = 3
	// largeEffect is the ratio that needs no more than largeLaunches: each of them shows it.
	largeEffect   = 3
	largeLaunches = 2
)

// indexes measures indexes, statistics and other uses of the driver with the current settings. Nobody chooses
// among the figures: all of them are reported, adjusted for each other, so that they
// need no confirmation. How many launches there are follows from what the first ones
// took, not from what they showed.
func (t *tuning) indexes(ctx context.Context) error {
	points := t.config.Space.FirstPoints()
	if len(points) == 0 {
		return nil
	}
	rows, launches, err := t.rows(ctx, Block{Stage: Indexes, Of: indexLaunches, Points: points}, func(rows map[string]*row, done int, last time.Duration) int {
		launches := t.indexLaunches(done, last, 1+len(points))
		if done < largeLaunches && slices.ContainsFunc(points, func(p Point) bool { return rows[p.Key()].large(done) }) {
			return max(launches, largeLaunches)
		}
		return launches
	})
	if err != nil {
		return err
	}
	t.before = t.spent
	points = slices.DeleteFunc(points, func(p Point) bool { return t.rowOf(p, rows) == nil })
	if launches < minIndexLaunches {
		t.outcome.IndexesUntried = true
		points = slices.DeleteFunc(points, func(p Point) bool { return !rows[p.Key()].large(largeLaunches) })
	}
	if len(points) == 0 {
		return nil
	}
	t.outcome.Indexes, t.outcome.IndexLaunches = t.asFamily(points, rows, launches), launches
	judgeOperations(t.outcome.Indexes, launches)
	for i := range t.outcome.Indexes {
		t.outcome.Indexes[i].judgeLarge()
	}
	return nil
}

// large reports whether so many launches show an effect of that size, each of them in the
// same direction.
func (r *row) large(launches int) bool {
	return r != nil && largeGains(r.gains, launches) != 0
}

// largeGains is 1 where each of the launches is much faster, -1 where each is much slower,
// and 0 where they are not that sure.
func largeGains(gains []float64, launches int) int {
	faster, slower := 0, 0
	for _, g := range gains {
		switch {
		case g > math.Log(largeEffect):
			faster++
		case g < -math.Log(largeEffect):
			slower++
		}
	}
	switch {
	case len(gains) < launches:
		return 0
	case faster == len(gains):
		return 1
	case slower == len(gains):
		return -1
	}
	return 0
}

// judgeLarge decides what launches are too few to decide, and large enough to show.
func (f *Finalist) judgeLarge() {
	verdicts := map[int]stat.Verdict{1: stat.Faster, -1: stat.Slower}
	if verdict, large := verdicts[largeGains(f.rows.gains, largeLaunches)]; large {
		f.Verdict = verdict
	}
	for i, gains := range f.rows.operations {
		if verdict, large := verdicts[largeGains(gains, largeLaunches)]; large {
			f.Verdicts[i] = verdict
		}
	}
}

// judgeOperations says which operations each point makes faster or slower, adjusted for
// all points and operations: nothing says before which of them to look at.
func judgeOperations(all []Finalist, launches int) {
	var gains [][]float64
	for _, f := range all {
		gains = append(gains, f.rows.operations...)
	}
	verdicts := compare(gains, launches)
	for i := range all {
		for range all[i].rows.operations {
			all[i].Verdicts = append(all[i].Verdicts, verdicts[0].Verdict)
			verdicts = verdicts[1:]
		}
	}
}

// indexLaunches returns how many launches the budget pays for the indexes, where the last of
// so many took some time.
func (t *tuning) indexLaunches(done int, last time.Duration, members int) int {
	confirming := minConfirmations * minConfirmed * last / time.Duration(members)
	left := min(time.Duration(indexShare*float64(t.config.Budget)), t.config.Budget-confirming) - t.spent
	return t.launchesWithin(done, indexLaunches, last, left)
}
