// Package analysis turns the trials of one run into an answer: figures with
// their intervals, ratios, verdicts, ranks, doubts, and which target and settings
// to use. They are values, and only doubts have words: package report has the sentences and
// the formats, and computes no figure of its own, so that no two formats can disagree.
package analysis

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"time"

	"assay"
	"assay/internal/analysis/wording"
	"assay/internal/stat"
	"assay/internal/sys/guard"
)

// Result holds what one run says.
type Result struct {
	Run         assay.Run
	Earlier     []assay.Run  // further runs whose launches count too, the newest first
	Tables      []*Table     // sorted by workload, operation and coordinates
	Suggestions []Suggestion // one per class of durability, strongest first
	Differences []Difference // between the targets, apart from their figures
}

// Table holds the cells of one operation that differ in target and profile
// only: those with equal Cell.Peer.
type Table struct {
	// What was measured, and what is compared with what: newTable.
	Title   string        // the operation with its coordinates
	Primary assay.Metric  // what is compared and ranked
	Changes bool          // the operation changes data: durability matters
	Margin  float64       // within which two figures count as equivalent, as a fraction
	Planned int           // launches of each cell that were fixed beforehand
	Launch  time.Duration // mean wall time of one launch of all rows
	ForSum  bool          // the run was not asked for it, but for a sum that has it
	Twins   []*Row        // the reference again
	Factors []*Row        // a target with one setting left out; the reference is the same with it
	bases   []*Row        // these references: the whole profiles, measured together with the factors
	run     string        // the run's identifier
	// Differences are what the targets of this table do not share, of what can
	// explain a ratio.
	Differences []Difference

	// What the comparisons say, which are judged together with those of other
	// tables: conclude.
	contest *contest // of rows and twins
	factors *contest // of Factors and their bases

	Noise      float64 // what the A/A test differed by, as a fraction; 0 where that is unknown
	Systematic float64 // the same where it is more than chance explains; otherwise 0
	Rows       []*Row  // ranked rows first, best first; within a class of durability where data changes
	Rankings   []*Ranking
}

// Row is one cell. newTable builds it whole, but for what the comparisons say.
type Row struct {
	Measured
	Table   *Table
	Driver  string // the driver, with version and build where there are several
	Outcome assay.Outcome
	Reason  string // why the outcome is not ok
	Figures []Figure
	// BusyByDefault says that operations were refused because a connection does not wait for
	// locks. The figure is that of the loop that asks again, and of no program.
	BusyByDefault bool
	// Saturated says that it is a saturated closed loop, not over HTTP, whose percentiles are
	// left out.
	Saturated bool
	// IsFloor says that the target is the engine with nothing in between. It is
	// shown and not ranked.
	IsFloor bool
	// Proofs are what faults showed of the target with the profile, and Durability is
	// what they leave of the class that the settings claim.
	Proofs     []assay.Proof
	Durability assay.Durability
	// Reference is the cell that this one is compared with; nil where the
	// table has none for this profile.
	Reference *Row
	// generalFloor says that it is a floor for all engines of its table.
	generalFloor   bool
	keepsDisturbed bool // disturbed trials count too: too few others are left in the table
	Judged
}

// Measured holds what the trials of a cell have in common, and what they measured.
type Measured struct {
	Cell      assay.Cell
	Twin      bool             // the reference again
	Claimed   assay.Durability // the class that the settings claim
	Settings  []assay.Setting
	DSN       string
	Each      []string
	QueryPlan string
	Trials    []Trial // in the order of launches
}

// Judged holds what comparisons say of a row: conclude.
type Judged struct {
	Rank int // 1 is best, ties share a rank; 0: not ranked
	// Floor is the ratio of the table's primary metric to the floor's, paired by
	// launch; nil where the table has no floor with this profile.
	Floor    *stat.Interval
	Warnings []Warning
}

// Figure is one metric of a cell over its launches.
type Figure struct {
	Metric   assay.Metric
	Interval stat.Interval // N counts launches
	// Ratio is to the figure of the row's reference; nil where no launch has both.
	Ratio *stat.Interval
	// Comparison is what the ratio of the table's primary metric says; nil for others.
	Comparison *Comparison
}

// New reads all trials and builds the report. It fails only where the
// iterator does.
func New(run assay.Run, trials iter.Seq2[assay.Trial, error]) (*Result, error) {
	cells, err := collect(trials)
	if err != nil {
		return nil, fmt.Errorf("report on run %s: reading its trials: %w", run.ID, err)
	}
	naming := newNaming(run.Targets, cells)
	r := &Result{Run: run}
	all := operations(run.PlanText, cells)
	r.Tables = make([]*Table, len(all))
	guard.Each(len(all), func(i int) { r.Tables[i] = newTable(run, all[i], naming) })
	var rows []*Row
	for _, t := range r.Tables {
		rows = append(rows, slices.Concat(t.Rows, t.Factors, t.bases)...)
	}
	r.Differences = differences(run.Targets, rows, naming)
	linkSums(run.Options.Only, r.Tables)
	judged := judge(run, r.Tables)
	guard.Each(len(all), func(i int) { r.Tables[i].conclude(judged[i]) })
	r.warnAcross()
	r.Suggestions = suggest(r.Tables)
	return r, nil
}

// Rows returns the rows of all tables, in their order, without twins and factors.
func (r *Result) Rows() iter.Seq[*Row] {
	return func(yield func(*Row) bool) {
		for _, t := range r.Tables {
			for _, row := range t.Rows {
				if !yield(row) {
					return
				}
			}
		}
	}
}

// Failed reports whether some cell ended failed, with a wrong answer, without a
// setting it asked for, or out of time. Cells that a plan marks as faulty as
// published do not count, nor do unsupported and not-run ones.
func (r *Result) Failed() bool {
	bad := []assay.Outcome{assay.Failed, assay.WrongAnswer, assay.TimedOut, assay.NotApplied}
	for _, t := range r.Tables {
		for _, row := range slices.Concat(t.Rows, t.Twins, t.Factors, t.bases) {
			if !row.Cell.AsPublished && slices.Contains(bad, row.Outcome) {
				return true
			}
		}
	}
	return false
}

// Name returns how sentences call the row: the driver and its profile.
func (r *Row) Name() string { return r.Column().Name() }

// ID returns how other rows name this one: DRIVER@VERSION[:OPTION...]/PROFILE; empty
// for no row.
func (r *Row) ID() string {
	if r == nil {
		return ""
	}
	return r.Cell.Target() + "/" + r.Cell.Profile
}

// Figure returns the figure of a metric; the second result is false where the
// Row has none.
func (r *Row) Figure(metric string) (Figure, bool) {
	i := slices.IndexFunc(r.Figures, func(f Figure) bool { return f.Metric.Name == metric })
	if i < 0 {
		return Figure{}, false
	}
	return r.Figures[i], true
}

// cell is all trials of a cell as they are read.
type cell struct {
	Measured
	ablation bool // of the stage in which settings are left out
	// latencies holds the latencies of calm and of disturbed trials: upper bound in ns, count.
	latencies map[bool]map[int64]int64
}

// collect sorts trials by cell, twins apart.
func collect(trials iter.Seq2[assay.Trial, error]) (cells []*cell, err error) {
	byKey := map[string]*cell{}
	for trial, err := range trials {
		if err != nil {
			return nil, err
		}
		key := fmt.Sprint(trial.Twin, trial.Ablation, trial.Cell.Key())
		c := byKey[key]
		if c == nil {
			c = &cell{Measured: Measured{Cell: trial.Cell, Twin: trial.Twin}, ablation: trial.Ablation}
			byKey[key] = c
			cells = append(cells, c)
		}
		c.add(trial)
	}
	return cells, nil
}

// add keeps what is the same in all trials of a cell once.
func (c *cell) add(trial assay.Trial) {
	c.Claimed = cmp.Or(c.Claimed, trial.Durability)
	c.DSN = cmp.Or(c.DSN, trial.DSN)
	c.QueryPlan = cmp.Or(c.QueryPlan, trial.QueryPlan)
	if len(c.Settings) == 0 {
		c.Settings = trial.Settings
	}
	if len(c.Each) == 0 {
		c.Each = trial.Each
	}
	c.pool(trial)
	var names []string
	if n := len(c.Trials); n > 0 {
		names = c.Trials[n-1].Figures.names
	}
	c.Trials = append(c.Trials, newTrial(&trial, names))
}

// newRow is a cell with what it says without looking at others, but for which of its
// launches count. planned is how many were fixed beforehand; 0: the width of the
// figures' own intervals did not decide on more.
func newRow(run assay.Run, n naming, c *cell, planned int, keepsDisturbed bool) *Row {
	r := &Row{Measured: c.Measured, Driver: n.name(c.Cell), Proofs: run.ProofsOf(c.Cell), Durability: c.Claimed, keepsDisturbed: keepsDisturbed}
	r.Trials, c.Trials = slices.Clone(c.Trials), nil // there are many: no room to grow, and none twice
	inOrder(r.Trials)
	for _, p := range r.Proofs {
		if left := p.Proven(c.Cell.Engine, r.Durability); stronger(r.Durability, left) {
			r.Durability = left
		}
	}
	for _, t := range run.Targets {
		if !r.Twin && t.IsFloor() && t.Name() == r.Cell.Target() {
			r.IsFloor, r.generalFloor = true, t.Facts["api"] == "key-value"
		}
	}
	r.Outcome, r.Reason = Outcome(r.Trials)
	failed := func(t Trial) bool { return !t.measured && t.Outcome != assay.NotRun } // as another launch would
	if !slices.ContainsFunc(r.Trials, failed) {
		r.Figures = figures(r.Counted(), stat.Rule{Planned: planned})
		r.addPooledPercentiles(c.pooled(keepsDisturbed))
	}
	if r.saturates(run) {
		r.Saturated = true
		r.Figures = slices.DeleteFunc(r.Figures, func(f Figure) bool { return assay.Percentiles[f.Metric.Name] > 0 })
	}
	if busy, has := r.Figure(assay.BusyOp); r.Outcome == assay.OK && has && busy.Interval.Center > maxBusy && !r.waits() {
		r.BusyByDefault, r.Reason = true, fmt.Sprintf("answers busy by default: busy_timeout is 0, and 100 operations were answered busy %s times and asked again", wording.Digits(100*busy.Interval.Center))
	}
	return r
}

// waits reports whether every connection waits for locks, as far as that was read back.
func (r *Row) waits() bool {
	return !slices.ContainsFunc(r.Settings, func(s assay.Setting) bool { return s.Name == "busy_timeout" && s.Effective == "0" })
}

// inOrder sorts the trials of each run, which follow each other, by launch.
func inOrder(trials []Trial) {
	for len(trials) > 0 {
		n := slices.IndexFunc(trials, func(t Trial) bool { return t.Run != trials[0].Run })
		if n < 0 {
			n = len(trials)
		}
		slices.SortStableFunc(trials[:n], func(a, b Trial) int {
			return cmp.Or(a.Launch-b.Launch, a.Started.Compare(b.Started))
		})
		trials = trials[n:]
	}
}

// Outcome returns the worst outcome with its first reason. Not-run only says
// that the budget ended: it counts where there is nothing else.
func Outcome(trials []Trial) (worst assay.Outcome, reason string) {
	worst = assay.NotRun
	for _, t := range trials {
		switch {
		case t.Outcome == assay.NotRun:
		case worst == assay.NotRun:
			worst = t.Outcome
		default:
			worst = assay.Worse(worst, t.Outcome)
		}
	}
	for _, t := range trials {
		if t.Outcome == worst && reason == "" {
			reason = t.Reason
		}
	}
	return worst, reason
}

// byClass divides cells by the class of durability that their settings claim.
func byClass(cells []*cell) (classes [][]*cell) {
	for _, d := range assay.Durabilities {
		class := slices.DeleteFunc(slices.Clone(cells), func(c *cell) bool { return c.Claimed != d })
		if len(class) > 0 {
			classes = append(classes, class)
		}
	}
	return classes
}

// computed reports whether all trials of some cells have the CPU time that is compared where the
// machine was busy: a disturbance changes it less than the wall time.
func computed(cells []*cell) bool {
	return !slices.ContainsFunc(cells, func(c *cell) bool {
		return slices.ContainsFunc(c.Trials, func(t Trial) bool { return t.measured && !t.Has(assay.ComputePerOp) })
	})
}

// fewCalm reports whether, without the disturbed trials, two of some cells that promise
// alike share too few launches. A launch can be disturbed for one of them alone.
func fewCalm(cells []*cell) bool {
	calm := make([]map[launch]bool, len(cells)) // of each one's measured launches, whether it is
	for i, c := range cells {
		calm[i] = map[launch]bool{}
		for _, t := range c.Trials {
			if t.measured {
				calm[i][t.launch()] = !t.Disqualified
			}
		}
	}
	for i, a := range calm {
		for _, b := range calm[i:] {
			shared, left := 0, 0
			for launch, ok := range a {
				if other, both := b[launch]; both {
					shared++
					if ok && other {
						left++
					}
				}
			}
			if left < min(shared, stat.MinLaunches) {
				return true
			}
		}
	}
	return false
}

// Counted returns the trials whose figures count: those that were not
// disturbed from outside or, where too few of them are left, all.
func (r *Row) Counted() []*Trial {
	counted := make([]*Trial, 0, len(r.Trials))
	for i := range r.Trials {
		if t := &r.Trials[i]; t.measured && (r.keepsDisturbed || !t.Disqualified) {
			counted = append(counted, t)
		}
	}
	return counted
}

// PerLaunch are a metric's single figures that count.
func (r *Row) PerLaunch(metric string) []float64 {
	var all []float64
	for _, trial := range r.Counted() {
		if v, has := trial.Figures.Of(metric); has && Finite(v) {
			all = append(all, v)
		}
	}
	return all
}

// figures summarizes every metric over launches, in the order of tables.
func figures(trials []*Trial, rule stat.Rule) []Figure {
	values := map[string][]float64{}
	for _, t := range trials {
		for name, v := range t.Figures.All() {
			if Finite(v) {
				values[name] = append(values[name], v)
			}
		}
	}
	all := make([]Figure, 0, len(values))
	for name, list := range values {
		metric, known := assay.MetricByName(name)
		if !known {
			metric = assay.Metric{Name: name}
		}
		interval := rule.Interval(list)
		if metric.MayBeZero {
			interval = stat.MeanInterval(list)
		}
		interval.Low = max(0, interval.Low) // no metric can be less
		all = append(all, Figure{Metric: metric, Interval: interval})
	}
	slices.SortFunc(all, byMetric)
	return all
}

// MetricOrder places metrics that the vocabulary does not know at the end.
func MetricOrder(name string) int {
	i := slices.IndexFunc(assay.Metrics, func(m assay.Metric) bool { return m.Name == name })
	if i < 0 {
		return len(assay.Metrics)
	}
	return i
}
