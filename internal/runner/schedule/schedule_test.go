package schedule

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const second = time.Second

// What is left goes to groups that become narrow enough within it, the cheapest
// for each interval first; where none does, to the one that a launch narrows
// most for its cost.
func TestBudgetGoesWhereItDecides(t *testing.T) {
	groups := []Group{
		{Cost: 20 * second, Launches: 6, Needed: 30, Wide: 1},
		{Cost: 2 * second, Launches: 6, Needed: 100, Wide: 1},
		{Cost: second, Launches: 6, Needed: 30, Wide: 1},
	}
	for left, want := range map[time.Duration]string{
		time.Hour: "[2 1 0]", 300 * second: "[2 1]", 60 * second: "[2]", 10 * second: "[2]", second / 2: "[]", 0: "[]",
	} {
		if got := fmt.Sprint(Next(groups, Limits{MinLaunches: 6, Left: left, Bounded: true})); got != want {
			t.Errorf("with %s left, got %s, want %s", left, got, want)
		}
	}
}

// Where no group becomes narrow enough, the cheapest does not get everything:
// after 30 launches one more is worth little.
func TestRestOfBudgetIsShared(t *testing.T) {
	groups := []Group{{Cost: 2 * second, Launches: 6, Needed: 1e6, Wide: 1}, {Cost: second, Launches: 30, Needed: 1e6, Wide: 1}}
	if got := Next(groups, Limits{MinLaunches: 6, Left: 10 * second, Bounded: true}); !slices.Equal(got, []int{0}) {
		t.Errorf("got %v, want the first group alone", got)
	}
}

// What decides five intervals goes before what decides one in a little less time.
func TestBudgetGoesToManyIntervals(t *testing.T) {
	groups := []Group{{Cost: second, Launches: 6, Needed: 16, Wide: 1}, {Cost: second, Launches: 6, Needed: 21, Wide: 5}}
	if got := Next(groups, Limits{MinLaunches: 6, Left: 20 * second, Bounded: true}); !slices.Equal(got, []int{1}) {
		t.Errorf("10s are missing for one interval, 15s for five, and 20s are left: got %v, want the second group", got)
	}
}

// Of groups that the budget cannot make narrow enough, one whose launches are all disturbed
// does not get everything, and one of many intervals goes before one of a few.
func TestRestOfBudgetIsSharedByTriesAndIntervals(t *testing.T) {
	for name, first := range map[string]Group{
		"40 disturbed launches": {Cost: second, Tries: 40, Needed: 1000, Wide: 5},
		"one interval":          {Cost: second, Launches: 8, Tries: 8, Needed: 1000, Wide: 1},
	} {
		groups := []Group{first, {Cost: second, Launches: 10, Tries: 10, Needed: 1000, Wide: 5}}
		if got := Next(groups, Limits{MinLaunches: 6, Left: 10 * second, Bounded: true}); !slices.Equal(got, []int{1}) {
			t.Errorf("%s against ten launches of five intervals: got %v, want the second group", name, got)
		}
	}
}

// A budget that just misses the minimum of a group is used all the same.
func TestBudgetThatJustMisses(t *testing.T) {
	group := []Group{{Cost: 10 * second, Launches: 1, Tries: 2}}
	if got := Next(group, Limits{MinLaunches: 6, Left: 49 * second, Bounded: true}); !slices.Equal(got, []int{0}) {
		t.Errorf("five launches of 10s are missing and 49s are left: got %v, want the group", got)
	}
}

// Disturbed launches are made again for as long as the budget lasts; without a
// budget there is a bound.
func TestDisturbedLaunches(t *testing.T) {
	group := []Group{{Cost: second, Launches: 0, Tries: 12}}
	if got := Next(group, Limits{MinLaunches: 6, Left: 10 * second, Bounded: true}); len(got) != 1 {
		t.Error("with a budget left, a group whose launches were all disturbed is given up")
	}
	if got := Next(group, Limits{MinLaunches: 6, Left: time.Hour}); len(got) != 0 {
		t.Error("without a budget, a group whose launches are all disturbed is launched for ever")
	}
}

// Groups whose launches are disturbed again and again do not keep the others waiting.
func TestDisturbedGroupsGiveWay(t *testing.T) {
	groups := []Group{{Cost: second}, {Cost: second}}
	left := 9 * second
	for left > 0 {
		for _, i := range Next(groups, Limits{MinLaunches: 3, Left: left, Bounded: true}) {
			groups[i].Tries++
			groups[i].Launches += i // of the first one, none counts
			left -= groups[i].Cost
		}
	}
	if got := groups[1].Launches; got != 3 {
		t.Errorf("got %d launches of the group that nothing disturbs, and %d tries of the other one; want 3", got, groups[0].Tries)
	}
}

// A launch that the budget ends is begun where nothing else fits.
func TestDivisible(t *testing.T) {
	groups := []Group{{Cost: 20 * second, Launches: 1}, {Cost: 30 * second, Launches: 1, Divisible: true}}
	if got := Next(groups, Limits{MinLaunches: 3, Left: 10 * second, Bounded: true}); !slices.Equal(got, []int{1}) {
		t.Errorf("got %v, want the divisible group", got)
	}
	if got := Next(groups[:1], Limits{MinLaunches: 3, Left: 10 * second, Bounded: true}); len(got) != 0 {
		t.Errorf("got %v, want none: a launch of which nothing is kept would be cut off", got)
	}
}

// A dear group's second launch goes before the third one of the others, even where the budget
// ends it: of one launch there is no interval.
func TestDearGroupIsNotLeftBehind(t *testing.T) {
	for name, test := range map[string]struct {
		dear Group
		left time.Duration
		want []int
	}{
		"half of it fits":               {Group{Cost: 12 * second, Launches: 1, Divisible: true}, 6 * second, []int{1}},
		"less than half of it fits":     {Group{Cost: 12 * second, Launches: 1, Divisible: true}, 5 * second, []int{0}},
		"what is cut short is not kept": {Group{Cost: 12 * second, Launches: 1}, 6 * second, []int{0}},
		"others of its level go first":  {Group{Cost: 12 * second, Launches: 2, Divisible: true}, 6 * second, []int{0}},
	} {
		groups := []Group{{Cost: second, Launches: 2}, test.dear}
		if got := Next(groups, Limits{MinLaunches: 3, Left: test.left, Bounded: true}); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
}

// What fits exactly is launched, the cheapest first; at the end of the budget nothing is,
// not even what costs nothing that is known.
func TestOrderAndExactFits(t *testing.T) {
	unequal := []Group{{Cost: 3 * second}, {Cost: second}, {Cost: 2 * second}}
	wide := []Group{{Cost: second, Launches: 6, Needed: 16, Wide: 1}, {Cost: second, Launches: 6, Needed: 11, Wide: 1}}
	ended := []Group{{Cost: 30 * second, Launches: 2, Divisible: true}, {Cost: 50 * second, Launches: 1, Divisible: true}, {Cost: 40 * second, Launches: 1, Divisible: true}}
	for name, test := range map[string]struct {
		groups []Group
		left   time.Duration
		want   []int
	}{
		"the cheapest first":                    {unequal, 10 * second, []int{1, 2, 0}},
		"the cheapest for each table":           {[]Group{{Cost: 2 * second, Tables: 1}, {Cost: 6 * second, Tables: 6}}, 10 * second, []int{1, 0}},
		"all just fit":                          {unequal, 6 * second, []int{1, 2, 0}},
		"two just fit":                          {unequal, 3 * second, []int{1, 2}},
		"all become narrow just in time":        {wide, 15 * second, []int{1, 0}},
		"one launch just fits":                  {[]Group{{Cost: 10 * second, Launches: 6, Needed: 30, Wide: 1}}, 10 * second, []int{0}},
		"cut short: fewest launches, then cost": {ended, 5 * second, []int{2}},
		"nothing is left":                       {[]Group{{}, {Cost: second, Divisible: true}}, 0, nil},
	} {
		if got := Next(test.groups, Limits{MinLaunches: 6, Left: test.left, Bounded: true}); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
}

// Of groups with equally many launches, reads and changes go by turns: neither keeps the other
// waiting until the budget has ended.
func TestReadsAndChangesGoByTurns(t *testing.T) {
	groups := []Group{{Cost: second}, {Cost: 2 * second}, {Cost: 20 * second, Reads: true}, {Cost: 10 * second, Reads: true}, {Cost: 3 * second}}
	for launched, want := range map[int][]int{-1: {3, 0, 2, 1, 4}, 3: {0, 2, 1, 4}, 0: {3, 2, 1, 4}} {
		now := slices.Clone(groups)
		if launched >= 0 {
			now[launched].Launches = 1
		}
		if got := Next(now, Limits{MinLaunches: 1, Left: time.Hour, Bounded: true}); !slices.Equal(got, want) {
			t.Errorf("group %d is launched: got %v, want %v", launched, got, want)
		}
	}
}

func drawGroups(t *rapid.T) []Group {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Group {
		return Group{Cost: time.Duration(rapid.IntRange(1, 40).Draw(t, "cost")) * second, Needed: rapid.IntRange(0, 30).Draw(t, "needed"),
			Size: rapid.IntRange(0, 2).Draw(t, "size"), Wide: rapid.IntRange(0, 5).Draw(t, "wide"), Divisible: rapid.Bool().Draw(t, "divisible")}
	}), 1, 8).Draw(t, "groups")
}

// A run ends; what it begins fits, but for a last launch that is divided; no
// group is launched before one of those whose turn it is and that has fewer launches; and
// at the end nothing fits that is still wanted.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		groups := drawGroups(t)
		limits := Limits{MinLaunches: rapid.IntRange(1, 6).Draw(t, "min"), Bounded: true,
			Left: time.Duration(rapid.IntRange(0, 2000).Draw(t, "left")) * second}
		for round := 0; ; round++ {
			if round > 10_000 {
				t.Fatal("the run does not end")
			}
			next := Next(groups, limits)
			cost := time.Duration(0)
			for _, i := range next {
				cost += groups[i].Cost
			}
			if cost > limits.Left && !(len(next) == 1 && groups[next[0]].Divisible) {
				t.Fatalf("%v cost %s, left are %s", next, cost, limits.Left)
			}
			var wanting []int
			for i, g := range groups {
				if limits.wants(g) {
					wanting = append(wanting, i)
				}
			}
			for _, i := range next {
				for _, k := range limits.first(groups, wanting) {
					if other := groups[k]; other.level() < min(groups[i].level(), limits.MinLaunches) && other.Cost <= limits.Left {
						t.Fatalf("group %d at level %d is launched before group %d at %d, for which there is time", i, groups[i].level(), k, other.level())
					}
				}
			}
			if len(next) == 0 {
				break
			}
			for _, i := range next {
				disturbed := rapid.IntRange(0, 3).Draw(t, "disturbed") == 0
				groups[i].Tries++
				if !disturbed {
					groups[i].Launches++
				}
			}
			limits.Left = max(0, limits.Left-cost)
		}
		for i, g := range groups {
			if limits.wants(g) && g.Cost <= limits.Left {
				t.Fatalf("the run ended with %s left, and group %d wants a launch of %s", limits.Left, i, g.Cost)
			}
		}
	})
}

// Without a limit on launches all groups get equally many, whatever they need and cost.
func TestInTurn(t *testing.T) {
	groups := []Group{{Cost: time.Second, Needed: 1000, Wide: 7}, {Cost: 3 * time.Second}, {Cost: time.Second, Needed: 4}}
	left := time.Minute
	var order []int
	for {
		next := Next(groups, Limits{MinLaunches: math.MaxInt, Left: left, Bounded: true})
		if len(next) == 0 {
			break
		}
		for _, i := range next {
			left -= groups[i].Cost
			groups[i].Launches++
			groups[i].Tries++
			order = append(order, i)
		}
	}
	if got := []int{groups[0].Launches, groups[1].Launches, groups[2].Launches}; !slices.Equal(got, []int{12, 12, 12}) || left != 0 {
		t.Errorf("got %v launches in the order %v, and %s left", got, order, left)
	}
}

// Of what was never launched, the cheapest goes first, and what cannot fit is not begun even
// where the guess is too high by a factor of four.
func TestGuessedCosts(t *testing.T) {
	groups := []Group{{Cost: 500 * second, Guessed: true}, {Cost: 30 * second, Guessed: true}, {Cost: 2 * second, Guessed: true}, {Cost: 3 * second, Guessed: true}}
	for _, step := range []struct {
		launched int // groups that have all launches, from the cheapest
		want     string
	}{{0, "[2 3]"}, {2, "[1]"}, {3, "[]"}} {
		now := slices.Clone(groups)
		for _, i := range []int{2, 3, 1}[:step.launched] {
			now[i] = Group{Cost: 50 * second, Launches: 1}
		}
		if got := fmt.Sprint(Next(now, Limits{MinLaunches: 1, Left: 10 * second, Bounded: true})); got != step.want {
			t.Errorf("%d groups are launched: got %s, want %s", step.launched, got, step.want)
		}
	}
}

// Where there is no time for the minimum of all, the smaller sizes get it first: of one launch
// of everything, nothing could be decided. What the time suffices for is not put off.
func TestSmallerSizesGoFirst(t *testing.T) {
	groups := []Group{{Cost: second}, {Cost: second, Size: 1}, {Cost: second, Size: 1}, {Cost: second, Size: 2, Guessed: true}}
	for _, test := range []struct {
		limits Limits
		want   []int
	}{
		{Limits{MinLaunches: 3, Left: 12 * second, Bounded: true}, []int{}},
		{Limits{MinLaunches: 3, Left: 11 * second, Bounded: true}, []int{3}},
		{Limits{MinLaunches: 3, Left: 8 * second, Bounded: true}, []int{1, 2, 3}},
		{Limits{MinLaunches: 3, Left: second, Bounded: true}, []int{1, 2, 3}}, // the smallest is begun all the same
		{Limits{MinLaunches: math.MaxInt, Left: second, Bounded: true}, []int{}},
		{Limits{MinLaunches: 3, Left: second}, []int{}},
		{Limits{MinLaunches: 3, Left: 12 * second, Bounded: true, Longer: 5}, []int{3}}, // whose cost is a guess
	} {
		if got := Last(groups, test.limits); !slices.Equal(got, test.want) {
			t.Errorf("%s left: got %v put off, want %v", test.limits.Left, got, test.want)
		}
	}
	measured := append([]Group{{Cost: second, Launches: 3}}, groups[1:]...)
	for left, want := range map[time.Duration][]int{9 * second: {}, 8 * second: {3}, 5 * second: {2, 3}, 2 * second: {1, 2, 3}} {
		if got := Last(measured, Limits{MinLaunches: 3, Left: left, Bounded: true}); !slices.Equal(got, want) {
			t.Errorf("behind the smallest size, %s left: got %v put off, want %v", left, got, want)
		}
	}
	for needed, want := range map[int][]int{0: {3, 2}, 4: {4, 1}, 9: {5, 0}} {
		groups, left := []Group{{Cost: second, Needed: needed, Wide: 1}, {Cost: second, Size: 1}}, 5*second
		for next := Next(groups, Limits{MinLaunches: 3, Left: left, Bounded: true}); len(next) > 0; next = Next(groups, Limits{MinLaunches: 3, Left: left, Bounded: true}) {
			for _, i := range next {
				groups[i].Launches++
				groups[i].Tries++
				left -= groups[i].Cost
			}
		}
		if got := []int{groups[0].Launches, groups[1].Launches}; !slices.Equal(got, want) {
			t.Errorf("the smaller size needs %d launches, and there is time for five: %v of both sizes; want %v", needed, got, want)
		}
	}
}
