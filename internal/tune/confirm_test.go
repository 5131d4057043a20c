package tune

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"assay"
	"assay/internal/stat"
)

// confirmed is what the confirmation measured of points, with a little noise.
func confirmed(points []Point, gain func(Point) float64) map[string]*row {
	random := rand.New(rand.NewPCG(3, 3))
	rows := map[string]*row{}
	for _, p := range points {
		r := &row{}
		for range confirmations {
			r.add(Member{Gains: []float64{gain(p) + random.NormFloat64()*0.003}})
		}
		rows[p.Key()] = r
	}
	return rows
}

// gains is the gain of settings that add up.
func gains(effects ...float64) func(Point) float64 {
	return func(p Point) float64 {
		total := 0.0
		for j, level := range p {
			total += effects[j] * float64(level)
		}
		return total
	}
}

// What the proposal leaves out at last is what does not matter.
func TestProposalKeepsWhatMatters(t *testing.T) {
	a, ab, abc := Point{1, 0, 0}, Point{1, 1, 0}, Point{1, 1, 1}
	for _, c := range []struct {
		name              string
		finalists, points []Point
		launches, rows    func(Point) float64
		want              Point
	}{
		{"just what is needed", []Point{abc}, []Point{abc, a, ab}, gains(0.5, 0.05, 0), gains(0.5, 0.05, 0), ab},
		{"it was not measured", []Point{abc}, []Point{abc, a}, gains(0.5, 0.05, 0), gains(0.5, 0.05, 0), abc},
	} {
		tuned := &tuning{config: Config{Space: switches(3), Margin: 0.02}, refused: map[string]string{}, outcome: &Outcome{Launches: confirmations},
			launches: launched(rand.New(rand.NewPCG(1, 1)), 20, 3, 0.002, c.launches)}
		tuned.decide(c.finalists, c.points, confirmed(c.points, c.rows))
		if got := tuned.outcome.Chosen; got == nil || !slices.Equal(got.Point, c.want) {
			t.Errorf("%s: got %+v, want %v", c.name, got, c.want)
		}
	}
}

// What is shown to be better by less than the margin is not proposed.
func TestGainWithinTheMargin(t *testing.T) {
	for gain, want := range map[float64]bool{0.01: false, 0.03: true} {
		m := newMachine(func(p Point) float64 { return gain * float64(p[0]) })
		m.noise = 0
		if o := run(t, switches(4), 0, m); (o.Chosen != nil) != want || len(o.Finalists) == 0 || o.Finalists[0].Verdict != stat.Faster {
			t.Errorf("a gain of %g without noise: got the proposal %+v and the finalists %+v, want a proposal %t", gain, o.Chosen, o.Finalists, want)
		}
	}
}

// A later finalist comes first where it is shown to be better by more than the margin, not
// where it may be.
func TestOvertaking(t *testing.T) {
	first, second := Point{1, 0}, Point{0, 1}
	for _, c := range []struct {
		better, spread float64
		want           Point
	}{{0.03, 0.1, first}, {0.03, 0.01, second}, {0.01, 0.001, first}} {
		a, b := &row{}, &row{}
		for i := range confirmations {
			d := c.spread * float64(1-2*(i%2))
			a.add(Member{Gains: []float64{0.2}})
			b.add(Member{Gains: []float64{0.2 + c.better + d}})
		}
		tuned := &tuning{config: Config{Space: switches(2), Margin: 0.02}, outcome: &Outcome{Launches: confirmations}}
		tuned.decide([]Point{first, second}, nil, map[string]*row{first.Key(): a, second.Key(): b})
		if got := tuned.outcome.Best.Point; !slices.Equal(got, c.want) {
			t.Errorf("better by %g with p %.2g: got %v first, want %v", c.better, against(b.gains, a.gains).P, got, c.want)
		}
	}
}

// Where nothing is proposed, the report tells of the finalist with the greatest gain.
func TestBestOfNoProposal(t *testing.T) {
	first, second := Point{1, 0}, Point{0, 1}
	a, b := &row{}, &row{}
	for i := range confirmations {
		a.add(Member{Gains: []float64{-0.02}})
		b.add(Member{Gains: []float64{0.1 + 0.4*float64(1-2*(i%2))}})
	}
	tuned := &tuning{config: Config{Space: switches(2), Margin: 0.02}, outcome: &Outcome{Launches: confirmations}}
	tuned.config.Space.StartIsCurrent = true
	without := &row{}
	for range confirmations {
		without.add(Member{Gains: []float64{0}})
	}
	tuned.decide([]Point{first, second}, nil, map[string]*row{first.Key(): a, second.Key(): b, Point{0, 0}.Key(): without})
	if o := tuned.outcome; o.Chosen != nil || !slices.Equal(o.Best.Point, second) || o.Best.Gain.Center < 1.05 || !slices.Equal(o.Explained, first) || len(o.Ablation) != 1 {
		t.Errorf("got the proposal %v, of the finalists %v with %v, and %v explained by %v; want none, %v, and %v", o.Chosen, o.Best.Point, o.Best.Gain, o.Explained, o.Ablation, second, first)
	}
}

// What the search said of a point has no launch of the confirmation.
func TestSearchSaysNoConfirmation(t *testing.T) {
	tuned := &tuning{config: Config{Space: switches(2)}, outcome: &Outcome{}}
	p := Point{1, 0}
	tuned.observe(Block{Stage: Search, Points: []Point{p}}, []Member{{Gains: []float64{0.1}, Launch: 1}})
	tuned.observe(Block{Stage: Confirmation, Points: []Point{p}}, []Member{{Gains: []float64{0.5}, Launch: 1}})
	if got := tuned.said(p); got != 0.1 {
		t.Errorf("got %g, want 0.1 of the search alone", got)
	}
	if got := tuned.said(Point{0, 1}); !math.IsNaN(got) {
		t.Errorf("got %g of a point that the search did not have, want none", got)
	}
}

// A throughput is no time.
func TestCurrentFigure(t *testing.T) {
	for metric, want := range map[string]string{assay.NsPerOp: "25.0 µs", assay.OpPerS: "25.0 k/s", assay.CapacityPerS: "25.0 k/s", assay.P99: "25.0 µs"} {
		if got := newOperation("mix", metric, []float64{25000, 25000}).now(); got != want {
			t.Errorf("%s: got %s, want %s", metric, got, want)
		}
	}
}
