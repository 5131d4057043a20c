package tune

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/internal/stat"
)

// machine measures points whose gains are known, with noise of its own.
type machine struct {
	gain   func(Point) float64
	refuse func(Point) string
	noise  float64
	random *rand.Rand
	asked  []string      // what was asked for, in words
	cost   time.Duration // of a member
	fail   int           // the block that fails; 0: none
}

func newMachine(gain func(Point) float64) *machine {
	return &machine{gain: gain, refuse: func(Point) string { return "" }, noise: 0.02, random: rand.New(rand.NewPCG(1, 2)), cost: time.Second}
}

func (m *machine) measure(_ context.Context, b Block) (Measured, error) {
	m.asked = append(m.asked, fmt.Sprint(b.Stage, b.Number, b.Points))
	if len(m.asked) == m.fail {
		return Measured{}, errors.New("unplugged")
	}
	if len(distinct(b.Points)) < len(b.Points) || len(distinct(b.All)) < len(b.All) {
		return Measured{}, fmt.Errorf("block %d of %s has a point twice: %v of %v", b.Number, b.Stage, b.Points, b.All)
	}
	current := m.random.NormFloat64() * m.noise
	var all Measured
	for _, p := range b.Points {
		g := m.gain(p) + m.random.NormFloat64()*m.noise - current
		all.Members = append(all.Members, Member{Gains: []float64{g, g + m.random.NormFloat64()*m.noise}, Refused: m.refuse(p)})
	}
	all.Took = time.Duration(1+len(b.Points)) * m.cost
	return all, nil
}

// switches is a space of settings that are off or on.
func switches(n int) Space {
	s := Space{StartIsCurrent: true}
	for j := range n {
		name := fmt.Sprint("setting-", j)
		s.Factors = append(s.Factors, Factor{Name: name, Levels: []Level{{}, {Settings: map[string]string{name: "on"}}}})
	}
	return s
}

func run(t *testing.T, s Space, budget time.Duration, m *machine) *Outcome {
	t.Helper()
	o, err := Run(context.Background(), Config{Space: s, Margin: 0.02, Budget: budget, Seed: 7}, m.measure)
	must(t, err)
	return o
}

// Few factors have fewer combinations than a launch has members: a block still has each
// point once.
func TestFewFactors(t *testing.T) {
	for factors := 1; factors <= 8; factors++ {
		m := newMachine(func(p Point) float64 { return 0.2 * float64(p[0]) })
		if o := run(t, switches(factors), time.Hour, m); o.Chosen == nil || o.Chosen.Point[0] != 1 {
			t.Errorf("%d factors: got %v, want the first one chosen", factors, o.Chosen)
		}
	}
}

func TestFindsWhatMatters(t *testing.T) {
	m := newMachine(func(p Point) float64 { return 0.2*float64(p[1]) + 0.1*float64(p[4]) - 0.1*float64(p[2]) })
	o := run(t, switches(7), 0, m)
	if o.Chosen == nil || !slices.Equal(o.Chosen.Point, Point{0, 1, 0, 0, 1, 0, 0}) {
		t.Fatalf("got %+v, want the settings 1 and 4", o.Chosen)
	}
	if len(o.Ablation) != 2 || !o.Ablation[0].Matters || !o.Ablation[1].Matters {
		t.Errorf("got %+v, want two settings that matter", o.Ablation)
	}
	if len(o.Effects) != 7 || !o.Effects[0].Nothing || o.Effects[1].Gain.Low < 1.1 || o.Effects[2].Gain.High > 1 {
		t.Errorf("got the effects %+v, want one of each setting: nothing, 1.22x, 0.905x", o.Effects)
	}
	if truth := math.Exp(0.3); o.Chosen.Gain.Low > truth || o.Chosen.Gain.High < truth || o.Launches != confirmations {
		t.Errorf("got %+v in %d launches, want %.3f in %d", o.Chosen.Gain, o.Launches, truth, confirmations)
	}
}

func TestNothingBeatsTheCurrentSettings(t *testing.T) {
	for _, each := range []float64{0, -0.3} { // of settings that do nothing, and of settings that all harm
		m := newMachine(func(p Point) float64 { return each * float64(len(p.changed())) })
		if o := run(t, switches(6), 0, m); o.Chosen != nil || len(o.Finalists) == 0 || o.Unconfirmed {
			t.Errorf("each setting gives %g: got %+v, want no proposal, and the finalists' figures", each, o)
		}
	}
}

// A level that is there for its price is measured in the confirmation only, and never
// proposed, however fast it is.
func TestUnsafeIsNeverProposed(t *testing.T) {
	s := switches(4)
	s.Factors[0].Levels = append(s.Factors[0].Levels, Level{Settings: map[string]string{"setting-0": "unsafe"}, Price: "process"})
	m := newMachine(func(p Point) float64 { return []float64{0, 0.1, 2}[p[0]] + 0.1*float64(p[1]) })
	o := run(t, s, 0, m)
	if o.Chosen == nil || o.Chosen.Point[0] != 1 {
		t.Fatalf("got %+v, want the safe level", o.Chosen)
	}
	if len(o.Prices) != 1 || o.Prices[0].Class != "process" || o.Prices[0].Gain.Center < 5 {
		t.Errorf("got %+v, want the price of process: about 6.7x", o.Prices)
	}
	for _, asked := range m.asked {
		if !strings.HasPrefix(asked, string(Confirmation)) && strings.Contains(asked, "[2 ") {
			t.Errorf("the search asked for the unsafe level: %s", asked)
		}
	}
}

// What is refused in one block is in no later one.
func TestRefused(t *testing.T) {
	m := newMachine(func(p Point) float64 { return 0.3*float64(p[0]) + 0.1*float64(p[1]) })
	m.refuse = func(p Point) string {
		if p[0] == 1 {
			return "not-applied: setting-0"
		}
		return ""
	}
	o := run(t, switches(3), 0, m)
	if o.Chosen != nil && o.Chosen.Point[0] != 0 {
		t.Errorf("got %+v, which is refused", o.Chosen)
	}
	if len(o.Refused) == 0 {
		t.Error("no point is refused")
	}
}

// A small budget still confirms. One that is smaller confirms nothing, and says so.
func TestBudgets(t *testing.T) {
	gain := func(p Point) float64 { return 0.4*float64(p[0]) + 0.3*float64(p[1]) }
	for _, c := range []struct {
		budget      time.Duration
		unconfirmed bool
	}{{0, false}, {time.Hour, false}, {80 * time.Second, false}, {12 * time.Second, true}} {
		m := newMachine(gain)
		o := run(t, switches(8), c.budget, m)
		if o.Unconfirmed != c.unconfirmed || !o.Unconfirmed && o.Chosen == nil {
			t.Errorf("budget %s: got unconfirmed %t, proposal %v; want %t", c.budget, o.Unconfirmed, o.Chosen, c.unconfirmed)
		}
		if !o.Unconfirmed {
			continue
		}
		if again := run(t, switches(8), o.Enough, newMachine(gain)); o.Enough <= c.budget || again.Unconfirmed {
			t.Errorf("budget %s: got that %s would be enough, and then unconfirmed %t", c.budget, o.Enough, again.Unconfirmed)
		}
	}
}

// The same answers lead to the same questions: a tuning that was interrupted goes on
// where it was.
func TestSameAnswersSameQuestions(t *testing.T) {
	gain := func(p Point) float64 { return 0.1 * float64(p[0]+p[3]) }
	first, second := newMachine(gain), newMachine(gain)
	run(t, switches(6), time.Hour, first)
	run(t, switches(6), time.Hour, second)
	if !slices.Equal(first.asked, second.asked) {
		t.Errorf("got %v\nand then %v", first.asked, second.asked)
	}
	failing := newMachine(gain)
	failing.fail = 4
	if _, err := Run(context.Background(), Config{Space: switches(6), Margin: 0.02}, failing.measure); err == nil || err.Error() != "unplugged" {
		t.Errorf("got %v, want the machine's error", err)
	}
}

func TestNoChoice(t *testing.T) {
	if _, err := Run(context.Background(), Config{}, nil); err == nil {
		t.Error("a space without factors was searched")
	}
}

// withIndexes is a space with two indexes beside settings.
func withIndexes(settings int) Space {
	return switches(settings).With([]Factor{
		{Name: "a", First: true, Levels: []Level{{}, {Prepare: []string{"CREATE INDEX a ON t (a)"}}}},
		{Name: "statistics", First: true, Levels: []Level{{}, {Prepare: []string{"ANALYZE"}}, {Prepare: []string{"PRAGMA optimize"}}}},
	})
}

// An index is measured before any setting and beside none, whether it helps is
// decided from these launches, and it is in no candidate of the search.
func TestIndexesComeFirst(t *testing.T) {
	m := newMachine(func(p Point) float64 { return 0.5*float64(p[4]) + 0.2*float64(p[1]) })
	s := withIndexes(4)
	o := run(t, s, 0, m)
	if len(o.Indexes) != 4 || o.IndexLaunches != indexLaunches {
		t.Fatalf("got %d states of the data in %d launches, want 4 in %d", len(o.Indexes), o.IndexLaunches, indexLaunches)
	}
	for i, want := range []bool{true, false, false, true} {
		f := o.Indexes[i]
		if got := f.helps(0.02); got != want {
			t.Errorf("%q: got that it helps %t (%+v), want %t", s.Prepare(f.Point), got, f.Gain, want)
		}
		if len(s.Settings(f.Point)) != 0 {
			t.Errorf("%q is measured with settings", s.Prepare(f.Point))
		}
	}
	if o.Chosen == nil || !slices.Equal(o.Chosen.Point, Point{0, 1, 0, 0, 0, 0}) {
		t.Errorf("got the proposal %+v, want the one setting that matters and nothing of the data", o.Chosen)
	}
	search := false
	for _, asked := range m.asked {
		if !strings.HasPrefix(asked, string(Indexes)) {
			search = true
			if strings.Contains(asked, " 1 0]") || strings.Contains(asked, "1]") || strings.Contains(asked, "2]") {
				t.Errorf("the search asked for a state of the data: %s", asked)
			}
		} else if search {
			t.Errorf("%s was asked for after the search had begun", asked)
		}
	}
}

// Where no setting leaves a choice, what indexes do is an answer all the same.
func TestIndexesWithoutSettings(t *testing.T) {
	o := run(t, withIndexes(0), 0, newMachine(func(p Point) float64 { return 0.5 * float64(p[0]) }))
	if !o.Unsearched || len(o.Indexes) != 4 || !o.Indexes[0].helps(0.02) {
		t.Errorf("got unsearched %t, indexes %+v; want what four states of the data do, and the first to help", o.Unsearched, o.Indexes)
	}
}

// idleIndexes is in how many of 200 tunings something was found of indexes that do
// nothing, for ten operations.
func idleIndexes(t *testing.T, found func(Finalist) bool) int {
	t.Helper()
	n := 0
	for seed := range uint64(200) {
		m := newMachine(func(Point) float64 { return 0 })
		m.random = rand.New(rand.NewPCG(seed, 3))
		measure := func(ctx context.Context, b Block) (Measured, error) {
			all, err := m.measure(ctx, b)
			for i := range all.Members {
				for range 8 {
					all.Members[i].Gains = append(all.Members[i].Gains, m.random.NormFloat64()*m.noise)
				}
			}
			return all, err
		}
		tuning := &tuning{config: Config{Space: withIndexes(1), Margin: 0.02}, measure: measure, refused: map[string]string{}, outcome: &Outcome{}}
		must(t, tuning.indexes(t.Context()))
		if slices.ContainsFunc(tuning.outcome.Indexes, found) {
			n++
		}
	}
	return n
}

// An index that does nothing is not proposed, and no operation is called faster or slower
// for it: all that is tried is one family, and so are all operations of it.
func TestIndexesThatDoNothing(t *testing.T) {
	for name, found := range map[string]func(Finalist) bool{
		"a proposal": func(f Finalist) bool { return f.helps(0.02) },
		"an operation": func(f Finalist) bool {
			return slices.Contains(f.Verdicts, stat.Faster) || slices.Contains(f.Verdicts, stat.Slower)
		},
	} {
		if n := idleIndexes(t, found); n > 10 {
			t.Errorf("got %s in %d of 200 tunings, want at most 10 (5 %%)", name, n)
		}
	}
}

// A budget that does not pay for the indexes leaves what it has to the search.
func TestIndexesWithinBudget(t *testing.T) {
	gain := func(p Point) float64 { return 0.4 * float64(p[0]) }
	for _, c := range []struct {
		budget  time.Duration
		untried bool
	}{{20 * time.Minute, false}, {45 * time.Second, true}} {
		o := run(t, withIndexes(4), c.budget, newMachine(gain))
		if o.IndexesUntried != c.untried || (len(o.Indexes) == 0) != c.untried || o.Chosen == nil {
			t.Errorf("budget %s: got untried %t, %d states, proposal %v; want %t and a proposal", c.budget, o.IndexesUntried, len(o.Indexes), o.Chosen, c.untried)
		}
	}
}

// scaledMachine has gains and times of its own in each condition.
type scaledMachine struct {
	*machine
	gains map[Stage][]float64 // of the operations
	took  map[Stage]time.Duration
}

func (m scaledMachine) measure(ctx context.Context, b Block) (Measured, error) {
	measured, err := m.machine.measure(ctx, b)
	if gains, ok := m.gains[b.Stage]; ok {
		for i := range gains {
			measured.Members[0].Gains[i] = gains[i] + m.random.NormFloat64()*m.noise
		}
	}
	if took, ok := m.took[b.Stage]; ok {
		measured.Took = took
	}
	return measured, err
}

// A setting that is good on the plan's data and bad on four times as many is told by the
// operation that loses; what keeps everywhere is told in a line.
func TestRobustness(t *testing.T) {
	config := Config{Space: switches(4), Margin: 0.02, Seed: 7, Conditions: Conditions()}
	good := func(p Point) float64 { return 0.3 * float64(p[0]) }
	for _, c := range []struct {
		name   string
		gains  map[Stage][]float64
		beyond []string
		within bool
	}{
		{"everywhere", nil, nil, true},
		{"bad at four times the data", map[Stage][]float64{"four-times-data": {0.3, -0.4}}, []string{"four times the data 1"}, false},
		{"bad with half the clients", map[Stage][]float64{"half-clients": {-0.2, -0.5}}, []string{"half the clients 0", "half the clients 1"}, false},
		{"cannot be told", map[Stage][]float64{"twice-clients": {-math.Log(1.05), 0.2}}, nil, false},
		{"not in the condition", map[Stage][]float64{"half-clients": {math.NaN(), 0}}, nil, true},
	} {
		m := scaledMachine{newMachine(good), c.gains, nil}
		o, err := Run(t.Context(), config, m.measure)
		if err != nil || o.Chosen == nil || len(o.Robustness) != 4 {
			t.Fatalf("%s: got %+v, %v; want a proposal and four conditions", c.name, o, err)
		}
		var beyond []string
		within := true
		for _, r := range o.Robustness {
			if r.Launches != robustLaunches {
				t.Errorf("%s: got %d launches at %s, want %d", c.name, r.Launches, r.Condition.Name, robustLaunches)
			}
			for i, l := range r.Losses {
				if l.Beyond {
					beyond = append(beyond, fmt.Sprint(r.Condition.Name, " ", i))
				}
				within = within && (l.Within || !l.Measured)
			}
		}
		if !slices.Equal(beyond, c.beyond) || within != c.within {
			t.Errorf("%s: got that %q lose and that all keep the limit %t, want %q, %t", c.name, beyond, within, c.beyond, c.within)
		}
	}
	none := newMachine(func(Point) float64 { return 0 })
	if o, err := Run(t.Context(), config, none.measure); err != nil || o.Robustness != nil || strings.Contains(strings.Join(none.asked, " "), "data") {
		t.Errorf("without a proposal got %+v, %v; want nothing measured elsewhere", o.Robustness, err)
	}
}

// A condition that cannot be measured, as on a full disk, leaves the confirmed answer and
// the other conditions as they are; a user who stops the tuning does stop it.
func TestConditionThatFails(t *testing.T) {
	m := newMachine(func(p Point) float64 { return 0.3 * float64(p[0]) })
	full := errors.New("no space left on device")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	fails := func(ctx context.Context, b Block) (Measured, error) {
		if b.Stage == "twice-clients" && b.Number == 2 {
			return Measured{}, full
		}
		return m.measure(ctx, b)
	}
	config := Config{Space: switches(4), Margin: 0.02, Seed: 7, Conditions: Conditions()}
	o, err := Run(ctx, config, fails)
	if err != nil || o.Chosen == nil || len(o.Robustness) != 4 {
		t.Fatalf("got %+v, %v; want a proposal and four conditions", o, err)
	}
	for i, r := range o.Robustness {
		failed := i == 1
		if (r.Failed == full.Error()) != failed || (len(r.Losses) == 0) != failed {
			t.Errorf("%s: got failure %q and %d operations", r.Condition.Name, r.Failed, len(r.Losses))
		}
	}
	_, err = Run(ctx, config, func(ctx context.Context, b Block) (Measured, error) {
		if b.Stage == "twice-clients" {
			stop()
			return Measured{}, ctx.Err()
		}
		return m.measure(ctx, b)
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("stopped in a condition: got %v, want %v", err, context.Canceled)
	}
}

// The conditions have a part of the budget: they leave out what it does not pay for, and
// end in it.
func TestRobustnessWithinBudget(t *testing.T) {
	good := func(p Point) float64 { return 0.3*float64(p[0]) + 0.2*float64(p[1]) }
	for _, c := range []struct {
		budget time.Duration
		took   map[Stage]time.Duration
		want   []int // launches
	}{
		{time.Hour, nil, []int{6, 6, 6, 6}},
		{6 * time.Minute, map[Stage]time.Duration{"twice-clients": 30 * time.Second}, []int{6, 0, 6, 6}},
		{time.Hour, map[Stage]time.Duration{"four-times-data": time.Hour}, []int{0, 0, 0, 0}},
		{430 * time.Second, map[Stage]time.Duration{"twice-clients": 15 * time.Second}, []int{6, 5, 6, 6}},
	} {
		m := scaledMachine{newMachine(good), nil, c.took}
		spent := time.Duration(0)
		measure := func(ctx context.Context, b Block) (Measured, error) {
			measured, err := m.measure(ctx, b)
			spent += measured.Took
			return measured, err
		}
		o, err := Run(t.Context(), Config{Space: switches(8), Margin: 0.02, Budget: c.budget, Seed: 7, Conditions: Conditions()}, measure)
		if err != nil || o.Chosen == nil {
			t.Fatalf("budget %s: got %+v, %v", c.budget, o, err)
		}
		var got []int
		for _, r := range o.Robustness {
			got = append(got, r.Launches)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("budget %s, %v: got %v launches, want %v", c.budget, c.took, got, c.want)
		}
		if c.took["four-times-data"] == 0 && spent > c.budget {
			t.Errorf("budget %s: %s were spent", c.budget, spent)
		}
	}
}
