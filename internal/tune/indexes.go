package tune

import (
	"context"
	"slices"

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
// need no confirmation. How many launches there are follows from what the first one
// took.
func (t *tuning) indexes(ctx context.Context) error {
	points := t.config.Space.OfDataPoints()
	if len(points) == 0 {
		return nil
	}
	rows := map[string]*row{}
	launches := indexLaunches
	for n := 1; n <= launches; n++ {
		members, err := t.block(ctx, Block{Indexes, n, indexLaunches, points, points})
		if err != nil {
			return err
		}
		collect(rows, points, members)
		if n == 1 {
			if launches = min(launches, 1+t.affordable(indexShare, len(points))); launches < minIndexLaunches {
				t.before = t.spent
				t.outcome.IndexesUntried = true
				return nil
			}
		}
	}
	t.before = t.spent
	points = slices.DeleteFunc(points, func(p Point) bool { return t.refused[p.Key()] != "" || rows[p.Key()].launches() < stat.MinPairs })
	t.outcome.Indexes, t.outcome.IndexLaunches = t.asFamily(points, rows, launches), launches
	return nil
}
