package tune

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// launched are launches of random points of two levels each, with a machine that is faster in
// one launch than in another.
func launched(random *rand.Rand, launches, factors int, noise float64, gain func(Point) float64) [][]observation {
	var all [][]observation
	for range launches {
		shift := random.NormFloat64()
		launch := []observation{{make(Point, factors), shift + random.NormFloat64()*noise}}
		for range 11 {
			p := make(Point, factors)
			for j := range p {
				p[j] = random.IntN(2)
			}
			launch = append(launch, observation{p, shift + gain(p) + random.NormFloat64()*noise})
		}
		all = append(all, launch)
	}
	return all
}

// All launches together show what a setting does, what it does only beside another, and
// nothing of what a launch does to all its members.
func TestModel(t *testing.T) {
	gain := func(p Point) float64 { return 0.5*float64(p[0]) + 0.04*float64(p[1]) - 0.06*float64(p[1]*p[2]) }
	m := newModel(launched(rand.New(rand.NewPCG(1, 1)), 20, 4, 0.001, gain))
	if m == nil {
		t.Fatal("no model of 20 launches")
	}
	for _, c := range []struct{ a, b Point }{
		{Point{1, 0, 0, 0}, Point{0, 0, 0, 0}},
		{Point{1, 1, 0, 0}, Point{1, 0, 0, 0}},
		{Point{1, 1, 1, 0}, Point{1, 0, 1, 0}},
		{Point{1, 1, 1, 1}, Point{1, 1, 1, 0}},
	} {
		want := gain(c.a) - gain(c.b)
		d := m.compare(c.a, c.b)
		if math.Abs(d.mean-want) > 4*d.error || d.error > 0.002 {
			t.Errorf("%v against %v: got %.4f with the standard error %.4f, want %.4f", c.a, c.b, d.mean, d.error, want)
		}
		if shown := want > 0.01; (d.p() < 0.01) != shown {
			t.Errorf("%v against %v: got p %.4f, want it small: %t", c.a, c.b, d.p(), shown)
		}
	}
	if d := m.compare(Point{1, 1, 0, 0}, Point{1, 1, 0, 0}); d.mean != 0 || d.p() != 1 {
		t.Errorf("a point against itself: got %+v, p %g", d, d.p())
	}
	if m := newModel(launched(rand.New(rand.NewPCG(1, 1)), 1, 11, 0.01, gain)); m != nil {
		t.Error("got a model of 11 settings from one launch of 12 members")
	}
	if newModel(nil) != nil {
		t.Error("got a model of no launch")
	}
}

// A setting that does nothing is seldom said to do something.
func TestModelOfNothing(t *testing.T) {
	wrong, questions := 0, 0
	for seed := range uint64(150) {
		m := newModel(launched(rand.New(rand.NewPCG(seed, 2)), 6, 6, 0.03, func(p Point) float64 { return float64(p[0]) }))
		whole := Point{1, 1, 1, 1, 1, 1}
		for _, j := range whole.changed()[1:] {
			questions++
			if m.compare(whole, whole.with(j, 0)).p() < 0.05 {
				wrong++
			}
		}
	}
	if wrong > questions*8/100 { // 4 standard errors above 5 %
		t.Errorf("got %d of %d settings without effect with p < 0.05, want about 5 %% at most", wrong, questions)
	}
}

// A point that no launch had is as uncertain as what is not known of it.
func TestModelOfUnmeasured(t *testing.T) {
	m := newModel(launched(rand.New(rand.NewPCG(3, 3)), 10, 3, 0.01, func(p Point) float64 { return 0.2 * float64(p[0]) }))
	if d := m.compare(Point{1, 0, 2}, Point{1, 0, 0}); d.error < 1 {
		t.Errorf("a level that no launch had: got the standard error %.3f, want a large one", d.error)
	}
}

// Of two settings that stand for one another the weaker one goes, and the other one stays.
func TestTrimmed(t *testing.T) {
	gain := func(p Point) float64 { return 0.05*float64(p[0]|p[1]) + 0.004*float64(p[0]) }
	tuning := &tuning{config: Config{Margin: 0.02}}
	m := newModel(launched(rand.New(rand.NewPCG(4, 4)), 30, 3, 0.005, gain))
	path := tuning.trimmed(m, Point{1, 1, 1}, tuning.shown)
	if want := (Point{1, 0, 0}); len(path) != 3 || !slices.Equal(path[2], want) {
		t.Errorf("got %v, want three points, the last %v", path, want)
	}
}

// What members of a block share only within a launch is no effect of their settings.
func TestLaunchesOfABlock(t *testing.T) {
	tuning := &tuning{config: Config{Space: switches(2), Margin: 0.02}}
	points := []Point{{1, 0}, {0, 1}, {1, 1}}
	members := []Member{{Gains: []float64{0.1, 0.3}}, {Gains: []float64{0.4}, Launch: 1}, {Gains: []float64{math.NaN()}}}
	tuning.observe(Block{Stage: "search-2", Points: points}, members)
	tuning.observe(Block{Stage: Indexes, Points: points}, members)
	if got := tuning.launches; len(got) != 2 || len(got[0]) != 2 || len(got[1]) != 2 || got[0][1].gain != 0.2 || !got[1][0].point.isStart() {
		t.Errorf("got %+v, want two launches, each of the current settings and a point", got)
	}
}
