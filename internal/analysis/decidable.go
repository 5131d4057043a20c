package analysis

import (
	"cmp"
	"slices"
	"time"

	"assay/internal/stat"
)

// decidable are the open tables of which it can be told how long they take, and the budget of
// a run of their operations that measures these until their comparisons are decided, and the
// operations' other tables as often as any, for each launch takes what it took. Where some were never measured it is at least what the least launches of all
// cells were estimated to take. What preparing left out is in no launch, and nothing tells how
// long it takes. The cheapest ones come first, as many as a person waits for.
func decidable(all, open []*Table, least time.Duration) (tables []*Table, budget time.Duration) {
	needs := time.Duration(0)
	for _, t := range open {
		if t.Launch == 0 && t.hasGroup() && least > 0 && reserved(least) <= Patience {
			tables, needs = append(tables, t), max(needs, least)
		}
	}
	times := map[*Table]time.Duration{}
	var known []*Table
	for _, t := range open {
		if launches := t.launchesToDecide(); t.Launch > 0 && launches > 0 {
			known, times[t] = append(known, t), t.timeOf(launches)
		}
	}
	slices.SortStableFunc(known, func(a, b *Table) int { return cmp.Compare(times[a], times[b]) })
	before := needs // it has the least launches of all
	for _, t := range known {
		sum := before
		for _, other := range all {
			switch {
			case other == t || slices.Contains(tables, other):
				sum += times[other]
			case before == 0 && slices.ContainsFunc(append(tables, t), other.sameOperation):
				sum += other.timeOf(cmp.Or(other.Planned, stat.MinLaunches))
			}
		}
		if reserved(sum) <= Patience {
			tables, needs = append(tables, t), sum
		}
	}
	if len(tables) == 0 {
		return nil, 0
	}
	return tables, reserved(needs)
}

func (t *Table) sameOperation(other *Table) bool { return t.Cell().Operation == other.Cell().Operation }

// hasGroup reports whether launches were to measure some of the table.
func (t *Table) hasGroup() bool {
	return slices.ContainsFunc(t.Rows, func(row *Row) bool {
		return slices.ContainsFunc(row.Trials, func(t Trial) bool { return t.Group != "" })
	})
}

// Patience is what a person waits for: no run that takes longer is advised.
const Patience = 10 * time.Minute

// reserved is a budget for what takes so long, with something in reserve.
func reserved(needs time.Duration) time.Duration {
	return (needs + needs/5).Truncate(10*time.Second) + 10*time.Second
}

// launchesToDecide returns how many launches everything is decided with that is open; 0 where
// that cannot be told.
func (t *Table) launchesToDecide() int {
	launches := stat.MinLaunches
	for _, c := range t.undecided() {
		more := c.LaunchesToDecide()
		if more == 0 && c.Ratio.N >= stat.MinLaunches {
			return 0
		}
		launches = max(launches, c.Ratio.N+more)
	}
	return launches
}

// undecided are the comparisons that leave the table open: those with baselines, and those
// of each two that may be the fastest.
func (t *Table) undecided() []Comparison {
	var all []Comparison
	for _, row := range t.Rows {
		if c, has := row.comparison(); has {
			all = append(all, c)
		}
	}
	for _, k := range t.Rankings {
		leaders := k.Leaders()
		for i, a := range leaders {
			for _, b := range leaders[:i] {
				all = append(all, k.Compare(a, b))
			}
		}
	}
	return slices.DeleteFunc(all, func(c Comparison) bool { return c.Verdict != stat.Undecided || c.Unlike != nil })
}
