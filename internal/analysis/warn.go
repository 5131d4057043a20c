package analysis

import (
	"fmt"
	"slices"
	"strings"

	"assay"
	"assay/internal/analysis/wording"
	"assay/internal/stat"
)

// What is worth a warning.
const (
	maxDropped = 0.05 // share of launches that were disqualified
	maxBusy    = 0.01 // answers of "busy" per operation
	maxLoop    = 0.05 // share of a figure that is the worker's own loop
)

// Warning is a doubt about a cell: why its figures may mean less than they say, and what to do.
type Warning struct {
	assay.Warning
	// Launches counts those that gave the warning, of Of; both are 0 where
	// it is about all of them together.
	Launches, Of int
	// Severity orders the warnings of one code: the worst case has the highest.
	Severity float64
}

func newWarning(code string, severity float64, advice, evidence string, args ...any) Warning {
	return Warning{Warning: assay.Warning{Code: code, Evidence: fmt.Sprintf(evidence, args...), Advice: advice}, Severity: severity}
}

// Reported reports whether launches gave the warning: their numbers do not order these.
func (w Warning) Reported() bool { return w.Of > 0 }

// trialWarnings joins the warnings of a cell's trials. Those that differ in
// their numbers only are one, with the numbers of the first.
func trialWarnings(trials []Trial) []Warning {
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
	kept := len(r.Counted())
	if r.Outcome == assay.OK && kept < stat.MinLaunches {
		r.warn("few-launches", -float64(kept), "give the run a larger budget", "%d of at least %s", kept, wording.Plural(stat.MinLaunches, "launch"))
	}
	r.warnOfDisturbances(measured, dropped, kept)
	r.warnOfBusy()
	if share := r.LoopShare(); share > maxLoop {
		r.warn("own-loop", share, "compare drivers of other languages by operations that take longer",
			"at least %s %% of the figure is the worker's own loop, not the driver", wording.Digits(100*share))
	}
	if s := stalled(r.Counted()); s > stat.StallLimit {
		r.warn("stalls", s, "look for checkpoints, compactions or collections; the figure includes them",
			"the total time per operation is %s times that of the median window", wording.Digits(s))
	}
}

// warnOfDisturbances doubts a row of which launches were disturbed: they count where too few
// others are left.
func (r *Row) warnOfDisturbances(measured, dropped, kept int) {
	share, advice := float64(dropped)/float64(measured), "stop other programs on the machine, or use a quieter machine"
	evidence := fmt.Sprintf("%d of %s disturbed by other programs or the hypervisor", dropped, wording.Plural(measured, "launch"))
	switch {
	case dropped > 0 && kept == measured && r.Table.Primary.Name == assay.ComputePerOp:
		r.warn("disturbed", share, advice, "%s; compared by CPU time, which others change less", evidence)
	case dropped > 0 && kept == measured:
		r.warn("disturbed", share, advice, "%s; kept all the same: too few others are left", evidence)
	case float64(dropped) > maxDropped*float64(measured):
		r.warn("dropped", share, advice, "%s, and not counted", evidence)
	}
}

// warnOfBusy doubts a row that waited for locks.
func (r *Row) warnOfBusy() {
	busy, has := r.Figure(assay.BusyOp)
	if !has || !(busy.Interval.Center > maxBusy) {
		return
	}
	stale, _ := r.Figure(assay.StaleOp)
	evidence, advice := wording.Digits(busy.Interval.Center)+" answers of 'busy' per operation", "set busy_timeout"
	switch {
	case r.BusyByDefault:
		evidence = "answers busy by default, as busy_timeout is 0: " + evidence
	case stale.Interval.Center > 0: // these come too late to change, whatever busy_timeout says
		evidence += fmt.Sprintf(", %s of them at once, whatever busy_timeout says: the transaction began DEFERRED, had read, and another connection was changing the database or had since", wording.Digits(stale.Interval.Center))
		advice = "begin transactions that change data IMMEDIATE"
	}
	r.warn("busy", busy.Interval.Center, advice, "%s", evidence)
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
		if t.measured {
			measured++
			if t.Disqualified {
				dropped++
			}
		}
	}
	return measured, dropped
}

// perStall is how many operations are joined where windows have fewer: single ones may
// differ by their arguments.
const perStall = 10

// stalled is the mean over trials of total / median time per operation of
// their windows; 1 where too few trials have several windows: one alone may have
// a slow one by chance.
func stalled(trials []*Trial) float64 {
	var ratios []float64
	for _, t := range trials {
		var nanos, operations []int64
		for _, s := range t.Samples {
			if last := len(operations) - 1; last >= 0 && operations[last] < perStall {
				nanos[last], operations[last] = nanos[last]+s.Nanos, operations[last]+s.Operations
				continue
			}
			nanos, operations = append(nanos, s.Nanos), append(operations, s.Operations)
		}
		if len(operations) > 1 {
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
	for _, row := range slices.Concat(t.Rows, t.Factors) {
		row.Warnings = trialWarnings(row.Trials)
		row.warnOfTrials()
	}
	for _, row := range t.Rows {
		if !row.Comparable() || len(row.Figures) == 0 {
			continue
		}
		if t.Systematic > t.Margin {
			row.warn("noise", t.Systematic, "run on a quieter machine, or accept a wider margin",
				"the baseline differs from itself (A/A test) by %s %%: this machine's noise exceeds the margin of %s %%", wording.Digits(100*t.Systematic), wording.Digits(100*t.Margin))
		}
		if f, _ := row.Figure(t.Primary.Name); !t.contest.judged.NoiseKnown && f.Comparison != nil && f.Comparison.Verdict != stat.Undecided {
			row.warn("unknown-noise", 0, "check the outcome of the baseline's twin", "the baseline was not measured against itself (A/A test): this run's noise is unknown")
		}
		if t.Changes && row.Durability == assay.DurabilityUnknown {
			row.warn("unknown-durability", 0, "set what decides it in the profile, such as journal_mode and synchronous",
				"the settings read back do not show what a power cut loses; not ranked")
		}
		row.warnOfRefutations()
		if row.compared() {
			if unlike := row.Unequal(row.Reference); unlike != nil {
				row.Warnings = append(row.Warnings, unlike.Warning())
			}
			if unlike := row.Synced(row.Reference); unlike != nil {
				row.Warnings = append(row.Warnings, unlike.Warning())
			}
		}
	}
	t.warnOfScans()
	t.warnOfSyncs()
	t.warnOfOptions()
	for _, row := range t.Rows {
		row.warnOfLaunches(t)
	}
}

// warnOfRefutations stands at each figure of the profile, of reads too: they
// help to decide about the same data.
func (r *Row) warnOfRefutations() {
	for _, p := range r.Proofs {
		if p.Refuted > 0 {
			r.warn("refuted-durability", float64(p.Refuted)/float64(p.States), "use other settings, or rely on less",
				"in %d of %d %s it does not keep %s, which its settings claim; at worst it %s", p.Refuted, p.States, p.Fault.Times(p.States), Class(p.Claimed), p.Kind.Words())
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
			row.warn("scan", 0, "look for a missing primary key or index", "the target reads the whole table (%s), but %s looks rows up (%s)",
				wording.Clean(row.QueryPlan), t.Rows[i].Name(), wording.Clean(t.Rows[i].QueryPlan))
		}
	}
}

// warn adds a doubt about the row as a whole.
func (r *Row) warn(code string, severity float64, advice, evidence string, args ...any) {
	r.Warnings = append(r.Warnings, newWarning(code, severity, advice, evidence, args...))
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
