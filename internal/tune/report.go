package tune

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"assay"
	"assay/internal/analysis/wording"
	"assay/internal/doc"
	"assay/internal/stat"
	"assay/internal/sys/format"
)

// Report holds what a tuning has to say.
type Report struct {
	Plan, Driver, Current string // Current is the profile in use
	Engine                engine
	Class                 assay.Durability
	Memory                int64
	Margin                float64
	Effective             map[string]string // the current settings as they were read back
	Profile               assay.Profile     // the proposal
	Space                 Space
	Outcome               *Outcome
	Operations            []Operation
	// Grows are by how many bytes a state of the data makes the file larger, by
	// Space.state.
	Grows   map[string]int64
	OwnFile bool // the data are a user's own: each launch has the same
	// Unindexed are the operations that read whole tables, each with which.
	Unindexed []string
	Notes     []string // what could not be tried, and why
	// PeakNow and Peak are the peak memory of the worker with the current settings and
	// with the proposal, in bytes; 0: not measured.
	PeakNow, Peak float64
	Runs          []StageRun
	Emitted       string // the proposal as configuration; empty: nobody asked
	// Ecosystem is the ecosystem whose programs use the driver, for --emit; empty: none is known.
	Ecosystem string
	// Again is the command that prints the answer again, to which flags can be added.
	Again string
	// Show is the command that shows a run of the store in place of RUN.
	Show string
	// Unscaled says of conditions why the plan cannot have them.
	Unscaled []string
}

// Operation is one that was measured.
type Operation struct {
	Name string
	Now  stat.Interval // with the current settings
	Unit string        // of Now
}

// StageRun is the run that a stage was kept as.
type StageRun struct {
	Stage Stage  `json:"stage"`
	ID    string `json:"run"`
}

// Formats returns the formats of a report.
func Formats() format.List[*Report] {
	return append(doc.Formats((*Report).document, nil),
		format.Format[*Report]{Name: "html", Write: func(out io.Writer, r *Report) error {
			return doc.WriteHTML(out, "Tuning of "+r.Plan, "which settings, confirmed on new data", r.document())
		}},
		format.Format[*Report]{Name: "json", Write: func(out io.Writer, r *Report) error { return format.JSON(out, r.values()) }})
}

// WriteScreen prints the report for a terminal of so many columns; 0: there is none.
func (r *Report) WriteScreen(out io.Writer, columns int) error {
	return doc.WriteText(out, r.document(), columns)
}

// harm is by how much an operation may be worse than now before the report says so.
const harm = 0.05

// answer is the result in a sentence.
func (r *Report) answer() string {
	o := r.Outcome
	where := fmt.Sprintf("%s, %s (%s): ", r.Plan, r.Driver, r.Current)
	switch {
	case o.Unconfirmed:
		return where + "undecided: what the search left of the budget does not pay for a confirmation; give a larger --budget, without --resume"
	case o.Unsearched:
		return where + "no setting has another value that keeps the constraints"
	case len(o.Finalists) == 0:
		return where + "no candidate could be measured"
	case r.open():
		return where + "nothing is shown to beat yours; a larger --budget would tell more"
	case o.Chosen == nil:
		return where + "nothing beats yours"
	}
	word := "faster"
	if !(o.Chosen.Gain.Low > 1) { // it is proposed for the constraints, however fast it is
		word = "the current speed"
	}
	text := fmt.Sprintf("%s %s with %s", ratio(o.Chosen.Gain), word, wording.Plural(len(r.changes()), "setting"))
	if !r.Space.StartIsCurrent {
		text += "; they keep the constraints, and your current settings break them"
	}
	return where + text
}

// basis says what the answer rests on; empty where nothing was confirmed.
func (r *Report) basis() string {
	o := r.Outcome
	if len(o.Finalists) == 0 {
		return ""
	}
	f := o.Chosen
	text := fmt.Sprintf("at most %s of memory; ", size(float64(r.Memory)))
	if r.Class != assay.DurabilityUnknown {
		text = fmt.Sprintf("at durability %s (claimed by settings, unless assay crash refuted it) and %s", r.Class, text)
	}
	if f == nil {
		f = &o.Best
		text = fmt.Sprintf("the best of %s, confirmed %s; ", wording.Plural(r.Space.Configurations(), "combination"), ratio(f.Gain)) + text
	}
	if !math.IsNaN(f.Search) {
		text += fmt.Sprintf("the search had said %sx; ", wording.Digits(f.Search))
	}
	fresh := "new data and argument sequences"
	if r.OwnFile {
		fresh = "fresh copies with new argument sequences"
	}
	return text + fmt.Sprintf("confirmed in %s on %s", wording.Plural(o.Launches, "launch"), fresh)
}

// changes are the settings that the proposal changes, sorted.
func (r *Report) changes() []string {
	if r.Outcome.Chosen == nil {
		return nil
	}
	var all []string
	settings := r.Space.Settings(r.Outcome.Chosen.Point)
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if settings[name] != r.Effective[name] {
			all = append(all, name)
		}
	}
	return all
}

// proposed are the settings of the proposal: those that it changes, and the others.
func (r *Report) proposed() (changed, kept []string) {
	if r.Outcome.Chosen == nil {
		return nil, nil
	}
	changes := r.changes()
	for _, name := range slices.Sorted(maps.Keys(r.Profile.Settings)) {
		then := wording.Setting(name, r.Profile.Settings[name])
		now, known := r.Effective[name]
		switch {
		case !slices.Contains(changes, name):
			kept = append(kept, name+": "+then)
		case known:
			changed = append(changed, fmt.Sprintf("%s %s -> %s", name, wording.Setting(name, now), then))
		default:
			changed = append(changed, name+": "+then)
		}
	}
	return changed, kept
}

// changed says what a factor's level changes: name now -> then.
func (r *Report) changed(factor, level int) string {
	settings := r.Space.Factors[factor].Levels[level].Settings
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if now := r.Effective[name]; now != settings[name] {
			parts = append(parts, fmt.Sprintf("%s %s -> %s", name, wording.Setting(name, now), wording.Setting(name, settings[name])))
		}
	}
	return strings.Join(parts, ", ")
}

// settingEffects says what each setting of the best finalist does.
func (r *Report) settingEffects() []string {
	var all []string
	o := r.Outcome
	for _, a := range o.Ablation {
		text := fmt.Sprintf("%s: %s", r.changed(a.Factor, o.Explained[a.Factor]), ratio(a.Gain))
		switch {
		case o.Chosen != nil && o.Chosen.Point[a.Factor] == 0:
			text += ", not shown to matter and left out"
		case !a.Matters:
			text += ", not shown to matter by itself"
		}
		all = append(all, text)
	}
	return all
}

// nothing and open are the factors that do nothing here, and the levels of which that is
// not shown, of those that are not in the proposal.
func (r *Report) nothing() (nothing, open []string) {
	if r.Outcome.Unconfirmed {
		return nil, nil
	}
	all, idle := map[int]int{}, map[int]int{}
	for _, e := range r.Outcome.Effects {
		if all[e.Factor]++; e.Nothing {
			idle[e.Factor]++
		}
	}
	for _, e := range r.Outcome.Effects {
		f := r.Space.Factors[e.Factor]
		switch {
		case r.Outcome.Chosen != nil && r.Outcome.Chosen.Point[e.Factor] != 0 || f.Levels[0].Settings != nil:
		case idle[e.Factor] < all[e.Factor]:
			open = append(open, f.Levels[e.Level].Text()+" "+ratio(e.Gain))
		case !slices.Contains(nothing, f.Name):
			nothing = append(nothing, f.Name)
		}
	}
	return nothing, open
}

const pricesTitle = "another durability, against the best combination"

// prices say what other classes of durability cost or give. The next weaker one is always
// there, measured or not.
func (r *Report) prices() []string {
	var all []string
	for _, p := range r.Outcome.Prices {
		all = append(all, fmt.Sprintf("%s %s", p.Class, ratio(p.Gain)))
	}
	if len(all) > 0 {
		return all
	}
	for _, f := range r.Space.Factors {
		if first := f.candidates(); first < len(f.Levels) {
			return []string{f.Levels[first].Price + " was not measured: the budget left no launches for it"}
		}
	}
	return nil
}

// harmed are the operations whose estimate is more than 5 % worse than now, and those that
// are shown to be so on other data and with other clients.
func (r *Report) harmed() []string {
	if r.Outcome.Chosen == nil {
		return nil
	}
	var all []string
	for i, gain := range r.Outcome.Chosen.Operations {
		if gain.Center < 1/(1+harm) {
			is := "may be"
			if gain.Known() && gain.High < 1 {
				is = "is"
			}
			all = append(all, fmt.Sprintf("%s %s slower than now: %s of its speed", r.Operations[i].Name, is, ratio(gain)))
		}
	}
	return append(all, r.lost()...)
}

// memory says what the proposal takes.
func (r *Report) memory() string {
	if r.Outcome.Chosen == nil || r.Peak == 0 {
		return ""
	}
	return fmt.Sprintf("peak memory of the worker: %s, now %s", size(r.Peak), size(r.PeakNow))
}

func (r *Report) evidence() string {
	var parts []string
	for _, run := range r.Runs {
		parts = append(parts, fmt.Sprintf("%s %s", run.Stage, run.ID))
	}
	return r.Show + " shows the measurements: " + strings.Join(parts, ", ")
}

// notes returns what the reader has to know beside the figures.
func (r *Report) notes() []string {
	all := append([]string{}, r.Notes...)
	if r.Outcome.IndexesUntried {
		all = append(all, "the budget is too small to tell what indexes, ANALYZE and another use of the driver do: give a larger --budget")
	}
	if r.Outcome.Chosen != nil && len(r.Outcome.Ablation) == 0 && len(r.Outcome.Chosen.Point.changed()) > 1 {
		all = append(all, "the budget left no launches to tell which of the settings matter: some may do nothing")
	}
	if mapped := whole(r.Profile.Requested()["mmap_size"]); r.Engine == SQLiteEngine && mapped > whole(r.Effective["mmap_size"]) {
		all = append(all, "mmap_size: where another process truncates the file, or on FUSE, virtiofs, 9p or a network file system, a read can end the process (SIGBUS)")
	}
	return append(all, r.refused()...)
}

// refused are the reasons for which candidates were refused, each once.
func (r *Report) refused() []string {
	counts := map[string]int{}
	for _, why := range r.Outcome.Refused {
		counts[why]++
	}
	var all []string
	for _, why := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, fmt.Sprintf("%s refused: %s", wording.Plural(counts[why], "candidate"), wording.Clean(why)))
	}
	return all
}

func ratio(i stat.Interval) string {
	if !i.Known() {
		return wording.Digits(i.Center) + "x"
	}
	return wording.Times(i)
}

func size(bytes float64) string {
	switch {
	case bytes < kib:
		return wording.Plural(int(bytes), "byte")
	case bytes < mib:
		return wording.Digits(bytes/kib) + " KiB"
	}
	return wording.Digits(bytes/mib) + " MiB"
}

// amount is size in whole KiB: bounds have no fractions.
func amount(bytes int64) string {
	if bytes < kib {
		return size(float64(bytes))
	}
	return fmt.Sprintf("%d KiB", bytes/kib)
}

// now prints the current figure of an operation.
func (o Operation) now() string { return wording.Human(o.Now.Center, o.Unit) }

// open reports whether the intervals leave room for settings that are better.
func (r *Report) open() bool {
	return r.Outcome.Chosen == nil && slices.ContainsFunc(r.Outcome.Finalists, func(f Finalist) bool { return f.Gain.High > 1+r.Margin })
}

// step is something that the reader would do with the answer.
type step struct {
	text    string
	command string // that does it; empty: none does
}

func (r *Report) nextTexts() []string {
	var all []string
	for _, s := range r.next() {
		text := s.text
		if s.command != "" {
			text += ": " + s.command
		}
		all = append(all, text)
	}
	return all
}

// next returns what the reader would do with the answer, step by step.
func (r *Report) next() []step {
	var all []step
	do := func(text string) { all = append(all, step{text: text}) }
	if helping, uses, _ := r.indexes(); len(helping) > 0 {
		do("make the changes above, and tune again: other settings may then be best")
	} else if len(uses) > 0 {
		do("make the changes in the program, and tune again: other settings may then be best")
	}
	o := r.Outcome
	switch {
	case o.Unconfirmed && o.Enough > 0:
		text := fmt.Sprintf("tune again with a --budget of %s", minutes(o.Enough))
		if len(r.Operations) > 1 {
			text += ", or for fewer operations: --only operation=NAME"
		}
		do(text)
	case o.Unconfirmed, r.open():
		do("tune again with a larger --budget, on a machine that does nothing else")
	case o.Unsearched:
		do("keep your settings, or change the constraints")
	case len(o.Finalists) == 0:
		do("look at the notes above, which say why")
	case o.Chosen == nil:
		do("keep your settings")
	case len(r.harmed()) > 0:
		do("weigh the lines with !: --only operation=NAME tunes for the operations that you name")
	case r.Engine.isStore():
		do("set them where your program opens the store")
	case r.Emitted == "" && r.Ecosystem != "":
		all = append(all, step{"print them as configuration of your program", r.Again + " --emit " + r.Ecosystem})
	default:
		do("set them in your program")
	}
	if o.Chosen != nil && r.Class != assay.DurabilityUnknown {
		do("prove that they keep the data: assay crash, with these settings as a profile of the plan")
	}
	return all
}

// minutes says of a budget that would be enough how long it is: no estimate is more exact.
func minutes(enough time.Duration) string {
	return fmt.Sprintf("about %.0fm or more", math.Ceil(enough.Minutes()))
}
