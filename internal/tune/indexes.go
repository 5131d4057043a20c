package tune

import (
	"context"
	"slices"
	"time"

	"assay/internal/stat"
)

const (
	// indexLaunches is how many launches tell what indexes and statistics do, and
	// minIndexLaunches the fewest that a budget must pay for them.
	indexLaunches    = 6
	minIndexLaunches = 3
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
	rows := map[string]*row{}
	launches := indexLaunches
	for n := 1; n <= launches; n++ {
		before := t.spent
		members, err := t.block(ctx, Block{Stage: Indexes, Number: n, Of: indexLaunches, Points: points, All: points})
		if err != nil {
			return err
		}
		collect(rows, points, members)
		if n <= 2 {
			launches = t.indexLaunches(n, t.spent-before, 1+len(points))
		}
	}
	t.before = t.spent
	if launches < minIndexLaunches {
		t.outcome.IndexesUntried = true
		return nil
	}
	points = slices.DeleteFunc(points, func(p Point) bool { return t.rowOf(p, rows) == nil })
	t.outcome.Indexes, t.outcome.IndexLaunches = t.asFamily(points, rows, launches), launches
	judgeOperations(t.outcome.Indexes, launches)
	return nil
}

// judgeOperations says which operations each point makes faster or slower, adjusted for
// all points and operations: nothing says before which of them to look at.
func judgeOperations(all []Finalist, launches int) {
	gains := [][]float64{make([]float64, launches)} // the current settings
	var tests []stat.Test
	for _, f := range all {
		for _, values := range f.rows.operations {
			tests = append(tests, stat.Test{A: len(gains), B: 0, Baseline: true, HigherBetter: true})
			gains = append(gains, values)
		}
	}
	verdicts := compare(gains, tests, stat.Rule{})
	for i := range all {
		for range all[i].rows.operations {
			all[i].Verdicts = append(all[i].Verdicts, verdicts[0].Verdict)
			verdicts = verdicts[1:]
		}
	}
}

// indexLaunches is how many launches the budget pays for the indexes, where the last of
// so many took some time.
func (t *tuning) indexLaunches(done int, last time.Duration, members int) int {
	if t.config.Budget == 0 {
		return indexLaunches
	}
	confirming := minConfirmations * minConfirmed * last / time.Duration(members)
	left := min(time.Duration(indexShare*float64(t.config.Budget)), t.config.Budget-confirming) - t.spent
	return launchesWithin(done, indexLaunches, last, left)
}
