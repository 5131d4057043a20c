package tune

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"assay"
	"assay/internal/analysis/wording"
	"assay/internal/lab"
)

// currentName is the profile of the current settings in all runs of a tuning.
const currentName = "current"

func (t *Tuning) profile(p Point) assay.Profile {
	profile := t.current
	profile.Name = "p"
	for _, level := range p {
		profile.Name += fmt.Sprint(level)
	}
	profile.Settings = maps.Clone(t.base)
	profile.Prepare = slices.Concat(profile.Prepare, t.space.Prepare(p))
	if t.space.First(p) {
		return profile // the current settings, as they are
	}
	t.explicit(profile.Settings)
	maps.Copy(profile.Settings, t.space.Settings(p))
	delete(profile.Settings, "driver")
	return profile
}

// explicit adds what durability and memory follow from where the profile in use leaves
// it to the driver: other drivers, and other ecosystems, have other defaults.
func (t *Tuning) explicit(settings map[string]string) {
	if t.effective["read_only"] == "1" {
		return
	}
	for _, name := range t.engine.explicit() {
		if value := t.effective[name]; value != "" && settings[name] == "" {
			settings[name] = value
		}
	}
}

func (t *Tuning) member(p Point) lab.Member {
	driver := t.space.Settings(p)["driver"]
	if driver == "" {
		driver = t.drivers[0]
	}
	return lab.Member{Driver: assay.ParseDriverName(driver), Profile: t.profile(p).Name}
}

func (t *Tuning) beginSeries(ctx context.Context, b Block) error {
	if err := t.endSeries(ctx); err != nil {
		return err
	}
	current := t.current
	current.Name, current.Settings = currentName, t.base
	profiles := []assay.Profile{current}
	for _, p := range b.All {
		profiles = append(profiles, t.profile(p))
	}
	staged, only := t.stagePlan(b, profiles)
	if uses := t.uses(b.All); len(uses) > 0 {
		staged = staged.Using(uses)
	}
	staged.Launches = max(1, b.Of)
	staged.Text += t.within()
	request := lab.Request{Plan: staged, PlanFile: t.request.PlanFile, Drivers: t.drivers, Only: only, Resume: t.request.Resume}
	series, err := t.lab.Series(ctx, t.store, request, t.started)
	if err != nil {
		return err
	}
	t.series, t.stage, t.started = series, b.Stage, series.Started()
	t.runs = append(t.runs, StageRun{Stage: b.Stage, ID: series.ID()})
	return nil
}

// within says at the end of a stage's plan what its tuning keeps to: stages of tunings within
// other constraints may have the same profiles, and are not resumed in their place.
func (t *Tuning) within() string {
	text := fmt.Sprintf("#   within durability %s and %s of memory", t.class, t.request.Memory)
	if t.request.SingleProcess {
		text += ", by one process"
	}
	return text + "\n"
}

func (t *Tuning) endSeries(ctx context.Context) error {
	if t.series == nil {
		return nil
	}
	err := t.series.Finish(ctx)
	t.close(ctx)
	return err
}

// close leaves what was not finished to be resumed.
func (t *Tuning) close(ctx context.Context) {
	if t.series != nil {
		t.series.Close(context.WithoutCancel(ctx))
		t.series = nil
	}
}

// measure measures a block: launches of as many points as fit beside the current
// settings, in random order.
func (t *Tuning) measure(ctx context.Context, b Block) (Measured, error) {
	if t.series == nil || t.stage != b.Stage {
		if err := t.beginSeries(ctx, b); err != nil {
			return Measured{}, err
		}
	}
	t.request.Step(fmt.Sprintf("%s, block %d%s: %s beside the current settings; %s of %s used", b.Stage, b.Number, ofBlocks(b.Of),
		wording.Plural(len(b.Points), "candidate"), wording.Brief(t.spent), wording.Brief(t.request.Budget)))
	order := rand.New(rand.NewPCG(t.request.Plan.Seed, uint64(len(b.Stage)*1000+b.Number))).Perm(len(b.Points))
	measured := Measured{Members: make([]Member, len(b.Points))}
	for number, chunk := range slices.Collect(slices.Chunk(order, perLaunch)) {
		trials, took, err := t.launch(ctx, b, chunk)
		if err != nil {
			t.close(ctx) // what follows has a series of its own
			return measured, err
		}
		measured.Took += took
		t.spent += took
		if b.Stage == Confirmation {
			t.figures = append(t.figures, trials...)
		}
		if b.Where == "" {
			if err := t.settle(trials); err != nil {
				return measured, err
			}
		}
		for _, i := range chunk {
			measured.Members[i] = t.judge(b, b.Points[i], trials)
			measured.Members[i].Launch = number
		}
	}
	if measured.Took == t.spent { // it is the first block
		t.warn(measured.Took / time.Duration(1+len(b.Points)))
	}
	return measured, nil
}

func ofBlocks(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(" of ", n)
}

// maxTries is how often a launch is made that is disturbed from outside. Where all
// were, the last one counts, and the report says so. On a machine on which most are,
// another try only costs time.
const maxTries = 2

// launch launches some points beside the current settings. What it took is told by
// the trials alone, so that a resumed tuning plans as the first one did.
func (t *Tuning) launch(ctx context.Context, b Block, chunk []int) (trials []assay.Trial, took time.Duration, err error) {
	members := []lab.Member{t.baseline()}
	for _, i := range chunk {
		members = append(members, t.member(b.Points[i]))
	}
	disturbed, tries := true, maxTries
	if 2*t.disturbed > t.launches {
		tries = 1
	}
	for try := 0; try < tries && disturbed; try++ {
		if trials, err = t.series.Launch(ctx, members); err != nil {
			return nil, took, err
		}
		took += t.took(trials)
		disturbed = slices.ContainsFunc(trials, func(trial assay.Trial) bool { return trial.Disqualified })
	}
	t.launches++
	if disturbed {
		t.disturbed++
	}
	return trials, took, nil
}

// preparing is what a launch takes beside its trials, as a part of them: data are copied,
// and workers are started and ended.
const preparing = 0.3

// wallTime is about how long the launch of these trials took: what one instance takes alone is
// in its trial, and of what all do at the same time, its part.
func wallTime(trials []assay.Trial) time.Duration {
	var all time.Duration
	for _, trial := range trials {
		all += trial.Took
	}
	return time.Duration((1 + preparing) * float64(all))
}

func (t *Tuning) took(trials []assay.Trial) time.Duration {
	if t.request.Took != nil {
		return t.request.Took(trials)
	}
	return wallTime(trials)
}

// settle drops the operations that the current settings cannot do: nothing can be
// compared with them. It chooses what the others are compared by. Later launches must be able to
// do what the first ones did.
func (t *Tuning) settle(trials []assay.Trial) error {
	var kept []assay.Case
	for _, o := range t.operations {
		now, ok := t.trial(trials, t.baseline(), o)
		ok = ok && now.Outcome == assay.OK
		metric := ""
		if ok {
			metric = t.metric("", o, trials)
		}
		switch {
		case ok && now.Figures[metric] <= 0 && !t.settled:
			t.notes = append(t.notes, fmt.Sprintf("%s is not compared: it has no %s", operationName(o), metric))
			continue
		case ok:
			kept = append(kept, o)
			if found := Unindexed(now.QueryPlan); !t.settled && len(found) > 0 {
				t.unindexed = append(t.unindexed, operationName(o)+" "+strings.Join(found, ", "))
			}
			continue
		}
		t.notes = append(t.notes, fmt.Sprintf("%s is not compared: with the current settings it is %s: %s", operationName(o), now.Outcome, now.Reason))
	}
	if len(kept) == 0 {
		return fmt.Errorf("nothing can be measured with the current settings: %s", strings.Join(t.notes, "; "))
	}
	if t.settled && len(kept) < len(t.operations) {
		return fmt.Errorf("the current settings failed after they had been measured: %s", t.notes[len(t.notes)-1])
	}
	t.operations, t.settled = kept, true
	return nil
}

func (t *Tuning) baseline() lab.Member {
	return lab.Member{Driver: assay.ParseDriverName(t.drivers[0]), Profile: currentName}
}

// judge compares a point with the current settings in one launch. It says of operations that
// could not be measured in a condition why.
func (t *Tuning) judge(b Block, p Point, trials []assay.Trial) Member {
	var m Member
	for _, o := range t.operations {
		name := operationName(o)
		if b.Where != "" {
			o = t.scaled[b.Stage].cases[o.Cell.Peer()] // none, where the condition leaves it as it was
		}
		now, measured := t.trial(trials, t.baseline(), o)
		then, both := t.trial(trials, t.member(p), t.space.Use(p).Of(o))
		switch {
		case measured && now.Outcome != assay.OK && now.Outcome != assay.NotRun:
			t.noteOnce(fmt.Sprintf("at %s %s cannot be measured with the current settings: %s: %s", b.Where, name, now.Outcome, now.Reason))
		case both && m.Refused == "":
			if m.Refused = t.refuse(p, now, then); m.Refused != "" && b.Where != "" {
				m.Refused = name + ": " + m.Refused
			}
		}
		change := math.NaN()
		if now.Outcome == assay.OK && then.Outcome == assay.OK {
			change = t.gain(t.metric(b.Where, o, trials), name, now, then)
		}
		m.Gains = append(m.Gains, change)
	}
	return m
}

func (t *Tuning) trial(trials []assay.Trial, m lab.Member, o assay.Case) (assay.Trial, bool) {
	for _, trial := range trials {
		if !trial.Twin && t.isOf(trial, m, o) {
			return trial, true
		}
	}
	return assay.Trial{}, false
}

// isOf reports whether a trial is a member's, or its twin's, of an operation.
func (t *Tuning) isOf(trial assay.Trial, m lab.Member, o assay.Case) bool {
	c := trial.Cell
	return c.Profile == m.Profile && assay.ParseDriverNames(t.drivers).Of(c) == m.Driver && samePlace(c, o.Cell)
}

// samePlace reports whether two cells are alike in all but target, profile and plan.
func samePlace(a, b assay.Cell) bool {
	a.Plan = b.Plan
	return a.Peer() == b.Peer()
}

// refuse says why a candidate is none: it failed, or broke a constraint as it was
// measured.
func (t *Tuning) refuse(p Point, now, then assay.Trial) string {
	peak := then.Figures[assay.PeakBytes]
	switch {
	case then.Outcome == assay.NotRun:
		return ""
	case then.Outcome != assay.OK:
		return fmt.Sprintf("%s: %s", then.Outcome, then.Reason)
	case t.space.First(p):
		return "" // it has the current settings, which may break a constraint
	case then.Durability != assay.DurabilityUnknown && !t.space.Priced(p) && !then.Durability.AtLeast(t.class):
		return fmt.Sprintf("its durability was read back as %s", then.Durability)
	case peak > max(float64(t.request.Memory), peakTolerance*now.Figures[assay.PeakBytes]):
		return fmt.Sprintf("its peak memory exceeds --memory %s", t.request.Memory)
	}
	return ""
}

// peakTolerance is by how much the peak memory may exceed that of the current
// settings where these exceed the bound already.
const peakTolerance = 1.1

// metric returns what an operation is compared by, in the plan or in a condition: it is chosen
// once, by all trials of the current settings in the first launch, so that no mean is of two
// metrics.
func (t *Tuning) metric(where string, o assay.Case, trials []assay.Trial) string {
	key := where + "|" + o.Cell.Peer()
	if t.metrics[key] == "" {
		var current []*assay.Trial
		for _, trial := range trials {
			if t.isOf(trial, t.baseline(), o) {
				current = append(current, &trial)
			}
		}
		if t.metrics == nil {
			t.metrics = map[string]string{}
		}
		t.metrics[key] = assay.Primary(o.Cell, [][]*assay.Trial{current})
	}
	return t.metrics[key]
}

// gain is the natural logarithm of how much better a trial of an operation is; NaN where one of
// both has no such figure.
func (t *Tuning) gain(metric, operation string, now, then assay.Trial) float64 {
	before, known := now.Figures[metric]
	after, both := then.Figures[metric]
	if metric == assay.P99 && !(known && both) {
		t.noteOnce(fmt.Sprintf("launches of %s with too few requests for %s are not compared", operation, metric))
	}
	m, _ := assay.MetricByName(metric)
	g := math.Log(before) - math.Log(after)
	if m.HigherBetter {
		g = -g
	}
	if math.IsInf(g, 0) {
		return math.NaN()
	}
	return g
}
