package analysis

import (
	"slices"
	"strings"

	"assay"
	"assay/internal/stat"
)

// What is worth a warning.
const (
	maxDropped = 0.05 // share of launches that were disqualified
	maxBusy    = 0.01 // answers of "busy" per operation
	maxLoop    = 0.05 // share of a figure that is the worker's own loop
)

// Warning is a doubt about a cell.
type Warning struct {
	Doubt
	// Launches counts those that gave the warning, of Of; both are 0 where
	// it is about all of them together.
	Launches, Of int
	// Severity orders the warnings of one code: the worst case has the highest.
	Severity float64
}

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
				all = append(all, Warning{Doubt: Reported{w}, Of: len(trials)})
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
		r.warn(FewLaunches{kept}, -float64(kept))
	}
	share := float64(dropped) / float64(measured)
	switch {
	case dropped > 0 && kept == measured:
		r.warn(Disturbed{dropped, measured, r.Table.Primary.Name == assay.ComputePerOp}, share)
	case float64(dropped) > maxDropped*float64(measured):
		r.warn(Dropped{dropped, measured}, share)
	}
	if busy, has := r.Figure(assay.BusyOp); has && busy.Interval.Center > maxBusy {
		stale, _ := r.Figure(assay.StaleOp)
		r.warn(Busy{busy.Interval.Center, stale.Interval.Center, r.BusyByDefault}, busy.Interval.Center)
	}
	if share := r.LoopShare(); share > maxLoop {
		r.warn(OwnLoop{share}, share)
	}
	if s := stalled(r.Counted()); s > stat.StallLimit {
		r.warn(Stalls{s}, s)
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
			row.warn(Noisy{t.Systematic, t.Margin}, t.Systematic)
		}
		if f, _ := row.Figure(t.Primary.Name); !t.contest.judged.NoiseKnown && f.Comparison != nil && f.Comparison.Verdict != stat.Undecided {
			row.warn(UnknownNoise{}, 0)
		}
		if t.Changes && row.Durability == assay.DurabilityUnknown {
			row.warn(UnknownDurability{}, 0)
		}
		row.warnOfRefutations()
		if row.compared() {
			if unlike := row.Unequal(row.Reference); unlike != nil {
				row.warn(*unlike, 0)
			}
			if unlike := row.Synced(row.Reference); unlike != nil {
				row.warn(*unlike, 0)
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

// warnOfRefutations stands at each figure of the profile, of reads too: whoever
// reads them decides about the same data.
func (r *Row) warnOfRefutations() {
	for _, p := range r.Proofs {
		if p.Refuted > 0 {
			r.warn(Refuted{p}, float64(p.Refuted)/float64(p.States))
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
			row.warn(Scan{row.QueryPlan, t.Rows[i].Name(), t.Rows[i].QueryPlan}, 0)
		}
	}
}

// warn adds a doubt about the row as a whole.
func (r *Row) warn(d Doubt, severity float64) {
	r.Warnings = append(r.Warnings, Warning{Doubt: d, Severity: severity})
}

// Codes returns the codes of the row's warnings, each once.
func (r *Row) Codes() []string {
	var codes []string
	for _, w := range r.Warnings {
		if code := w.Code(); !slices.Contains(codes, code) {
			codes = append(codes, code)
		}
	}
	return codes
}
