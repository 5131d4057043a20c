//go:build unix

package runner

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"assay"
)

// totals makes the trials of sums over operations. Nothing runs for a sum: a launch of
// it adds up what the launch of the same number measured of each of its operations.
type totals struct {
	cases []assay.Case
	// groups are of the sums with operations that are measured for them alone: not the
	// operations' intervals decide how often these are launched, but those of the sum.
	groups []*group
	terms  map[string]bool                // operations that sums add up, by Peer
	parts  map[string]map[int]assay.Trial // of the operations of sums, by partKey and launch
	done   map[string]map[int]bool        // trials of sums that there are, likewise
}

// partKey names the trials of one cell, or of its twin, of one target.
func partKey(peer string, c assay.Cell, twin bool) string {
	return peer + "|" + c.Target() + "|" + c.Profile + "|" + c.Without + "|" + map[bool]string{true: "twin"}[twin]
}

// add takes in a sum before anything is measured.
func (s *totals) add(c assay.Case) {
	if s.parts == nil {
		s.parts, s.done, s.terms = map[string]map[int]assay.Trial{}, map[string]map[int]bool{}, map[string]bool{}
	}
	s.cases = append(s.cases, c)
	s.done[partKey(c.Cell.Peer(), c.Cell, false)], s.done[partKey(c.Cell.Peer(), c.Cell, true)] = map[int]bool{}, map[int]bool{}
	for _, term := range c.Operation.Terms {
		s.terms[term.Peer] = true
		for _, twin := range []bool{false, true} {
			if key := partKey(term.Peer, c.Cell, twin); s.parts[key] == nil {
				s.parts[key] = map[int]assay.Trial{}
			}
		}
	}
}

func (s *totals) group(measured []*group, baseline assay.Baseline) {
	parts, forSum := map[string][]*group{}, map[string]bool{} // by operation
	for _, g := range measured {
		for _, peer := range g.operations() {
			parts[peer], forSum[peer] = append(parts[peer], g), forSum[peer] || g.forSum(peer)
			if s.terms[peer] {
				g.terms = append(g.terms, peer)
			}
		}
	}
	var sums []*job
	for _, c := range s.cases {
		if slices.ContainsFunc(c.Operation.Terms, func(term assay.Term) bool { return forSum[term.Peer] }) {
			sums = append(sums, &job{Case: c, method: inBlocks{}})
		}
	}
	s.groups = groupCases(sums, baseline)
	for _, g := range s.groups {
		for _, term := range g.members[0].first.Operation.Terms {
			for _, part := range parts[term.Peer] {
				if !slices.Contains(g.parts, part) {
					g.parts = append(g.parts, part)
				}
			}
		}
	}
}

// update returns the groups with what their sums show so far.
func (s *totals) update() []*group {
	for _, g := range s.groups {
		g.record, g.launches.finished = newRecord(), math.MaxInt
		for _, part := range g.parts {
			g.launches.finished = min(g.launches.finished, part.launches.counted())
		}
		for _, m := range g.members {
			for _, t := range s.of(m.first.Case, m.twin) {
				g.record.note(&t)
			}
		}
	}
	return s.groups
}

// note keeps what a sum needs of a trial.
func (s *totals) note(t assay.Trial) {
	key := partKey(t.Cell.Peer(), t.Cell, t.Twin)
	if s.done[key] != nil {
		s.done[key][t.Launch] = true
	}
	if s.parts[key] != nil {
		t.Histogram, t.Samples, t.Warnings = nil, nil, nil
		s.parts[key][t.Launch] = t
	}
}

// sumUp emits the trials of sums that are not there yet: of launches, and where a run
// ends also of sums that have none.
func (r *Runner) sumUp(ended bool) error {
	for _, c := range r.totals.cases {
		for _, twin := range []bool{false, true} {
			for _, t := range r.totals.of(c, twin) {
				if t.Launch == 0 && !ended || r.totals.done[partKey(c.Cell.Peer(), c.Cell, twin)][t.Launch] {
					continue
				}
				if err := r.emit(t); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// of returns the trials of a sum: one for each launch that all of its operations have.
// A cell without any says why. A twin has none where one of its operations has none.
func (s *totals) of(c assay.Case, twin bool) []assay.Trial {
	var launches []int
	for i, term := range c.Operation.Terms {
		found := slices.DeleteFunc(slices.Sorted(maps.Keys(s.parts[partKey(term.Peer, c.Cell, twin)])), func(launch int) bool { return launch == 0 })
		if i > 0 {
			found = slices.DeleteFunc(found, func(launch int) bool { return !slices.Contains(launches, launch) })
		}
		launches = found
	}
	var all []assay.Trial
	for _, launch := range launches {
		all = append(all, s.sum(c, twin, launch))
	}
	if len(all) == 0 && !twin {
		all = append(all, s.sum(c, false, 0))
	}
	return all
}

// sum adds up one launch. A sum of which an operation is missing would be smaller,
// and is none.
func (s *totals) sum(c assay.Case, twin bool, launch int) assay.Trial {
	t := newTrial(&member{group: c.Cell.Peer(), twin: twin}, &job{Case: c, method: inBlocks{}}, launch)
	total := 0.0
	for i, term := range c.Operation.Terms {
		part, has := s.parts[partKey(term.Peer, c.Cell, twin)][launch]
		switch {
		case !has:
			_ = end(&t, &failure{assay.NotRun, "no launch has all operations of the sum"}) // always a failure
		case part.Outcome != assay.OK:
			_ = end(&t, &failure{part.Outcome, term.Operation + ": " + part.Reason})
		}
		total += float64(term.Times) * part.Figures[assay.NsPerOp]
		t.Disqualified = t.Disqualified || part.Disqualified
		t.Durability = cmp.Or(t.Durability, part.Durability)
		if i == 0 {
			t.Settings, t.DSN, t.Each, t.Checked, t.Layout = part.Settings, part.DSN, part.Each, part.Checked, part.Layout
		}
		if part.Checked != t.Checked {
			t.Checked = assay.CheckRows // what holds for all
		}
	}
	if launch > 0 && t.Measured() {
		t.Figures[assay.NsPerOp], t.Figures[assay.OpPerS] = total, 1e9/total
		t.Samples = []assay.Sample{{Operations: 1, Nanos: int64(total)}}
	}
	return t
}
