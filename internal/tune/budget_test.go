package tune

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/internal/lab"
)

// A budget that is used up measures nothing more, as nothing could be confirmed.
func TestSpentBudget(t *testing.T) {
	indexed := switches(8).With([]Factor{{First: true, Levels: []Level{{}, {Prepare: []string{"ANALYZE"}}}}})
	for name, c := range map[string]struct {
		space Space
		want  string // the stages that were asked for
	}{"settings": {switches(8), "search-11"}, "indexes": {indexed, "indexes1"}} {
		m := newMachine(func(Point) float64 { return 0 })
		o := run(t, c.space, time.Millisecond, m)
		var got []string
		for _, asked := range m.asked {
			stage, _, _ := strings.Cut(asked, " ")
			got = append(got, stage)
		}
		if strings.Join(got, " ") != c.want || !o.Unconfirmed || o.Enough < time.Second {
			t.Errorf("%s: got %v, unconfirmed %t, %s would be enough; want %s and no more", name, got, o.Unconfirmed, o.Enough, c.want)
		}
	}
}

// Where the indexes leave too little for one launch of the search, no candidate is said to have
// failed.
func TestNothingLeftForTheSearch(t *testing.T) {
	indexed := switches(8).With([]Factor{{First: true, Levels: []Level{{}, {Prepare: []string{"ANALYZE"}}}}})
	m := newMachine(func(Point) float64 { return 0 })
	if o := run(t, indexed, 15*time.Second, m); !o.Unconfirmed || slices.ContainsFunc(m.asked, func(asked string) bool { return strings.HasPrefix(asked, "search") }) {
		t.Errorf("got unconfirmed %t after %q, want no answer, and no search", o.Unconfirmed, m.asked)
	}
}

// noting keeps notes.
type noting struct {
	lab.Watcher
	said []string
}

func (n *noting) Note(text string) { n.said = append(n.said, text) }

// A budget that seems too small is said to be so once, by what an estimate or the first launches
// say of a member, and only where something would have to be confirmed.
func TestSmallBudgetIsSaidOnce(t *testing.T) {
	for name, c := range map[string]struct {
		space   Space
		budget  time.Duration
		members []time.Duration
		want    int
	}{
		"small by both":       {switches(8), 30 * time.Second, []time.Duration{time.Second, time.Second}, 1},
		"an estimate too low": {switches(8), 30 * time.Second, []time.Duration{time.Millisecond, time.Second}, 1},
		"enough":              {switches(8), 72 * time.Second, []time.Duration{time.Second}, 0},
		"indexes only":        {Space{}, 30 * time.Second, []time.Duration{time.Second}, 0},
		"unlimited":           {switches(8), 0, []time.Duration{time.Second}, 0},
	} {
		watcher := &noting{}
		tuned := &Tuning{lab: &lab.Lab{Watcher: watcher}, space: c.space, request: Request{Budget: c.budget}}
		for _, member := range c.members {
			tuned.warn(member)
		}
		if len(watcher.said) != c.want {
			t.Errorf("%s: got %q, want %d notes", name, watcher.said, c.want)
		}
	}
}

// A budget that would have been enough leaves a quarter of itself to six launches of three
// members, which take a second each.
func TestEnough(t *testing.T) {
	tuned := &tuning{spent: 100 * time.Second, members: 100, outcome: &Outcome{}}
	tuned.endUnconfirmed()
	if got, want := tuned.outcome.Enough, 72*time.Second; got != want || !tuned.outcome.Unconfirmed {
		t.Errorf("got that %s would be enough, unconfirmed %t; want %s", got, tuned.outcome.Unconfirmed, want)
	}
}

// Shares are of what the indexes leave of the budget, and each leaves time for a confirmation.
func TestAffordable(t *testing.T) {
	for _, c := range []struct {
		share          float64
		before, budget time.Duration
		want           int // blocks of one point and the current settings, 2 s
	}{
		{0.6, 0, 100 * time.Second, 10},                // 60 - 40
		{0.6, 30 * time.Second, 100 * time.Second, 16}, // 30 + 42 - 40
		{1, 30 * time.Second, 100 * time.Second, 30},   // 100 - 40
		{0.6, 30 * time.Second, 60 * time.Second, 1},   // 60 - 40 - 18 for a confirmation
		{0.6, 30 * time.Second, 50 * time.Second, 0},
	} {
		tuned := &tuning{config: Config{Budget: c.budget}, spent: 40 * time.Second, members: 40, before: c.before}
		if got := tuned.affordable(c.share, 1); got != c.want {
			t.Errorf("%g of %s, %s of it for indexes: got %d blocks, want %d", c.share, c.budget, c.before, got, c.want)
		}
	}
}

// A large effect is an answer after two launches, however small the budget is; others need
// more.
func TestLargeEffect(t *testing.T) {
	index := Factor{First: true, Levels: []Level{{}, {Prepare: []string{"ANALYZE"}}}}
	other := Factor{First: true, Levels: []Level{{}, {Prepare: []string{"CREATE INDEX i ON t (a)"}}}}
	for times, want := range map[float64]int{1000: 1, 0.001: 0, 1.1: 0} {
		space := Space{}.With([]Factor{index, other})
		m := newMachine(func(p Point) float64 {
			if p[0] != 0 && p[1] == 0 {
				return math.Log(times)
			}
			return 0
		})
		o, err := Run(t.Context(), Config{Space: space, Margin: 0.02, Budget: time.Millisecond, Seed: 7}, m.measure)
		must(t, err)
		helping, _, _ := (&Report{Space: space, Outcome: o, Margin: 0.02}).indexes()
		if len(helping) != want || !o.IndexesUntried || want > 0 && o.IndexLaunches != 2 {
			t.Errorf("%g times as fast: got %+v in %d launches, untried %t; want %d that help", times, helping, o.IndexLaunches, o.IndexesUntried, want)
		}
	}
}

// The price of the next class of durability goes before what the budget may leave out.
func TestPriceIsMeasuredEarly(t *testing.T) {
	space := Space{Factors: append(switches(3).Factors, Factor{Name: "synchronous", Levels: []Level{{Settings: map[string]string{"synchronous": "full"}}, {Price: "consistent"}, {Price: "process"}}})}
	tuned := &tuning{config: Config{Space: space}, outcome: &Outcome{}}
	points, _ := tuned.confirmed([]Point{{1, 1, 0, 0}, {1, 0, 1, 0}})
	if len(points) < 2 || points[1].Key() != (Point{1, 1, 0, 1}).Key() {
		t.Errorf("got the points %v, want the price of the first one second", points)
	}
	r := &Report{Space: space, Outcome: &Outcome{}}
	if got := r.prices(); len(got) != 1 || !strings.HasPrefix(got[0], "consistent was not measured") {
		t.Errorf("without launches: got %q, want that consistent was not measured", got)
	}
}
