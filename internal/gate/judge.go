package gate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/wording"
	"assay/internal/report"
	"assay/internal/stat"
)

// State says what is known of one cell.
type State string

// The states.
const (
	Equivalent  State = "equivalent"
	Faster      State = "faster"
	Tolerated   State = "tolerated" // slower or not, but not by more than is allowed
	Regressed   State = "regressed"
	Undecided   State = "undecided"
	NotCompared State = "not compared" // the base cannot do it either, or promises something else
)

// Cell is an operation with a profile, of head and base.
type Cell struct {
	Operation, Profile string
	Cost               stat.Interval // time of the head / time of the base; N is 0 where it is unknown
	Launches           int           // of the head
	State              State
	Reason             string    // why it is undecided or not compared
	Suspicions         []Finding // what is wrong
	Notes              []string  // what else changed

	key         string
	decided     bool // that it is slower, in its family
	coordinates map[string]string
}

// Name is the operation with its profile.
func (c Cell) Name() string {
	if c.Profile == "" {
		return c.Operation
	}
	return c.Operation + " (" + c.Profile + ")"
}

// Measurement holds what one run says of a head and its base.
type Measurement struct {
	Run    string              // its ID
	only   map[string][]string // what was selected to be measured
	Margin float64             // within which figures are equivalent, as a fraction: no more than the slowdown that is allowed
	Noise  float64             // the largest difference of its A/A tests, as a fraction; 0 where there was none
	Layout string              // what differences can be where the link layout of compared code did not vary; empty where it did
	Cells  []Cell
}

// Judge compares the head of a run with its base. Both are builds as the run's
// plan names them.
func Judge(r *analysis.Result, base, head string, rules Rules) (*Measurement, error) {
	var sides [2]analysis.Side
	for i, name := range []string{head, base} {
		var err error
		if sides[i], err = analysis.NewSide(r, name); err != nil {
			return nil, fmt.Errorf("run %s: %w", r.Run.ID, err)
		}
	}
	versus, err := analysis.NewVersus(sides[0], sides[1])
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", r.Run.ID, err)
	}
	if len(versus.Lines) == 0 {
		return nil, fmt.Errorf("run %s has nothing that %s and %s both measured", r.Run.ID, base, head)
	}
	m := &Measurement{Run: r.Run.ID, only: r.Run.Options.Only}
	for _, t := range r.Tables {
		m.Margin, m.Noise = min(t.Margin, rules.MaxSlowdown), max(m.Noise, t.Noise)
	}
	for _, line := range versus.Lines {
		m.Cells = append(m.Cells, newCell(line, rules))
		m.Layout = cmp.Or(m.Layout, layout(line.A))
	}
	return m, nil
}

// layout is the advice of the runner's warning that the link layout did not vary.
func layout(head *analysis.Row) string {
	for _, w := range head.Warnings {
		if w.Reported() && w.Code == "layout" {
			return w.Advice
		}
	}
	return ""
}

// cell finds a cell that was measured again. A nil measurement has none.
func (m *Measurement) cell(key string) (Cell, bool) {
	if m == nil {
		return Cell{}, false
	}
	i := slices.IndexFunc(m.Cells, func(c Cell) bool { return c.key == key })
	if i < 0 {
		return Cell{}, false
	}
	return m.Cells[i], true
}

func newCell(line analysis.VersusLine, rules Rules) Cell {
	head, base := line.A, line.B
	c := Cell{Operation: line.Title, Profile: head.Cell.Profile, Launches: len(head.Trials),
		key: head.Cell.Peer() + "|" + head.Cell.Profile, coordinates: coordinates(head.Cell)}
	if !base.Comparable() {
		c.State, c.Reason = NotCompared, fmt.Sprintf("%s is %s: %s", base.Driver, base.Outcome, wording.Clean(base.Reason))
		if base.Outcome == assay.NotRun {
			c.State = Undecided
		}
		return c
	}
	c.settings(base, head)
	if !head.Comparable() {
		c.ended(head)
		return c
	}
	c.durability(base, head)
	c.compare(line, rules)
	c.queryPlan(base.QueryPlan, head.QueryPlan)
	if len(c.Suspicions) > 0 {
		c.State, c.Reason = Regressed, ""
	}
	return c
}

func (c *Cell) suspect(kind Kind, format string, arguments ...any) {
	c.Suspicions = append(c.Suspicions, Finding{kind, c.Name(), fmt.Sprintf(format, arguments...)})
}

// ended says how a head ended that has no figures to compare.
func (c *Cell) ended(head *analysis.Row) {
	reason := fmt.Sprintf("%s: %s", head.Outcome, wording.Clean(head.Reason))
	switch {
	case head.Outcome == assay.NotRun:
		c.State, c.Reason = Undecided, reason
		return
	case head.Outcome == assay.NotApplied && len(c.Suspicions) == 0:
		c.suspect(Setting, "%s", reason)
	case head.Outcome != assay.NotApplied:
		c.suspect(Outcome, "%s", reason)
	}
	c.State = Regressed
}

// compare judges the figures. What differs by more than is allowed is not equivalent,
// however wide the plan's margin is.
func (c *Cell) compare(line analysis.VersusLine, rules Rules) {
	comparison := line.Comparison
	switch {
	case line.Unequal != nil:
		c.State, c.Reason = NotCompared, "their durability differs: "+wording.Clean(line.Unequal.Warning().Evidence)
		return
	case line.Basis != analysis.Joint || comparison.Ratio.N == 0:
		c.State, c.Reason = Undecided, "too few launches have both"
		return
	}
	comparison.Comparison = comparison.Within(rules.MaxSlowdown)
	c.Cost = comparison.Ratio
	verdict := map[stat.Verdict]State{stat.Equivalent: Equivalent, stat.Faster: Faster}[comparison.Verdict]
	if line.Metric.HigherBetter {
		c.Cost = c.Cost.Inverse()
	}
	switch {
	case suspicious(comparison, c.Cost) && c.Cost.Center > rules.limit():
		c.decided = comparison.Verdict == stat.Slower
		c.suspect(Slower, "%s slower", wording.Times(c.Cost))
	case verdict != "":
		c.State = verdict
	case rules.allows(comparison.Rule(), c.Cost):
		c.State = Tolerated
	default:
		c.State, c.Reason = Undecided, wording.Times(c.Cost)
		limit := 1 + comparison.Rule().Margin
		if comparison.Verdict == stat.Slower {
			c.Reason += ": slower, and perhaps by more than is allowed"
		} else if comparison.Reason != stat.TooWide || c.Cost.High <= limit && c.Cost.Low >= 1/limit { // else the interval shows why
			c.Reason += ": " + report.Why(comparison)
		}
	}
}

// suspicious reports whether the interval of a cost lies above 1, be it that together
// with its family it decides nothing: that is enough to measure again.
func suspicious(c analysis.Comparison, cost stat.Interval) bool {
	return c.Verdict == stat.Slower || c.Reason == stat.TooMany && cost.Low > 1
}

// settings finds what the base applies and the head does not.
func (c *Cell) settings(base, head *analysis.Row) {
	applied := map[string]bool{}
	for _, s := range base.Settings {
		before, seen := applied[s.Name]
		applied[s.Name] = s.Applied && s.Requested != "" && (before || !seen)
	}
	told := map[string]bool{}
	for _, s := range head.Settings {
		if applied[s.Name] && !s.Applied && !told[s.Name] {
			told[s.Name] = true
			c.suspect(Setting, "%s=%s has no effect: it is %q; %s applies it", s.Name, s.Requested, wording.Clean(s.Effective), base.Driver)
		}
	}
}

// durability finds promises about the data that became weaker.
func (c *Cell) durability(base, head *analysis.Row) {
	switch {
	case base.Durability == head.Durability:
	case !head.Durability.AtLeast(base.Durability):
		c.suspect(Durability, "durability is %q, and %q with %s", head.Durability, base.Durability, base.Driver)
	default:
		c.Notes = append(c.Notes, fmt.Sprintf("durability is %q, was %q", head.Durability, base.Durability))
	}
}

// coordinates are the axes by which a cell is selected.
func coordinates(cell assay.Cell) map[string]string {
	all := maps.Clone(cell.Params)
	if all == nil {
		all = map[string]string{}
	}
	for _, name := range []string{"workload", "operation", "profile", "clients", "pool", "idle", "statement", "transaction", "rate"} {
		if value, ok := cell.Coordinate(name); ok {
			all[name] = value
		}
	}
	return all
}

// Suspects select the cells in which something is wrong, as --only does, with as
// few others as that allows; nil where nothing is.
func (m *Measurement) Suspects() map[string][]string {
	all, wanted := map[string][]string{}, map[string][]string{}
	suspects := 0
	for _, c := range m.Cells {
		gather(all, c.coordinates)
		if len(c.Suspicions) > 0 {
			gather(wanted, c.coordinates)
			suspects++
		}
	}
	if suspects == 0 {
		return nil
	}
	maps.DeleteFunc(wanted, func(name string, values []string) bool {
		everywhere := !slices.ContainsFunc(m.Cells, func(c Cell) bool {
			_, has := c.coordinates[name]
			return !has && len(c.Suspicions) > 0
		})
		return len(values) == len(all[name]) || !everywhere
	})
	for name, values := range m.only {
		if wanted[name] == nil {
			wanted[name] = values
		}
	}
	return wanted
}

func gather(values map[string][]string, cell map[string]string) {
	for name, value := range cell {
		if !slices.Contains(values[name], value) {
			values[name] = append(values[name], value)
		}
	}
}
