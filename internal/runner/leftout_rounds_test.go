//go:build unix

package runner

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"assay"
	"assay/internal/runner/schedule"
)

// playRounds schedules a runner's groups and makes their launches, until the schedule says nothing
// more or after so many rounds. Trials are what a function makes of them; took is what a
// launch takes.
func playRounds(r *Runner, rounds int, figure func(t *assay.Trial), took func(members []*member, launch int) time.Duration) int {
	for round := range rounds {
		next := schedule.Next(r.scheduled(), r.limitsNow())
		if len(next) == 0 {
			return round
		}
		for _, k := range next {
			g := r.groups[k]
			members, number := g.next.members, g.launches.begin()
			for _, m := range members {
				for _, j := range m.jobs {
					trial := trialOf(j, number, m.twin, 1000)
					figure(&trial)
					g.record.note(&trial)
					r.totals.note(trial)
				}
			}
			cost := took(members, number)
			r.clock.spent += cost
			g.launches.end(g.wholeCost(cost, members))
		}
	}
	return rounds
}

func aSecond([]*member, int) time.Duration { return time.Second }

// summing adds the sum of some operations, of each of some jobs' targets.
func summing(r *Runner, operations, targets []*job) (cases []assay.Case) {
	for _, j := range targets {
		c := assay.Case{Cell: j.Cell}
		c.Cell.Operation = "total"
		for _, part := range operations {
			c.Operation.Terms = append(c.Operation.Terms, assay.Term{Operation: part.Cell.Operation, Peer: part.Cell.Peer(), Times: 1})
		}
		r.totals.add(c)
		cases = append(cases, c)
	}
	return cases
}

// A sum may have a verdict where one of its operations has none: that operation's cells go
// on, and the run ends.
func TestSumKeepsItsOperations(t *testing.T) {
	baseline := assay.ParseBaseline("a")
	var jobs []*job
	for _, operation := range []string{"ins", "del"} {
		for _, target := range []string{" a p", " b p", " a q", " b q"} {
			j := at(assay.Blocks, operation+target)
			j.ForSum = true
			jobs = append(jobs, j)
		}
	}
	r := &Runner{config: Config{Launches: 3, Precision: 0.02}, measurement: measurement{baseline: baseline}}
	cases := summing(r, []*job{jobs[0], jobs[4]}, jobs[:4])
	r.groups = groupCases(jobs, baseline)
	r.totals.group(r.groups, baseline)
	rounds := playRounds(r, 300, func(trial *assay.Trial) {
		c := trial.Cell
		if c.Driver == "b" {
			trial.Figures[assay.NsPerOp] *= 1 + 0.1*float64(trial.Launch%3)
		}
		trial.Durability = assay.Power
		synchronous := "full"
		if c.Profile == "p" {
			trial.Figures[assay.NsPerOp] *= 30
			if c.Operation == "del" && c.Driver == "b" {
				synchronous = "extra"
			}
		}
		trial.Settings = []assay.Setting{{Name: "synchronous", Effective: synchronous}}
	}, aSecond)
	if rounds == 300 {
		t.Fatal("the run does not end, though nothing limits it")
	}
	if got, want := len(r.totals.of(cases[1], false)), r.groups[0].launches.counted(); got != want {
		t.Errorf("the sum has %d launches, its operations have %d", got, want)
	}
}

// What a sum adds up is measured in the same launches, narrow or not, also where a variant
// of one of its operations goes on.
func TestSumOfWindowsHasAllLaunches(t *testing.T) {
	for _, open := range []string{"scan", "read never"} {
		baseline := assay.ParseBaseline("a")
		jobs := []*job{at(assay.Windows, "read a p"), at(assay.Windows, "read b p"), at(assay.Windows, "scan a p"), at(assay.Windows, "scan b p"),
			at(assay.Windows, "read a p"), at(assay.Windows, "read b p")}
		jobs[4].Cell.Statement, jobs[5].Cell.Statement = "never", "never"
		r := &Runner{config: Config{Launches: 3, Precision: 0.02}, measurement: measurement{baseline: baseline, groups: groupCases(jobs, baseline)}}
		cases := summing(r, []*job{jobs[0], jobs[2]}, jobs[:2])
		r.totals.group(r.groups, baseline)
		playRounds(r, 300, func(trial *assay.Trial) {
			name := strings.TrimSpace(trial.Cell.Operation + " " + trial.Cell.Statement)
			if name == open && trial.Cell.Driver == "b" {
				trial.Figures[assay.NsPerOp] *= 1 + 0.03*float64(trial.Launch%3)
			}
		}, aSecond)
		launches := r.groups[0].launches.counted()
		if got := len(r.totals.of(cases[1], false)); got != launches || launches <= 3 {
			t.Errorf("%s is open: the sum has %d launches, its operations have %d; want as many, and more than 3", open, got, launches)
		}
	}
}

// An operation that waited with two launches gets its third one when there is time for it.
func TestOperationThatWaitedGoesOn(t *testing.T) {
	baseline := assay.ParseBaseline("a")
	jobs := []*job{at(assay.Windows, "read a p"), at(assay.Windows, "read b p"), at(assay.Windows, "scan a p"), at(assay.Windows, "scan b p")}
	g := groupCases(jobs, baseline)[0]
	r := &Runner{config: Config{Launches: 3, Precision: 0.02, Budget: 50 * time.Second}, measurement: measurement{baseline: baseline, groups: []*group{g}}}
	playRounds(r, 50, func(trial *assay.Trial) {
		nanos := 1 + 0.0001*float64(trial.Launch)
		if trial.Cell.Driver == "b" {
			nanos *= 1 + 0.0002*float64(trial.Launch%2)
			if trial.Cell.Operation == "scan" && trial.Launch == 1 {
				nanos *= 1.012
			}
		}
		trial.Figures[assay.NsPerOp] *= nanos
	}, func(_ []*member, launch int) time.Duration {
		if launch <= 2 {
			return 20 * time.Second
		}
		return time.Second
	})
	for _, j := range jobs {
		if got := g.record.launches(j); got < 3 {
			t.Errorf("%s of %s has %d launches, want 3 at least", j.Cell.Operation, j.Cell.Driver, got)
		}
	}
}

// Where no launch of what is open fits into what is left, what waited gets its third one.
func TestWhatWaitedUsesRestOfBudget(t *testing.T) {
	r := &Runner{config: Config{Launches: 3, Precision: 0.3, Budget: 30 * time.Second}, measurement: measurement{baseline: assay.ParseBaseline("a")}}
	r.clock.spent = 22 * time.Second
	narrowAndWide(r, assay.Windows, 9, [2]time.Duration{time.Second, 10 * time.Second})
	r.assess()
	if a, b := r.groups[0].need.wide(), r.groups[1].need.wide(); a != 0 || b != 1 {
		t.Fatalf("%d and %d intervals are too wide, want 0 and 1", a, b)
	}
	if got := fmt.Sprint(schedule.Next(r.scheduled(), r.limitsNow())); got != "[0]" {
		t.Errorf("got groups %s, want the first, which is narrow and has two launches", got)
	}
}

// Cells whose disturbed launches are different ones share too few: another one is made.
func TestCellsShareLeastLaunches(t *testing.T) {
	baseline := assay.ParseBaseline("a")
	jobs := []*job{at(assay.Blocks, "put a p"), at(assay.Blocks, "put b p")}
	g := groupCases(jobs, baseline)[0]
	r := &Runner{config: Config{Launches: 3, Precision: 0.02, Budget: time.Minute}, measurement: measurement{baseline: baseline, groups: []*group{g}}}
	for launch := 1; launch <= 4; launch++ {
		for i, j := range jobs {
			trial := trialOf(j, launch, false, 1000)
			trial.Disqualified = launch == i+1
			g.record.note(&trial)
		}
		g.launches.add(time.Second, launch <= 2)
	}
	if got := fmt.Sprint(schedule.Next(r.scheduled(), r.limitsNow())); got != "[0]" {
		t.Errorf("got groups %s, want another launch: the cells share two of three", got)
	}
}

// A run that was interrupted before cells that get no verdict measures these again.
func TestResumedRunHasLeastLaunchesOfAll(t *testing.T) {
	_, g, jobs := promising()
	r := &Runner{config: Config{Launches: 2, Precision: 1}, measurement: measurement{groups: []*group{g}, baseline: assay.ParseBaseline("a")}}
	var done []assay.Trial
	for launch := range 2 {
		for _, m := range g.members {
			if launch < 1 || m.cell().Profile == "q" {
				done = append(done, promisingTrial(m, launch+1))
			}
		}
	}
	r.recall(done)
	playRounds(r, 20, func(*assay.Trial) {}, aSecond)
	for _, j := range jobs {
		if got := g.record.launches(j); got < 2 {
			t.Errorf("%s of %s has %d launches, want 2 at least", j.Cell.Profile, j.Cell.Driver, got)
		}
	}
}

// What a launch of windows takes beside its operations is not saved by leaving some out.
func TestCostOfFewOperations(t *testing.T) {
	const start, each = 2 * time.Second, 100 * time.Millisecond
	baseline := assay.ParseBaseline("a")
	var jobs []*job
	for i := range 20 {
		jobs = append(jobs, at(assay.Windows, fmt.Sprintf("op%d a p", i)), at(assay.Windows, fmt.Sprintf("op%d b p", i)))
	}
	g := groupCases(jobs, baseline)[0]
	r := &Runner{config: Config{Launches: 3, Precision: 0.02, Budget: 90 * time.Second}, measurement: measurement{baseline: baseline, groups: []*group{g}}}
	playRounds(r, 12, func(trial *assay.Trial) {
		trial.Took = each
		if trial.Cell.Operation == "op0" && trial.Cell.Driver == "b" {
			trial.Figures[assay.NsPerOp] *= 1 + 0.2*float64(trial.Launch%2)
		}
	}, func(members []*member, launch int) time.Duration {
		took := start
		for _, m := range members {
			took += time.Duration(len(m.jobs)) * each
		}
		if launch > 3 {
			if want := start + 3*each; took != want || g.next.cost != want {
				t.Errorf("launch %d takes %s and was to take %s, want %s", launch, took, g.next.cost, want)
			}
		}
		return took
	})
	if got, want := g.launches.cost, start+60*each; got != want {
		t.Errorf("a whole launch takes %s, want %s", got, want)
	}
	if got := g.launches.counted(); got < 6 {
		t.Errorf("%d launches, want so many that what is left out shows", got)
	}
}

// The twin of a baseline that has failed for good is compared with nothing: it holds up no
// launches and gets none.
func TestTwinOfFailedBaseline(t *testing.T) {
	for _, mode := range []assay.Mode{assay.Windows, assay.Blocks} {
		baseline := assay.ParseBaseline("a")
		jobs := []*job{at(mode, "read a p"), at(mode, "read b p"), at(mode, "read c p")}
		r := &Runner{config: Config{Launches: 3, Precision: 0.02, Budget: 1000 * time.Second}, measurement: measurement{baseline: baseline, groups: groupCases(jobs, baseline)}}
		g := r.groups[0]
		playRounds(r, 50, func(trial *assay.Trial) {
			if trial.Cell.Driver == "a" && !trial.Twin {
				trial.Outcome, trial.Figures = assay.Failed, nil
				g.dropPermanentFailure(trial)
			}
		}, func([]*member, int) time.Duration { g.prune(); return time.Second })
		if got := g.launches.counted(); got != 3 {
			t.Errorf("%s: %d launches, want 3", mode, got)
		}
	}
}

// What a cell takes whose figures never count is known, and saved where it is left out.
func TestCostWithoutCellsThatNeverCount(t *testing.T) {
	r, g, jobs := promising()
	r.config.Budget = 150 * time.Second
	playRounds(r, 50, func(trial *assay.Trial) {
		*trial = promisingTrial(&member{first: &job{method: inBlocks{}, data: jobs[0].data, Case: assay.Case{Cell: trial.Cell}}, twin: trial.Twin}, trial.Launch)
		if trial.Cell.Profile == "p" && trial.Cell.Driver == "c" {
			trial.Outcome = assay.NotApplied
		}
	}, func(members []*member, _ int) (took time.Duration) {
		for _, m := range members {
			took += promisingTrial(m, 1).Took
		}
		if len(members) == 3 && g.next.cost != took {
			t.Errorf("a launch of %s was to take %s, and takes %s", sketchMembers(members), g.next.cost, took)
		}
		return took
	})
	if got := g.launches.counted(); got <= 4 {
		t.Errorf("%d launches, want those that fit", got)
	}
}

// Cells whose settings did not apply get no verdict: they have the least launches.
func TestCellsThatAreNeverComparedAreLeftOut(t *testing.T) {
	r, g, jobs := promising()
	for range 4 {
		r.planNext()
		number := g.launches.begin()
		for _, m := range g.next.members {
			trial := promisingTrial(m, number)
			if m.first == jobs[5] {
				trial.Outcome = assay.NotApplied
			}
			g.record.note(&trial)
		}
		g.launches.end(time.Second)
		r.assess()
	}
	r.planNext()
	if got, want := sketchMembers(g.next.members), "q/a=put q/b=put"; got != want {
		t.Errorf("got members %q, want %q", got, want)
	}
}

// Instances that cannot be closed are the end of all of their operations, those that the
// launch left out too, but not of what has ended.
func TestWholeMember(t *testing.T) {
	jobs := []*job{at(assay.Windows, "read a p"), at(assay.Windows, "read b p"), at(assay.Windows, "scan a p"), at(assay.Windows, "scan b p"), at(assay.Windows, "get b p")}
	g := groupCases(jobs, assay.ParseBaseline("a"))[0]
	part := g.membersWith(map[string]bool{jobs[0].Cell.Peer(): true})[1]
	failed := trialOf(jobs[3], 1, false, 0)
	failed.Outcome = assay.WrongAnswer
	g.dropPermanentFailure(&failed)
	if got, want := sketchMembers([]*member{part, g.wholeMember(part)}), "p/b=read p/b=read,get"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A run in turn gives all its cells as many launches as its budget allows: those that are
// narrow, and those that get no verdict.
func TestInTurnLeavesNothingOut(t *testing.T) {
	for _, mode := range []assay.Mode{assay.Windows, assay.Blocks} {
		baseline := assay.ParseBaseline("a")
		jobs := []*job{at(mode, "put a p"), at(mode, "put b p"), at(mode, "del a p"), at(mode, "del b p")}
		jobs[2].Cell.Clients, jobs[3].Cell.Clients = 2, 2
		r := &Runner{config: Config{Launches: 3, Precision: 0.02, Budget: time.Minute, InTurn: true}, measurement: measurement{baseline: baseline, groups: groupCases(jobs, baseline)}}
		playRounds(r, 300, func(trial *assay.Trial) {
			trial.Figures[assay.NsPerOp] *= 1 + 0.0001*float64(trial.Launch%2) // narrow
			if trial.Cell.Driver == "b" && trial.Cell.Operation == "del" {
				trial.Durability = assay.Power
				trial.Figures[assay.NsPerOp] *= 1 + float64(trial.Launch%3) // wide, and promises what its baseline does not
			}
		}, aSecond)
		if len(r.groups) != 2 {
			t.Fatalf("got %d groups, want 2", len(r.groups))
		}
		for _, g := range r.groups {
			for _, m := range g.members {
				for _, j := range m.jobs {
					if got := g.record.launches(j); got != 30 {
						t.Errorf("%s: %s of %s has %d launches, want 30", mode, j.Cell.Operation, j.Cell.Driver, got)
					}
				}
			}
		}
		if got := r.total(); got != time.Minute {
			t.Errorf("%s: it says that it takes %s, want 1m0s", mode, got)
		}
	}
}

// How long a run takes is not known before each group has the launches of an interval: what
// it needs may be many more.
func TestTotal(t *testing.T) {
	baseline := assay.ParseBaseline("a")
	jobs := []*job{at(assay.Blocks, "put a p"), at(assay.Blocks, "put b p"), at(assay.Blocks, "del a p"), at(assay.Blocks, "del b p")}
	r := &Runner{config: Config{Launches: 3, Precision: 0.1, Budget: time.Hour}, measurement: measurement{baseline: baseline, groups: groupCases(jobs, baseline)}}
	spread := func(trial *assay.Trial) {
		if trial.Cell.Driver == "b" && trial.Launch%2 == 1 {
			trial.Figures[assay.NsPerOp] *= 1.3
		}
	}
	for rounds, want := range []time.Duration{0, 0, 10 * time.Second} {
		if rounds > 0 {
			playRounds(r, 1, spread, aSecond)
		}
		r.scheduled()
		if got := r.total(); got < want || want == 0 && got != 0 {
			t.Errorf("after %d launches of each group: it takes %s, want %s or more, and 0 where that is unknown", rounds, got, want)
		}
	}
}
