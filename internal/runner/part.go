//go:build unix

package runner

import (
	"slices"
	"time"

	"assay"
	"assay/internal/stat"
)

// takingPart are the members that the next launch of a group measures, with the jobs that
// it measures of them. Once all have the least launches, cells that get no verdict have
// no part in it, since more of theirs would decide nothing, and with several clients and a
// sync for each commit they can take most of a launch; nor have operations in windows whose
// intervals are narrow enough, as those in blocks have not, which have groups of their own.
func (g *group) takingPart(least int) []*member {
	if g.mode() == assay.Windows {
		return g.membersWith(g.openOperations(least))
	}
	return slices.DeleteFunc(slices.Clone(g.members), func(m *member) bool {
		return m.every(func(j *job) bool { return g.apart[j.Cell.Key()] && g.record.has(j, least) })
	})
}

// openOperations are those in windows that are still to be measured. All variants of one
// are, or none: they alternate, and may be compared.
func (g *group) openOperations(least int) map[string]bool {
	open := map[string]bool{}
	for _, peers := range variantsOf(g.members) {
		if slices.ContainsFunc(peers, func(peer string) bool { return g.need.open[peer] || g.lacks(peer, least) }) {
			for _, peer := range peers {
				open[peer] = true
			}
		}
	}
	return open
}

// lacks reports whether a cell of an operation has fewer launches than every cell is to
// have.
func (g *group) lacks(peer string, least int) bool {
	return slices.ContainsFunc(g.members, func(m *member) bool {
		j := m.job(peer)
		return j != nil && !g.record.has(j, least)
	})
}

// has reports whether a job has so many launches: those that count, and all of one whose
// figures never do.
func (r *record) has(j *job, launches int) bool {
	key := j.Cell.Key()
	if r.unlike[key] {
		return r.tried[key] >= launches
	}
	return len(r.counted[key]) >= launches
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

// leastForAll is how many launches every cell has before others get more: as many as the
// plan says, and where the budget is too small for these and something is still open, so
// many that there is an interval.
func (r *Runner) leastForAll() int {
	planned := max(stat.MinPairs, r.config.Launches)
	if minimum, _ := r.minTimeOfLaunched(); minimum <= r.budget() || !r.open() {
		return planned
	}
	return stat.MinPairs
}

// open reports whether a group has an interval that is too wide, or none.
func (r *Runner) open() bool {
	return slices.ContainsFunc(r.groups, func(g *group) bool {
		return len(g.members) > 0 && (g.launches.counted() < stat.MinPairs || g.need.wide() > 0)
	})
}

// setAside finds those of some cells that are in no comparison, and their rivals.
func (c *comparisons) setAside(some []int) {
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

// setApart notes the cells that are apart, but for those whose rank takes further launches,
// as their comparisons with rivals need them.
func (c *comparisons) setApart(further []int) {
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

// costOf is what a launch of some of the group's members costs; zero while unknown.
func (g *group) costOf(some []*member) time.Duration {
	return time.Duration(float64(g.launches.cost) * g.part(some))
}

// whole is what a launch takes with all members that took so long with some.
func (g *group) whole(took time.Duration, some []*member) time.Duration {
	return time.Duration(float64(took) / g.part(some))
}

// part is the share of a launch's time that some of the group's members take; 1 while
// nothing is known of it.
func (g *group) part(some []*member) float64 {
	part, all := g.record.took(some), g.record.took(g.members)
	if part == 0 && len(some) > 0 {
		return 1
	}
	return float64(part) / float64(max(1, all))
}

// took is the mean time that the trials of a launch of members took.
func (r *record) took(members []*member) time.Duration {
	var sum time.Duration
	for _, m := range members {
		for _, j := range m.jobs {
			trials := r.counted[figuresKey(j.Cell, m.twin)]
			var own time.Duration
			for _, t := range trials {
				own += t.Took
			}
			sum += own / time.Duration(max(1, len(trials)))
		}
	}
	return sum
}
