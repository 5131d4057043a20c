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

// indexes measures indexes and statistics with the current settings. Nobody chooses
// among the figures: all of them are reported, adjusted for each other, so that they
// need no confirmation. How many launches there are follows from what the first ones
// took, not from what they showed.
func (t *tuning) indexes(ctx context.Context) error {
	points := t.config.Space.OfDataPoints()
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
	points = slices.DeleteFunc(points, func(p Point) bool { return t.refused[p.Key()] != "" || rows[p.Key()].launches() < stat.MinPairs })
	t.outcome.Indexes, t.outcome.IndexLaunches = t.asFamily(points, rows, launches), launches
	return nil
}

// indexLaunches is how many launches the budget pays for the indexes, where the last of
// so many took some time.
func (t *tuning) indexLaunches(done int, last time.Duration, members int) int {
	if t.config.Budget == 0 {
		return indexLaunches
	}
	confirming := minConfirmations * leastConfirmed * last / time.Duration(members)
	left := min(time.Duration(indexShare*float64(t.config.Budget)), t.config.Budget-confirming) - t.spent
	return launchesWithin(done, indexLaunches, last, left)
}
