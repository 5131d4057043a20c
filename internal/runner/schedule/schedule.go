// Package schedule decides which groups of cells are launched next, from what
// their launches cost and how many each still needs. It starts nothing and
// knows no clock: the same groups always give the same answer.
//
// Every group for whose minimum of launches there is time gets it first, one level
// after the other: no group has its third launch while another has one. Larger sizes
// of the data, for which there is none, come last: what is left of the budget goes to
// intervals that are still too wide, where it decides most.
package schedule

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// MaxTries is how often a launch is made until it counts even if it is disturbed each
// time: for whose turn it is, and without a budget for the end of the run, which would
// never come where all launches are disturbed.
const MaxTries = 2

// Group holds what the schedule knows of cells that are launched together.
type Group struct {
	Cost     time.Duration // of one launch
	Guessed  bool          // Cost is an estimate, since there was no launch yet
	Launches int           // those that count
	Tries    int           // all, the disturbed ones too
	Needed   int           // launches after which every interval is expected to be narrow enough
	Wide     int           // intervals that are too wide
	Tables   int           // of comparisons that a launch adds to
	Size     int           // place of its data among the sizes of its operations; 0: the smallest
	Reads    bool          // it changes nothing
	// Divisible says that a launch can be ended between two operations, and what
	// was measured until then is kept.
	Divisible bool
}

// GuessError is by what factor an estimate of what was never measured may be too high.
const GuessError = 4

// fits reports whether a launch may be begun in the time that is left: one that can be ended
// where half of it fits, and one of which the cost is a guess where that may be too high.
func (g Group) fits(left time.Duration) bool {
	switch {
	case g.Guessed:
		return g.Cost/GuessError <= left
	case g.Divisible:
		return g.Cost/2 <= left
	}
	return g.Cost <= left
}

// level returns how many launches the group has for whose turn it is. Disturbed ones are
// tried again, but not for as long as others have had no turn.
func (g Group) level() int { return max(g.Launches, g.Tries/MaxTries) }

func (g Group) perTable() time.Duration { return g.Cost / time.Duration(max(1, g.Tables)) }

// Limits holds the limits of a whole run.
type Limits struct {
	MinLaunches int           // of every group
	Left        time.Duration // of the budget
	Bounded     bool          // there is a budget
	Longer      float64       // how many times as long launches take as guessed; 0: as long
}

func (l Limits) needed(g Group) int { return max(l.MinLaunches, g.Needed) }

func (l Limits) wants(g Group) bool {
	return g.Launches < l.needed(g) && (l.Bounded || g.Tries < MaxTries*l.needed(g))
}

// missing is the time of the launches that a group which wants some still needs.
func (l Limits) missing(g Group) time.Duration {
	return time.Duration(l.needed(g)-g.Launches) * g.Cost
}

// Next returns the groups of the next round by their index, the most valuable
// first; none where the run is at its end. Together they fit into what is left;
// where nothing fits, it is one group whose launch can be ended by the budget.
func Next(groups []Group, limits Limits) []int {
	if limits.Left <= 0 {
		return nil
	}
	var wanting []int
	for i, g := range groups {
		if limits.wants(g) {
			wanting = append(wanting, i)
		}
	}
	if next := lowestLevel(groups, limits.first(groups, wanting), limits); len(next) > 0 {
		return next
	}
	if next := narrowing(groups, wanting, limits); len(next) > 0 {
		return next
	}
	if next := lowestLevel(groups, wanting, limits); len(next) > 0 {
		return next
	}
	return divisible(groups, wanting)
}

// first returns those of some groups that get the minimum of launches before others get any: all
// of the smallest size, and of a larger one all, where there is time for all, or once the smaller
// ones have theirs, the cheaper for a table first, those for which there is. Of one launch of
// everything, nothing could be decided.
func (l Limits) first(groups []Group, wanting []int) []int {
	if !l.Bounded || l.MinLaunches == math.MaxInt || len(wanting) == 0 {
		return wanting
	}
	missing := func(i int) time.Duration {
		return time.Duration(max(0, l.MinLaunches-groups[i].level())) * l.Expected(groups[i])
	}
	perTable := func(i int) time.Duration { return missing(i) / time.Duration(max(1, groups[i].Tables)) }
	smallest, of := math.MaxInt, map[int]time.Duration{} // what a size is missing
	for _, g := range groups {
		smallest = min(smallest, g.Size)
	}
	for _, i := range wanting {
		of[groups[i].Size] += missing(i)
	}
	before := func(size int) (sum time.Duration) {
		for other, lack := range of {
			if other < size {
				sum += lack
			}
		}
		return sum
	}
	first := slices.SortedStableFunc(slices.Values(wanting), func(a, b int) int {
		return cmp.Or(cmp.Compare(groups[a].Size, groups[b].Size), cmp.Compare(perTable(a), perTable(b)))
	})
	left := l.Left
	return slices.DeleteFunc(first, func(i int) bool {
		size := groups[i].Size
		if smaller := before(size); size > smallest && smaller+of[size] > l.Left && (smaller > 0 || missing(i) > left) {
			return true
		}
		left -= missing(i)
		return false
	})
}

// Expected returns what a launch of a group takes.
func (l Limits) Expected(g Group) time.Duration {
	if !g.Guessed {
		return g.Cost
	}
	return time.Duration(max(1, l.Longer) * float64(g.Cost))
}

// Last are the groups that get no launch before all others have their minimum, because the time
// that is left does not suffice for that of all.
func Last(groups []Group, limits Limits) []int {
	all := make([]int, len(groups))
	for i := range groups {
		all[i] = i
	}
	first := limits.first(groups, all)
	return slices.DeleteFunc(all, func(i int) bool { return slices.Contains(first, i) })
}

// lowestLevel are the groups below the minimum that have the fewest launches of those
// that fit: reads and changes by turns, of each the cheapest for a table first. One that fits in part
// is begun alone, where no other of its level fits: what it measures is worth more than a further
// launch of the others.
func lowestLevel(groups []Group, wanting []int, limits Limits) []int {
	var below []int
	for _, i := range wanting {
		if g := groups[i]; g.level() < limits.MinLaunches && g.fits(limits.Left) {
			below = append(below, i)
		}
	}
	below = byTurns(groups, below)
	var next []int
	left := limits.Left
	for _, i := range below {
		if groups[i].Cost <= left {
			left -= groups[i].Cost
			next = append(next, i)
		}
	}
	if len(next) == 0 && len(below) > 0 {
		return below[:1]
	}
	return next
}

// byTurns orders those of some groups that have the fewest launches. The kind whose turn it is has
// fewer groups that are ahead of them; reads begin.
func byTurns(groups []Group, some []int) []int {
	lowest, turn, place := math.MaxInt, map[bool]int{}, map[int]int{}
	for _, i := range some {
		lowest = min(lowest, groups[i].level())
	}
	for _, g := range groups {
		if g.level() > lowest {
			turn[g.Reads]++
		}
	}
	some = slices.DeleteFunc(slices.Clone(some), func(i int) bool { return groups[i].level() > lowest })
	slices.SortStableFunc(some, func(a, b int) int { return cmp.Compare(groups[a].perTable(), groups[b].perTable()) })
	for _, i := range some {
		place[i] = 2 * turn[groups[i].Reads]
		if turn[groups[i].Reads]++; !groups[i].Reads {
			place[i]++
		}
	}
	slices.SortStableFunc(some, func(a, b int) int { return cmp.Compare(place[a], place[b]) })
	return some
}

// narrowing are the groups that the rest of the budget decides most with: those
// whose intervals become narrow enough within it, the cheapest for each interval
// first, and where there is none, the one whose next launch narrows most for its
// cost.
func narrowing(groups []Group, wanting []int, limits Limits) []int {
	var above []int
	for _, i := range wanting {
		if groups[i].level() >= limits.MinLaunches {
			above = append(above, i)
		}
	}
	perInterval := func(i int) float64 { return float64(limits.missing(groups[i])) / float64(max(1, groups[i].Wide)) }
	slices.SortStableFunc(above, func(a, b int) int { return cmp.Compare(perInterval(a), perInterval(b)) })
	var next, startable []int
	left := limits.Left
	for _, i := range above {
		if missing := limits.missing(groups[i]); missing <= left {
			left -= missing
			next = append(next, i)
		} else if groups[i].Cost <= limits.Left {
			startable = append(startable, i)
		}
	}
	if len(next) > 0 || len(startable) == 0 {
		return next
	}
	// One launch beside n makes an interval narrower by 1/2n.
	perNarrowing := func(i int) float64 {
		g := groups[i]
		return float64(g.Cost) * float64(g.level()) / float64(max(1, g.Wide))
	}
	return []int{slices.MinFunc(startable, func(a, b int) int { return cmp.Compare(perNarrowing(a), perNarrowing(b)) })}
}

// divisible is the group with the fewest launches of those whose launch the
// budget may end.
func divisible(groups []Group, wanting []int) []int {
	could := slices.DeleteFunc(slices.Clone(wanting), func(i int) bool { return !groups[i].Divisible })
	if len(could) == 0 {
		return nil
	}
	return []int{slices.MinFunc(could, func(a, b int) int {
		return cmp.Or(cmp.Compare(groups[a].Launches, groups[b].Launches), cmp.Compare(groups[a].Cost, groups[b].Cost))
	})}
}
