//go:build unix

package runner

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"assay"
)

// maxMembers bounds the instances of a window group, and those that take turns in blocks: all
// of them are alive at the same time.
const maxMembers = 13

// group holds what is compared within a launch: instances that are alike but for
// their target and profile.
type group struct {
	name     string
	method   method
	members  []*member // that have something left to measure
	launches launches
	record   record
	windows  windowUse
	need     need
	next     nextLaunch
	apart    map[string]bool // keys of cells that get no verdict
	// undivided says that its blocks have no parts, though its method is inTurns.
	undivided bool
	terms     []string // its operations that sums add up
	size      int      // place of its data among the sizes of its workload, the smallest first
	parts     []*group // of a group of sums, which is never launched: the groups of their operations
}

// member is one instance of a group: one target with one profile.
type member struct {
	group string
	twin  bool
	// first is the job that the member was formed of. Target, profile and data
	// are the same for all its jobs, so it stands for them even when none is left.
	first *job
	jobs  []*job   // those that are still measured
	pages []string // queries that read all of the data before windows; none where that is not done
}

// cell has the coordinates that all jobs of the member share.
func (m *member) cell() assay.Cell { return m.first.Cell }

func (g *group) mode() assay.Mode { return g.method.mode() }

// operations lists the group's operations by Peer.
func (g *group) operations() []string { return slices.Concat(variantsOf(g.members)...) }

// variantsOf lists the operations of members, those of one name together: they differ in
// what the name does not say, such as the use of statements or a size.
func variantsOf(members []*member) [][]string {
	var all [][]string
	place, seen := map[string]int{}, map[string]bool{}
	for _, m := range members {
		for _, j := range m.jobs {
			name, peer := j.Cell.Workload+"|"+j.Cell.Operation, j.Cell.Peer()
			i, has := place[name]
			switch {
			case seen[peer]:
				continue
			case !has:
				i = len(all)
				place[name], all = i, append(all, nil)
			}
			seen[peer], all[i] = true, append(all[i], peer)
		}
	}
	return all
}

// job returns the member's job of an operation, nil where it has none.
func (m *member) job(peer string) *job {
	for _, j := range m.jobs {
		if j.Cell.Peer() == peer {
			return j
		}
	}
	return nil
}

// forSum reports whether an operation is measured for a sum alone.
func (g *group) forSum(peer string) bool {
	return slices.ContainsFunc(g.members, func(m *member) bool { j := m.job(peer); return j != nil && j.ForSum })
}

// drop takes a job out, so that it is not measured again.
func (m *member) drop(key string) {
	m.jobs = slices.DeleteFunc(slices.Clone(m.jobs), func(j *job) bool { return j.Cell.Key() == key })
}

// groupCases forms groups, as the method of each job has them. Each group gets the twin
// of its reference.
func groupCases(jobs []*job, baseline assay.Baseline) []*group {
	var groups []*group
	byKey := map[string]*group{}
	for _, j := range jobs {
		key := j.method.key(j.Case)
		g, ok := byKey[key]
		if !ok {
			g = newGroup(j.method.name(j), j.method)
			byKey[key] = g
			groups = append(groups, g)
		}
		g.add(j)
	}
	var split []*group
	for _, g := range groups {
		split = append(split, g.split()...)
	}
	for _, g := range split {
		g.addTwin(baseline)
	}
	return split
}

func newGroup(name string, method method) *group {
	return &group{name: name, method: method, record: newRecord(), apart: map[string]bool{}, windows: windowUse{efforts: map[string]effort{}, sequences: map[string]int64{}}}
}

func (g *group) add(j *job) {
	for _, m := range g.members {
		if m.is(j.Cell) {
			m.jobs = append(m.jobs, j)
			return
		}
	}
	g.members = append(g.members, &member{group: g.name, first: j, jobs: []*job{j}})
}

func (m *member) is(cell assay.Cell) bool {
	c := m.cell()
	return c.DriverName() == cell.DriverName() && c.Build == cell.Build && c.Profile == cell.Profile && c.Without == cell.Without
}

// split divides a window group that has too many members into groups of whole
// profiles, so that each cell stays beside the reference of its profile.
func (g *group) split() []*group {
	if g.mode() == assay.Blocks || len(g.members) < maxMembers {
		return []*group{g}
	}
	var parts []*group
	for _, members := range byProfile(g.members) {
		part := newGroup(g.name+"|"+members[0].cell().Profile, g.method)
		for _, m := range members {
			m.group = part.name
		}
		part.members = members
		parts = append(parts, part)
	}
	return parts
}

// byProfile are the members of each profile.
func byProfile(members []*member) (profiles [][]*member) {
	place := map[string]int{}
	for _, m := range members {
		i, has := place[m.cell().Profile]
		if !has {
			i = len(profiles)
			place[m.cell().Profile], profiles = i, append(profiles, nil)
		}
		profiles[i] = append(profiles[i], m)
	}
	return profiles
}

// setSizes tells each group the place of its data among the sizes of its workload: by the records
// of a store or the bytes of the file, and where these are the same by how many operations are done.
func setSizes(groups []*group) {
	size := func(g *group) [3]int {
		j := g.members[0].first
		size := [3]int{j.Dataset.Rows()}
		if j.data != nil {
			size[1] = int(j.data.Size())
		}
		if g.mode() != assay.Windows { // which have as many as time allows
			size[2] = j.Operation.Count
		}
		return size
	}
	byKind := map[string][][3]int{}
	kind := func(g *group) string {
		c := g.members[0].cell()
		return c.Workload + "|" + c.Operation + "|" + string(g.mode())
	}
	for _, g := range groups {
		byKind[kind(g)] = append(byKind[kind(g)], size(g))
	}
	for _, g := range groups {
		all := slices.Compact(slices.SortedFunc(slices.Values(byKind[kind(g)]), func(a, b [3]int) int { return slices.Compare(a[:], b[:]) }))
		g.size = slices.Index(all, size(g))
	}
}

func (g *group) memberCells() []assay.Cell {
	cells := make([]assay.Cell, len(g.members))
	for i, m := range g.members {
		cells[i] = m.cell()
	}
	return cells
}

// addTwin adds the baseline's driver once more, with the first of the profiles that have most of
// the group's operations.
func (g *group) addTwin(baseline assay.Baseline) {
	baseline.Profile = ""
	cells := g.memberCells()
	var twin *member
	for i, m := range g.members {
		if baseline.Of(cells[i], cells) == i && (twin == nil || len(m.jobs) > len(twin.jobs)) {
			twin = &member{group: g.name, twin: true, first: m.first, jobs: m.jobs}
		}
	}
	if twin != nil {
		g.members = append(g.members, twin)
	}
}

// recall takes over what a resumed run has: launches that every member
// finished count, and new ones get numbers beyond all that were begun.
func (r *Runner) recall(done []assay.Trial) {
	for _, t := range done {
		if t.Ablation == r.config.Ablation {
			r.totals.note(t)
		}
	}
	launches := map[*group]map[int][]assay.Trial{}
	for _, g := range r.groups {
		launches[g] = map[int][]assay.Trial{}
		for _, t := range r.trialsOf(g, done) {
			r.clock.spent += t.Took
			g.launches.last = max(g.launches.last, t.Launch)
			g.record.note(&t)
			g.dropPermanentFailure(&t)
			launches[g][t.Launch] = append(launches[g][t.Launch], t)
		}
		g.prune()
	}
	r.assess() // which cells need not be in a launch
	for _, g := range r.groups {
		for _, trials := range launches[g] {
			g.recallLaunch(trials)
		}
	}
}

// recallLaunch counts a launch if every member finished it whose cells may get a verdict. One
// that left out operations does not count: at worst, there is another.
func (g *group) recallLaunch(trials []assay.Trial) {
	took, disturbed, has := time.Duration(0), false, map[string]bool{}
	for _, t := range trials {
		took += t.Took
		disturbed = disturbed || t.Disqualified
		has[figuresKey(t.Cell, t.Twin)] = true
	}
	var members []*member
	for _, m := range g.members {
		switch {
		case m.every(func(j *job) bool { return has[figuresKey(j.Cell, m.twin)] }):
			members = append(members, m)
		case !m.every(g.needless):
			return
		}
	}
	if len(members) > 0 {
		g.launches.add(g.wholeCost(took, members), disturbed)
	}
}

// trialsOf returns a group's own trials: a group of the ablation can have the name
// and the cells of one that is not.
func (r *Runner) trialsOf(g *group, done []assay.Trial) []assay.Trial {
	var own []assay.Trial
	for _, t := range done {
		if t.Launch > 0 && t.Ablation == r.config.Ablation && t.Group == g.name && g.has(t.Cell.Key()) {
			own = append(own, t)
		}
	}
	return own
}

func (g *group) has(key string) bool {
	for _, m := range g.members {
		for _, j := range m.jobs {
			if j.Cell.Key() == key {
				return true
			}
		}
	}
	return false
}

// compared finds the job that a job is compared with; nil where there is none.
func (g *group) compared(j *job, baseline assay.Baseline) *job {
	if i := baseline.Of(j.Cell, g.memberCells()); i >= 0 {
		return g.members[i].job(j.Cell.Peer())
	}
	return nil
}

// dropPermanentFailure takes out the cell of a trial that ended in a way that another
// launch cannot fix, and its twin, which is compared with nothing else.
func (g *group) dropPermanentFailure(t *assay.Trial) {
	if !t.PermanentFailure() {
		return
	}
	for _, m := range g.members {
		if m.twin || !t.Twin {
			m.drop(t.Cell.Key())
		}
	}
}

func (g *group) prune() {
	g.members = slices.DeleteFunc(slices.Clone(g.members), func(m *member) bool { return len(m.jobs) == 0 })
}

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
