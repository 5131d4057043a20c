//go:build unix

package runner

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"assay"
	"assay/internal/runner/schedule"
	"assay/internal/stat"
)

// nextLaunch holds what the next launch of a group measures, and what it costs.
type nextLaunch struct {
	members []*member
	fewest  int           // launches of one of their jobs
	cost    time.Duration // zero while unknown
	later   time.Duration // the same once all have the least launches
}

func (r *Runner) planNext() {
	least := r.leastForAll()
	for _, g := range r.groups {
		members := g.takingPart(least)
		g.next = nextLaunch{members: members, fewest: g.launches.counted(), cost: g.costOf(members), later: g.costOf(g.takingPart(0))}
		for _, m := range members {
			for _, j := range m.jobs {
				g.next.fewest = min(g.next.fewest, g.record.launches(j))
			}
		}
	}
}

// takingPart are the members that a launch measures, with the jobs that it measures of
// them. Once they have the least launches, groups of blocks have no part in it whose
// intervals are narrow enough, nor have operations in windows; nor cells in blocks that get
// no verdict: more of theirs would decide nothing, and with several clients and a sync for
// each commit they can take most of a launch.
func (g *group) takingPart(least int) []*member {
	if g.mode() == assay.Windows {
		return g.membersWith(g.openOperations(least))
	}
	has := func(j *job) bool { return g.record.launches(j) >= least }
	if len(g.terms) == 0 && g.need.wide() == 0 && g.launches.counted() >= least &&
		!slices.ContainsFunc(g.members, func(m *member) bool { return !m.every(has) }) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(g.members), func(m *member) bool {
		return m.every(func(j *job) bool { return g.needless(j) && has(j) })
	})
}

// needless reports whether a job's cell gets no verdict: it is apart, or its figures are
// never compared.
func (g *group) needless(j *job) bool {
	return g.apart[j.Cell.Key()] || g.record.unlike[j.Cell.Key()]
}

// openOperations returns the operations in windows that are still to be measured. All variants of
// one are, or none: they alternate, and may be compared. So are all that sums add up, which are of
// the launches that have all of them.
func (g *group) openOperations(least int) map[string]bool {
	open := map[string]bool{}
	for _, m := range g.members {
		for _, j := range m.jobs {
			peer := j.Cell.Peer()
			open[peer] = open[peer] || g.need.open[peer] || g.record.launches(j) < least
		}
	}
	for _, peers := range g.launchedTogether() {
		if slices.ContainsFunc(peers, func(peer string) bool { return open[peer] }) {
			for _, peer := range peers {
				open[peer] = true
			}
		}
	}
	return open
}

// launchedTogether are the operations in windows that are measured in the same launches.
func (g *group) launchedTogether() (all [][]string) {
	var summed []string
	for _, peers := range variantsOf(g.members) {
		if slices.ContainsFunc(peers, func(peer string) bool { return slices.Contains(g.terms, peer) }) {
			summed = append(summed, peers...)
		} else {
			all = append(all, peers)
		}
	}
	return append(all, summed)
}

// launches returns how many a job has: those that count, and all where its figures never do.
// Where each is disturbed, it has one for each of the tries that the schedule makes of it.
func (r *record) launches(j *job) int {
	key := j.Cell.Key()
	if r.unlike[key] {
		return r.tried[key]
	}
	return max(len(r.counted[key]), r.tried[key]/schedule.MaxTries)
}

// membersWith are the group's members with no other jobs than those of some operations.
func (g *group) membersWith(peers map[string]bool) (some []*member) {
	for _, m := range g.members {
		jobs := slices.DeleteFunc(slices.Clone(m.jobs), func(j *job) bool { return !peers[j.Cell.Peer()] })
		switch len(jobs) {
		case 0:
		case len(m.jobs):
			some = append(some, m)
		default:
			part := *m
			part.jobs = jobs
			some = append(some, &part)
		}
	}
	return some
}

// wholeMember is the group's member of which one is a part; the same where it has ended.
func (g *group) wholeMember(part *member) *member {
	i := slices.IndexFunc(g.members, func(m *member) bool { return m.twin == part.twin && m.is(part.cell()) })
	if i < 0 {
		return part
	}
	return g.members[i]
}

// leastForAll returns how many launches every cell has before others get more: as many as the
// plan says, and where the budget is too small for these and another launch of what is open
// fits into it, so many that there is an interval.
func (r *Runner) leastForAll() int {
	if r.config.InTurn {
		return math.MaxInt
	}
	planned := max(stat.MinPairs, r.config.Launches)
	if minimum, _ := r.minTimeOfLaunched(); minimum <= r.budget() {
		return planned
	}
	left := r.budget() - r.clock.elapsed()
	if slices.ContainsFunc(r.groups, func(g *group) bool { return g.need.wide() > 0 && g.costOf(g.takingPart(stat.MinPairs)) <= left }) {
		return stat.MinPairs
	}
	return planned
}

// findApart finds those of some cells that are in no comparison, and their rivals.
func (c *comparisons) findApart(some []int) {
	tested := map[int]bool{}
	for _, test := range c.table.Tests {
		tested[test.A], tested[test.B] = true, true
	}
	c.apart = slices.DeleteFunc(some, func(i int) bool { return tested[i] })
	for _, i := range c.apart {
		for k, other := range c.jobs {
			if tested[k] && c.group.record.ranked(c.jobs[i].Cell, other.Cell) {
				c.rivals = append(c.rivals, stat.Test{A: i, B: k})
			}
		}
	}
}

// noteApart notes the cells that are apart, but for those whose rank takes further launches,
// as their comparisons with rivals need them.
func (c *comparisons) noteApart(further []int) {
	near := map[int]bool{}
	for i, more := range further {
		if more > 0 {
			near[c.rivals[i].A] = true
		}
	}
	for _, i := range c.apart {
		if !near[i] {
			c.group.apart[c.jobs[i].Cell.Key()] = true
		}
	}
}

// every reports whether something is so for all jobs of a member.
func (m *member) every(is func(*job) bool) bool {
	return !slices.ContainsFunc(m.jobs, func(j *job) bool { return !is(j) })
}

// costOf returns what a launch of some of the group's members costs; zero while unknown. To
// start and to end instances of windows is in no trial's time.
func (g *group) costOf(some []*member) time.Duration {
	part, all := g.record.took(some), g.record.took(g.members)
	switch {
	case len(some) == 0:
		return 0
	case part == 0:
		return g.launches.cost
	}
	return max(g.launches.cost-(all-part), share(g.launches.cost, part, all))
}

// wholeCost returns what a launch would have cost with all members that took so long with some.
func (g *group) wholeCost(took time.Duration, some []*member) time.Duration {
	part, all := g.record.took(some), g.record.took(g.members)
	if part == 0 {
		return took
	}
	return min(took+all-part, share(took, all, part))
}

// share is a time times the ratio of two others.
func share(t, a, b time.Duration) time.Duration {
	return time.Duration(float64(t) * float64(a) / float64(b))
}

// took is the mean time that the trials of a launch of members took.
func (r *record) took(members []*member) (sum time.Duration) {
	for _, m := range members {
		for _, j := range m.jobs {
			if s := r.spent[figuresKey(j.Cell, m.twin)]; s.trials > 0 {
				sum += s.took / time.Duration(s.trials)
			}
		}
	}
	return sum
}

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
	guessed, took map[assay.Mode]time.Duration // of the groups that were launched
	dropped       []*member                    // no launch of all fits into the budget with them
	// scarce says that no launch of all fits: first ones have no A/A test and fewer windows.
	scarce bool
}

// note learns from a group's first launch how good guesses are.
func (f *firstRound) note(g *group, guessed time.Duration) {
	if g.launches.finished != 1 {
		return
	}
	if f.guessed == nil {
		f.guessed, f.took = map[assay.Mode]time.Duration{}, map[assay.Mode]time.Duration{}
	}
	f.guessed[g.mode()] += guessed
	f.took[g.mode()] += g.launches.cost
}

// guess returns what the first launch of a group takes, by what guesses of its mode were worth so
// far.
func (f *firstRound) guess(g *group) time.Duration {
	guess, guessed := g.guess(f.scarce), f.guessed[g.mode()]
	if guessed == 0 {
		return guess
	}
	return time.Duration(float64(guess) * min(float64(f.took[g.mode()])/float64(guessed), schedule.GuessError))
}

// guesses returns the guesses of some groups together.
func (f *firstRound) guesses(groups []*group) (sum time.Duration) {
	for _, g := range groups {
		sum += f.guess(g)
	}
	return sum
}

// members returns the members that a first launch measures.
func (f *firstRound) members(g *group) []*member {
	return slices.DeleteFunc(slices.Clone(g.next.members), func(m *member) bool { return m.twin && f.scarce })
}

// unlaunched are the groups without a launch.
func (r *Runner) unlaunched() []*group {
	return slices.DeleteFunc(slices.Clone(r.groups), func(g *group) bool { return g.launches.finished > 0 || len(g.members) == 0 })
}

// fitFirstLaunches leaves the A/A tests and most windows out of first launches, then profiles, and then
// drivers, those first that come last in the plan, until a launch of each group fits into the
// budget: part of the cells of every operation say more than all cells of some. The
// baseline's stay, and a second driver. Groups of sizes that wait for the others leave nothing
// out: a size less is lost before a profile.
func (r *Runner) fitFirstLaunches() {
	if r.config.Budget == 0 || !r.config.LeaveOut {
		return
	}
	waiting := map[*group]bool{}
	for _, i := range schedule.Last(r.scheduled(), r.limitsNow()) {
		waiting[r.groups[i]] = true
	}
	groups := slices.DeleteFunc(r.unlaunched(), func(g *group) bool { return waiting[g] })
	profile := func(c assay.Cell) string { return c.Profile }
	driver := func(c assay.Cell) string { return c.DriverName().String() }
	var dropped []string
	if !r.first.scarce && r.first.guesses(groups) > r.budget()-r.clock.elapsed() {
		r.first.scarce, dropped = true, []string{"the A/A test and most windows of first launches"}
	}
	dropped = slices.Concat(dropped, r.dropUntilFit(groups, profile, r.baseline.Profile, 1), r.dropUntilFit(groups, driver, r.baseline.Driver.String(), 2))
	if len(dropped) > 0 {
		r.progress(LeftOut, "left out, so that a launch of every operation fits into the budget: "+strings.Join(dropped, ", "), 0)
	}
}

// dropUntilFit drops one name after the other, the last of the plan first, until first launches
// of some groups fit, and returns those that it dropped. Each group keeps so many.
func (r *Runner) dropUntilFit(groups []*group, name func(assay.Cell) string, kept string, least int) (dropped []string) {
	var names []string
	for _, g := range groups {
		for _, m := range g.members {
			if n := name(m.cell()); n != kept && !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	for _, n := range slices.Backward(names) {
		if r.first.guesses(groups) <= r.budget()-r.clock.elapsed() {
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
