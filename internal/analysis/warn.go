package analysis

import (
	"fmt"
	"slices"
	"strings"

	"assay"
	"assay/internal/stat"
	"assay/internal/wording"
)

// What is worth a warning.
const (
	mostDropped = 0.05 // share of launches that were disqualified
	mostBusy    = 0.01 // answers of "busy" per operation
	mostLoop    = 0.05 // share of a figure that is the worker's own loop
)

// UnequalDurability is the code of the warning that a ratio compares unlike
// promises about the data.
const UnequalDurability = "unequal-durability"

// Warning is a doubt about a cell.
type Warning struct {
	assay.Warning
	// Launches counts those that gave the warning, of Of; both are 0 where
	// it is about all of them together.
	Launches, Of int
	// Severity orders the warnings of one code: the worst case has the highest.
	Severity float64
}

// String is the warning in one line.
func (w Warning) String() string {
	s := w.Code + ": " + w.Evidence
	if w.Of > 0 {
		s += fmt.Sprintf(" (in %d of %s)", w.Launches, wording.Plural(w.Of, "launch"))
	}
	if w.Advice != "" {
		s += "; advice: " + w.Advice
	}
	return wording.Clean(s)
}

// trialWarnings joins the warnings of a cell's trials. Those that differ in
// their numbers only are one, with the numbers of the first.
func trialWarnings(trials []assay.Trial) []Warning {
	var all []Warning
	index := map[string]int{}
	for _, t := range trials {
		seen := map[string]bool{}
		for _, w := range t.Warnings {
			kind := w.Code + ":" + strings.Map(dropNumbers, w.Evidence)
			i, known := index[kind]
			if !known {
				i = len(all)
				index[kind] = i
				all = append(all, Warning{Warning: w, Of: len(trials)})
			}
			if !seen[kind] {
				all[i].Launches++
				all[i].Severity = float64(all[i].Launches) / float64(all[i].Of)
			}
			seen[kind] = true
		}
	}
	return all
}

// dropNumbers is for strings.Map.
func dropNumbers(r rune) rune {
	if r >= '0' && r <= '9' || r == '.' {
		return -1
	}
	return r
}

// warnOfTrials adds the doubts that a row's own trials raise together.
func (r *Row) warnOfTrials() {
	measured, dropped := r.launches()
	if kept := len(r.Counted()); r.Outcome == assay.OK && kept < stat.MinLaunches {
		r.warn("few-launches", fmt.Sprintf("%d of at least %s", kept, wording.Plural(stat.MinLaunches, "launch")),
			"give the run a larger budget").Severity = -float64(kept)
	}
	switch {
	case dropped > 0 && len(r.Counted()) == measured:
		r.warn("disturbed", fmt.Sprintf("%d of %s disturbed by other programs or the hypervisor; they count, because too few others are left", dropped, wording.Plural(measured, "launch")),
			"stop other programs on the machine, or use a quieter machine").Severity = float64(dropped) / float64(measured)
	case float64(dropped) > mostDropped*float64(measured):
		r.warn("dropped", fmt.Sprintf("%d of %s disturbed by other programs or the hypervisor, and not counted", dropped, wording.Plural(measured, "launch")),
			"stop other programs on the machine, or use a quieter machine").Severity = float64(dropped) / float64(measured)
	}
	if busy, has := r.Figure(assay.BusyOp); has && busy.Interval.Center > mostBusy {
		r.warn("busy", fmt.Sprintf("%s answers of 'busy' per operation", wording.Digits(busy.Interval.Center)), "set busy_timeout").Severity = busy.Interval.Center
	}
	if share := r.LoopShare(); share > mostLoop {
		r.warn("own-loop", fmt.Sprintf("%s %% of the figure is the worker's own loop, not the driver", wording.Digits(100*share)),
			"compare drivers of other languages by operations that take longer").Severity = share
	}
	if s := stalled(r.Counted()); s > stat.StallLimit {
		r.warn("stalls", fmt.Sprintf("the total time per operation is %s times that of the median window", wording.Digits(s)),
			"look for checkpoints, compactions or collections; the figure includes them").Severity = s
	}
}

// LoopShare is the share of the figure that is the worker's own loop; 0 where the
// worker does not report it. Several clients have one interpreter or thread: the
// loop is taken of all time, not of each client's.
func (r *Row) LoopShare() float64 {
	loop, has := r.Figure(assay.LoopNsPerOp)
	all, known := r.Figure(assay.NsPerOp)
	if !has || !known || all.Interval.Center <= 0 {
		return 0
	}
	return loop.Interval.Center / all.Interval.Center
}

// launches counts the trials that were measured to the end, and those of
// them that were disqualified.
func (r *Row) launches() (measured, dropped int) {
	for _, t := range r.Trials {
		if t.Measured() {
			measured++
			if t.Disqualified {
				dropped++
			}
		}
	}
	return measured, dropped
}

// stalled is the mean over trials of total / median time per operation of
// their windows; 1 where too few trials have several windows: one alone may have
// a slow one by chance.
func stalled(trials []*assay.Trial) float64 {
	var ratios []float64
	for _, t := range trials {
		var nanos, operations []int64
		for _, s := range t.Samples {
			nanos, operations = append(nanos, s.Nanos), append(operations, s.Operations)
		}
		if len(t.Samples) > 1 {
			ratios = append(ratios, stat.Stalls(nanos, operations))
		}
	}
	if len(ratios) < stat.MinLaunches {
		return 1
	}
	return stat.MeanInterval(ratios).Center
}

// warn adds the doubts that a table raises about its rows.
func (t *Table) warn() {
	for _, row := range t.Rows {
		if !row.Comparable() || len(row.Figures) == 0 {
			continue
		}
		if t.Systematic > t.Margin {
			row.warn("noise", fmt.Sprintf("the baseline against itself (A/A test) differs by %s %%, more than its launches explain and than the margin of %s %%",
				wording.Digits(100*t.Systematic), wording.Digits(100*t.Margin)), "run on a quieter machine, or accept a wider margin").Severity = t.Systematic
		}
		if f, _ := row.Figure(t.Primary.Name); !t.noiseKnown && f.Comparison != nil && f.Comparison.Verdict != stat.Undecided {
			row.warn("unknown-noise", "this run has no A/A test of the baseline: its noise is unknown",
				"check the outcome of the baseline's twin")
		}
		if t.Changes && row.Durability == assay.DurabilityUnknown {
			row.warn("unknown-durability", "the settings read back do not show what a power cut loses; not ranked",
				"set what decides it in the profile, such as journal_mode and synchronous")
		}
		row.warnOfRefutations()
		if row.Reference != nil && row.Reference != row && row.Reference.Comparable() {
			if why := t.unequal(row, row.Reference); why != "" {
				row.warn(UnequalDurability, why, "set the durability explicitly in the profile")
			}
		}
	}
	t.warnOfScans()
	t.warnOfSyncs()
	t.warnOfOptions()
	for _, row := range t.Rows {
		row.warnOfLaunches(t)
	}
	for _, twin := range t.Twins {
		twin.Warnings = nil // the reference's own row has them
	}
}

// warnOfRefutations stands at each figure of the profile, of reads too: whoever
// reads them decides about the same data.
func (r *Row) warnOfRefutations() {
	for _, p := range r.Proofs {
		if p.Refuted > 0 {
			r.warn("refuted-durability", fmt.Sprintf("%s in %d of %d %s, where its settings claim %s", p.Kind.Words(), p.Refuted, p.States, p.Fault.Times(p.States),
				class(p.Claimed)), "use other settings, or rely on less").Severity = float64(p.Refuted) / float64(p.States)
		}
	}
}

// warnOfScans marks rows that read a whole table where others of the same
// operation look rows up: an index or a primary key got lost.
func (t *Table) warnOfScans() {
	i := slices.IndexFunc(t.Rows, func(r *Row) bool { return strings.HasPrefix(r.QueryPlan, "SEARCH") })
	if i < 0 {
		return
	}
	for _, row := range t.Rows {
		if strings.HasPrefix(row.QueryPlan, "SCAN") {
			row.warn("scan", fmt.Sprintf("the target reads the whole table (%s), but %s looks rows up (%s)",
				wording.Clean(row.QueryPlan), t.Rows[i].Name(), wording.Clean(t.Rows[i].QueryPlan)), "look for a missing primary key or index")
		}
	}
}

// warn adds a doubt about the row as a whole.
func (r *Row) warn(code, evidence, advice string) *Warning {
	r.Warnings = append(r.Warnings, Warning{Warning: assay.Warning{Code: code, Evidence: evidence, Advice: advice}})
	return &r.Warnings[len(r.Warnings)-1]
}

// Codes returns the codes of the row's warnings, each once.
func (r *Row) Codes() []string {
	var codes []string
	for _, w := range r.Warnings {
		if !slices.Contains(codes, w.Code) {
			codes = append(codes, w.Code)
		}
	}
	return codes
}
