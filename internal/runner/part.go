//go:build unix

package runner

import (
	"slices"
	"time"

	"assay/internal/stat"
)

// takingPart are the members that the next launch of a group measures: all, but once they
// have their least launches not those whose cells get no verdict. More launches of these
// would decide nothing, and with several clients and a sync for each commit they can take
// most of a launch.
func (r *Runner) takingPart(g *group) []*member {
	least := r.leastApart()
	return slices.DeleteFunc(slices.Clone(g.members), func(m *member) bool {
		return m.every(func(j *job) bool {
			key := j.Cell.Key()
			return g.apart[key] && len(g.record.counted[key]) >= least
		})
	})
}

// leastApart is how many launches cells without verdict have: as many as every cell, and
// where the budget is too small for these only so many that there is an interval.
func (r *Runner) leastApart() int {
	if minimum, _ := r.minTimeOfLaunched(); minimum > r.budget() {
		return min(stat.MinPairs, r.config.Launches)
	}
	return r.config.Launches
}

// setAside finds those of some cells that are in no comparison, and compares them with the
// cells that are and that they are ranked with.
func (c *comparisons) setAside(some []int) {
	tested := map[int]bool{}
	for _, test := range c.table.Tests {
		tested[test.A], tested[test.B] = true, true
	}
	c.apart = slices.DeleteFunc(some, func(i int) bool { return tested[i] })
	for _, i := range c.apart {
		for k, other := range c.jobs {
			if tested[k] && c.group.record.ranked(c.jobs[i].Cell, other.Cell) {
				c.table.Tests = append(c.table.Tests, stat.Test{A: i, B: k, Alone: true})
			}
		}
	}
}

// setApart notes the cells that are apart, but for those whose rank more launches would
// tell: as many as the tests behind the verdicts are expected to need.
func (c *comparisons) setApart(further []int) {
	near := map[int]bool{}
	for i, more := range further {
		if more > 0 {
			near[c.table.Tests[c.verdicts+i].A] = true
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

// nextCost is what the next launch of a group costs; zero while unknown.
func (r *Runner) nextCost(g *group) time.Duration {
	return time.Duration(float64(g.launches.cost) * g.part(r.takingPart(g)))
}

// whole is what a launch takes with all members that took so long with some.
func (g *group) whole(took time.Duration, some []*member) time.Duration {
	return time.Duration(float64(took) / g.part(some))
}

// part is the share of a launch's time that some of the group's members take; 1 while
// nothing is known of it.
func (g *group) part(some []*member) float64 {
	part, all := time.Duration(0), time.Duration(0)
	for _, m := range g.members {
		took := g.record.took(m)
		all += took
		if slices.Contains(some, m) {
			part += took
		}
	}
	if part == 0 {
		return 1
	}
	return float64(part) / float64(all)
}

// took is the mean time that a launch of a member took.
func (r *record) took(m *member) time.Duration {
	var sum time.Duration
	for _, j := range m.jobs {
		trials := r.counted[figuresKey(j.Cell, m.twin)]
		var own time.Duration
		for _, t := range trials {
			own += t.Took
		}
		sum += own / time.Duration(max(1, len(trials)))
	}
	return sum
}
