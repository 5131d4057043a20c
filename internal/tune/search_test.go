package tune

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// searching is a search of switches, of which launches are known.
func searching(launches [][]observation) *tuning {
	return &tuning{config: Config{Space: switches(4), Margin: 0.02}, random: rand.New(rand.NewPCG(1, 1)), refused: map[string]string{}, outcome: &Outcome{},
		launches: launches, searched: newModel(launches)}
}

// A launch has each level of a factor as often as the others, and few combinations are all there.
func TestCombined(t *testing.T) {
	tuned := searching(nil)
	for range 20 {
		points := tuned.combined(levels{{0, 1}, {0, 1, 2}, {1}, {0, 1}, {0, 2}})
		for j, most := range []int{6, 4, 11, 6, 6} {
			counts := map[int]int{}
			for _, p := range points {
				counts[p[j]]++
			}
			for level, n := range counts {
				if n > most || n < most-1 || len(points) != perLaunch {
					t.Fatalf("factor %d has level %d in %d of %d points, want %d or one less", j, level, n, len(points), most)
				}
			}
		}
	}
	if got := tuned.combined(levels{{0, 1}, {2}, {0, 1, 2}}); len(got) != 6 || len(distinct(got)) != 6 || slices.ContainsFunc(got, func(p Point) bool { return p[1] != 2 }) {
		t.Errorf("got %v, want the 6 combinations", got)
	}
}

// The best combination is found also where a setting helps only beside another, and without
// those levels that could never be measured.
func TestLeader(t *testing.T) {
	gain := func(p Point) float64 {
		return 0.2*float64(p[0]) - 0.03*float64(p[1]) + 0.08*float64(p[0]*p[1]) - 0.1*float64(p[3])
	}
	tuned := searching(launched(rand.New(rand.NewPCG(1, 1)), 12, 4, 0.001, func(p Point) float64 { return gain(append(p, 0)) }))
	if got := tuned.leader(tuned.searched, Point{0, 0, 0, 0}); got[0] != 1 || got[1] != 1 || got[3] != 0 {
		t.Errorf("got %v, want the first two settings", got)
	}
	tuned.refused[Point{1, 1, 0, 0}.Key()], tuned.refused[Point{1, 1, 1, 0}.Key()] = "failed", "failed"
	if got := tuned.leader(tuned.searched, Point{0, 0, 0, 0}); tuned.refused[got.Key()] != "" {
		t.Errorf("got %v, which was refused", got)
	}
}

// What is decided leaves: levels that are behind or worth nothing, and what the leader has for
// certain. What is open stays.
func TestUndecided(t *testing.T) {
	for noise, want := range map[float64]levels{
		0.001: {{1}, {0}, {0}, {0}},
		0.3:   {{1}, {0, 1}, {0, 1}, {0}}, // a level of the last was never measured
	} {
		launches := launched(rand.New(rand.NewPCG(2, 1)), 6, 3, noise, func(p Point) float64 { return float64(p[0]) - 0.03*float64(p[1]) })
		tuned := searching(launches)
		got := tuned.undecided(tuned.searched, Point{1, 0, 0, 0}, levels{{0, 1}, {0, 1}, {0, 1}, {0, 1}})
		if !slices.EqualFunc(got, want, func(a, b []int) bool { return slices.Equal(a, b) }) {
			t.Errorf("noise %g: got %v, want %v", noise, got, want)
		}
	}
}

// The more settings were tried, the surer has one to be that is shown to matter.
func TestShownAmongAll(t *testing.T) {
	launches := launched(rand.New(rand.NewPCG(5, 1)), 12, 3, 0.033, func(p Point) float64 { return 0.5*float64(p[0]) + 0.019*float64(p[1]) })
	m := newModel(launches)
	p := m.compare(Point{1, 1, 0}, Point{1, 0, 0}).p()
	if p > shownBelow/2 || p < shownBelow/19 {
		t.Fatalf("got p %g of the small setting; the test wants it between %g and %g", p, shownBelow/19, shownBelow/2)
	}
	for _, c := range []struct {
		settings int
		want     Point
	}{{3, Point{1, 1, 0}}, {20, Point{1, 0, 0}}} {
		tuned := &tuning{config: Config{Space: switches(c.settings), Margin: 0.02}}
		path := tuned.trimmed(m, Point{1, 1, 0}, tuned.shown)
		if got := path[len(path)-1]; !slices.Equal(got, c.want) {
			t.Errorf("of %d settings: got %v shown to matter, want %v", c.settings, got, c.want)
		}
	}
}

// The confirmation has the first finalist without each of its settings, the weakest first.
func TestWeakestFirst(t *testing.T) {
	gain := func(p Point) float64 { return 0.5*float64(p[0]) + 0.03*float64(p[1]) + 0.04*float64(p[2]) }
	tuned := searching(launched(rand.New(rand.NewPCG(1, 1)), 20, 4, 0.001, gain))
	want := []Point{{1, 0, 1, 0}, {1, 1, 0, 0}, {0, 1, 1, 0}}
	if got := tuned.weakestFirst(Point{1, 1, 1, 0}); !slices.EqualFunc(got, want, func(a, b Point) bool { return slices.Equal(a, b) }) {
		t.Errorf("got %v, want %v", got, want)
	}
}
