//go:build unix

package runner

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"assay"
	"assay/kit/process"
)

// budgeted is a runner with a budget and a group for each operation, of drivers a, b and c and
// profiles p, q and r, of which a launch is guessed to take so long.
func budgeted(t *testing.T, budget time.Duration, counts ...int) *Runner {
	t.Helper()
	work, err := NewWorkspace(t.TempDir(), "test")
	must(t, err)
	t.Cleanup(func() { _ = work.Close() })
	r := &Runner{config: Config{Machine: Machine{Work: work}, Budget: budget, LeaveOut: true, Launches: 1, Emit: func(assay.Trial) error { return nil }},
		measurement: measurement{random: rand.New(rand.NewPCG(1, 1)), baseline: assay.ParseBaseline("a/q")}}
	for i, count := range counts {
		var jobs []*job
		for _, profile := range []string{"p", "q", "r"} {
			for _, driver := range []string{"a", "b", "c"} {
				j := at(assay.Blocks, "put"+string('0'+rune(i))+" "+driver+" "+profile)
				j.Operation = assay.Operation{Name: j.Cell.Operation, Changes: true, Count: count}
				jobs = append(jobs, j)
			}
		}
		r.groups = append(r.groups, groupCases(jobs, r.baseline)...)
	}
	return r
}

// Where no launch of all fits into the budget, A/A tests are left out, then profiles, then drivers,
// and no operation; the baseline's stay, and a second driver.
func TestProfilesAreDroppedBeforeOperations(t *testing.T) {
	all := budgeted(t, time.Hour, 1000, 100_000)
	var whole time.Duration
	for _, g := range all.groups {
		whole += g.guess(false)
	}
	q := []string{"a q", "b q", "c q"}
	for budget, want := range map[time.Duration][]string{
		2 * whole:       {"a p", "a q", "a r", "b p", "b q", "b r", "c p", "c q", "c r"},
		whole * 19 / 20: {"a p", "a q", "a r", "b p", "b q", "b r", "c p", "c q", "c r"},
		whole * 3 / 4:   {"a p", "a q", "b p", "b q", "c p", "c q"},
		whole * 11 / 24: q,
		whole / 100:     {"a q", "b q"},
	} {
		r := budgeted(t, budget, 1000, 100_000)
		var told []string
		r.config.Progress = func(e Event) { told = append(told, e.What) }
		r.fitFirstLaunches()
		for _, g := range r.groups {
			var got []string
			for _, m := range g.members {
				if !m.twin {
					got = append(got, m.cell().Driver+" "+m.cell().Profile)
				}
			}
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("budget %s of %s: %s has %q, want %q", budget, whole, g.name, got, want)
			}
		}
		if said := len(told) > 0; said != (budget < whole) {
			t.Errorf("budget %s of %s: told %q", budget, whole, told)
		}
		r.planNext()
		if measured := len(r.first.members(r.groups[0])); (measured == len(want)) != (budget < whole) {
			t.Errorf("budget %s of %s: a first launch has %d members for %d cells", budget, whole, measured, len(want))
		}
		notRun := 0
		r.config.Emit = func(trial assay.Trial) error {
			notRun++
			return nil
		}
		must(t, r.notRun())
		if notRun != 18 {
			t.Errorf("budget %s of %s: %d cells are told not to be measured, want all 18", budget, whole, notRun)
		}
	}
}

// Where a launch of the smallest sizes fits into the budget and none of all does, the larger size
// waits, and no profile is left out.
func TestSizesAreDroppedBeforeProfiles(t *testing.T) {
	r := budgeted(t, time.Hour, 1000, 100_000)
	r.config.Budget = 2 * r.groups[0].guess(false)
	r.groups[1].size = 1
	r.fitFirstLaunches()
	if got := len(r.first.dropped); got != 0 {
		t.Errorf("%d cells are left out, want none: the larger size waits", got)
	}
}

// noted is a method whose launches note what they measure.
type noted struct {
	inBlocks
	made func(g *group)
}

func (n noted) launch(_ context.Context, _ *Runner, g *group, _ []*member, _ int) error {
	n.made(g)
	return nil
}

func (noted) ready(context.Context, *Runner, *group) error { return nil }

// Within a budget, the cheapest operation goes first, whatever order the plan has.
func TestCheapestFirst(t *testing.T) {
	var order []string
	r := budgeted(t, time.Hour, 100_000, 10, 1000, 10_000)
	for _, g := range r.groups {
		g.method = noted{made: func(g *group) { order = append(order, g.members[0].cell().Operation) }}
	}
	must(t, r.firstLaunches(t.Context()))
	if want := []string{"put1", "put2", "put3", "put0"}; !slices.Equal(order, want) {
		t.Errorf("the first launches are of %q, want %q", order, want)
	}
}

// First launches correct the guesses of others of their mode, within bounds.
func TestGuessesAreCorrected(t *testing.T) {
	r := budgeted(t, time.Hour, 1000)
	g := r.groups[0]
	guess := g.guess(false)
	launched := &group{method: inBlocks{}}
	launched.launches.add(4*time.Second, false)
	for of, want := range map[time.Duration]time.Duration{2 * time.Second: 2 * guess, 8 * time.Second: guess / 2, time.Millisecond: 4 * guess} {
		var first firstRound
		if got := first.guess(g); got != guess {
			t.Errorf("a guess of %s is taken for %s before any launch", guess, got)
		}
		launched.method = inWindows{}
		first.note(launched, time.Millisecond)
		if got := first.guess(g); got != guess {
			t.Errorf("a guess of %s of blocks is taken for %s after a launch of windows", guess, got)
		}
		launched.method = inBlocks{}
		first.note(launched, of)
		if got := first.guess(g); got != want {
			t.Errorf("where 4s were guessed as %s, a guess of %s is corrected to %s, want %s", of, guess, got, want)
		}
	}
}

// In the first launch within a budget, a cell comes before its A/A test.
func TestTwinsComeLastAtFirst(t *testing.T) {
	r := budgeted(t, time.Hour, 10)
	var order []bool
	must(t, r.oneByOne(r.groups[0], r.groups[0].members, func(m *member) error {
		order = append(order, m.twin)
		return nil
	}))
	if want := slices.Repeat([]bool{false}, 9); !slices.Equal(order[:9], want) || !order[9] {
		t.Errorf("twins are measured at %v, want them last", order)
	}
}

// A request of a run whose budget ended long ago ends as the budget's end, and no other one.
func TestRequestsEndWithTheBudget(t *testing.T) {
	late := errors.New("late")
	for _, c := range []struct {
		budget, spent time.Duration
		began         bool
		want          error
	}{
		{time.Second, time.Minute, true, errBudgetEnded},
		{time.Minute, 119 * time.Second, true, late}, // twice the budget is not over
		{time.Second, time.Minute, false, late},      // nothing is measured yet
		{0, time.Hour, true, late},
	} {
		r := &Runner{config: Config{Budget: c.budget, Timeout: time.Minute}}
		r.clock.spent = c.spent
		if c.began {
			r.clock.began = time.Now()
		}
		limited, cancel := r.bounded(t.Context())
		defer cancel()
		if got := endedByBudget(limited, late); !errors.Is(got, c.want) {
			t.Errorf("budget %s, %s spent: got %v, want %v", c.budget, c.spent, got, c.want)
		}
		if got := endedByBudget(limited, nil); got != nil {
			t.Errorf("budget %s, %s spent: got %v of what succeeded", c.budget, c.spent, got)
		}
	}
}

// To find the expected answers of an operation takes no longer than the run measures, at least ten
// seconds.
func TestAnswersLimit(t *testing.T) {
	for budget, want := range map[time.Duration]time.Duration{0: time.Minute, 2 * time.Second: 10 * time.Second, 30 * time.Second: 30 * time.Second, time.Hour: time.Minute} {
		r := &Runner{config: Config{Budget: budget, Timeout: time.Minute}}
		if got := r.answersLimit(); got != want {
			t.Errorf("budget %s: got %s, want %s", budget, got, want)
		}
	}
}

// What a pause of this process made late is done again; what is late by itself is not.
func TestPausesAreNotLateness(t *testing.T) {
	defer func() { ownPauses = process.Pauses }()
	for paused, want := range map[bool]int{true: 2, false: 1} {
		pauses, tries := 0, 0
		ownPauses = func() (int, time.Duration) { return pauses, 0 }
		late, err := withinTime(t.Context(), time.Nanosecond, func(ctx context.Context) error {
			<-ctx.Done()
			if tries++; tries == 1 && paused {
				pauses++
			}
			return ctx.Err()
		})
		if !late || err == nil || tries != want {
			t.Errorf("paused %t: late %t, error %v after %d tries, want it late after %d", paused, late, err, tries, want)
		}
	}
}

// What ends a launch is no failure of the cell that was being measured.
func TestEndsOfLaunchesAreNoFailures(t *testing.T) {
	for _, end := range []error{errBudgetEnded, errPaused, errDelays} {
		if got := fail("load", fmt.Errorf("step 3: %w", end)); !errors.Is(got, end) || errors.As(got, new(*failure)) {
			t.Errorf("got %v (%[1]T), want %v as it is", got, end)
		}
	}
}

// endsPaused measures all of a launch, but for its end.
type endsPaused struct{ method }

func (endsPaused) launch(_ context.Context, _ *Runner, g *group, members []*member, _ int) error {
	for _, m := range members {
		for _, j := range m.jobs {
			g.launches.has[figuresKey(j.Cell, m.twin)] = true
		}
	}
	return errPaused
}

// A launch all of whose trials are there is over, though its end did not count.
func TestPauseAtTheEndOfALaunch(t *testing.T) {
	r := planned(t, Config{}, time.Second)
	g := r.groups[0]
	g.method = endsPaused{g.method}
	must(t, r.launch(t.Context(), g, g.members))
	if g.launches.last != 1 {
		t.Errorf("the last launch is %d, want the first", g.launches.last)
	}
}
