//go:build unix

package runner

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"assay"
)

// promising is a group of two profiles: those of q promise alike, and of p the drivers b
// and c less than their baseline a. Each cell of p takes 8 s, of q 1 s. The figures of b
// spread.
func promising() (*Runner, *group, []*job) {
	jobs := []*job{at(assay.Blocks, "put a p"), at(assay.Blocks, "put b p"), at(assay.Blocks, "put c p"),
		at(assay.Blocks, "put a q"), at(assay.Blocks, "put b q"), at(assay.Blocks, "put c q")}
	baseline := assay.ParseBaseline("a")
	g := groupCases(jobs, baseline)[0]
	return &Runner{config: Config{Launches: 3}, measurement: measurement{groups: []*group{g}, baseline: baseline}}, g, jobs
}

// promisingTrial is a trial of one of its members.
func promisingTrial(m *member, launch int) assay.Trial {
	nanos := 1000.0
	if m.first.Cell.Driver == "b" {
		nanos *= 1 + 0.3*float64(launch%2)
	}
	t := trialOf(m.first, launch, m.twin, nanos)
	t.Durability = assay.Consistent
	if t.Cell.Profile == "p" {
		t.Took, t.Durability = 8*time.Second, assay.Process
		if t.Cell.Driver == "a" {
			t.Durability = assay.Power
		}
	}
	return t
}

// launchTakingPart measures the members that take part once.
func launchTakingPart(r *Runner, g *group) (took time.Duration) {
	members, number := taking(r, g), g.launches.begin()
	for _, m := range members {
		t := promisingTrial(m, number)
		took += t.Took
		g.record.note(&t)
	}
	g.launches.end(g.wholeCost(took, members))
	r.assess()
	return took
}

// taking are the members that the next launch measures.
func taking(r *Runner, g *group) []*member {
	r.planNext()
	return g.next.members
}

func costOfNext(r *Runner, g *group) time.Duration {
	r.planNext()
	return g.next.cost
}

func sketchMembers(members []*member) string {
	return strings.TrimPrefix(sketch([]*group{{method: inBlocks{}, members: members}})[0], "blocks: ")
}

// Cells without a verdict are in the least launches; then those that decide go on alone,
// and the schedule knows what that costs.
func TestCellsWithoutVerdictGetLeastLaunches(t *testing.T) {
	r, g, _ := promising()
	const all, deciding = 4*8 + 3, 3 // seconds; the twin is of p
	for launch, want := range []time.Duration{all, all, all, deciding, deciding} {
		if got := costOfNext(r, g); launch > 0 && got.Round(time.Millisecond) != want*time.Second {
			t.Errorf("launch %d: it is to take %s, want %ds", launch+1, got, want)
		}
		if got := launchTakingPart(r, g); got != want*time.Second {
			t.Errorf("launch %d takes %s, want %ds", launch+1, got, want)
		}
	}
	if got, want := sketchMembers(taking(r, g)), "q/a=put q/b=put q/c=put"; got != want {
		t.Errorf("got members %q, want %q", got, want)
	}
	if got := g.launches.cost.Round(time.Millisecond); got != all*time.Second {
		t.Errorf("a whole launch takes %s, want %ds", got, all)
	}
}

// A budget that is too small for the least launches has two of a cell without a verdict, so
// many that there is an interval, while others are open.
func TestSmallBudgetHasTwoLaunchesOfCellsWithoutVerdict(t *testing.T) {
	r, g, _ := promising()
	r.config.Budget = 80 * time.Second
	for _, want := range []time.Duration{35, 35, 3} {
		if got := launchTakingPart(r, g); got != want*time.Second {
			t.Errorf("launch %d takes %s, want %ds", g.launches.last, got, want)
		}
	}
}

// Where the budget is too small, what is narrow enough waits with two launches until nothing
// else is open, and then gets its third one.
func TestNarrowGroupsWait(t *testing.T) {
	for _, mode := range []assay.Mode{assay.Windows, assay.Blocks} {
		t.Run(string(mode), func(t *testing.T) { narrowGroupWaits(t, mode) })
	}
}

// narrowAndWide adds two groups with two launches each, of which so much is the cost of one:
// the ratio of the first one does not spread, that of the second by a factor.
func narrowAndWide(r *Runner, mode assay.Mode, factor float64, costs [2]time.Duration) {
	for i, spread := range []float64{1.0001, factor} {
		jobs := []*job{at(mode, "read a p"), at(mode, "read b p")}
		for _, j := range jobs {
			j.Cell.Pool = i + 1
		}
		g := groupCases(jobs, r.baseline)[0]
		for launch := range 2 {
			for _, j := range jobs {
				trial := trialOf(j, launch+1, false, 1000)
				if j == jobs[1] && launch == 1 {
					trial.Figures[assay.NsPerOp] *= spread
				}
				g.record.note(&trial)
			}
			g.launches.add(costs[i], false)
		}
		r.groups = append(r.groups, g)
	}
}

func narrowGroupWaits(t *testing.T, mode assay.Mode) {
	r := &Runner{config: Config{Launches: 3, Precision: 0.02, Budget: 5 * time.Second}, measurement: measurement{baseline: assay.ParseBaseline("a")}}
	narrowAndWide(r, mode, 1.2, [2]time.Duration{2 * time.Second, 2 * time.Second})
	r.assess()
	counts := func() (all []string) {
		for _, g := range r.groups {
			all = append(all, fmt.Sprint(len(taking(r, g))))
		}
		return all
	}
	same(t, "members where one group is open", counts(), []string{"0", "3"})
	if got := r.scheduled()[0].Launches; got != math.MaxInt {
		t.Errorf("the narrow group has %d launches, want as many as it needs", got)
	}
	for _, g := range r.groups {
		g.need.further = nil
	}
	same(t, "members where none is", counts(), []string{"3", "3"})
}

// What has figures that never count has the least launches, and is no reason for more.
func TestUnlikeCellsAreNoReasonForLaunches(t *testing.T) {
	jobs := []*job{at(assay.Windows, "read a p"), at(assay.Windows, "read b p"), at(assay.Windows, "read c p")}
	g := groupCases(jobs, assay.ParseBaseline("a"))[0]
	for launch := range 3 {
		for i, j := range jobs {
			trial := trialOf(j, launch+1, false, 1000)
			if i == 2 {
				trial.Outcome = assay.NotApplied
			}
			g.record.note(&trial)
		}
	}
	for least, want := range map[int]int{3: 0, 4: 4} {
		if got := len(g.takingPart(least)); got != want {
			t.Errorf("%d members take part where %d launches are the least, want %d", got, least, want)
		}
	}
}

// A cell without a verdict is ranked with those of other profiles that promise as it does:
// it goes on where its figures are close to theirs, whatever precision is asked for.
func TestCellsThatAreRankedGoOn(t *testing.T) {
	for _, c := range []struct {
		name  string
		times float64 // that cells of p take, of q's
		want  string
	}{
		{"close", 1.02, "p/b=put p/c=put q/a=put q/b=put q/c=put"},
		{"far", 30, "q/a=put q/b=put q/c=put"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, g, _ := promising()
			r.config.Exact = true
			for launch := range 3 {
				for _, m := range g.members {
					trial := promisingTrial(m, launch+1)
					if trial.Durability == assay.Process {
						trial.Durability = assay.Consistent
						trial.Figures[assay.NsPerOp] *= c.times * (1 + 0.1*float64(launch))
					}
					g.record.note(&trial)
				}
				g.launches.add(time.Second, false)
			}
			r.assess()
			if got := sketchMembers(taking(r, g)); got != c.want {
				t.Errorf("got members %q, want %q", got, c.want)
			}
		})
	}
}

// Disturbed launches of cells without a verdict are made again, as those of others.
func TestDisturbedLaunchesOfCellsWithoutVerdictDoNotCount(t *testing.T) {
	r, g, jobs := promising()
	for launch := range 4 {
		for _, m := range g.members {
			trial := promisingTrial(m, launch+1)
			trial.Disqualified = launch == 1 && m.first == jobs[1]
			g.record.note(&trial)
		}
	}
	r.assess()
	delete(g.record.counted[jobs[1].Cell.Key()], 4)
	if got, want := sketchMembers(taking(r, g)), "p/b=put q/a=put q/b=put q/c=put"; got != want {
		t.Errorf("got members %q, want %q", got, want)
	}
}

// A resumed run counts launches that lack only cells without a verdict, and knows what a
// whole one takes.
func TestRecallOfLaunchesOfSome(t *testing.T) {
	_, g, _ := promising()
	r := &Runner{config: Config{Launches: 3}, measurement: measurement{groups: []*group{g}, baseline: assay.ParseBaseline("a")}}
	var done []assay.Trial
	for launch := range 5 {
		for _, m := range g.members {
			if launch < 3 || m.cell().Profile == "q" && (launch < 4 || m.cell().Driver != "c") {
				done = append(done, promisingTrial(m, launch+1))
			}
		}
	}
	r.recall(done)
	if g.launches.counted() != 4 || g.launches.last != 5 || g.launches.cost.Round(time.Millisecond) != 35*time.Second {
		t.Errorf("%d launches, the last is %d, a whole one costs %s; want 4, 5, 35s", g.launches.counted(), g.launches.last, g.launches.cost)
	}
	if got, want := sketchMembers(taking(r, g)), "q/a=put q/b=put q/c=put"; got != want {
		t.Errorf("got members %q, want %q", got, want)
	}
}

// In windows, operations whose intervals are narrow enough are left out of further
// launches, but for variants of one that is not.
func TestNarrowOperationsAreLeftOut(t *testing.T) {
	var jobs []*job
	for _, words := range []string{"read a p", "scan a p", "range a p", "range a p", "read b p", "scan b p", "range b p", "range b p"} {
		j := at(assay.Windows, words)
		if len(jobs)%4 == 3 {
			j.Cell.Statement = "never"
		}
		jobs = append(jobs, j)
	}
	baseline := assay.ParseBaseline("a")
	g := groupCases(jobs, baseline)[0]
	r := &Runner{config: Config{Launches: 3, Precision: 0.02, Exact: true}, measurement: measurement{groups: []*group{g}, baseline: baseline}}
	spread := map[string]float64{"read": 1.3, "scan": 1.0001, "range": 1.0001, "range never": 1.3}
	took := map[string]time.Duration{"read": time.Second, "scan": 6 * time.Second, "range": time.Second, "range never": time.Second}
	for launch := range 4 {
		if launch == 3 {
			if got, want := sketchMembers(taking(r, g)), "p/a=read,range,range p/b=read,range,range p/a(twin)=read,range,range"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if got, want := costOfNext(r, g).Round(time.Millisecond), 9*time.Second; got != want {
				t.Errorf("the next launch is to take %s, want %s", got, want)
			}
			return
		}
		members, number, all := taking(r, g), g.launches.begin(), time.Duration(0)
		for _, m := range members {
			for _, j := range m.jobs {
				name := j.Cell.Operation
				if j.Cell.Statement != "" {
					name += " " + j.Cell.Statement
				}
				nanos := 1000.0
				if j.Cell.Driver == "b" {
					nanos *= math.Pow(spread[name], float64(number))
				}
				trial := trialOf(j, number, m.twin, nanos)
				trial.Mode, trial.Took = assay.Windows, took[name]
				all += trial.Took
				g.record.note(&trial)
			}
		}
		g.launches.end(g.wholeCost(all, members))
		r.assess()
	}
}
