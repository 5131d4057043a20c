package tune

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"assay/internal/stat"
)

// The ablation has each setting that is not certain in half of the points of each launch, and
// those that are certain in all of them.
func TestAblationIsBalanced(t *testing.T) {
	good := func(p Point) float64 { return 0.5*float64(p[0]) + 0.03*float64(p[1]) + 0.02*float64(p[2]) }
	m := newMachine(good)
	m.noise = 0.01
	launches := 0
	_, err := Run(t.Context(), Config{Space: switches(6), Margin: 0.02, Seed: 7}, func(ctx context.Context, b Block) (Measured, error) {
		if b.Stage != Ablation {
			return m.measure(ctx, b)
		}
		launches++
		mixed := 0
		for j := range b.Points[0] {
			on := 0
			for _, p := range b.Points {
				on += p[j]
			}
			if j == 0 && on != len(b.Points) {
				t.Errorf("launch %d: the certain setting is in %d of %d points, want all", b.Number, on, len(b.Points))
			}
			if on > 0 && on < len(b.Points) {
				mixed++
				if 2*on != len(b.Points) {
					t.Errorf("launch %d: setting %d is in %d of %d points, want half", b.Number, j, on, len(b.Points))
				}
			}
		}
		if mixed < 2 {
			t.Errorf("launch %d tells of %d settings, want those that are open: %v", b.Number, mixed, b.Points)
		}
		return m.measure(ctx, b)
	})
	if err != nil || launches != ablationBlocks {
		t.Errorf("got %d launches, %v; want %d", launches, err, ablationBlocks)
	}
}

// The more settings were tried, the surer has one to be that is shown to matter.
func TestShownAmongAll(t *testing.T) {
	launches := launched(rand.New(rand.NewPCG(5, 1)), 12, 3, 0.033, func(p Point) float64 { return 0.5*float64(p[0]) + 0.016*float64(p[1]) })
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

// A setting that is not shown to matter is in no proposal where a confirmed point without it
// lacks at most one that is, and this one is worth less than the margin.
func TestNearest(t *testing.T) {
	gain := func(p Point) float64 { return 0.5*float64(p[0]) + 0.018*float64(p[1]) + 0.015*float64(p[2]) }
	m := newModel(launched(rand.New(rand.NewPCG(1, 1)), 20, 4, 0.001, gain))
	tuned := &tuning{config: Config{Margin: 0.02}, searched: m}
	needed := Point{1, 1, 1, 0}
	for _, c := range []struct {
		name   string
		needed Point
		points []Point
		want   Point
	}{
		{"itself", needed, []Point{{1, 1, 1, 1}, {1, 1, 0, 0}, {1, 1, 1, 0}}, Point{1, 1, 1, 0}},
		{"the better of two that lack one", needed, []Point{{1, 1, 1, 1}, {1, 0, 1, 0}, {1, 1, 0, 0}}, Point{1, 1, 0, 0}},
		{"one that lacks too much", needed, []Point{{1, 1, 1, 1}, {0, 1, 1, 0}}, Point{1, 1, 1, 1}},
		{"too little", needed, []Point{{1, 1, 1, 1}, {1, 0, 0, 0}, {0, 0, 0, 0}}, Point{1, 1, 1, 1}},
		{"the current settings", Point{0, 1, 0, 0}, []Point{{0, 1, 1, 1}, {0, 1, 1, 0}, {0, 0, 0, 0}}, Point{0, 1, 1, 0}},
	} {
		if got := tuned.nearest(m, c.needed, c.points); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// The confirmation has the first finalist without each of its settings, the weakest first, and
// without the two weakest.
func TestWeakestFirst(t *testing.T) {
	gain := func(p Point) float64 { return 0.5*float64(p[0]) + 0.03*float64(p[1]) + 0.04*float64(p[2]) }
	tuned := &tuning{searched: newModel(launched(rand.New(rand.NewPCG(1, 1)), 20, 4, 0.001, gain))}
	want := []Point{{1, 0, 1, 0}, {1, 1, 0, 0}, {1, 0, 0, 0}, {0, 1, 1, 0}}
	if got := tuned.weakestFirst(Point{1, 1, 1, 0}); !slices.EqualFunc(got, want, func(a, b Point) bool { return slices.Equal(a, b) }) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A leader that the ablation refuses is no finalist, and neither are those of its variants that
// are refused: the rest is.
func TestLeaderRefused(t *testing.T) {
	leader, without := Point{1, 1, 0}, Point{1, 0, 0}
	gain := func(p Point) float64 { return 0.5*float64(p[0]) + 0.02*float64(p[1]) + 0.005*float64(p[2]) }
	for _, c := range []struct {
		name            string
		refused, ranked []Point
		want            []Point
	}{
		{"no one", nil, []Point{leader}, []Point{leader}},
		{"the leader", []Point{leader}, []Point{leader, {0, 1, 0}}, []Point{without}},
		{"the leader and its variant", []Point{leader, without}, []Point{leader, {1, 0, 1}}, []Point{{1, 0, 1}}},
		{"all there are", []Point{leader, without}, []Point{leader}, nil},
	} {
		tuned := &tuning{config: Config{Space: switches(3), Margin: 0.02}, refused: map[string]string{}, gains: map[string][]float64{}, outcome: &Outcome{},
			launches: launched(rand.New(rand.NewPCG(1, 1)), 4, 3, 0.005, gain)}
		tuned.measure = func(_ context.Context, b Block) (Measured, error) {
			var m Measured
			for _, p := range b.Points {
				member := Member{Gains: []float64{gain(p)}}
				if p.in(c.refused) {
					member.Refused = "failed: timeout"
				}
				m.Members = append(m.Members, member)
			}
			return m, nil
		}
		got, err := tuned.ablation(t.Context(), c.ranked)
		if err != nil || !slices.EqualFunc(got, c.want, func(a, b Point) bool { return slices.Equal(a, b) }) {
			t.Errorf("%s: got the finalists %v, %v; want %v", c.name, got, err, c.want)
		}
	}
}

// A launch of the ablation has each of its points once, and is paid for so.
func TestAblationWithinBudget(t *testing.T) {
	gain := func(p Point) float64 { return 0.5*float64(p[0]) + 0.02*float64(p[1]) }
	tuned := &tuning{config: Config{Space: switches(2), Margin: 0.02, Budget: 168 * time.Second}, spent: 100 * time.Second, members: 100,
		refused: map[string]string{}, gains: map[string][]float64{}, outcome: &Outcome{}, launches: launched(rand.New(rand.NewPCG(1, 1)), 4, 2, 0.005, gain)}
	launches := 0
	tuned.measure = func(_ context.Context, b Block) (Measured, error) {
		launches++
		m := Measured{Took: time.Duration(1+len(b.Points)) * time.Second}
		for _, p := range b.Points {
			m.Members = append(m.Members, Member{Gains: []float64{gain(p)}})
		}
		return m, nil
	}
	// The ablation may take 26 s: 8 launches of two points and the current settings, a second each.
	if _, err := tuned.ablation(t.Context(), []Point{{1, 1}}); err != nil || launches != 8 {
		t.Errorf("got %d launches, %v; want 8", launches, err)
	}
}

// A setting matters where it is shown to be worth half of the margin of 2 %.
func TestMatters(t *testing.T) {
	tuned := &tuning{config: Config{Margin: 0.02}}
	for _, c := range []struct {
		n         int
		center, p float64
		want      bool
	}{{12, 1.03, 0.05, true}, {12, 1.03, 0.2, false}, {12, 1.008, 0.001, false}, {12, 1.012, 0.001, true}, {12, 0.97, 0.001, false}, {1, 1.03, 0.05, false}} {
		if got := tuned.matters(stat.Comparison{P: c.p, Ratio: stat.Interval{N: c.n, Center: c.center}}); got != c.want {
			t.Errorf("a ratio of %g with p %g of %d launches: got that it matters %t, want %t", c.center, c.p, c.n, got, c.want)
		}
	}
}

// No more launches are needed of a difference that is three standard errors above the margin.
func TestCertain(t *testing.T) {
	tuned := &tuning{config: Config{Margin: 0.02}}
	for _, c := range []struct {
		d    difference
		want bool
	}{{difference{mean: 0.06, error: 0.01}, true}, {difference{mean: 0.04, error: 0.01}, false}, {difference{mean: -0.06, error: 0.01}, false}} {
		if got := tuned.certain(c.d); got != c.want {
			t.Errorf("%+v: got that it is certain %t, want %t", c.d, got, c.want)
		}
	}
}

// Whoever is behind with a p-value below the limit is dropped, and nobody else.
func TestDropBehind(t *testing.T) {
	m := newModel(launched(rand.New(rand.NewPCG(1, 1)), 12, 3, 0.02, func(p Point) float64 { return 0.02 * float64(p[0]) }))
	leader, other := Point{1, 0, 0}, Point{0, 0, 0}
	p := m.compare(leader, other).p()
	for limit, want := range map[float64]int{0.75 * p: 2, 1.5 * p: 1} {
		if got := m.dropBehind([]Point{leader, other}, limit); len(got) != want || !slices.Equal(got[0], leader) {
			t.Errorf("p is %g, the limit %g: got %v left, want %d", p, limit, got, want)
		}
	}
}
