//go:build unix

package runner

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"assay"
	"assay/internal/runner/schedule"
)

// minGrace is how long, at least, what was begun within a budget may go on after its end.
const minGrace = 10 * time.Second

// bounded bounds a request to a worker by the plan's timeout, and by the budget: what was
// begun may end after the budget, but by no more than another one.
func (r *Runner) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	limit, cause := r.config.Timeout, error(nil)
	left := r.budget() - r.clock.elapsed() + max(r.config.Budget, minGrace)
	if r.config.Budget > 0 && !r.clock.began.IsZero() && left < limit {
		limit, cause = left, errBudgetEnded
	}
	return context.WithTimeoutCause(ctx, limit, cause)
}

// endedByBudget is errBudgetEnded in the place of what a request says that the budget's end
// has cut off.
func endedByBudget(limited context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(limited), errBudgetEnded) {
		return errBudgetEnded
	}
	return err
}

// firstRound keeps what is known of first launches.
type firstRound struct {
	guessed, took time.Duration // of the groups that were launched
	dropped       []*member     // no launch of all fits into the budget with them
}

// note learns from a group's first launch how good guesses are.
func (f *firstRound) note(g *group, guessed time.Duration) {
	if g.launches.finished == 1 {
		f.guessed, f.took = f.guessed+guessed, f.took+g.launches.cost
	}
}

// corrected is a guess by what guesses so far were worth.
func (f *firstRound) corrected(guess time.Duration) time.Duration {
	if f.guessed == 0 {
		return guess
	}
	return time.Duration(float64(guess) * min(float64(f.took)/float64(f.guessed), schedule.GuessError))
}

// unlaunched are the groups without a launch.
func (r *Runner) unlaunched() []*group {
	return slices.DeleteFunc(slices.Clone(r.groups), func(g *group) bool { return g.launches.finished > 0 || len(g.members) == 0 })
}

// fitFirstLaunches leaves profiles out of the groups that were not launched yet, and then
// drivers, those first that come last in the plan, until a launch of each group fits into the
// budget: part of the cells of every operation say more than all cells of some. The
// baseline's stay, and a second driver.
func (r *Runner) fitFirstLaunches() {
	if r.config.Budget == 0 || !r.config.LeaveOut {
		return
	}
	profile := func(c assay.Cell) string { return c.Profile }
	driver := func(c assay.Cell) string { return c.DriverName().String() }
	dropped := slices.Concat(r.dropUntilFit(profile, r.baseline.Profile, 1), r.dropUntilFit(driver, r.baseline.Driver.String(), 2))
	if len(dropped) > 0 {
		r.progress(LeftOut, "left out, so that a launch of every operation fits into the budget: "+strings.Join(dropped, ", "), 0)
	}
}

// dropUntilFit drops one name after the other, the last of the plan first, until first launches
// fit, and returns those that it dropped. Each group keeps so many.
func (r *Runner) dropUntilFit(name func(assay.Cell) string, kept string, least int) (dropped []string) {
	groups := r.unlaunched()
	var names []string
	for _, g := range groups {
		for _, m := range g.members {
			if n := name(m.cell()); n != kept && !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	for _, n := range slices.Backward(names) {
		var sum time.Duration
		for _, g := range groups {
			sum += r.first.corrected(g.guess())
		}
		if sum <= r.budget()-r.clock.elapsed() {
			return dropped
		}
		if r.drop(groups, name, n, least) {
			dropped = append(dropped, n)
		}
	}
	return dropped
}

// drop takes the members of a name out of the groups that keep so many others, and reports
// whether there were any.
func (r *Runner) drop(groups []*group, name func(assay.Cell) string, dropped string, least int) bool {
	before := len(r.first.dropped)
	is := func(m *member) bool { return name(m.cell()) == dropped }
	for _, g := range groups {
		others := map[string]bool{}
		for _, m := range g.members {
			if !is(m) {
				others[name(m.cell())] = true
			}
		}
		if len(others) < least {
			continue
		}
		for _, m := range g.members {
			if is(m) {
				r.first.dropped = append(r.first.dropped, m)
			}
		}
		g.members = slices.DeleteFunc(g.members, is)
	}
	return len(r.first.dropped) > before
}
