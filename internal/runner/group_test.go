//go:build unix

package runner

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"assay"
	"assay/internal/dataset"
	"assay/internal/stat"
)

// at is a job of a cell: operation driver profile.
func at(mode assay.Mode, words string) *job {
	w := strings.Fields(words)
	var how method = inBlocks{}
	if mode == assay.Windows {
		how = inWindows{}
	}
	return &job{method: how, data: &dataset.Data{Digest: "digest"}, Case: assay.Case{
		Cell: assay.Cell{Operation: w[0], Driver: w[1], Profile: w[2], Clients: 1, Pool: 1, Idle: 1}}}
}

// sketch writes groups down: mode, and each member as profile/driver of its
// operations.
func sketch(groups []*group) []string {
	var all []string
	for _, g := range groups {
		line := string(g.mode()) + ":"
		for _, m := range g.members {
			line += " " + m.cell().Profile + "/" + m.cell().Driver
			if m.twin {
				line += "(twin)"
			}
			for i, j := range m.jobs {
				line += []string{"=", ","}[min(i, 1)] + j.Cell.Operation
			}
		}
		all = append(all, line)
	}
	return all
}

func TestGroups(t *testing.T) {
	var many []*job
	for _, profile := range []string{"p", "q"} {
		for i := range (maxMembers + 1) / 2 {
			many = append(many, at(assay.Windows, fmt.Sprintf("read d%d %s", i, profile)))
		}
	}
	other := at(assay.Windows, "read a p")
	other.Cell.Clients = 2
	pages, rows := at(assay.Windows, "read a q"), at(assay.Windows, "read a q")
	pages.data, pages.Dataset.FileSettings = &dataset.Data{Digest: "other"}, map[string]string{"page_size": "8192"}
	indexed := at(assay.Windows, "read a q")
	indexed.data, indexed.Dataset.Prepare = &dataset.Data{Digest: "other"}, []string{"ANALYZE"}
	rows.data, rows.Dataset.Schema = &dataset.Data{Digest: "other"}, "CREATE TABLE other (id)"
	for _, c := range []struct {
		name string
		jobs []*job
		want []string
	}{
		{"operations in windows share their instances",
			[]*job{at(assay.Windows, "read a p"), at(assay.Windows, "read b p"), at(assay.Windows, "scan a p"), at(assay.Windows, "scan b p")},
			[]string{"windows: p/a=read,scan p/b=read,scan p/a(twin)=read,scan"}},
		{"each operation in blocks is a group of its own",
			[]*job{at(assay.Blocks, "put a p"), at(assay.Blocks, "put b p"), at(assay.Blocks, "del a p")},
			[]string{"blocks: p/a=put p/b=put p/a(twin)=put", "blocks: p/a=del p/a(twin)=del"}},
		{"profiles are members, the twin is of the first one",
			[]*job{at(assay.Windows, "read a p"), at(assay.Windows, "read a q"), at(assay.Windows, "read b q")},
			[]string{"windows: p/a=read q/a=read q/b=read p/a(twin)=read"}},
		{"the twin is of the profile that has most operations",
			[]*job{at(assay.Windows, "read a p"), at(assay.Windows, "read a q"), at(assay.Windows, "scan a q")},
			[]string{"windows: p/a=read q/a=read,scan q/a(twin)=read,scan"}},
		{"another number of clients is another group",
			[]*job{at(assay.Windows, "read a p"), other},
			[]string{"windows: p/a=read p/a(twin)=read", "windows: p/a=read p/a(twin)=read"}},
		{"the same rows in a file with other settings are in the group",
			[]*job{at(assay.Windows, "read a p"), pages},
			[]string{"windows: p/a=read q/a=read p/a(twin)=read"}},
		{"the same rows in a file with an index are in the group",
			[]*job{at(assay.Windows, "read a p"), indexed},
			[]string{"windows: p/a=read q/a=read p/a(twin)=read"}},
		{"other rows are another group",
			[]*job{at(assay.Windows, "read a p"), rows},
			[]string{"windows: p/a=read p/a(twin)=read", "windows: q/a=read q/a(twin)=read"}},
		{"without the reference there is no twin",
			[]*job{at(assay.Windows, "read b p"), at(assay.Windows, "read c p")},
			[]string{"windows: p/b=read p/c=read"}},
	} {
		t.Run(c.name, func(t *testing.T) { same(t, "groups", sketch(groupCases(c.jobs, assay.ParseBaseline("a"))), c.want) })
	}
	t.Run("too many members are split by profile", func(t *testing.T) {
		same(t, "groups", sketch(groupCases(many, assay.ParseBaseline("d0"))), []string{
			"windows: p/d0=read p/d1=read p/d2=read p/d3=read p/d4=read p/d5=read p/d6=read p/d0(twin)=read",
			"windows: q/d0=read q/d1=read q/d2=read q/d3=read q/d4=read q/d5=read q/d6=read q/d0(twin)=read"})
	})
}

func TestMethodOf(t *testing.T) {
	part := []assay.Part{{}}
	for _, c := range []struct {
		op      assay.Operation
		clients int
		want    method
	}{
		{assay.Operation{}, 1, inWindows{}},
		{assay.Operation{Changes: true}, 1, inTurns{}},
		{assay.Operation{Changes: true, Transaction: 5, Count: 10}, 1, inTurns{}},
		{assay.Operation{Changes: true, Transaction: 10, Count: 10}, 1, inBlocks{}},
		{assay.Operation{Changes: true}, 2, inBlocks{}},
		{assay.Operation{Changes: true, Cold: true}, 1, inBlocks{}},
		{assay.Operation{Changes: true, Parts: part}, 1, inBlocks{}},
		{assay.Operation{Changes: true, Steps: []assay.Step{{KV: "put"}}}, 1, inBlocks{}},
		{assay.Operation{Parts: part}, 1, inBlocks{}},
		{assay.Operation{}, 100_000, inBlocks{}},
		{assay.Operation{Cold: true}, 1, inBlocks{}},
		{assay.Operation{Serve: true}, 1, overHTTP{}},
		{assay.Operation{Transaction: 10, Count: 10}, 1, inBlocks{}},
		{assay.Operation{Transaction: 5, Count: 10}, 1, inWindows{}},
		{assay.Operation{Steps: []assay.Step{{Call: "save"}}, Changes: true}, 1, inCalls{}},
	} {
		if got := methodOf(assay.Case{Operation: c.op, Cell: assay.Cell{Clients: c.clients}}); got != c.want {
			t.Errorf("methodOf(%+v, %d clients) = %T, want %T", c.op, c.clients, got, c.want)
		}
	}
}

// A cell that ended in a way that another launch cannot fix is dropped, and its twin
// with it; a twin by itself.
func TestDrop(t *testing.T) {
	a, b := at(assay.Windows, "read a p"), at(assay.Windows, "read b p")
	scan := at(assay.Windows, "scan b p")
	for _, c := range []struct {
		trial assay.Trial
		want  string
	}{
		{assay.Trial{Cell: b.Cell, Outcome: assay.Failed}, "windows: p/a=read p/b=scan p/a(twin)=read"},
		{assay.Trial{Cell: b.Cell, Outcome: assay.NotApplied}, "windows: p/a=read p/b=read,scan p/a(twin)=read"},
		{assay.Trial{Cell: b.Cell, Outcome: assay.NotRun}, "windows: p/a=read p/b=read,scan p/a(twin)=read"},
		{assay.Trial{Cell: a.Cell, Outcome: assay.TimedOut, Twin: true}, "windows: p/a=read p/b=read,scan"},
		{assay.Trial{Cell: a.Cell, Outcome: assay.WrongAnswer}, "windows: p/b=read,scan"},
	} {
		g := groupCases([]*job{a, b, scan}, assay.ParseBaseline("a"))
		g[0].dropPermanentFailure(&c.trial)
		g[0].prune()
		same(t, "after "+string(c.trial.Outcome), sketch(g), []string{c.want})
	}
}

// trialOf is a trial of a finished launch.
func trialOf(j *job, launch int, twin bool, nanos float64) assay.Trial {
	return assay.Trial{Cell: j.Cell, Group: j.method.name(j), Launch: launch, Twin: twin, Outcome: assay.OK, Took: time.Second,
		Figures: map[string]float64{assay.NsPerOp: nanos}}
}

// Launches that a resumed run has already count where all members finished
// them; new ones get numbers beyond all that were begun.
func TestRecall(t *testing.T) {
	a, b := at(assay.Blocks, "put a p"), at(assay.Blocks, "put b p")
	r := &Runner{measurement: measurement{groups: groupCases([]*job{a, b}, assay.ParseBaseline("a"))}}
	failed := trialOf(b, 3, false, 0)
	failed.Cell.Operation, failed.Outcome = "other", assay.Failed
	r.recall([]assay.Trial{
		trialOf(a, 1, false, 10), trialOf(a, 1, true, 10), trialOf(b, 1, false, 20),
		trialOf(a, 2, false, 10), trialOf(b, 2, false, 30), // the twin is missing
		trialOf(a, 3, false, 10), failed, // of another group
		{Cell: a.Cell, Outcome: assay.NotRun},
	})
	g := r.groups[0]
	if g.launches.counted() != 1 || g.launches.last != 3 || g.launches.cost != 3*time.Second {
		t.Errorf("%d launches, the last is %d, one costs %s; want 1, 3, 3s", g.launches.counted(), g.launches.last, g.launches.cost)
	}
	if got := deciding(g); got != "2 of 2.449" {
		t.Errorf("ratios %s, want those of launches 1 and 2, of which the mean is the root of 6", got)
	}
}

// A failure of the run is none of the ablation, whose groups can have the same
// name and cells, and the other way round.
func TestRecallOfTheOtherStage(t *testing.T) {
	a, b := at(assay.Blocks, "put a p"), at(assay.Blocks, "put b p")
	failed := trialOf(b, 1, false, 0)
	failed.Outcome, failed.Figures = assay.Failed, nil
	for _, stage := range []bool{false, true} {
		for _, ofTrial := range []bool{false, true} {
			r := &Runner{config: Config{Ablation: stage}, measurement: measurement{groups: groupCases([]*job{a, b}, assay.ParseBaseline("a"))}}
			failed.Ablation = ofTrial
			r.recall([]assay.Trial{failed})
			if got, want := r.groups[0].has(b.Cell.Key()), stage != ofTrial; got != want {
				t.Errorf("ablation %v, failed in the ablation %v: still measured %v, want %v", stage, ofTrial, got, want)
			}
		}
	}
}

// Ratios pair figures of the same launch with the reference of the profile.
func TestRatios(t *testing.T) {
	jobs := []*job{at(assay.Blocks, "put a p"), at(assay.Blocks, "put b p"), at(assay.Blocks, "put a q"), at(assay.Blocks, "put b q")}
	g := groupCases(jobs, assay.ParseBaseline("a"))[0]
	disturbed := trialOf(jobs[1], 2, false, 5)
	disturbed.Disqualified = true
	for _, trial := range []assay.Trial{
		trialOf(jobs[0], 1, false, 10), trialOf(jobs[0], 1, true, 99), trialOf(jobs[1], 1, false, 20),
		trialOf(jobs[2], 1, false, 100), trialOf(jobs[3], 1, false, 50),
		trialOf(jobs[0], 2, false, 10), disturbed,
		trialOf(jobs[1], 3, false, 20), // without a reference
	} {
		g.record.note(&trial)
	}
	if got := deciding(g); got != "1 of 2.000, 1 of 0.500" {
		t.Errorf("ratios %s, want one of 2 and one of 0.5", got)
	}
}

// deciding are the ratios of a group's only operation, with how many launches
// they are of, and the figures that decide by themselves.
func deciding(g *group) string {
	c := g.comparisons(g.operations()[0], assay.ParseBaseline("a"))
	var all []string
	for _, test := range c.table.Tests {
		p := c.table.Pair(test.A, test.B)
		all = append(all, fmt.Sprintf("%d of %.3f", p.N, math.Exp(p.Mean)))
	}
	for _, figures := range c.uncompared {
		slices.Sort(figures)
		all = append(all, fmt.Sprint(figures))
	}
	return strings.Join(all, ", ")
}

// With nothing to compare, a group's own figures are to become narrow.
func TestDecidingWithNothingToCompare(t *testing.T) {
	alone := at(assay.Blocks, "put a p")
	g := groupCases([]*job{alone}, assay.ParseBaseline("a"))[0]
	for _, trial := range []assay.Trial{trialOf(alone, 1, false, 10), trialOf(alone, 1, true, 99), trialOf(alone, 2, false, 20)} {
		g.record.note(&trial)
	}
	if got := deciding(g); got != "[10 20]" {
		t.Errorf("%v decide, want the reference's own figures", got)
	}
}

// Cells whose baseline has failed are measured on, and their own figures
// decide; cells of other profiles are still compared.
func TestDecidingWithoutTheBaseline(t *testing.T) {
	jobs := []*job{at(assay.Windows, "read a p"), at(assay.Windows, "read b p"), at(assay.Windows, "read a q"), at(assay.Windows, "read b q")}
	g := groupCases(jobs, assay.ParseBaseline("a"))[0]
	for i, nanos := range []float64{10, 20, 100, 50} {
		trial := trialOf(jobs[i], 1, false, nanos)
		g.record.note(&trial)
	}
	g.members[0].drop(jobs[0].Cell.Key()) // as in the middle of a launch: the member is still there
	if got := deciding(g); got != "1 of 0.500, [20]" {
		t.Errorf("%s decide, want the ratio of profile q and the figures of profile p", got)
	}
}

// The twin of a baseline is a member of its table, as in a report: it tells how much
// figures spread, and is compared with nothing.
func TestTableHasTwin(t *testing.T) {
	a, b := at(assay.Windows, "read a p"), at(assay.Windows, "read b p")
	g := groupCases([]*job{a, b}, assay.ParseBaseline("a"))[0]
	var figures, twins []float64
	for launch := 1; launch <= 3; launch++ {
		first, twin, second := trialOf(a, launch, false, 100), trialOf(a, launch, true, float64(100+launch)), trialOf(b, launch, false, float64(200-launch*launch))
		for _, trial := range []*assay.Trial{&first, &twin, &second} {
			g.record.note(trial)
		}
		figures, twins = append(figures, second.Figures[assay.NsPerOp]), append(twins, twin.Figures[assay.NsPerOp])
	}
	table := g.comparisons(g.operations()[0], assay.ParseBaseline("a")).table
	if got := len(table.Pairs); got != 3 {
		t.Fatalf("got %d members, want two and the twin", got)
	}
	want, err := stat.NewPairs(twins, figures)
	must(t, err)
	if got := table.Pair(2, 1); math.Abs(got.Mean-want.Mean) > 1e-12 || got.N != want.N {
		t.Errorf("the twin against b: got %+v, want %+v", got, want)
	}
	if got, want := table.Tests, []stat.Test{{A: 1, B: 0, Baseline: true}}; !slices.Equal(got, want) {
		t.Errorf("got the tests %v, want %v", got, want)
	}
}
