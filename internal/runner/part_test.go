//go:build unix

package runner

import (
	"math"
	"strings"
	"testing"
	"time"

	"assay"
)

// promising is a group of two profiles: those of q promise alike, and of p the drivers b
// and c less than their baseline a. Each cell of p takes 8 s, of q 1 s.
func promising() (*Runner, *group, []*job) {
	jobs := []*job{at(assay.Blocks, "put a p"), at(assay.Blocks, "put b p"), at(assay.Blocks, "put c p"),
		at(assay.Blocks, "put a q"), at(assay.Blocks, "put b q"), at(assay.Blocks, "put c q")}
	baseline := assay.ParseBaseline("a")
	g := groupCases(jobs, baseline)[0]
	return &Runner{config: Config{Launches: 3}, measurement: measurement{groups: []*group{g}, baseline: baseline}}, g, jobs
}

// promisingTrial is a trial of one of its members.
func promisingTrial(m *member, launch int) assay.Trial {
	t := trialOf(m.first, launch, m.twin, float64(1000+launch))
	t.Durability = assay.Consistent
	if t.Cell.Profile == "p" {
		t.Took = 8 * time.Second
		if t.Cell.Driver == "a" {
			t.Durability = assay.Power
		}
	}
	return t
}

// launchTakingPart measures the members that take part once.
func launchTakingPart(r *Runner, g *group) (took time.Duration) {
	members, number := r.takingPart(g), g.launches.begin()
	for _, m := range members {
		t := promisingTrial(m, number)
		took += t.Took
		g.record.note(&t)
	}
	g.launches.end(g.whole(took, members))
	r.assess()
	return took
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
		if got := r.nextCost(g); launch > 0 && got.Round(time.Millisecond) != want*time.Second {
			t.Errorf("launch %d: it is to take %s, want %ds", launch+1, got, want)
		}
		if got := launchTakingPart(r, g); got != want*time.Second {
			t.Errorf("launch %d takes %s, want %ds", launch+1, got, want)
		}
	}
	if got, want := sketchMembers(r.takingPart(g)), "q/a=put q/b=put q/c=put"; got != want {
		t.Errorf("got members %q, want %q", got, want)
	}
	if got := g.launches.cost.Round(time.Millisecond); got != all*time.Second {
		t.Errorf("a whole launch takes %s, want %ds", got, all)
	}
}

// A budget that is too small for the least launches has two of a cell without a verdict:
// so many that there is an interval.
func TestSmallBudgetHasTwoLaunchesOfCellsWithoutVerdict(t *testing.T) {
	r, g, _ := promising()
	r.config.Budget = 80 * time.Second
	for _, want := range []time.Duration{35, 35, 3} {
		if got := launchTakingPart(r, g); got != want*time.Second {
			t.Errorf("launch %d takes %s, want %ds", g.launches.last, got, want)
		}
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
	if got, want := sketchMembers(r.takingPart(g)), "p/b=put q/a=put q/b=put q/c=put"; got != want {
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
	if got, want := sketchMembers(r.takingPart(g)), "q/a=put q/b=put q/c=put"; got != want {
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
			if got, want := sketchMembers(r.takingPart(g)), "p/a=read,range,range p/b=read,range,range p/a(twin)=read,range,range"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if got, want := r.nextCost(g).Round(time.Millisecond), 9*time.Second; got != want {
				t.Errorf("the next launch is to take %s, want %s", got, want)
			}
			if !r.divisible(g) {
				t.Error("the next launch cannot be ended between its operations, want that it can")
			}
			return
		}
		members, number, all := r.takingPart(g), g.launches.begin(), time.Duration(0)
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
		g.launches.end(g.whole(all, members))
		r.assess()
	}
}
