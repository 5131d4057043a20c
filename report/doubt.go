package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay"
	"assay/stat"
)

// warnOfLaunches looks at a row's launches in their order, and at the windows
// in them, for what makes an interval mean less than it says. Each question is
// asked at 1 %: of a hundred rows without any fault, one has each warning.
func (r *Row) warnOfLaunches(t *Table) {
	if !r.comparable() {
		return
	}
	figures := r.series(t.Primary.Name)
	total, drifts := stat.Drift(figures)
	switch {
	case drifts:
		r.warn("drift", fmt.Sprintf("over %d launches the figure became %s times what it was", len(figures), digits(total)),
			"look for a machine that warms up, or data that grow; a longer run averages over it")
	default: // a drift is an autocorrelation too
		if c, found := stat.Autocorrelation(figures); found {
			r.warn("autocorrelation", fmt.Sprintf("launches resemble the ones before them (correlation of ranks %.2f)", c),
				"the interval may be too narrow: repeat the run at another time")
		}
	}
	if gap, upper, found := stat.TwoModes(figures); found {
		r.warn("two-modes", fmt.Sprintf("%d of %d launches are %s times the others, with nothing in between", upper, len(figures), digits(gap)),
			"look at both: the mean of the two is a figure that no launch has")
	} else if skewness, found := stat.Skewed(figures); found {
		r.warn("skewed", fmt.Sprintf("a few launches lie far out on one side (skewness %.1f)", skewness),
			"look for stalls; the interval may be too narrow")
	}
	if from, steady := stat.SteadyFrom(r.windows()); !steady {
		r.warn("not-steady", fmt.Sprintf("the windows of a launch still differ at window %d: the warm-up did not end", from+1),
			"use a longer count or dataset in blocks, where the beginning weighs less")
	}
}

// series are the figures of the counted launches, in their order.
func (r *Row) series(metric string) []float64 {
	var figures []float64
	for _, t := range paired(r, metric) {
		figures = append(figures, t.Figures[metric])
	}
	return figures
}

// windows are the times per operation by launch and window.
func (r *Row) windows() [][]float64 {
	var all [][]float64
	for _, t := range r.Counted() {
		var one []float64
		for _, s := range t.Samples {
			if s.Operations > 0 {
				one = append(one, float64(s.Nanos)/float64(s.Operations))
			}
		}
		if len(one) > 1 {
			all = append(all, one)
		}
	}
	return all
}

// warnOfSyncs marks rows of one target that are faster with the stronger
// promise: one of the two does not do what its settings say, or something else
// differs.
func (t *Table) warnOfSyncs() {
	if !t.Changes {
		return
	}
	rule := stat.Rule{Margin: t.Margin, Noise: t.Noise, Least: t.least}
	for _, strong := range t.Rows {
		for _, weak := range t.Rows {
			if strong.Cell.Target() != weak.Cell.Target() || !strong.comparable() || !weak.comparable() || !stronger(strong.Durability, weak.Durability) {
				continue
			}
			x, y := pair(strong, weak, t.Primary.Name)
			c, err := rule.Compare(x, y, t.Primary.HigherBetter)
			if err == nil && c.Verdict == stat.Faster {
				strong.warn("stronger-sync-faster", fmt.Sprintf("%s with %s is faster than %s with %s (%s)", class(strong.Durability), strong.Cell.Profile,
					class(weak.Durability), weak.Cell.Profile, ratioFormat(c.Ratio, "%s [%s, %s]")), "look at sync-before-ack of both, and at what else the profiles set")
			}
		}
	}
}

// warnOfOptions marks rows whose profile has one setting more, or another value
// of one, than another profile of the same target, and is equivalent to it.
func (t *Table) warnOfOptions() {
	rule := stat.Rule{Margin: t.Margin, Noise: t.Noise, Least: t.least}
	for i, row := range t.Rows {
		for _, other := range t.Rows[:i] {
			name := oneDifference(row.Settings, other.Settings)
			if name == "" || row.Cell.Target() != other.Cell.Target() || !row.comparable() || !other.comparable() {
				continue
			}
			x, y := pair(row, other, t.Primary.Name)
			c, err := rule.Compare(x, y, t.Primary.HigherBetter)
			if err == nil && c.Verdict == stat.Equivalent {
				row.warn("option-without-effect", fmt.Sprintf("%s, with %s=%s, and %s, with %s, are equivalent (%s)", row.Cell.Profile, name, requestedValue(row.Settings, name),
					other.Cell.Profile, name+"="+requestedValue(other.Settings, name), ratioFormat(c.Ratio, "%s [%s, %s]")), "here the setting makes no difference")
			}
		}
	}
}

// oneDifference is the name of the only setting in which two profiles ask for
// different things; empty where there is none or more than one.
func oneDifference(a, b []assay.Setting) string {
	different := ""
	for _, s := range slices.Concat(a, b) {
		if requestedValue(a, s.Name) == requestedValue(b, s.Name) || s.Name == different {
			continue
		}
		if different != "" {
			return ""
		}
		different = s.Name
	}
	return different
}

// requestedValue is what a profile asks for; nothing where it does not.
func requestedValue(settings []assay.Setting, name string) string {
	for _, s := range settings {
		if s.Name == name && s.Requested != "" {
			return s.Requested
		}
	}
	return "nothing"
}

// stronger tells whether a promises more than b; an unknown class compares with
// nothing.
func stronger(a, b assay.Durability) bool {
	x, y := slices.Index(strength, a), slices.Index(strength, b)
	return x < y && a != assay.DurabilityUnknown && b != assay.DurabilityUnknown
}

// warnAcross raises the doubts that need several tables, or the machine.
func (r *Report) warnAcross() {
	r.warnOfGrowth()
	r.warnOfDisk()
	r.warnOfTwinEngines()
}

const (
	// mostGrown is by how much a figure per operation may depend on how many
	// operations there are.
	mostGrown = 1.5
	// beyondDisk is by how much more commits than syncs are more than chance.
	beyondDisk = 1.5
	// countParam is the param by which plans say how many operations a block
	// has.
	countParam = "n"
)

// warnOfGrowth compares the cells of an operation that differ in how many
// operations they have: what each costs should not depend on that.
func (r *Report) warnOfGrowth() {
	families := map[string][]*Row{}
	var order []string
	for _, t := range r.Tables {
		for _, row := range t.Rows {
			if _, ok := row.Cell.Params[countParam]; !ok || !t.Changes || !row.comparable() {
				continue
			}
			key := familyOf(row.Cell)
			if families[key] == nil {
				order = append(order, key)
			}
			families[key] = append(families[key], row)
		}
	}
	for _, key := range order {
		grown(families[key])
	}
}

// familyOf is what cells have in common that differ in their number of
// operations only. A transaction that is the whole block differs with it.
func familyOf(c assay.Cell) string {
	n := c.Params[countParam]
	params := map[string]string{}
	for name, value := range c.Params {
		if name != countParam {
			params[name] = value
		}
	}
	c.Params = params
	if c.Transaction > 0 && strconv.Itoa(c.Transaction) == n {
		c.Transaction = -1
	}
	return c.Key()
}

func grown(rows []*Row) {
	count := func(row *Row) int {
		n, _ := strconv.Atoi(row.Cell.Params[countParam])
		return n
	}
	slices.SortFunc(rows, func(a, b *Row) int { return count(a) - count(b) })
	first, last := rows[0], rows[len(rows)-1]
	c, err := stat.Rule{}.CompareUnpaired(last.series(assay.NsPerOp), first.series(assay.NsPerOp), false)
	if len(rows) < 2 || err != nil || !(c.Ratio.Low > mostGrown) {
		return
	}
	last.warn("grows", fmt.Sprintf("an operation takes %s times as long with n=%s as with n=%s: the figure depends on how many there are",
		ratioFormat(c.Ratio, "%s [%s, %s]"), last.Cell.Params[countParam], first.Cell.Params[countParam]),
		"no figure of this operation is one without its n: compare at your own, or in transactions of a fixed size")
}

// warnOfDisk marks synced commits that come faster than the disk can sync.
// Several clients may share a sync.
func (r *Report) warnOfDisk() {
	rate, err := strconv.ParseFloat(r.Run.Host["syncs-per-second"], 64)
	if err != nil {
		return
	}
	for _, t := range r.Tables {
		for _, row := range t.Rows {
			f, has := row.Figure(assay.OpPerS)
			if !has || row.Durability != assay.Power || isMix(row) {
				continue
			}
			commits := f.Interval.Center / float64(max(1, row.Cell.Transaction))
			if commits > beyondDisk*rate*float64(row.Cell.Clients) {
				row.warn("beyond-disk", fmt.Sprintf("%s synced commits a second, and the disk did %s syncs a second for one client when it was probed",
					digits(commits), digits(rate)), "look at sync-before-ack: something acknowledges without a sync, or the disk's speed changed")
			}
		}
	}
}

// isMix tells whether only a part of a row's operations commit: their traces
// were not taken.
func isMix(row *Row) bool {
	return !slices.ContainsFunc(row.Settings, func(s assay.Setting) bool { return s.Name == syncBeforeAck })
}

// warnOfTwinEngines marks targets that are one engine, of the very same source,
// under several names: how they differ is the driver's.
func (r *Report) warnOfTwinEngines() {
	names := map[string][]string{}
	for _, t := range r.Run.Targets {
		if id := t.Facts["source_id"]; id != "" && t.Facts["cgo"] != "" {
			key := id + " cgo=" + t.Facts["cgo"] + " api=" + t.Facts["api"] + " " + strings.Join(t.CompileOptions, " ")
			names[key] = append(names[key], t.Name())
		}
	}
	for _, t := range r.Tables {
		for _, row := range t.Rows {
			for _, same := range names {
				if len(same) > 1 && slices.Contains(same, row.Cell.Target()) {
					row.warn("same-engine", "one engine, of one source and with the same options, under the names "+strings.Join(same, " and "),
						"what differs between them is the driver alone")
				}
			}
		}
	}
}
